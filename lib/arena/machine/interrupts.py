"""Ctrl-C, SIGTERM and a closed terminal: one KeyboardInterrupt, and an undisturbed clean-up."""

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A signal this long after the first one takes effect again.
_DEAF_S = 10.0

_state = {"held": 0, "pending": False, "raised_at": -math.inf}


def install() -> None:
    """Turn the first of these signals into KeyboardInterrupt, and ignore those right after it.

    `finally` blocks undo everything on the way out, and each such step is bounded in time. So a
    second Ctrl-C could only leave something behind. A signal that comes much later means that
    the first was lost: Python swallows exceptions in a destructor.
    """
    for number in _SIGNALS:
        # nohup(1) lets a program outlive its terminal by ignoring SIGHUP.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


@contextmanager
def held() -> Iterator[None]:
    """Defer an interrupt until the block is left.

    For steps that belong together, like starting a program and recording how to stop it.
    """
    _state["held"] += 1
    try:
        yield
    finally:
        _state["held"] -= 1
        if _state["pending"] and not _state["held"]:
            _raise()


@contextmanager
def released() -> Iterator[None]:
    """Allow interrupts again, for the part of a deferring block whose clean-up is in place."""
    before, _state["held"] = _state["held"], 0
    try:
        if _state["pending"]:
            _raise()
        yield
    finally:
        _state["held"] = before


def _handle(_number: int, _frame: FrameType | None) -> None:
    if time.monotonic() - _state["raised_at"] < _DEAF_S:
        return
    if _state["held"]:
        _state["pending"] = True
    else:
        _raise()


def _raise() -> None:
    _state["raised_at"] = time.monotonic()
    _state["pending"] = False
    raise KeyboardInterrupt
