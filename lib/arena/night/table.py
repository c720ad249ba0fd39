"""What the terminal shows of a load after its last block."""

from collections.abc import Iterator, Sequence

from arena.base.text import columns
from arena.judge.archive import Archive
from arena.judge.entry import by_load
from arena.judge.figure_words import rank_words, value_words
from arena.judge.nights import by_division, nights_of
from arena.judge.twins import TwinBook
from arena.judge.verdicts import BlockEstimate, Verdict, judged
from arena.night.diary import Log
from arena.night.schedule import PlannedLoad
from arena.what.metrics import Metric


def verdicts_of(
    archive: Archive, book: TwinBook, night: str, load: PlannedLoad, host_class: str
) -> list[Verdict]:
    """Return what a night says of a load: of frameworks and of engines, which are ranked apart.

    There is none for those without a whole block. The twins of all nights of `book` and the load
    may suspend the ranks.
    """
    entries = [
        entry
        for entry in archive.entries.values()
        if (entry.load.text, entry.load.host_class) == (load.exactly, host_class)
    ]
    # A trial may have the load of full records, and is not ranked with them.
    is_trial = any(each.is_trial for each in entries if each.turn and each.turn.night == night)
    entries = [each for each in entries if each.is_trial == is_trial]
    return [
        judged(found, group, book.history_of(own[0].load, nights, groups))
        for own in by_load(entries).values()
        for nights, groups in [(nights_of(own), by_division(own).values())]
        for found in nights
        for group in groups
        if found.id == night and not found.frameworks.isdisjoint(group)
    ]


def lines_of(verdicts: Sequence[Verdict], load: PlannedLoad, metric: Metric, log: Log) -> list[str]:
    """Return the estimates with their intervals, ranks and letters, and what was void or lost."""
    lines = [] if verdicts else [f"{load.load}: no whole block"]
    for verdict in verdicts:
        lines += columns([*_rows(verdict, load, metric)], right=range(1, 4))
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
    ordered = sorted(verdict.estimates.items(), key=lambda each: each[1].order(metric))
    for name, estimate in ordered:
        words = (value_words(metric, each, 0) for each in _figures(estimate))
        ranks = verdict.rank_sets.get(name)
        why_not = "still warming" * estimate.still_warming or "too slow" * estimate.cannot_keep
        shown = rank_words(ranks) if ranks else why_not
        yield [name, *words, shown, verdict.letters.get(name, "")]


def _figures(estimate: BlockEstimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high
