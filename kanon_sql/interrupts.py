"""Ctrl-C and SIGTERM that work while a statement runs.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupts", "ends_in_order", "interrupts"]

SIGNALS = (signal.SIGINT,) if sys.platform == "win32" else (signal.SIGINT, signal.SIGTERM)
"""What ends a run in good order. On Windows no one can send the second one: TerminateProcess asks no handler."""

GRACE = 0.3
"""Seconds that the main thread has to get on by itself; most drivers return sooner."""

GRACE_PERIODS = 5
"""This many times it has them after SIGTERM, until the signal is as good as a second one."""


class Interrupts:
    """Whether Ctrl-C was pressed or SIGTERM came, and what that means.

    Args:
        cancel: stops the running statement; called from another thread.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._seen = 0
        self._handled = 0
        self._terminated = False
        self._patient = False
        self._cancelling = threading.Lock()
        self._over = threading.Event()

    @property
    def pressed(self) -> bool:
        """Whether one of the two came. Drivers turn an interrupt into errors of their own kinds."""
        return self._presses > 0

    @property
    def terminated(self) -> bool:
        """Whether SIGTERM came: who sends it wants no result any more."""
        return self._terminated

    @property
    def stop_requested(self) -> bool:
        """Whether Ctrl-C was pressed once: who presses again will not wait for what is done about the first time.

        Raises:
            KeyboardInterrupt: SIGTERM came, which no result is worth waiting for. Asked between two statements, this
                is the place to end.
        """
        if self._terminated:
            raise KeyboardInterrupt
        return self._presses == 1

    @property
    def _presses(self) -> int:
        # Signals that arrive while the main thread is stuck reach the handler once, and late.
        return max(self._seen, self._handled)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Inside, the first signal raises nothing: it cancels the running statement, and is remembered.

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

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        """The handler, which runs in the main thread."""
        self._handled += 1
        self._terminated |= number == signal.SIGTERM
        if not (self._patient and self._presses == 1):
            raise KeyboardInterrupt

    def _watch(self, receiver: socket.socket) -> None:
        """What a second thread does until the sender is closed; it alone uses the receiver, and closes it."""
        with receiver:
            while received := receiver.recv(64):
                if pressed := sum(number in SIGNALS for number in received):
                    self._terminated |= signal.SIGTERM in received and signal.SIGTERM in SIGNALS
                    self._seen += pressed
                    if self._patient:
                        self._cancel_while_patient()
                    else:
                        self._cancel_while_stuck()

    def _end(self) -> None:
        """What was handled is over: cancel no later statement, and send no signal that its own handler would get."""
        self._over.set()

    def _cancel_while_patient(self) -> None:
        rounds = 0
        while self._patient:
            with self._cancelling:
                if self._patient:
                    self._cancel()
            if self._over.wait(GRACE):
                return
            rounds += 1
            if self._terminated and rounds == GRACE_PERIODS and self._patient:  # no statement runs, and none will soon
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _cancel_while_stuck(self) -> None:
        """Once the main thread moves on, it is cleaning up, and that must not be cancelled."""
        main = threading.main_thread()
        stuck = _position(main)

        def stays() -> bool:
            return not self._over.wait(GRACE) and stuck is not None and stuck == _position(main)

        if stays():
            self._cancel()
            if stays() and sys.platform != "win32":
                # It came just before the main thread began to wait for an answer: nothing but another ends that wait.
                signal.pthread_kill(main.ident or 0, signal.SIGTERM if self._terminated else signal.SIGINT)
        while stays():
            self._cancel()


@contextmanager
def interrupts(cancel: Callable[[], None], signals: Sequence[signal.Signals] = SIGNALS) -> Iterator[Interrupts]:
    """Turn Ctrl-C and SIGTERM into KeyboardInterrupt, with ``cancel`` called while the main thread is stuck.

    Args:
        cancel: stops the running statement; called from another thread.
        signals: those that are handled.

    Yields:
        What came, and a place where it is waited for.
    """
    state = Interrupts(cancel)
    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    watcher = threading.Thread(target=state._watch, args=(receiver,), name="kanon-sql-interrupts", daemon=True)
    watcher.start()
    handlers = {number: signal.signal(number, state._handle) for number in signals}
    wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        yield state
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        state._end()
        sender.close()
        watcher.join(2 * GRACE)  # a cancel that takes longer, as of a server that does not answer, is not waited for


@contextmanager
def ends_in_order(cancel: Callable[[], None]) -> Iterator[None]:
    """Inside, SIGTERM cancels the running statement and unwinds the run; then it ends the process as it would have.

    Without this, a program that is ended by SIGTERM (a scheduler's or a container's way) leaves its statement running
    on the server, and what the run wrote where it stands. Nothing changes where the program has a handler of its own,
    in a thread that is not the main one, and where an event loop watches for signals.

    Args:
        cancel: stops the running statement; called from another thread.
    """
    if not _unhandled():
        yield
        return
    state = None
    try:
        with interrupts(cancel, (signal.SIGTERM,)) as state:
            yield
    finally:
        if state is not None and state.terminated:
            signal.raise_signal(signal.SIGTERM)


def _unhandled() -> bool:
    """Whether SIGTERM would end the process at once."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return False
    watched = signal.set_wakeup_fd(-1)
    if watched != -1:
        signal.set_wakeup_fd(watched)
    return watched == -1


def _position(thread: threading.Thread) -> tuple[FrameType, int] | None:
    """The instruction that a thread is at, the handler of the signal itself apart."""
    frame = None if thread.ident is None else sys._current_frames().get(thread.ident)
    while frame is not None and frame.f_code is Interrupts._handle.__code__:
        frame = frame.f_back
    return None if frame is None else (frame, frame.f_lasti)
