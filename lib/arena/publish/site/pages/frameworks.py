"""Frameworks: the list of them, and a page for each, with its history."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from arena.judge.entry import Entry, Load, by_load
from arena.judge.leaderboard import Row
from arena.judge.words import rounded_words
from arena.publish.site import words
from arena.publish.site.edition import Edition, Place
from arena.publish.site.output import Output, Page
from arena.publish.site.site import Site
from arena.publish.site.strips import Strip, line
from arena.publish.site.template import frame, render
from arena.record.times import parse_utc

# So many records of a board are listed; all of them are in framework.json.
_LISTED = 12
# So many of the newest are drawn.
_DRAWN = 60


@dataclass(frozen=True)
class Known:
    """A framework as the list shows it; `first` counts the boards that it leads."""

    name: str
    display_name: str
    language: str
    type: str
    boards: int
    first: int
    newest: str


@dataclass(frozen=True)
class Moment:
    """A record in a history: where it is, what it came to, and what had changed before it."""

    entry: Entry
    path: str
    words: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class History:
    """A framework's records on a board: the newest first, and `more` that are not listed."""

    title: str
    key: Load
    moments: tuple[Moment, ...]
    more: int
    drawn: Strip | None
    first: str
    last: str
    most: str


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the list, and every framework's page."""
    places, entries = edition.places, edition.by_framework
    known = [_known(name, places[name], entries[name]) for name in sorted(places, key=str.lower)]
    page = f"{edition.root}frameworks/index.html"
    make = partial(render, site.templates, "frameworks.html.j2", page, edition, known=known)
    yield Page(page, repr((frame(edition), known)), make)
    shown = frozenset(edition.shown_records)
    for each in known:
        page = edition.framework(each.name)
        mine = entries[each.name]
        depends = (
            frame(edition),
            [(entry.path, entry.sha256, entry.path in shown) for entry in mine],
            [
                (
                    one.path,
                    one.board.title,
                    one.ranked,
                    one.row.model_dump_json(exclude={"result": _UNUSED}),
                )
                for one in places[each.name]
            ],
        )
        make = partial(_make, site, edition, each, places[each.name], mine, shown)
        yield Page(page, repr(depends), make)


# What a result has that no framework's page shows.
_UNUSED = {"result": {"seconds", "points"}}


def _make(
    site: Site,
    edition: Edition,
    known: Known,
    places: Sequence[Place],
    entries: Sequence[Entry],
    shown: frozenset[str],
) -> str:
    newest = edition.read(entries[-1].path)
    titles = {place.board.load: place.board.title for place in places}
    return render(
        site.templates,
        "framework.html.j2",
        edition.framework(known.name),
        edition,
        known=known,
        meta=newest.framework,
        versions=_versions(entries),
        places=places,
        histories=_histories(edition, entries, titles, shown),
    )


def _known(name: str, places: Sequence[Place], entries: Sequence[Entry]) -> Known:
    newest = max(places, key=lambda place: _moment_of(place.row)).row
    return Known(
        name=name,
        display_name=newest.display_name,
        language=newest.language,
        type=newest.type,
        boards=sum(place.row.rank is not None for place in places),
        first=sum(place.row.rank == 1 for place in places),
        newest=entries[-1].started_at,
    )


def _moment_of(row: Row) -> str:
    """Return when the newest record of a row began."""
    return max(each.started_at for each in (row.result, row.failure) if each)


def _versions(entries: Sequence[Entry]) -> Sequence[tuple[str, str, str]]:
    """Return every source that was measured, and the days of its first and last record."""
    days: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        days[entry.source_sha256].append(_day(entry))
    return [(source[:12], found[0], found[-1]) for source, found in reversed(days.items())]


def _day(entry: Entry) -> str:
    return parse_utc(entry.started_at).strftime("%Y-%m-%d")


def _histories(
    edition: Edition, entries: Sequence[Entry], titles: Mapping[Load, str], shown: frozenset[str]
) -> list[History]:
    """Return the histories of more than one record, in the order of the boards."""
    return [
        _history(edition, key, own, titles[key], shown)
        for key, own in sorted(by_load(entries).items())
        if key in titles and len(own) > 1
    ]


def _history(
    edition: Edition, key: Load, entries: Sequence[Entry], title: str, shown: frozenset[str]
) -> History:
    """Return a history of records, the oldest first. Trials are listed, and not drawn."""
    changes = _changes(entries)
    moments = [
        Moment(entry, _path(edition, entry, shown), words.entry_words(entry), changes[entry.path])
        for entry in reversed(entries[-_LISTED:])
    ]
    full = [entry for entry in entries if not entry.is_trial and entry.value][-_DRAWN:]
    intervals = [(entry.low or 0.0, entry.high or 0.0) for entry in full]
    most = max((high for _, high in intervals), default=0.0)
    return History(
        title=title,
        key=key,
        moments=tuple(moments),
        more=len(entries) - len(moments),
        drawn=line([entry.value for entry in full], intervals) if len(full) > 1 else None,
        first=_day(full[0]) if full else "",
        last=_day(full[-1]) if full else "",
        most=rounded_words(entries[-1].metric, most, most, most) if most else "",
    )


def _changes(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """Return what differs between each record and the one before it, in words."""
    seen: dict[str, tuple[str, ...]] = {}
    aspects: list[tuple[str, Callable[[Entry], str | None]]] = [
        ("source", lambda entry: entry.source_sha256),
        ("machine", lambda entry: entry.machine),
        ("generator", lambda entry: entry.made_by),
    ]
    for before, entry in zip([entries[0], *entries], entries, strict=False):
        seen[entry.path] = tuple(word for word, of in aspects if of(before) != of(entry))
    return seen


def _path(edition: Edition, entry: Entry, shown: frozenset[str]) -> str:
    """Return a record's page, or its JSON if it has none."""
    return edition.record(entry.path) if entry.path in shown else edition.record_json(entry.path)
