"""Builds: the commands that make a generator or a server, of several at the same time."""

import os
import time
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from arena.base.durations import format_duration
from arena.base.errors import ArenaError, FrameworkError, HostError
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.text import shown
from arena.base.writing import shorten
from arena.machine.blame import cannot, said
from arena.machine.child import TICK_S, Child, exit_words, whole_command
from arena.machine.interrupts import held

# A command that takes longer is considered hung.
TIMEOUT_S = 1800.0

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True)
class Command:
    """A command of a build, run in `folder` with all its output to `log`.

    `words` say what it does. An error names it as `called`, by default as its last word. Without an
    `environment`, it has the caller's.
    """

    argv: Sequence[str]
    folder: Path
    log: Path
    words: str
    called: str = ""
    environment: Mapping[str, str] | None = None


# A build yields its commands, each after the end of the one before, and returns what it made. The
# FrameworkError of a command that failed is raised where the build yielded it.
Build = Generator[Command, None, T]


def beside(
    builds: Mapping[K, Build[T]], shows: Progress
) -> Generator[tuple[K, Callable[[], T]], None, None]:
    """Run builds at the same time; yield each that has ended, and what returns its result.

    That raises the build's error. Whoever closes this generator ends the builds that still run.
    """
    running = {key: _steps(build, shows) for key, build in builds.items()}
    try:
        while running:
            for key, steps in list(running.items()):
                result: Callable[[], T]
                try:
                    next(steps)
                    continue
                except StopIteration as end:
                    result = _returns(end.value)
                except (ArenaError, OSError) as error:  # It is of this build alone.
                    result = _raises(error)
                del running[key]
                yield key, result
            if running:
                time.sleep(TICK_S)
    finally:
        with held(), ExitStack() as stack:
            for steps in running.values():
                stack.callback(steps.close)


def finished(build: Build[T], shows: Progress) -> T:
    """Run one build, and return its result."""
    with closing(beside({"": build}, shows)) as ended:
        _, result = next(ended)
    return result()


def run(command: Command, shows: Progress) -> None:
    """Run one command; FrameworkError if it fails."""
    finished(_only(command), shows)


def _only(command: Command) -> Build[None]:
    yield command


def _steps(build: Build[T], shows: Progress) -> Generator[None, None, T]:
    """Run a build; yield while a command runs."""
    failed: FrameworkError | None = None
    with closing(build):
        while True:
            try:
                command = build.throw(failed) if failed else next(build)
            except StopIteration as end:
                made: T = end.value
                return made
            try:
                yield from _run(command, shows)
                failed = None
            except FrameworkError as error:
                failed = error


def _run(command: Command, shows: Progress) -> Generator[None, None, None]:
    """Run a command; yield while it runs. FrameworkError if it fails, HostError by this host."""
    argv, log = whole_command(command.argv), command.log
    began, child, code = time.monotonic(), None, None
    with shows.waiting(command.words):
        try:
            with held():
                child = Child(
                    argv,
                    cwd=command.folder,
                    stdout=log,
                    stderr=log,
                    environment=command.environment,
                )
            while (code := child.poll()) is None and time.monotonic() - began < TIMEOUT_S:
                yield
        finally:
            if child is not None:
                with held():
                    child.stop()
                shorten(log)
        if code is None:
            why = f"took longer than {format_duration(TIMEOUT_S)}"
        elif code:
            why = f"failed ({exit_words(code)})"
        else:
            return
        called, output = command.called or command.argv[-1], tail(log)
        if fault := said("build", output, log) or _homeless():
            raise fault
        raise FrameworkError("build", f"`{called}` {why}", log=log, output=output)


def _homeless() -> HostError | None:
    """Return the error of a host whose HOME is no folder: most builds need one."""
    home = os.environ.get("HOME", "")
    if Path(home).is_absolute() and os.access(home, os.W_OK | os.X_OK):
        return None
    what = f"{shown(Path(home))}, which is no folder to write in" if home else "not set"
    return cannot(f"build: HOME is {what}", "set it to a folder")


def _returns(made: T) -> Callable[[], T]:
    return lambda: made


def _raises(error: Exception) -> Callable[[], NoReturn]:
    def result() -> NoReturn:
        raise error

    return result
