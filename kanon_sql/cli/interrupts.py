"""Ctrl-C that works while a statement runs.

Python's own handler runs in the main thread, and only when the driver looks for signals. A
driver that waits for its worker threads does not look, or looks and then waits for them to
finish (DuckDB does both), so the process would hang until the query ends. The signal
therefore also wakes a second thread, which cancels the statement that holds the main thread.
"""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupts", "interrupts"]

GRACE = 0.3
"""Seconds that the main thread has to get on by itself; most drivers return sooner."""


class Interrupts:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler, which runs in the main thread."""
        self.pressed = True
        raise KeyboardInterrupt


@contextmanager
def interrupts(cancel: Callable[[], None]) -> Iterator[Interrupts]:
    """Turn Ctrl-C into KeyboardInterrupt, with ``cancel`` called while the main thread is stuck.

    Args:
        cancel: stops the running statement; called from another thread.

    Yields:
        Whether it was pressed: drivers turn an interrupt into errors of their own kinds.
    """
    state = Interrupts()
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield state
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def watch() -> None:
        while received := receiver.recv(64):
            if signal.SIGINT in received:
                state.pressed = True
                # Once the main thread moves on, it is cleaning up, and that must not be cancelled.
                stuck = _position(main)
                time.sleep(GRACE)
                while stuck is not None and stuck == _position(main):
                    cancel()
                    time.sleep(GRACE)

    watcher = threading.Thread(target=watch, name="kanon-sql-interrupts", daemon=True)
    watcher.start()
    handler = signal.signal(signal.SIGINT, state.handle)
    wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        yield state
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, handler)
        sender.close()
        watcher.join(2 * GRACE)
        receiver.close()


def _position(thread: threading.Thread) -> tuple[FrameType, int] | None:
    """The instruction that a thread is at, the handler of the signal itself apart."""
    frame = None if thread.ident is None else sys._current_frames().get(thread.ident)
    while frame is not None and frame.f_code is Interrupts.handle.__code__:
        frame = frame.f_back
    return None if frame is None else (frame, frame.f_lasti)
