"""Ctrl-C that comes when nothing looks for it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from kanon_sql.interrupts import GRACE, interrupts


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to a thread there")
def test_a_signal_that_came_before_a_wait_ends_the_wait() -> None:
    """As one that comes between a question and the wait for its answer: the system ends no wait for it.

    Another thread takes the signal here, which is the same to the main one: its wait goes on.
    """
    receiver, sender = os.pipe()
    late = []
    too_late = threading.Timer(20, lambda: late.append(os.write(sender, b"late")))
    pressing = threading.Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
    cancelled = []
    with interrupts(lambda: cancelled.append(True)) as pressed:
        too_late.start()
        pressing.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                os.read(receiver, 4)
        finally:
            too_late.cancel()
            pressing.join()
    assert not late
    assert pressed.pressed
    assert cancelled
    os.close(receiver)
    os.close(sender)


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to a thread there")
def test_a_cancel_that_outlasts_the_run_ends_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a server that answers late: the run is over, and what cancels does it once, and fails at nothing."""
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    receiver, sender = os.pipe()
    cancelled: list[float] = []
    watchers: list[threading.Thread] = []

    def cancel() -> None:
        watchers.append(threading.current_thread())
        cancelled.append(time.monotonic())
        os.write(sender, b"done")
        time.sleep(4 * GRACE)

    with interrupts(cancel):
        pressing = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            os.read(receiver, 4)
        pressing.join()
    watchers[0].join(10)
    assert not watchers[0].is_alive()
    assert not failures
    assert len(cancelled) == 1
    os.close(receiver)
    os.close(sender)
