"""The diary of a night: results/nights/<UTC start>.jsonl, one line per event.

The first line holds what the night should measure, the last its end. The results are in the
records. The diary adds the sessions that began, so that a session which killed the runner is
tried last when the night resumes. In a night of blocks, the first line also has what was decided
before the first visit, and the other lines are events: what began, what was void, what is done.
"""

import fcntl
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from arena.base.errors import HostError, UsageError
from arena.base.model import Frozen
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.base.writing import write_new
from arena.judge.cache import Cache
from arena.judge.packing import archive_to_pack, pack_night
from arena.night.schedule import PlannedNight
from arena.record.times import UtcTime, utc_now
from arena.run.request import Request
from arena.what.environment import FLEET_GENERATOR
from arena.what.selection import ALL


class NightScope(Frozen):
    """What a night should measure; empty or None means all.

    `blocks` is the number of blocks of a night of blocks. Its `seed` and `twins` are as they were
    asked for. `duration_s` and `warm_up_s` make trials.
    """

    frameworks: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    connections: tuple[int, ...] = ()
    generator: str | None = None
    only_changed: bool = False
    blocks: int | None = None
    seed: str | None = None
    twins: str | None = None
    duration_s: float | None = None
    warm_up_s: float | None = None
    server_quota: float | None = None

    def __str__(self) -> str:
        words = [*self.frameworks, *(f"--profile {each}" for each in self.profiles)]
        if self.connections:
            words.append(f"--connections {','.join(map(str, self.connections))}")
        if self.generator == FLEET_GENERATOR:
            words.append("--fleet ADDRESS")
        elif self.generator:
            words.append(f"--generator {self.generator}")
        if self.only_changed:
            words.append("--only-changed")
        values = {
            "--blocks": self.blocks,
            "--seed": self.seed,
            "--twin": self.twins,
            "--duration": format_duration(self.duration_s) if self.duration_s else None,
            "--block-warm-up": format_duration(self.warm_up_s) if self.warm_up_s else None,
            "--server-quota": f"{self.server_quota:g}" if self.server_quota else None,
        }
        words += [f"{name} {value}" for name, value in values.items() if value]
        return " ".join(words) or "everything"


def scope_of(request: Request) -> NightScope:
    """Return what makes two nights the same, so that one can be resumed."""
    words = {word for each in request.frameworks for word in each.split(",") if word}
    return NightScope(
        frameworks=() if ALL in words else tuple(sorted(words)),
        profiles=tuple(sorted(set(request.profiles))),
        connections=request.connections or (),
        generator=request.made_by,
        only_changed=request.only_changed,
        blocks=request.blocks,
        seed=request.seed,
        twins=request.twin,
        duration_s=request.duration,
        warm_up_s=request.block_warm_up,
        server_quota=request.server_quota,
    )


class _Beginning(Frozen):
    """The first line."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    night: UtcTime
    scope: NightScope
    planned: PlannedNight | None = None


class Diary:
    """One night's file. `events` are its lines so far; `planned` is for a night of blocks."""

    def __init__(self, path: Path, beginning: _Beginning, events: Sequence[dict[str, Any]]) -> None:
        self.path = path
        self.started_at = beginning.night
        self.scope = beginning.scope
        self.planned = beginning.planned
        self.events = tuple(events)

    @classmethod
    def new(
        cls, folder: Path, started_at: str, scope: NightScope, planned: PlannedNight | None = None
    ) -> Self:
        """Create the file of a night; HostError if it cannot be written."""
        path = folder / f"{started_at}.jsonl"
        beginning = _Beginning(night=started_at, scope=scope, planned=planned)
        write_new(path, f"{beginning.model_dump_json(exclude_none=True)}\n")
        return cls(path, beginning, ())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file of a night; ValueError if it is broken."""
        try:
            first, *events = [*objects_in(path)] or [{}]
            return cls(path, _Beginning.model_validate(first), events)
        except (OSError, ValueError) as error:
            raise ValueError(f"{shown(path)}: is not the diary of a night") from error

    @property
    def begun(self) -> frozenset[str]:
        """The titles of the sessions that began, when the file was read."""
        return frozenset(str(event["begun"]) for event in self.events if "begun" in event)

    @property
    def is_open(self) -> bool:
        """Whether the night had not ended when the file was read."""
        return not any("ended" in event for event in self.events)

    def as_it_is(self, shows: Progress) -> Self | None:
        """Read it again: another runner may have gone on with the night while this one waited.

        None, with a word on it, if the night has ended since.
        """
        now = self.read(self.path)
        if now.is_open:
            return now
        shows.say("that night has been finished by another: a new one begins")
        return None

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Have other processes see that the night goes on, for the block."""
        with self.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    def begin(self, session: str) -> None:
        """Record that a session begins."""
        self.append({"begun": session})

    def end(self, ended_at: str) -> None:
        """Record that the night has ended and cannot be resumed."""
        self.append({"ended": ended_at})

    def close(self, workspace: Workspace, shows: Progress, until: str = "") -> None:
        """End the night, and bundle what was measured in it; report if that cannot be.

        It was measured `until` a time, or until now.
        """
        try:
            with archive_to_pack(workspace.results, Cache(workspace.cache), shows) as archive:
                if bundle := pack_night(archive, self.started_at, until or utc_now()):
                    shows.say(f"bundle: {shown(bundle)}")
        except HostError as error:
            shows.say(f"warning: {error}: the records stay loose")
        # Until here, --resume would do it again.
        self.end(utc_now())

    def append(self, line: dict[str, Any]) -> None:
        """Write an event."""
        append_line(self.path, line)


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Write a line of JSON to a file, and have it on the disk; HostError if that cannot be."""
    # Each line begins with a line break, so that a line cut off by a crash stays separate.
    data = f"\n{json.dumps(line)}\n".encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error


def objects_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line; skip a line that was cut off."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield data


class Event(Frozen):
    """One line of the diary; `why` is a sentence, `code` the exit code of a failed visit."""

    event: Literal["block", "visit", "void", "dropped", "done", "lost"]
    load: str
    block: int
    attempt: int
    framework: str = ""
    is_twin: bool = False
    place: int = 0
    repeat: int = 0
    why: str = ""
    code: int = 0


class Log:
    """A night's blocks, by the events so far and since; `append` writes a line.

    `dropped` has, by load, the frameworks that are not visited any more. `ended` has the blocks
    (load, number) that need no further attempt, with the reason if one is lost.
    """

    def __init__(self, before: Iterable[Event], append: Callable[[dict[str, Any]], None]) -> None:
        self._append = append
        self.events: list[Event] = []
        self._attempts: Counter[tuple[str, int]] = Counter()
        self.dropped: dict[str, dict[str, Event]] = defaultdict(dict)
        self.ended: dict[tuple[str, int], str] = {}
        self.visits: Counter[str] = Counter()
        self.voids: Counter[str] = Counter()
        for event in before:
            self._count(event)

    def note(self, event: Event) -> None:
        """Write an event."""
        self._append(event.model_dump(exclude_defaults=True))
        self._count(event)

    def next_attempt(self, load: str, block: int) -> int:
        """Return the number of the attempt that begins now."""
        return self._attempts[load, block] + 1

    def _count(self, event: Event) -> None:
        self.events.append(event)
        load, block = event.load, event.block
        match event.event:
            case "block":
                self._attempts[load, block] += 1
            case "visit":
                self.visits[load] += 1
            case "void":
                self.voids[load] += 1
            case "dropped":
                self.dropped[load][event.framework] = event
            case "done" | "lost":
                self.ended[load, block] = event.why


def events_in(lines: Iterable[object]) -> Iterator[Event]:
    """Yield the events of blocks among the lines of a diary."""
    for line in lines:
        try:
            yield Event.model_validate(line)
        except ValueError:
            continue  # It is of a session, or the end of the night.


def unresumable(why: str) -> UsageError:
    """Return the error of a night that was cut short and cannot be resumed: no other one begins."""
    return UsageError(f"--resume: {why}; without --resume, a new night begins")


def to_resume(folder: Path, scope: NightScope, shows: Progress) -> Diary | None:
    """Return the diary of the night to resume, and report which; None if none was cut short.

    Without a requested scope, it is the newest night, if that was cut short. A night of blocks is
    resumed if it is the newest one of the requested scope, any other night only if it is the
    newest of all. UsageError for a night that measures something else, for a fleet's night without
    the fleet, and for a broken diary.
    """
    of_blocks = bool(scope.blocks)
    for path in sorted(folder.glob("[0-9]*Z.jsonl"), reverse=True):
        try:
            found = Diary.read(path)
        except ValueError as error:
            raise unresumable(str(error)) from error
        if of_blocks and scope != found.scope:
            continue
        if not found.is_open:
            break
        of = f"the night of {found.started_at} ({found.scope})"
        # A fleet is where the load comes from; it alone is no other scope.
        is_fleets = found.scope.generator == FLEET_GENERATOR
        if is_fleets and scope in (NightScope(), found.scope.changed(generator=None)):
            raise UsageError(f"--resume: {of} was a fleet's: add --fleet ADDRESS")
        everything = NightScope(generator=FLEET_GENERATOR if is_fleets else None)
        if scope not in (everything, found.scope):
            raise unresumable(f"{of} measures something else")
        shows.say(f"resuming {of}")
        return found
    such = " of such blocks" if of_blocks else ""
    shows.say(f"no night{such} was cut short: a new one begins")
    return None


def close_others(workspace: Workspace, own: Diary, shows: Progress) -> None:
    """End and bundle the earlier nights that were cut short, and that nobody can resume any more.

    A plain night is resumed only if it is the newest of all, a night of blocks only if it is the
    newest of its scope. A night that goes on is left alone.
    """
    paths = sorted(workspace.nights.glob("[0-9]*Z.jsonl"))
    for path, after in pairwise(paths):
        if path >= own.path or _goes_on(path):
            continue
        try:
            found = Diary.read(path)
            if found.is_open and (not found.scope.blocks or found.scope == own.scope):
                found.close(workspace, shows, after.stem)
        except ValueError:
            continue
        except HostError as error:
            shows.say(f"warning: {error}")


def _goes_on(path: Path) -> bool:
    """Return whether a process goes on with the night of this diary."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
