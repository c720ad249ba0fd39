"""What the terminal shows of a load after its last block."""

from collections.abc import Iterator

from arena.base.text import columns
from arena.judge.archive import Archive
from arena.judge.figure_words import value_words
from arena.judge.nights import BlockEstimate, Night, Verdict, judged, nights_of
from arena.measure.blocks.log import Log
from arena.measure.blocks.planned import PlannedLoad
from arena.what.metrics import Metric


def verdict_of(archive: Archive, night: str, load: PlannedLoad, host_class: str) -> Verdict | None:
    """Return what a night says of a load; None if it has no whole block."""
    found = _night_of(archive, night, load, host_class)
    return judged(found, found.frameworks) if found and found.frameworks else None


def _night_of(archive: Archive, night: str, load: PlannedLoad, host_class: str) -> Night | None:
    entries = (
        entry
        for entry in archive.entries.values()
        if entry.turn
        and entry.turn.night == night
        and (entry.load.text, entry.load.host_class) == (load.exactly, host_class)
    )
    return next(iter(nights_of(entries)), None)


def lines_of(verdict: Verdict | None, load: PlannedLoad, metric: Metric, log: Log) -> list[str]:
    """Return the estimates with their intervals, ranks and letters, and what was void or lost."""
    lines = []
    if verdict is None:
        lines.append(f"{load.load}: no whole block")
    else:
        lines = columns([*_rows(verdict, load, metric)], right=range(1, 4))
        summary = verdict.summary
        if summary.why_not:
            lines.append(summary.why_not)
        if summary.detectable:
            lines.append(
                f"This board usually tells two servers apart that differ by "
                f"{summary.detectable:.1%} or more."
            )
        lines += [
            f"{each.framework} and its twin: {'tied' if each.is_tied else 'NOT tied'} "
            f"({each.low - 1:+.1%} to {each.high - 1:+.1%})"
            for each in summary.twins
        ]
    lines.append(f"{log.voids[load.load]} of {log.visits[load.load]} visits were void")
    lines += [
        f"block {block} is lost: {why}"
        for (name, block), why in sorted(log.ended.items())
        if name == load.load and why
    ]
    return lines


def _rows(verdict: Verdict, load: PlannedLoad, metric: Metric) -> Iterator[list[str]]:
    whole = f"{verdict.summary.blocks} of {load.blocks} blocks"
    yield [f"{load.load}, {whole}", str(metric), "from", "to", "ranks", "letters"]
    ordered = sorted(verdict.estimates.items(), key=lambda each: -each[1].value)
    for name, estimate in ordered:
        words = (value_words(metric, each, 0) for each in _figures(estimate))
        ranks = verdict.rank_sets.get(name)
        low, high = ranks or (0, 0)
        shown = "" if not ranks else str(low) if low == high else f"{low}–{high}"
        warming = "still warming" if estimate.still_warming else ""
        yield [name, *words, shown or warming, verdict.letters.get(name, "")]


def _figures(estimate: BlockEstimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high
