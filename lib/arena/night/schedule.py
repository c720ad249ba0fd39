"""What a night of blocks has decided before its first visit, and the order that its seed gives.

The plan stands in the night's diary. The order is a pure function of the seed: each item has a
random number of its own, so a framework or a load that is left out does not change the order of the
others.
"""

import hashlib
import operator
import random
import re
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import Field

from arena.base.model import Frozen
from arena.record.measurement import Seconds
from arena.what.profile import MeasuredProfile
from arena.what.schedule import Rps

_HEX = re.compile("[0-9a-f]{64}")


class Slot(NamedTuple):
    """A framework's turn in each block; a twin is the same framework, entered once more."""

    framework: str
    is_twin: bool = False

    def __str__(self) -> str:
        return f"{self.framework} (twin)" if self.is_twin else self.framework


def seed_of(text: str) -> str:
    """Return 64 hex digits: the text itself if it is that already, or its SHA-256."""
    return text if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).hexdigest()


def loads_of(seed: str, block: int, loads: Iterable[str]) -> list[str]:
    """Return the loads in the order of the pass that has the blocks of this number."""
    return sorted(loads, key=lambda load: (_drawn(seed, f"pass/{block}", load), load))


def visits_of(seed: str, load: str, block: int, slots: Iterable[Slot]) -> list[Slot]:
    """Return the visits of one block, in order."""
    return sorted(slots, key=lambda slot: (_drawn(seed, f"block/{load}/{block}", slot), slot))


def twin_of(seed: str, load: str, frameworks: Iterable[str]) -> str:
    """Return the framework that is entered twice under a load."""
    return min(frameworks, key=lambda name: (_drawn(seed, f"twin/{load}", name), name))


def _drawn(seed: str, what: str, item: object) -> float:
    return random.Random(f"{seed}/{what}/{item}").random()  # noqa: S311 - a shuffle, no secret


class PlannedLoad(Frozen):
    """One load: how many blocks it has, of which frameworks, and their warm-ups in seconds.

    `load` is its name in the diary (`stream-grpc/64`), `exactly` says which load that is.
    `twins` are those of the frameworks that are entered twice. `rates` has the calls a second of
    each, if every framework has a rate of its own.
    """

    load: str
    exactly: str
    blocks: Annotated[int, Field(ge=1, le=1000)]
    frameworks: tuple[str, ...]
    twins: tuple[str, ...]
    warm_ups_s: dict[str, Seconds]
    rates: dict[str, Rps] = Field(default_factory=dict, exclude_if=operator.not_)

    @property
    def slots(self) -> list[Slot]:
        """The visits of each block, in no order."""
        twins = [Slot(name, is_twin=True) for name in self.twins]
        return [*map(Slot, self.frameworks), *twins]


class PlannedNight(Frozen):
    """Everything that stays the same in a night of blocks, and what was left out before it.

    `left_out` says why by load, `sources` are the SHA-256 of the frameworks' sources.
    """

    seed: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    host_class: str
    loads: tuple[PlannedLoad, ...]
    left_out: dict[str, str]
    sources: dict[str, str]


def name_of(profile: MeasuredProfile) -> str:
    """Return the name of a load in diaries and in the streams of the seed: `stream-grpc/64`."""
    return f"{profile.name}/{profile.connection_count}"
