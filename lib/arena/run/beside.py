"""Validations beside each other: each framework in a process and on ports of its own."""

import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pydantic

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import last_error
from arena.base.workspace import Workspace
from arena.base.writing import DRAFT
from arena.machine.child import (
    TICK_S,
    Child,
    exit_words,
    stop_all,
    this_program,
    whole_command,
)
from arena.machine.interrupts import held
from arena.run.verdicts import FrameworkVerdict, Validation
from arena.what.environment import Ports

_OUT, _ERR = "stdout", "stderr"
_ERROR = "error:"


@dataclass(frozen=True)
class Candidate:
    """A framework to validate. One that is not movable can only have the first slot."""

    framework: str
    is_movable: bool


@dataclass
class _Running:
    """The validation of a part, in a process of its own, with the ports of a slot."""

    part: Candidate
    slot: int
    folder: Path
    child: Child
    code: int = 0
    _shown: int = 0

    def new_lines(self) -> list[str]:
        """Return the lines that it has printed since the last call."""
        with (self.folder / _ERR).open("rb") as file:
            file.seek(self._shown)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._shown += len(whole)
        return whole.decode(errors="replace").splitlines()

    def outcome(self) -> FrameworkVerdict:
        """Return what it found, once it has been stopped; HostError if it found nothing."""
        try:
            found = Validation.model_validate_json((self.folder / _OUT).read_bytes())
            (outcome,) = found.frameworks
        except (pydantic.ValidationError, ValueError) as error:
            why = last_error(self.folder / _ERR) or exit_words(self.code)
            raise HostError(why) from error
        return outcome


@dataclass(frozen=True)
class Validator:
    """Validates frameworks, as many at once as there are slots: each is the ports of a server.

    `words` are the options of each validation.
    """

    workspace: Workspace
    profiles: Sequence[str]
    words: Sequence[str]
    slots: Sequence[Ports]
    shows: Progress

    def run(
        self, parts: Sequence[Candidate]
    ) -> Iterator[tuple[str, Callable[[], FrameworkVerdict]]]:
        """Yield each framework that has ended, and a function that returns its outcome."""
        waiting, free = deque(parts), list(range(len(self.slots)))
        running: list[_Running] = []
        with tempfile.TemporaryDirectory(prefix=DRAFT) as folder:
            try:
                while waiting or running:
                    while free and (part := _next(waiting, free[0])):
                        with held():
                            own = Path(folder) / part.framework
                            running.append(self._start(part, free.pop(0), own))
                    for each in list(running):
                        is_over = each.child.poll() is not None
                        for line in each.new_lines():
                            self._say(each.part.framework, line)
                        if is_over:
                            with held():
                                running.remove(each)
                                each.code = each.child.stop()
                            free = sorted([*free, each.slot])
                            yield each.part.framework, each.outcome
                    time.sleep(TICK_S)
            finally:
                with held():
                    stop_all([each.child for each in running])

    def _start(self, part: Candidate, slot: int, folder: Path) -> _Running:
        folder.mkdir()
        argv = [*this_program(), "--root", str(self.workspace.root), "validate", part.framework]
        argv += [*self.profiles, *self.words, "--json", "--part"]
        child = Child(
            whole_command(argv),
            cwd=self.workspace.root,
            stdout=folder / _OUT,
            stderr=folder / _ERR,
            environment={**os.environ, **self.slots[slot].environment},
        )
        return _Running(part, slot, folder, child)

    def _say(self, framework: str, line: str) -> None:
        """Show a line of a validation, but not its error: that is the reason of its outcome."""
        if not line.startswith(_ERROR):
            self.shows.say(f"{framework}: {line.strip()}")


def _next(waiting: deque[Candidate], slot: int) -> Candidate | None:
    """Take the next part that can have the ports of a slot."""
    for part in waiting:
        if part.is_movable or slot == 0:
            waiting.remove(part)
            return part
    return None
