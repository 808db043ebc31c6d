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
    """Whether Ctrl-C was pressed, and what that means.

    Args:
        cancel: stops the running statement; called from another thread.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._seen = 0
        self._handled = 0
        self._patient = False
        self._cancelling = threading.Lock()

    @property
    def pressed(self) -> bool:
        """Whether it was pressed. Drivers turn an interrupt into errors of their own kinds."""
        return self._presses > 0

    @property
    def wished(self) -> bool:
        """Whether it was pressed once: who presses again will not wait for what is done about the first time."""
        return self._presses == 1

    @property
    def _presses(self) -> int:
        # Signals that arrive while the main thread is stuck reach the handler once, and late.
        return max(self._seen, self._handled)

    @contextmanager
    def patience(self) -> Iterator[None]:
        """Inside, the first Ctrl-C raises nothing: it cancels the running statement, and is remembered.

        An exception raised in the middle of a driver would cost the connection, and with it the
        temporary tables; the error of a cancelled statement does not.
        """
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
            with self._cancelling:
                pass  # a cancel on its way must not hit the next statement

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler, which runs in the main thread."""
        self._handled += 1
        if not (self._patient and self.wished):
            raise KeyboardInterrupt

    def _watch(self, receiver: socket.socket) -> None:
        """What a second thread does until the sender is closed."""
        while received := receiver.recv(64):
            if pressed := received.count(signal.SIGINT):
                self._seen += pressed
                if self._patient:
                    self._cancel_while_patient()
                else:
                    self._cancel_while_stuck()

    def _cancel_while_patient(self) -> None:
        while self._patient:
            with self._cancelling:
                if self._patient:
                    self._cancel()
            time.sleep(GRACE)

    def _cancel_while_stuck(self) -> None:
        """Once the main thread moves on, it is cleaning up, and that must not be cancelled."""
        main = threading.main_thread()
        stuck = _position(main)
        time.sleep(GRACE)
        while stuck is not None and stuck == _position(main):
            self._cancel()
            time.sleep(GRACE)


@contextmanager
def interrupts(cancel: Callable[[], None]) -> Iterator[Interrupts]:
    """Turn Ctrl-C into KeyboardInterrupt, with ``cancel`` called while the main thread is stuck.

    Args:
        cancel: stops the running statement; called from another thread.

    Yields:
        What was pressed, and a place where it is waited for.
    """
    state = Interrupts(cancel)
    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    watcher = threading.Thread(target=state._watch, args=(receiver,), name="kanon-sql-interrupts", daemon=True)
    watcher.start()
    handler = signal.signal(signal.SIGINT, state._handle)
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
    while frame is not None and frame.f_code is Interrupts._handle.__code__:
        frame = frame.f_back
    return None if frame is None else (frame, frame.f_lasti)
