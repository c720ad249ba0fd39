"""The hosts of a fleet, as the coordinator sees them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from arena.base.errors import HostError, UsageError
from arena.base.text import printable
from arena_fleet.agent import RefusedError
from arena_fleet.clock import EXCHANGES, Exchange, Offset, monotonic_ns, offset_of
from arena_fleet.facts import MOST_BOUND_NS, HostFacts, require_slug
from arena_fleet.shares import Share

# One exchange of clocks takes milliseconds; a host that needs so long is not there.
_CLOCK_S = 2.0
_TRIES = 4

Answer = TypeVar("Answer")


class LostError(Exception):
    """A host did not answer; the text says how: it has gone, or it is silent.

    The text may have names, paths and addresses; `words`, for records, have none.
    """

    def __init__(self, text: str, words: str = "") -> None:
        super().__init__(text)
        self.words = words or text


class Place(NamedTuple):
    """Where a host belongs: the name of its rack, if any, and whether it is the server host.

    A worker declares both as resources of Dask, so they are known of silent hosts, too.
    """

    rack: str = ""
    serves: bool = False

    def resources(self, host_class: str) -> dict[str, float]:
        """Return what the worker of a host of a class declares."""
        kind = "rack" if self.serves else "generator"
        return {f"{kind}:{host_class}": 1, **({f"in:{self.rack}": 1} if self.rack else {})}

    @classmethod
    def named(cls, rack: str | None, *, serves: bool) -> Self:
        """Return the place that options name; UsageError if there is none such."""
        if serves and not rack:
            raise UsageError("--serves: is for the server host of a rack (add --rack NAME)")
        if rack is not None:
            require_slug("--rack", rack)
        return cls(rack or "", serves)

    @classmethod
    def read(cls, resources: Mapping[str, float]) -> Self:
        """Return the place of a worker with these resources."""
        rack = "".join(each[3:] for each in resources if each.startswith("in:"))
        return cls(rack, any(each.startswith("rack:") for each in resources))


NO_RACK = Place()


class Calls(Protocol):
    """Asks hosts by name. Nothing is repeated here; every call has a deadline."""

    async def names(self) -> list[str]:
        """Return who is there now; LostError if the coordinator does not answer."""

    async def call(self, name: str, verb: str, deadline_s: float, **given: Any) -> Any:
        """Call a method of the host's agent; RefusedError as it raises it, else LostError."""


@dataclass(frozen=True)
class Member:
    """A generator host: its number from 1, its facts and its share of the load."""

    number: int
    facts: HostFacts
    share: Share

    @property
    def threads(self) -> int:
        """The threads of each of its processes, if it has connections enough."""
        return max(1, int(self.facts.cpus) // self.share.count)


async def clock_of(calls: Calls, name: str) -> Offset:
    """Estimate the offset of a host's clock; LostError if it does not answer.

    A busy moment of a host is no reason to refuse it: it has some tries to be exact enough.
    """
    exchanges: list[Exchange] = []
    for _ in range(_TRIES):
        for _ in range(EXCHANGES):
            sent_ns = monotonic_ns()
            there_ns = await calls.call(name, "clock", _CLOCK_S)
            if not isinstance(there_ns, int):
                raise LostError("its clock is no number")
            exchanges.append(Exchange(sent_ns, there_ns, monotonic_ns()))
        if offset_of(exchanges).bound_ns <= MOST_BOUND_NS:
            break
    return offset_of(exchanges)


async def of_all(
    members: Sequence[Member], ask: Callable[[Member], Awaitable[Answer]]
) -> list[Answer | Exception]:
    """Ask all hosts at the same time; return the answer of each, or why there is none."""

    async def one(member: Member) -> Answer | Exception:
        try:
            return await ask(member)
        except (LostError, RefusedError) as error:
            return error

    return list(await asyncio.gather(*map(one, members)))


def member_words(number: int, of: int) -> str:
    """Return a host's name in records and errors: its number."""
    return f"generator {number} of {of}"


def not_ready(number: int, of: int, why: object) -> HostError:
    """Return the error of a host that cannot take part."""
    return HostError(f"{member_words(number, of)}: {printable(str(why))}")
