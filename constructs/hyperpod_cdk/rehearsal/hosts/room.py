"""A room for hosts: a network and namespaces of their own, which nothing outlives."""

import secrets
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from hyperpod_cdk.rehearsal.hosts.image import STANDINS
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError, require

KEEPER = STANDINS / "keeper.py"
# not in memory: a file server can export only what has file handles
BASE = Path("/var/tmp/hyperpod-cdk-rooms")
CLOSING_SECONDS = 60


class Room:
    """The namespaces that hosts are made in, and a folder for what they share.

    A process apart keeps it, so that it is taken down whatever happens to this one: at the end of the
    ``with`` block, after Ctrl-C, and when this process is killed.
    """

    def __init__(self) -> None:
        self.folder = BASE / secrets.token_hex(4)
        self.shared = self.folder / "shared"
        """What every host sees as ``/.sandbox``."""
        self._keeper: subprocess.Popen[str] | None = None
        self._init = 0
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        require()
        BASE.mkdir(parents=True, exist_ok=True)
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", str(KEEPER), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        word, _, init = self._keeper.stdout.readline().partition(" ")
        if word != "ready":
            raise CannotRunHostsError("the namespaces of the hosts could not be made: see above")
        self._init = int(init)
        self.shared.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take everything down, and wait until it is gone."""
        if self._keeper is None:
            return
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait(CLOSING_SECONDS)
        self._keeper, self._init = None, 0
        # they are gone with the room; only their exit codes are left to be collected
        for process in self._processes:
            process.wait(CLOSING_SECONDS)

    @property
    def init(self) -> int:
        """Process id of the room's init, as the machine counts."""
        return self._init

    @property
    def keeper(self) -> int:
        """Process id of what keeps the room."""
        return self._keeper.pid if self._keeper else 0

    def command(self, *arguments: str, network_only: bool = False) -> list[str]:
        """A command that runs in the room's namespaces, between the hosts.

        Args:
            arguments: of the command.
            network_only: sees the machine's processes and files.
        """
        kinds = ["--net"] if network_only else ["--net", "--ipc", "--uts", "--mount", "--pid"]
        return ["nsenter", "--target", str(self._init), *kinds, "--", *arguments]

    def start(self, *command: str, log: Path, env: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """Start a long-running command, which brings itself into the room, and so ends with it.

        Args:
            command: as :meth:`command` gives it, or what ends in such a one.
            log: where its output goes.
            env: its environment; default: this process's own.
        """
        with log.open("ab") as stream:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=env,
            )
        self._processes.append(process)
        return process
