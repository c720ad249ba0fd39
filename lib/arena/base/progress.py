"""What a user sees while a session runs: a bar on a terminal, plain lines elsewhere.

Everything here goes to stderr; stdout holds only the result.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from arena.base.text import printable

# Called with the seconds of a window that have passed.
Tick = Callable[[float], None]


class Progress(Protocol):
    """Shows the user what a session does."""

    def say(self, text: str) -> None:
        """Print lines that stay."""

    def waiting(self, text: str) -> AbstractContextManager[None]:
        """Show that something is in progress until the block ends."""

    def window(
        self, text: str, seconds: float, *, at_most: bool = False
    ) -> AbstractContextManager[Tick]:
        """Show a timed window, which may end early; the block calls the tick to advance it."""


def progress() -> Progress:
    """Return the progress that suits stderr."""
    return TerminalProgress() if sys.stderr.isatty() else PlainProgress()


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
        """Print what begins."""
        self.say(f"{text} …")
        yield

    @contextmanager
    def window(self, text: str, seconds: float, *, at_most: bool = False) -> Iterator[Tick]:
        """Print what begins and how long it takes."""
        self.say(f"{text} ({'at most ' * at_most}{round(seconds, 1):g} s) …")
        yield lambda _: None


class TerminalProgress:
    """A spinner for waiting, a bar for a window."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)

    def say(self, text: str) -> None:
        """Print lines that stay."""
        for line in text.splitlines():
            self._console.print(printable(line), markup=False, soft_wrap=True)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Spin until the block ends, then print the line."""
        from rich.text import Text

        with self._console.status(Text(f"{printable(text)} …")):
            yield
        self.say(text)

    @contextmanager
    def window(self, text: str, seconds: float, *, at_most: bool = False) -> Iterator[Tick]:
        """Draw a bar that fills as the window passes and disappears at its end."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._console, transient=True) as bar:
            shown = f"{text}, at most" if at_most else text
            task = bar.add_task(printable(shown), total=seconds)
            yield lambda elapsed: bar.update(task, completed=min(elapsed, seconds))
