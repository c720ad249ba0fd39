"""What a user sees while a session runs: a line that changes on a terminal, plain lines elsewhere.

Everything here goes to stderr; stdout holds only the result.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, Self

from arena.base.text import printable

# Called with the seconds of a window that have passed.
Tick = Callable[[float], None]

# A step that takes longer says at its end how long it took.
_LONG_S = 3.0

# The time between two drawings of a terminal's line, and the widths of a bar and of a terminal.
_REDRAWN_S = 0.2
_BAR = 30
_WIDTH = 80
_CLEAR = "\r\x1b[K"


class Progress(Protocol):
    """Shows the user what a session does."""

    def say(self, text: str) -> None:
        """Print lines that stay."""

    def waiting(self, text: str) -> AbstractContextManager[None]:
        """Show that something is in progress until the block ends; several blocks may overlap."""

    def window(
        self, text: str, seconds: float, *, at_most: bool = False
    ) -> AbstractContextManager[Tick]:
        """Show a timed window, which may end early; the block calls the tick to advance it."""


def progress() -> Progress:
    """Return the progress that suits stderr."""
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return TerminalProgress() if is_terminal else PlainProgress()


def report_error(text: str) -> None:
    """Print one line without control characters: it may quote files or other programs."""
    print(f"error: {printable(text)}", file=sys.stderr, flush=True)  # noqa: T201


class PlainProgress:
    """Plain lines, for logs and pipes."""

    def say(self, text: str) -> None:
        """Print lines that stay."""
        for line in text.splitlines():
            print(printable(line), file=sys.stderr, flush=True)  # noqa: T201

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Print what begins and, if it takes long, what ends."""
        self.say(f"{text} …")
        began = time.monotonic()
        yield
        seconds = time.monotonic() - began
        if seconds >= _LONG_S:
            self.say(_done(text, seconds))

    @contextmanager
    def window(self, text: str, seconds: float, *, at_most: bool = False) -> Iterator[Tick]:
        """Print what begins and how long it takes."""
        self.say(f"{text} ({'at most ' * at_most}{round(seconds, 1):g} s) …")
        yield lambda _: None


class TerminalProgress:
    """A last line that changes: everything in progress, with its seconds or a bar."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # What the line holds, in order; each part is asked for its text whenever it is drawn.
        self._parts: list[Callable[[], str]] = []

    def say(self, text: str) -> None:
        """Print lines that stay."""
        lines = "".join(f"{printable(line)}\n" for line in text.splitlines())
        with self._lock:
            self._write(f"{_CLEAR if self._parts else ''}{lines}{self._line()}")

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Count the seconds until the block ends, then print the line."""
        began = time.monotonic()
        with self._shown(lambda: f"{text} … {time.monotonic() - began:.0f} s"):
            yield
        self.say(_done(text, time.monotonic() - began))

    @contextmanager
    def window(self, text: str, seconds: float, *, at_most: bool = False) -> Iterator[Tick]:
        """Draw a bar that fills as the window passes and disappears at its end."""
        passed_s = 0.0

        def bar() -> str:
            full = round(_BAR * passed_s / seconds) if seconds else _BAR
            left = f"{'at most ' * at_most}{seconds - passed_s:.0f} s left"
            return f"{text} {'━' * full}{'─' * (_BAR - full)} {left}"

        def tick(elapsed: float) -> None:
            nonlocal passed_s
            passed_s = min(elapsed, seconds)

        with self._shown(bar):
            yield tick

    @contextmanager
    def _shown(self, part: Callable[[], str]) -> Iterator[None]:
        """Show a part of the line until the block ends."""
        is_over = threading.Event()

        def redraw() -> None:
            while not is_over.wait(_REDRAWN_S):
                with self._lock:
                    if self._parts[:1] == [part]:  # One part draws the line for all.
                        self._write(_CLEAR + self._line())

        try:
            with self._lock:
                self._parts.append(part)
                self._write(_CLEAR + self._line())
            threading.Thread(target=redraw, daemon=True).start()
            yield
        finally:
            is_over.set()
            with self._lock:
                if part in self._parts:
                    self._parts.remove(part)
                self._write(_CLEAR + self._line())

    def _line(self) -> str:
        """Return the line as it is now; it fits into the terminal."""
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns
        except (OSError, ValueError):
            width = 0
        width = width or _WIDTH  # A terminal may not know it.
        text = printable(" · ".join(part() for part in self._parts))
        return text if len(text) < width else f"{text[: width - 2]}…"

    @staticmethod
    def _write(text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)  # noqa: T201


def _done(text: str, seconds: float) -> str:
    """Return the line of a step that has ended."""
    return f"{text}: {seconds:.0f} s" if seconds >= _LONG_S else text


class Throttle:
    """Calls `work` when asked, at most once in `every_s` seconds, and at the end of its block.

    The interval starts when the throttle is made, and again at the end of each call. A postponed
    call is made when the block ends, even after an error, but not after an interrupt.
    """

    def __init__(
        self,
        work: Callable[[], None],
        every_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._every_s = every_s
        self._clock = clock
        self._last_s = clock()
        self._is_due = False

    def ask(self) -> None:
        """Call `work` now, or later if the interval has not passed."""
        self._is_due = True
        if self._clock() - self._last_s >= self._every_s:
            self._call()

    def _call(self) -> None:
        self._is_due = False
        self._work()
        self._last_s = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_due and (kind is None or issubclass(kind, Exception)):
            self._call()
