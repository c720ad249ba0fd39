"""The first page of an edition: the best of each profile, every board; and the list of rounds."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby, islice
from operator import attrgetter

from arena.judge.leaderboard import Board
from arena.judge.row import Row
from arena.site import words
from arena.site.edition import Edition, Site
from arena.site.kinds import SHOWN
from arena.site.outputs import Page
from arena.site.strips import Scale, Strip
from arena.site.template import frame, render
from arena.what.loads import LoadShape

# The maximum number of frameworks named at rank 1, and the number of new records listed.
_NAMED = 3
_NEWEST = 5

ROUNDS = "rounds/index.html"


def outputs(site: Site, edition: Edition) -> Iterator[Page]:
    """Yield the page. That of current records shows the newest round, and what was measured here.

    Without a round that has pages, it shows only what was measured.
    """
    is_first = edition is site.current
    shown = site.front if is_first else edition
    rounds = [(frame(each), each.digest) for each in site.rounds]
    more = site.current.digest if is_first else ""
    key = repr((frame(edition), frame(shown), rounds, shown.digest, more))
    yield Page(edition.home(), key, partial(_make, site, edition, shown))
    if is_first:
        key = repr((frame(site.front), rounds, len(site.current.entries)))
        yield Page(ROUNDS, key, partial(_rounds, site))


def _make(site: Site, edition: Edition, shown: Edition) -> str:
    measured = site.measured if edition is site.current else None
    newest = measured or shown
    with_page = (each for each in reversed(newest.by_time) if each.path in newest.shown_records)
    return render(
        site,
        "home.html.j2",
        edition.home(),
        edition,
        shown=shown,
        measured=measured,
        groups_of=_groups,
        most_named=_NAMED,
        field_of=_field,
        leaders_of=words.leaders,
        first_ranked_of=words.first_ranked,
        hosts=_hosts(shown, *filter(None, [measured])),
        ranked_of=lambda board: sum(words.ranks(row, board) is not None for row in board.rows),
        failed_of=lambda board: sum(map(words.has_only_failed, board.rows)),
        newest=newest,
        news=list(islice(with_page, _NEWEST)),
        names={
            (board.profile, row.framework): row.display_name
            for board in newest.boards
            for row in board.rows
        },
        rounds=site.rounds,
    )


def _groups(of: Edition) -> list[tuple[type[LoadShape], list[tuple[tuple[str, str], list[Board]]]]]:
    """Return the boards of current loads, by kind of load and profile."""
    return [
        (
            kind,
            [
                (profile, list(boards))
                for profile, boards in groupby(found, attrgetter("profile", "title"))
            ],
        )
        for kind in SHOWN
        if (found := [each for each in of.current_boards if each.shape is kind])
    ]


def _field(board: Board) -> Strip:
    """Return the figures of a board, with the leaders marked, from 0 to the highest."""
    values = [value for row in board.rows if (value := _figure(row))]
    leaders = [_figure(row) for row in words.leaders(board)]
    return Scale(max(values, default=0.0)).strip(values, leaders)


def _hosts(*editions: Edition) -> dict[str, str]:
    """Return the classes of hosts by id, in words that tell them apart."""
    boards = (board for each in editions for board in each.boards)
    found = {board.host_class.id: board.host_class for board in boards}
    return dict(zip(found, words.hosts_apart([*found.values()]), strict=True))


def _figure(row: Row) -> float:
    """Return the figure that orders a row: its estimate, else its headline; 0 without both."""
    shown = row.estimate or row.result
    return shown.value if shown else 0.0


def _rounds(site: Site) -> str:
    """Return the list of rounds; commits are in short form, and say if files were changed."""

    def commits(edition: Edition) -> list[str]:
        parts = (each.commit.partition("-") for each in edition.by_time if each.commit)
        return _most_first(digits[:10] + mark + dirty for digits, mark, dirty in parts)

    return render(
        site,
        "rounds.html.j2",
        ROUNDS,
        site.current,
        shown=site.front,
        rounds=site.rounds,
        machines_of=lambda of: _most_first(each.machine for each in of.by_time),
        commits_of=commits,
    )


def _most_first(values: Iterable[str]) -> list[str]:
    """Return the distinct values, the one with most records first."""
    counted = Counter(values)
    return sorted(counted, key=lambda each: (-counted[each], each))
