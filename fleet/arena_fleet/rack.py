"""A rack as a night sees it: it takes one session at a time, and hands over what came of it."""

import errno
import gzip
import hashlib
import io
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, TypeVar

from pydantic import Field

from arena.base.errors import HostError
from arena.base.model import Frozen
from arena.base.reading import sha256_of
from arena.base.text import printable, shown
from arena.judge.store import Draft, adopt, saved_sum
from arena.night.diary import Event
from arena.night.schedule import PlannedNight
from arena.record.arrivals import record_of, unpack
from arena.record.reading import parse_record
from arena.record.record import Record
from arena.run.request import Request
from parsers.common.figures import Whole

_LOOK_S = 0.1

# A host hands over so much at once.
CHUNK_BYTES = 4 << 20

# The errors of a new folder that come from the names in an archive, and of a file that is missing.
_OF_NAMES = {errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENOENT}


class AskedBlock(Frozen):
    """A block for a rack: its number, the night with its load alone, and that load's events."""

    number: int
    planned: PlannedNight
    before: tuple[Event, ...] = ()

    def has(self, event: Event) -> bool:
        """Whether an event is one of this block."""
        return any(
            (event.load, event.block) == (load.load, self.number)
            and event.framework in {"", *load.frameworks}
            for load in self.planned.loads
        )


class Asked(Frozen):
    """A session for a rack: the sessions of a request, or a block of their frameworks."""

    request: Request
    night: str
    block: AskedBlock | None = None


class Printed(Frozen):
    """What a session has printed up to byte `at`; whether it `waits` for another one to end."""

    text: Annotated[str, Field(max_length=CHUNK_BYTES)]
    at: Whole
    waits: bool


class Finished(Frozen):
    """How a session ended, as its host says it: with results of this size and SHA-256."""

    code: Annotated[int, Field(ge=-255, le=255)]
    error: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = hashlib.sha256().hexdigest()
    bytes: Whole = 0
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class SessionEnd:
    """How a session ended: its exit code, its last error, its results as an archive, its events.

    The archive is empty if the session did not begin. `events` are those of a block. `is_lost`: the
    rack ended, or is silent, with the session in hand; the error says how.
    """

    code: int
    error: str
    archive: bytes = b""
    events: Sequence[Event] = ()
    is_lost: bool = False

    @property
    def why(self) -> str:
        """Why it failed."""
        return self.error or f"exit code {self.code}"


class Offer(Frozen):
    """What a rack can measure: its host class, its volley and runtime, and its frameworks.

    `volley` has the version and the SHA-256 of what makes the load, which its coordinator knows.
    `sources` are the SHA-256 of the frameworks' sources, `unavailable` says why one cannot run.
    """

    host_class: str
    words: str
    volley: str = ""
    runtime: str
    sources: Mapping[str, str]
    unavailable: Mapping[str, str]

    @property
    def kind(self) -> tuple[str, str]:
        """What all racks of a night have in common."""
        return self.host_class, self.volley

    @property
    def kind_words(self) -> str:
        """The same in words."""
        return f"{self.words}, {self.volley}"


class Rack(Protocol):
    """A server host and its generator hosts."""

    name: str

    def offer(self, runtime: str, frameworks: Sequence[str]) -> Offer:
        """Return what it can measure; HostError if it does not answer."""

    def begin(self, asked: Asked) -> None:
        """Start a session. A rack has one at a time."""

    def poll(self) -> SessionEnd | None:
        """Return how the session ended; None while it goes on."""

    def stop(self) -> None:
        """Have the session end now, without waiting for it."""

    def await_stop(self) -> None:
        """Wait until the rack knows that the session is to end, for a few seconds at most."""


Item = TypeVar("Item")


def spread(
    racks: list[Rack],
    take: Callable[[Rack], tuple[Asked, Item] | None],
    ended: Callable[[Rack, Item, SessionEnd], bool],
) -> None:
    """Give racks sessions until `take` has none for any of them, and all have ended theirs.

    `ended` is called with what came of an item, and returns whether its rack may go on; one that
    may not, or is lost, is removed from `racks`. An interrupt ends the sessions on all racks.
    """
    free, busy = list(racks), dict[str, tuple[Rack, Item]]()
    try:
        while True:
            for rack in list(free):
                if taken := take(rack):
                    free.remove(rack)
                    busy[rack.name] = rack, taken[1]
                    rack.begin(taken[0])
            if not busy:
                return
            for rack, item in list(busy.values()):
                if end := rack.poll():
                    del busy[rack.name]
                    may_go_on = ended(rack, item, end) and not end.is_lost
                    (free.append if may_go_on else racks.remove)(rack)
            time.sleep(_LOOK_S)
    finally:
        for rack, _ in busy.values():
            rack.stop()
        for rack, _ in busy.values():
            rack.await_stop()


def pack(results: Path) -> bytes:
    """Return the results of a session as an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for each in sorted(results.iterdir()):
            archive.add(each, each.name)
    return buffer.getvalue()


class Came(NamedTuple):
    """A record that came from a rack, and its file."""

    path: Path
    record: Record


class DamagedError(HostError):
    """The results of a session are not what its rack has made."""


class Unpacked:
    """An archive in a draft's folder, which nothing but files are taken from.

    DamagedError if it is broken, another HostError if it cannot be written here.
    """

    def __init__(self, archive: bytes, draft: Draft, results: Path) -> None:
        self._folder, self._results = draft.folder, results
        if not archive:
            return
        try:
            unpack(gzip.GzipFile(fileobj=io.BytesIO(archive)), self._folder, record_of)
        except ValueError as error:
            raise DamagedError(f"the results cannot be unpacked: {error}") from error
        except OSError as error:
            raise HostError(f"the results cannot be written: {error.strerror}") from error

    def records(self) -> Iterator[Came]:
        """Yield each record; DamagedError if it was damaged."""
        for path in sorted(self._folder.glob("*/*/*/*Z.json")):
            name = path.relative_to(self._folder).as_posix()
            with _blamed(path, f"{name}: cannot be read"):
                record, saved = parse_record(path.read_bytes()), saved_sum(path)
            if record.path != name:
                raise DamagedError(f"{name}: is the record of {record.path}")
            wanted = {name: saved or "", **{raw.path: raw.sha256 for raw in record.raws}}
            for file, sha256 in wanted.items():
                damaged = f"{printable(file)}: was damaged on its way"
                with _blamed(self._folder / file, damaged):
                    if sha256_of(self._folder / file) != sha256:
                        raise DamagedError(damaged)
            yield Came(path, record)

    def adopt(self) -> list[Came]:
        """Move all records to their places here.

        DamagedError, and nothing is moved, if one is bad; another HostError if one cannot be moved.
        """
        return [
            Came(adopt(path, self._results / record.path), record)
            for path, record in list(self.records())
        ]


@contextmanager
def _blamed(path: Path, damaged: str) -> Iterator[None]:
    """Raise DamagedError if a file is odd; another HostError if it is this host that fails."""
    try:
        yield
    except ValueError as error:
        raise DamagedError(f"{damaged}: {error}") from error
    except OSError as error:
        if error.errno in _OF_NAMES:
            raise DamagedError(damaged) from error
        raise HostError(f"{shown(path)}: cannot be read ({error.strerror})") from error
