"""What a framework costs at a fixed rate: CPU-hours and GB-hours, by the blocks of a night."""

from collections.abc import Iterator

from arena.base.errors import UsageError
from arena.base.model import Frozen
from arena.base.text import nearest
from arena.base.units import cost_words
from arena.judge.archive import Archive
from arena.judge.beside import ANONYMOUS, MEMORY
from arena.judge.compare import Comparison, compare
from arena.judge.leaderboard import Board, rank_entries
from arena.judge.row import Row
from arena.judge.twins import TwinBook
from arena.judge.verdicts import BlockEstimate
from arena.what.loads import Paced
from arena.what.metrics import Metric

_NS_PER_S = 1e9
_GB = 1e9


class Span(Frozen):
    """A figure between its bounds."""

    low: float
    value: float
    high: float

    def times(self, factor: float) -> "Span":
        """Return so many of it."""
        return Span(low=factor * self.low, value=factor * self.value, high=factor * self.high)

    @property
    def words(self) -> str:
        """The figure, and its bounds in brackets."""
        return f"{cost_words(self.value, self.value)} ({cost_words(self.low, self.high)})"


class Bill(Frozen):
    """What a framework costs in `hours` at `rate` calls a second.

    `cpu_hours` has its simultaneous 95 % interval. Of `gb_hours` (10⁹ bytes), the bounds are the
    lowest and the highest block; None if no memory is known.
    """

    framework: str
    rate: int
    hours: float
    cpu_hours: Span
    gb_hours: Span | None
    profile: str
    night: str
    blocks: int
    host: str
    comparison: Comparison | None = None

    @property
    def words(self) -> str:
        """The bill in two sentences, and a third one for a comparison."""
        memory = f", and {self.gb_hours.words} GB-hours of memory" if self.gb_hours else ""
        spread = ", and the lowest and the highest block of the memory" if memory else ""
        what = f"{self.framework} at {self.rate:,} calls a second for {self.hours:g} hours"
        how = f"{self.blocks} blocks of {self.profile}, night {self.night}; {self.host}"
        lines = [
            f"{what}: {self.cpu_hours.words} CPU-hours{memory}.",
            f"In brackets: the 95 % interval of the CPU time{spread}. {how}.",
        ]
        return "\n".join(lines + ([self.comparison.words] if self.comparison else []))


def bill(
    archive: Archive,
    book: TwinBook,
    framework: str,
    *,
    rate: int,
    hours: float,
    against: str | None = None,
    tls: bool = False,
    connections: int | None = None,
    generator: str | None = None,
) -> Bill:
    """Return what a framework costs by the night that its board at that rate shows.

    A board of the class of the newest records comes first.

    UsageError: no night of blocks has the framework at that rate, or it could not keep the rate.
    """
    entries = [
        each
        for each in archive.entries.values()
        if each.load.metric is Metric.CPU
        and connections in (None, each.load.connections)
        and generator in (None, each.load.generator)
    ]
    found = [
        (load, board, row, row.estimate)
        for board in rank_entries(entries, archive.read, book).boards
        if board.is_current and board.tls == tls
        for row in board.rows
        if row.estimate and isinstance(load := _load_of(archive, row.estimate), Paced)
    ]
    if not found:
        raise UsageError(
            "there is no night at a fixed rate" + " with TLS" * tls + ": "
            "measure one, such as `night FRAMEWORKS unary-rate-2000 --blocks 8`"
        )
    names = sorted({row.framework for _, _, row, _ in found})
    if framework not in names:
        raise UsageError(f"no night at a fixed rate has `{framework}`{nearest(framework, names)}")
    own = [each for each in found if each[2].framework == framework]
    at = [each for each in own if each[0].rate == rate]
    if not at:
        rates = ", ".join(f"{each:,}" for each in sorted({load.rate for load, *_ in own}))
        raise UsageError(f"--rate: {framework} was measured at {rates} calls a second")
    of_home = [each for each in at if each[1].is_home] or at
    loads = sorted({f"{it.profile}/{it.connections}/{it.generator}" for _, it, *_ in of_home})
    if len(loads) > 1:
        raise UsageError(
            f"{framework} was measured at {rate:,} calls a second as {' and '.join(loads)}: choose "
            "one by --connections or --generator"
        )
    _, board, row, estimate = of_home[0]
    if estimate.cannot_keep:
        raise UsageError(f"{framework} cannot keep {rate:,} calls a second ({board.profile})")
    if estimate.levels:
        levels = " and ".join(
            f"{each.value / 1e3:.3g} µs in {each.blocks} blocks" for each in estimate.levels
        )
        raise UsageError(f"{framework} has no estimate: its calls cost {levels} ({board.profile})")
    return _bill(board, row, estimate, rate, hours).changed(
        comparison=compare(
            archive, book, framework, against, board.profile,
            connections=board.connections, generator=board.generator,
        ) if against else None
    )  # fmt: skip


def _load_of(archive: Archive, estimate: BlockEstimate) -> object:
    return archive.read(estimate.records[0]).profile.load


def _bill(board: Board, row: Row, estimate: BlockEstimate, rate: int, hours: float) -> Bill:
    cpu_s = Span(low=estimate.low, value=estimate.value, high=estimate.high).times(1 / _NS_PER_S)
    memory = next(_memory(board, row), None)
    return Bill(
        framework=row.framework,
        rate=rate,
        hours=hours,
        cpu_hours=cpu_s.times(rate * hours),
        gb_hours=memory.times(hours / _GB) if memory else None,
        profile=board.profile,
        night=board.night.night if board.night else "",
        blocks=estimate.blocks,
        host=board.host_class.words,
    )


def _memory(board: Board, row: Row) -> Iterator[Span]:
    it = board.beside(row).get(ANONYMOUS) or board.beside(row).get(MEMORY)
    if it and it.low is not None and it.high is not None:
        yield Span(low=it.low, value=it.middle, high=it.high)
