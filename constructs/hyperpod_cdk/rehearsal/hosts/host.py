"""One host: a machine of its own as far as its programs can see, with systemd as its first process."""

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts.control_groups import JOIN, ControlGroups
from hyperpod_cdk.rehearsal.hosts.image import STANDINS
from hyperpod_cdk.rehearsal.hosts.room import Room

INIT = STANDINS / "host_init.sh"
BOOT_SECONDS = 180.0
DISK = "2g"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
POLL_SECONDS = 0.05
MAKE_DISK = (
    'mountpoint -q "$1" && exit; mkdir -p "$1" && mount -t tmpfs -o "size=$2" disk "$1" && '
    'mkdir "$1/upper" "$1/work" "$1/root"'
)
DROP_DISK = 'umount --lazy "$1"; rmdir "$1"'
_LINKS = itertools.count(1)


class HostError(RuntimeError):
    """A host did not come up, or a command on it failed; the text has what it said."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How a command on a host ended.

    Args:
        exit_code: 0 is success.
        output: what it printed, errors among the rest.
        seconds: how long it took.
    """

    exit_code: int
    output: str
    seconds: float

    @property
    def lines(self) -> list[str]:
        """The output's lines."""
        return self.output.splitlines()


def enter(init: int, *arguments: str) -> list[str]:
    """The command line that runs a command in the namespaces of a host's first process."""
    return ["nsenter", "--target", str(init), "--all", "--", *arguments]


def login(user: str, *, terminal: bool = False) -> list[str]:
    """The beginning of a command line that runs the rest as a user, in a login shell's environment.

    Args:
        user: as whom.
        terminal: gives it a terminal of its own on the host, without which a shell there has no job control,
            and Ctrl-C is for whoever started it. Default: none.
    """
    own = ["--pty"] if terminal else []
    return ["runuser", *own, "--login", user, "--command", 'cd; exec "$@"', "--", "bash"]


class Host:
    """A host in a room.

    Args:
        room: where it lives.
        name: host name.
        addresses: IPv4 addresses; it speaks with the first.
        layers: directories that its root is made of, topmost first; they stay as they are.
        disk: size of its root, as mount(8) writes it.
    """

    def __init__(
        self, room: Room, name: str, *, addresses: Sequence[str], layers: Sequence[Path], disk: str = DISK
    ) -> None:
        self.name = name
        self.addresses = tuple(addresses)
        self._room = room
        self._layers = tuple(layers)
        self._disk = disk
        self._groups = ControlGroups(room.folder.name, name)
        self._process: subprocess.Popen[bytes] | None = None
        self._init = 0

    @property
    def address(self) -> str:
        """The address that it speaks with."""
        return self.addresses[0]

    @property
    def disk(self) -> Path:
        """Where what it writes lies: memory that only the room knows, so that it outlives a reboot."""
        return self._room.folder / "disks" / self.name

    @property
    def console(self) -> Path:
        """What came from its first process before systemd's journal."""
        return self._room.folder / f"{self.name}.console"

    @property
    def init(self) -> int:
        """Process id of its first process, as the machine counts; 0 while it is not up."""
        return self._init

    @property
    def is_up(self) -> bool:
        """Whether its first process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Switch it on; :meth:`wait` returns when it is up."""
        self._groups.make()
        kinds = ("--net", "--uts", "--mount", "--ipc", "--pid", "--cgroup")
        inside = ["unshare", *kinds, "--fork", "--kill-child", "--", "bash", str(INIT)]
        disk = self._room.command("bash", "-c", MAKE_DISK, "bash", str(self.disk), self._disk)
        join = JOIN + '; "${@:1:DISK_WORDS}" && exec "${@:DISK_WORDS + 1}"'
        environment = {
            "PATH": PATH,
            "HOST": self.name,
            "ADDRESSES": " ".join(self.addresses),
            # a name of its own each time: the one before goes only when the kernel gets round to it
            "LINK": f"host{next(_LINKS)}",
            "ROOM": str(self._room.init),
            "FOLDER": str(self._room.folder),
            "LOWER": ":".join(map(str, self._layers)),
            "DISK": str(self.disk),
            "DISK_WORDS": str(len(disk)),
        }
        command = ["bash", "-c", join, "bash", self._groups.own(), *disk, *self._room.command(*inside)]
        self._process = self._room.start(*command, log=self.console, env=environment)

    def wait(self, seconds: float = BOOT_SECONDS) -> None:
        """Wait until its units have started.

        Raises:
            HostError: it ended, or is not up in time.
        """
        ready = self._room.shared / "up" / self.name
        deadline = time.monotonic() + seconds
        while not ready.exists():
            if not self.is_up or time.monotonic() > deadline:
                text = self.console.read_text(encoding="utf-8", errors="replace")
                raise HostError(
                    f"host {self.name} did not come up in {seconds:.0f} s; it said:\n{text[-3000:]}"
                )
            time.sleep(POLL_SECONDS)
        self._init = self._find_init()
        (self._room.folder / f"{self.name}.pid").write_text(str(self._init), encoding="utf-8")

    def _find_init(self) -> int:
        assert self._process is not None
        pid = self._process.pid
        # nsenter, then unshare, then the host's first process
        for _ in range(2):
            pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        return pid

    def cpu_seconds(self) -> float:
        """Processor time of its own processes so far, and of the commands that were run `counted`."""
        return self._groups.cpu_seconds()

    def limit(self, processors: float) -> None:
        """Give it no more than a share of the processors from now on, as if it were a machine apart.

        Args:
            processors: how many, in hundredths at least.
        """
        self._groups.limit(processors)

    def path(self, absolute: str) -> Path:
        """Where a path of the host can be reached from outside, while it is up.

        Symbolic links with absolute targets lead out of it: name what they point at.
        """
        return Path(f"/proc/{self._init}/root") / absolute.lstrip("/")

    def command(self, *arguments: str, user: str = "root") -> list[str]:
        """The command line, for the machine's own shell, that runs a command on the host.

        Args:
            arguments: of the command.
            user: as whom, in a login shell's environment; default: root, with the environment as it is.
        """
        switch = login(user) if user != "root" else []
        return enter(self._init, *switch, *arguments)

    def run(
        self,
        *arguments: str,
        user: str = "root",
        env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        check: bool = True,
        log: Path | None = None,
        given: str = "",
        counted: bool = False,
    ) -> Answer:
        """Run a command to its end.

        Args:
            arguments: of the command; one alone with a blank in it goes to bash.
            user: as whom.
            env: on top of a plain PATH, and of nothing else.
            timeout: seconds.
            check: whether failure is an error.
            log: file that gets the output as it comes; default: it is only returned.
            given: standard input.
            counted: whether :meth:`cpu_seconds` counts it, and what it leaves behind.

        Raises:
            HostError: it failed, and ``check`` is true, or it did not end in time.
        """
        if len(arguments) == 1 and " " in arguments[0]:
            arguments = ("bash", "-c", arguments[0])
        command = self.command(*arguments, user=user)
        if counted:
            command = ["bash", "-c", f'{JOIN}; exec "$@"', "bash", self._groups.counted(), *command]
        began = time.monotonic()
        try:
            with (log or Path(os.devnull)).open("w+b") as stream:
                done = subprocess.run(
                    command,
                    input=given.encode(),
                    stdout=stream if log else subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={"PATH": f"/opt/slurm/bin:{PATH}", **(env or {})},
                    timeout=timeout,
                    check=False,
                )
        except subprocess.TimeoutExpired as error:
            raise HostError(f"{self.name}: {' '.join(arguments)} did not end in {timeout:.0f} s") from error
        text = (log.read_bytes() if log else done.stdout).decode("utf-8", "replace")
        answer = Answer(exit_code=done.returncode, output=text, seconds=time.monotonic() - began)
        if check and answer.exit_code:
            raise HostError(
                f"{self.name}: {' '.join(arguments)} ended with exit code {answer.exit_code}:\n{text[-3000:]}"
            )
        return answer

    def kill(self) -> None:
        """Lose it, as an instance is lost: every process at once, and its disk."""
        self.cut()
        subprocess.run(self._room.command("bash", "-c", DROP_DISK, "bash", str(self.disk)), check=False)

    def reboot(self) -> None:
        """Cut its power and switch it on again: its disk stays, what was in /run and /tmp does not."""
        self.cut()
        self.start()
        self.wait()

    def cut(self) -> None:
        """Cut its power: every process ends at once."""
        if self._process is None:
            return
        if self._init:
            # its first process takes all others along
            os.kill(self._init, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        (self._room.shared / "up" / self.name).unlink(missing_ok=True)
        (self._room.folder / f"{self.name}.pid").unlink(missing_ok=True)
        self._process, self._init = None, 0
