"""A rack as a night sees it: it takes one session at a time, and hands over what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.base.model import Frozen
from arena.night.diary import Event
from arena.night.schedule import PlannedNight
from arena.run.request import Request


class AskedBlock(Frozen):
    """A block for a rack: its number, the night with its load alone, and that load's events."""

    number: int
    planned: PlannedNight
    before: tuple[Event, ...] = ()


class Asked(Frozen):
    """A session for a rack: the sessions of a request, or a block of their frameworks."""

    request: Request
    night: str
    block: AskedBlock | None = None


@dataclass(frozen=True)
class Ended:
    """How a session ended: its exit code, its last error, its results as an archive, its events.

    The archive is empty if the session did not begin. `events` are those of a block.
    """

    code: int
    error: str
    archive: bytes
    events: Sequence[Event] = ()


@dataclass(frozen=True)
class Offer:
    """What a rack can measure: its host class, its volley and runtime, and its frameworks.

    `volley` has the version and the SHA-256 of what makes the load.
    `sources` are the SHA-256 of the frameworks' sources, `unavailable` says why one cannot run.
    """

    host_class: str
    words: str
    volley: str
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


class LostRackError(Exception):
    """A rack ended, or is silent, with a session in hand; the text says how."""


class Rack(Protocol):
    """A server host and its generator hosts."""

    name: str

    def offer(self, runtime: str, frameworks: Sequence[str]) -> Offer:
        """Return what it can measure; LostRackError if it does not answer."""

    def begin(self, asked: Asked) -> None:
        """Start a session. A rack has one at a time."""

    def poll(self) -> Ended | None:
        """Return how the session ended; None while it goes on; LostRackError if it is lost."""

    def stop(self) -> None:
        """Have the session end now, without waiting for it."""

    def await_stop(self) -> None:
        """Wait until the rack knows that the session is to end, for a few seconds at most."""
