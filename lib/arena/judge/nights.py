"""Nights of blocks: what a board shows of its load's newest night, and of the twins of all nights.

docs/measuring.md explains blocks, estimates and rank sets.
"""

from arena.base.model import Frozen


class BlockEstimate(Frozen):
    """A framework's estimate over the whole blocks of a night, in the board's metric.

    `low` to `high` is the simultaneous 95 % interval. `rates` has the figure of each of the
    `blocks`, in their order, and `records` the paths of their records. `voids` counts the
    framework's void visits. `drift_low` is the lower end of the 95 % interval of log(rate of a
    run's second half / first half); None if the generator reports no seconds.
    `messages_per_data_frame` is that under load, over all blocks.
    """

    value: float
    low: float
    high: float
    blocks: int
    rates: tuple[float, ...]
    voids: int = 0
    drift_low: float | None = None
    still_warming: bool = False
    messages_per_data_frame: float | None = None
    records: tuple[str, ...]


class Twin(Frozen):
    """A framework that was entered twice in a night, and whether its two names were tied.

    `ratio` is that of the twin to the original, with its own 95 % interval.
    """

    framework: str
    is_tied: bool
    ratio: float
    low: float
    high: float


class BoardNight(Frozen):
    """The night of blocks that a board shows.

    `planned` blocks, of which `blocks` are whole; `visits` in all, of which `voids` are void;
    `disturbed` runs. `frameworks` have an estimate. If the board is not ranked by blocks, `why_not`
    is a sentence. `detectable` is the smallest true difference that the board usually tells apart,
    as a share.
    """

    night: str
    planned: int
    blocks: int
    visits: int
    voids: int
    disturbed: int
    frameworks: int
    is_ranked: bool
    why_not: str = ""
    detectable: float | None = None
    twins: tuple[Twin, ...] = ()


class TwinHistory(Frozen):
    """How many twins of all nights of a load were tied, with the share's 95 % interval.

    `is_suspended`: two nights in a row had a twin that was not tied, and nobody has looked since.
    """

    tied: int
    of: int
    low: float
    high: float
    is_suspended: bool = False


class Altered(Frozen):
    """A record that does not count because it is not as it was saved, and what is wrong with it."""

    framework: str
    record: str
    problem: str
