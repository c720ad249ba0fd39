"""What a night of blocks has decided before its first visit; it stands in its diary."""

from typing import Annotated

from pydantic import Field

from arena.base.model import Frozen
from arena.night.order import Slot
from arena.record.measurement import Seconds
from arena.what.measured import MeasuredProfile


class PlannedLoad(Frozen):
    """One load: how many blocks it has, of which frameworks, and their warm-ups in seconds.

    `load` is its name in the diary (`stream-grpc/64`), `exactly` says which load that is.
    `twins` are those of the frameworks that are entered twice.
    """

    load: str
    exactly: str
    blocks: Annotated[int, Field(ge=1, le=1000)]
    frameworks: tuple[str, ...]
    twins: tuple[str, ...]
    warm_ups_s: dict[str, Seconds]

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
