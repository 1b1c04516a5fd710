"""A host's control groups: whose processor time is counted, and how much of it the host gets."""

from hyperpod_cdk.rehearsal.hosts.standins.keeper import FAMILY, cgroup_root, old_processor_root

PERIOD_MICROSECONDS = 100_000
# puts a process into control groups, whose folders are the first argument
JOIN = 'for group in $1; do echo $$ >"$group/cgroup.procs"; done; shift'


class ControlGroups:
    """The control groups of a host.

    Its own processes have one, and commands that are run `counted` another beside it, since systemd allows
    nobody else's processes in the middle of its tree. Where processors are still limited by a hierarchy of
    their own (version 1), both are in one group of that.

    Args:
        room: name of the room that it lives in.
        host: its name.
    """

    def __init__(self, room: str, host: str) -> None:
        self._base = cgroup_root()
        self._folder = self._base / FAMILY / room / host
        old = old_processor_root()
        self._old = old / FAMILY / room / host if old else None

    def make(self) -> None:
        """Make them, where they are not there yet."""
        for folder in (self._folder / "own", self._folder / "counted", self._old):
            if folder:
                folder.mkdir(parents=True, exist_ok=True)

    def own(self) -> str:
        """What :data:`JOIN` needs to put the host's first process there."""
        return self._joined("own")

    def counted(self) -> str:
        """What :data:`JOIN` needs to put a counted command there."""
        return self._joined("counted")

    def _joined(self, name: str) -> str:
        return " ".join(str(folder) for folder in (self._folder / name, self._old) if folder)

    def cpu_seconds(self) -> float:
        """Processor time of all its processes so far."""
        text = (self._folder / "cpu.stat").read_text(encoding="utf-8")
        return int(text.split("usage_usec ")[1].split()[0]) / 1e6

    def limit(self, processors: float) -> None:
        """Give the host no more than a share of the processors from now on.

        Args:
            processors: how many, in hundredths at least.
        """
        quota = round(processors * PERIOD_MICROSECONDS)
        if self._old:
            (self._old / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
            (self._old / "cpu.cfs_quota_us").write_text(str(quota))
            return
        # each level hands the controller to the one below
        for folder in reversed([*self._folder.parents][: len(self._folder.relative_to(self._base).parts)]):
            (folder / "cgroup.subtree_control").write_text("+cpu")
        (self._folder / "cpu.max").write_text(f"{quota} {PERIOD_MICROSECONDS}")
