"""A terminal to run the command line in, as a person does."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

_SECONDS = 30.0
_CONSTRUCTS = Path(__file__).parents[3] / "constructs"


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, *arguments: str, folder: Path, **environment: str) -> None:
        self.screen = ""
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            # a shell's background jobs ignore Ctrl-C, and so would their children
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            known = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(_CONSTRUCTS), "TERM": "xterm-256color"}
            os.execve(
                sys.executable, [sys.executable, "-m", "hyperpod_cdk", *arguments], {**known, **environment}
            )

    def until(self, text: str) -> str:
        """Wait for a text; what came after the last one that was waited for."""
        end = time.monotonic() + _SECONDS
        begin = len(self.screen)
        while text not in self.screen[begin:]:
            if not self._read(end):
                raise AssertionError(f"{text!r} never came; there is: {self.screen[begin:]!r}")
        return self.screen[begin:]

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._fd, f"{text}\n".encode())

    def interrupted(self) -> int:
        """Press Ctrl-C until it ends, as people do; the exit code.

        One is not enough when it comes after the prompt and before readline waits for keys.
        """
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            os.write(self._fd, b"\x03")
            while select.select([self._fd], [], [], 1.0)[0]:
                if not self._read(end):
                    return self.code()
        return self.code()

    def code(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        end = time.monotonic() + _SECONDS
        while self._read(end):
            pass
        _, status = os.waitpid(self._pid, 0)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        """End it by force."""
        os.kill(self._pid, signal.SIGKILL)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            self.kill()
            raise AssertionError(f"nothing comes any more; there is: {self.screen!r}")
        try:
            text = os.read(self._fd, 65536).decode(errors="replace")
        except OSError:
            # Linux's way to say that the other side has hung up
            return False
        self.screen += text
        return bool(text)
