"""The diary of a night: results/nights/<UTC start>.jsonl, one line per event.

The first line holds what the night should measure, the last its end. The results are in the
records. The diary adds the sessions that began, so that a session which killed the runner is
tried last when the night resumes.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from arena.base.errors import HostError
from arena.base.model import Frozen
from arena.base.text import shown
from arena.base.writing import write_new


class Scope(Frozen):
    """What a night should measure; empty or None means all."""

    frameworks: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    connections: tuple[int, ...] = ()
    generator: str | None = None
    only_changed: bool = False

    def __str__(self) -> str:
        words = [*self.frameworks, *(f"--profile {each}" for each in self.profiles)]
        if self.connections:
            words.append(f"--connections {','.join(map(str, self.connections))}")
        if self.generator:
            words.append(f"--generator {self.generator}")
        if self.only_changed:
            words.append("--only-changed")
        return " ".join(words) or "everything"


class _Beginning(Frozen):
    """The first line."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    night: str
    scope: Scope


class Diary:
    """One night's file. `begun` holds the titles of the sessions that began, by this file."""

    def __init__(self, path: Path, started_at: str, scope: Scope, begun: Sequence[str]) -> None:
        self.path = path
        self.started_at = started_at
        self.scope = scope
        self.begun = frozenset(begun)

    @classmethod
    def new(cls, folder: Path, started_at: str, scope: Scope) -> Self:
        """Create the file of a night; HostError if it cannot be written."""
        path = folder / f"{started_at}.jsonl"
        write_new(path, _Beginning(night=started_at, scope=scope).model_dump_json() + "\n")
        return cls(path, started_at, scope, ())

    def is_open(self) -> bool:
        """Return whether the night has not ended."""
        return not any("ended" in event for event in _events(self.path))

    def begin(self, session: str) -> None:
        """Record that a session begins."""
        self._append({"begun": session})

    def end(self, ended_at: str) -> None:
        """Record that the night has ended and cannot be resumed."""
        self._append({"ended": ended_at})

    def _append(self, line: dict[str, str]) -> None:
        # Each line begins with a line break, so that a line cut off by a crash stays separate.
        data = f"\n{json.dumps(line)}\n".encode()
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(handle, data)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise HostError(f"{shown(self.path)}: cannot be written ({error.strerror})") from error


def unfinished(folder: Path) -> Diary | None:
    """Return the newest night's diary if the night was cut short; ValueError if it is broken."""
    path = max(folder.glob("[0-9]*Z.jsonl"), default=None)
    if path is None:
        return None
    try:
        beginning = _Beginning.model_validate(next(_events(path), {}))
    except (OSError, ValueError) as error:
        raise ValueError(f"{shown(path)}: is not the diary of a night") from error
    begun = [str(event["begun"]) for event in _events(path) if "begun" in event]
    diary = Diary(path, beginning.night, beginning.scope, begun)
    return diary if diary.is_open() else None


def _events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the event of each line; skip a line that was cut off."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield data
