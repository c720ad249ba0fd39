"""Rounds: every frozen set of records, beside what is current."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from arena.judge.frozen_rounds import Round
from arena.publish.site.edition import Edition, Site
from arena.publish.site.outputs import Output, Page
from arena.publish.site.template import frame, render

PAGE = "rounds/index.html"


@dataclass(frozen=True)
class RoundLine:
    """A round in one line; machines and commits are those of most records first."""

    name: str
    path: str
    frozen_at: str
    note: str
    machines: tuple[str, ...]
    commits: tuple[str, ...]
    frameworks: int
    boards: int
    records: int


def outputs(site: Site) -> Iterator[Output]:
    """Yield the page."""
    rounds = [_line(each, each.round) for each in site.rounds if each.round]
    current = len(site.current.entries)
    make = partial(
        render,
        site,
        "rounds.html.j2",
        PAGE,
        site.current,
        shown=site.front,
        rounds=rounds,
        current=current,
    )
    yield Page(PAGE, repr((frame(site.front), rounds, current)), make)


def _line(edition: Edition, of: Round) -> RoundLine:
    entries = edition.entries.values()
    return RoundLine(
        name=of.name,
        path=edition.home(),
        frozen_at=of.frozen_at,
        note=of.note,
        machines=_most_first(each.machine for each in entries),
        commits=_most_first(_short(each.commit) for each in entries if each.commit),
        frameworks=len({each.framework for each in entries}),
        boards=len(edition.boards),
        records=len(entries),
    )


def _short(commit: str) -> str:
    """Return a commit as people write it: its first digits, and whether files differed."""
    digits, mark, dirty = commit.partition("-")
    return digits[:10] + mark + dirty


def _most_first(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value for value, _ in sorted(Counter(values).items(), key=_by_count))


def _by_count(counted: tuple[str, int]) -> tuple[int, str]:
    value, count = counted
    return -count, value
