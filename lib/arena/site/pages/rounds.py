"""Rounds: every frozen set of records, and the current ones."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from arena.site.edition import Edition, Site
from arena.site.outputs import Output, Page
from arena.site.template import frame, render

PAGE = "rounds/index.html"


def outputs(site: Site) -> Iterator[Output]:
    """Yield the page."""
    rounds = [(frame(each), each.digest) for each in site.rounds]
    count = len(site.current.entries)
    yield Page(PAGE, repr((frame(site.front), rounds, count)), partial(_make, site))


def _make(site: Site) -> str:
    return render(
        site,
        "rounds.html.j2",
        PAGE,
        site.current,
        shown=site.front,
        rounds=site.rounds,
        machines_of=_machines,
        commits_of=_commits,
    )


def _machines(edition: Edition) -> list[str]:
    return _most_first(each.machine for each in edition.by_time)


def _commits(edition: Edition) -> list[str]:
    """Return commits in short form: the first digits, and whether files were changed."""
    parts = (each.commit.partition("-") for each in edition.by_time if each.commit)
    return _most_first(digits[:10] + mark + dirty for digits, mark, dirty in parts)


def _most_first(values: Iterable[str]) -> list[str]:
    """Return the distinct values, the one with most records first."""
    counted = Counter(values)
    return sorted(counted, key=lambda each: (-counted[each], each))
