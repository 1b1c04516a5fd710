"""Ending in order when somebody wants an end: Ctrl-C, a closed terminal, ``kill``."""

import signal
import threading
from types import FrameType, TracebackType
from typing import NoReturn, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruptions:
    """While it is entered, the first such signal raises KeyboardInterrupt, and no further one does.

    What the exception unwinds is taken down whole, however often Ctrl-C is pressed meanwhile. A signal
    that is ignored stays so: shells have commands in the background ignore SIGINT, and nohup SIGHUP.
    Only the main thread can take signals; elsewhere nothing changes.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, signal._HANDLER] = {}
        self._number = signal.SIGINT

    @property
    def exit_code(self) -> int:
        """What a shell shows for a process that the signal ended: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self._number

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, _frame: FrameType | None) -> NoReturn:
        self._number = signal.Signals(number)
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt
