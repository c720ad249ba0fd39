"""Frameworks: their list, and for each a page and JSON with its history."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from arena.base.errors import UsageError
from arena.base.model import Frozen
from arena.base.reading import read_input
from arena.judge.beside import LOST_STREAMS
from arena.judge.entry import Entry, by_load, epoch_changes
from arena.judge.figure_words import rounded_words
from arena.judge.flags import CANNOT_KEEP, KEPT_SHARE, SLOW_START_S, FlagName
from arena.judge.proofs import CONTRACT, PortProof, Proof
from arena.judge.row import Row
from arena.judge.verdicts import BlockEstimate
from arena.record.record import MeasuredFramework
from arena.record.times import parse_utc
from arena.site import words
from arena.site.board_columns import figure_words
from arena.site.edition import Edition, Site, Standing
from arena.site.outputs import Page
from arena.site.pages.texts import beginning, read
from arena.site.strips import line
from arena.site.template import frame, render, web
from arena.what.framework import Advisory, load_framework
from arena.what.metrics import Metric

# The maximum number of listed records per board; framework.json has all of them.
_LISTED = 12
# The maximum number of the newest records that are drawn.
_DRAWN = 60
# The version of HTTP that the name of a check begins with.
_VERSION = re.compile("^h[12]-")
# What the version begins with of a tool that prints no name.
_NUMBER = re.compile(r"v?\d")
# The checks of both contracts: that of items is the second one in docs/rules.md.
_OF_BOTH = ("connections-64", "sigterm", "tls-alpn", "tls-downgrade", "tls-version")
# How much of a README is shown.
_LONGEST_README = 10_000
_REST = "\n\nThe rest is in the README of the entry.\n"


@dataclass(frozen=True)
class FrameworkLine:
    """A framework in the list; `first` counts the boards that it leads.

    Its meta.json says what it is built on and of which `library` it is, releases.yaml which
    `release` that is; of a long `readme`, this is the beginning. `advisories` are those of its
    packages. If several are of one library, one of them `is_best`.
    """

    name: str
    display_name: str
    language: str
    type: str
    boards: int
    first: int
    newest: str
    engine: str = ""
    library: str = ""
    release: str = ""
    readme: str = ""
    advisories: Sequence[Advisory] = ()
    is_best: bool = True


class HistoryPoint(Frozen):
    """The result of one record; `value`, `low` and `high`, its interval, are absent if it failed.

    They are absent too if it was altered, and `failure` says how. A trial's load differs from the
    profile's. `record` is the record's page, or its JSON if it has none.
    """

    started_at: str
    status: Literal["ok", "failed", "invalid"]
    value: float | None
    low: float | None
    high: float | None
    is_trial: bool
    flags: tuple[FlagName, ...]
    failure: str | None
    made_by: str | None
    machine: str
    commit: str | None
    source_sha256: str
    record: str


class LoadHistory(Frozen):
    """A framework's results under one load, the oldest first; `board` is where it is ranked.

    `rank` is the classic one. `estimate` and `rank_set` are those of the board's night of blocks.
    """

    profile: str
    connections: int
    generator: str
    host_class: str
    metric: Metric
    load: str
    rank: int | None
    rank_set: tuple[int, int] | None = None
    estimate: BlockEstimate | None = None
    board: str
    results: tuple[HistoryPoint, ...]


class FrameworkData(Frozen):
    """A framework as described by its newest record, and all its results."""

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    framework: MeasuredFramework
    histories: tuple[LoadHistory, ...]


def outputs(site: Site, edition: Edition) -> Iterator[Page]:
    """Yield the list, and every framework's page and JSON."""
    standings, entries = edition.standings, edition.by_framework
    names = sorted(standings, key=str.lower)
    known = [_known(name, standings[name], entries[name]) for name in names]
    if edition.round is None:
        # The checkout may have another source than a round.
        known = [_described(each, site) for each in known]
    best = _best_variants(known, standings)
    known = [replace(each, is_best=each.name in best) for each in known]
    page = f"{edition.root}frameworks/index.html"
    make = partial(render, site, "frameworks.html.j2", page, edition, known=known)
    listed = [replace(each, readme="", advisories=()) for each in known]
    yield Page(page, repr((frame(edition), listed)), make)
    for each in known:
        depends = (frame(edition), *_depends(edition, each.name))
        proof = site.proofs.frameworks.get(each.name)
        about = (proof, CONTRACT, each.readme, each.release, each.advisories)
        make = partial(_make, site, edition, each)
        yield Page(edition.framework(each.name), repr((depends, about)), make)
        path = edition.framework(each.name, "framework.json")
        yield Page(path, repr(depends), partial(_framework_json, edition, each.name))


def _depends(edition: Edition, name: str) -> tuple[object, ...]:
    """Return what is known of a framework.

    A row is made of its framework's records, except for its ranks and estimate.
    """
    shown = edition.shown_records
    return (
        [
            (it.path, it.sha256, it.problem, it.flags, it.path in shown)
            for it in edition.by_framework[name]
        ],
        [
            (it.path, it.board.title, words.load_note(it.board), it.ranked)
            for it in edition.standings[name]
        ],
        [
            (it.board.night, it.row.rank, it.row.rank_set, it.row.estimate)
            for it in edition.standings[name]
        ],
    )


def _make(site: Site, edition: Edition, known: FrameworkLine) -> str:
    standings, entries = edition.standings[known.name], edition.by_framework[known.name]
    proof = site.proofs.proof(known.name, entries[-1].source_sha256)
    ports = proof.ports if proof else ()
    return render(
        site,
        "framework.html.j2",
        edition.framework(known.name),
        edition,
        known=known,
        meta=edition.read(entries[-1].path).framework,
        versions=_versions(entries),
        proof=proof,
        tools=_tools(proof) if proof else (),
        counts=Counter(each for port in ports for each in port.checks.values()),
        found=list(_found(ports)),
        notes=read(known.readme, lambda _: None, prefix="readme-") if known.readme else None,
        offers=next((each.offers for each in reversed(entries) if each.offers), ""),
        standings=standings,
        failings=[(it, *each) for it in standings for each in _failings(edition, it)],
        histories=list(_histories(entries, standings)),
    )


def _failings(edition: Edition, it: Standing) -> Iterator[tuple[str, str]]:
    """Yield what a server does that no service should, in one sentence of two parts each."""
    board, row = it.board, it.row
    shown, flags = row.estimate or row.result, {*(row.result.flags if row.result else ())}
    for path in row.estimate.records if row.estimate else ():
        if path in edition.entries:
            flags |= {"stalled"}.intersection(edition.entries[path].flags)
    if board.shape.is_start and shown and shown.value >= SLOW_START_S * 1e9:
        yield (
            f"takes {figure_words(board, row)} to start",
            "so long after its start came its first good reply",
        )
    if CANNOT_KEEP in flags or (row.estimate and row.estimate.cannot_keep):
        least = f"less than {KEPT_SHARE:.0%} of what was due was answered within a second"
        yield "cannot keep the rate", least
    if "stalled" in flags:
        yield "stalls", "for a whole second or longer, it answered none of the open calls"
    if (lost := board.beside(row).get(LOST_STREAMS)) and lost.at_least:
        count = words.count(round(lost.at_least), "stream")
        yield f"loses {count}", "so many broke, were refused, or were not open at the end"


def _readme(site: Site, name: str) -> str:
    """Return the README of an entry, or its beginning; empty if it cannot be read."""
    try:
        text = read_input(site.frameworks / name / "README.md")
    except UsageError:
        return ""
    most = _LONGEST_README
    return text if len(text) <= most else beginning(text, most) + _REST


def anchor_of_check(check: str, *, of_items: bool) -> str:
    """Return the anchor of a check of one of the contracts in docs/rules.md."""
    own = _VERSION.sub("", check)
    return f"{own}-2" if of_items and own in _OF_BOTH else own


def _found(ports: Sequence[PortProof]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield each check that did not pass: name, anchor, port, status, and what was seen."""
    for port in ports:
        of_items = any(map(_VERSION.match, port.checks))
        for check, status in port.checks.items():
            if status != "pass":
                anchor = anchor_of_check(check, of_items=of_items)
                kind, seen = "TLS" if port.tls else "plaintext", port.seen.get(check, "")
                yield check, anchor, kind, "failed" if status == "fail" else "warning", seen


def _tools(proof: Proof) -> Sequence[str]:
    """Return each version of a proof's toolchain once, and with a name."""
    return tuple(
        dict.fromkeys(
            f"{need.rpartition(':')[2]} {version}" if _NUMBER.match(version) else version
            for need, version in proof.toolchain.items()
            if version
        )
    )


def _known(name: str, standings: Sequence[Standing], entries: Sequence[Entry]) -> FrameworkLine:
    def moment(row: Row) -> str:
        return max((each.started_at for each in (row.result, row.failure) if each), default="")

    newest = max((each.row for each in standings), key=moment)
    current = [each for each in standings if each.board.is_current]
    return FrameworkLine(
        name=name,
        display_name=newest.display_name,
        language=newest.language,
        type=newest.type,
        boards=sum(words.ranks(each.row, each.board) is not None for each in current),
        first=sum(words.leads(each.row, each.board) for each in current),
        newest=entries[-1].started_at,
    )


def _described(it: FrameworkLine, site: Site) -> FrameworkLine:
    """Return it with what the checkout says of it, which may no longer have it."""
    readme = _readme(site, it.name)
    it = replace(it, advisories=site.advisories.frameworks.get(it.name, ()))
    try:
        framework = load_framework(site.frameworks, it.name)
    except UsageError:
        return replace(it, readme=readme)
    release = site.releases.get(it.name)
    repo = urlsplit(web(framework.repo))
    return replace(
        it,
        engine=framework.engine,
        library=f"{repo.hostname or ''}{repo.path}".removeprefix("github.com/").strip("/"),
        release=", ".join(filter(None, (release.words, release.released))) if release else "",
        readme=readme,
    )


# The best and the worst possible rank on each board, by its path.
Places = Mapping[str, tuple[int, int]]


def _best_variants(
    known: Sequence[FrameworkLine], standings: Mapping[str, Sequence[Standing]]
) -> set[str]:
    """Return the names of the best variants, one of each library in each language.

    That is the one with the most wins over the others. A win is a board on which one is surely
    ahead of another. Among equals, it is the one with more boards, then the first one by name.
    """
    variants: dict[tuple[str, str], list[FrameworkLine]] = defaultdict(list)
    for each in known:
        variants[each.library or f" {each.name}", each.language].append(each)
    best = set()
    for same in variants.values():
        places = {each.name: _places(standings[each.name]) for each in same}

        def wins(own: Places, of: Mapping[str, Places] = places) -> int:
            every = (
                (path, theirs) for theirs in of.values() for path in own.keys() & theirs.keys()
            )
            return sum(own[path][1] < theirs[path][0] for path, theirs in every)

        order = {name: (-wins(own), -len(own), name) for name, own in places.items()}
        best.add(min(order, key=order.__getitem__))
    return best


def _places(standings: Sequence[Standing]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst possible rank on each current board, by its path."""
    return {
        each.path: found
        for each in standings
        if each.board.is_current and (found := words.ranks(each.row, each.board))
    }


def _versions(entries: Sequence[Entry]) -> Sequence[tuple[str, str, str]]:
    """Return every source that was measured, and the days of its first and last record."""
    days: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        days[entry.source_sha256].append(_day(entry))
    return [(source[:12], found[0], found[-1]) for source, found in reversed(days.items())]


def _day(entry: Entry) -> str:
    return parse_utc(entry.started_at).strftime("%Y-%m-%d")


def _histories(
    entries: Sequence[Entry], standings: Sequence[Standing]
) -> Iterator[Mapping[str, object]]:
    """Yield what is shown of a framework on each board with more than one record of it.

    The newest records come first, each with the names of what changed since the one before; `more`
    are not listed. The good ones are drawn, from the `first` to the `last` and up to the `most`.
    """
    of_load = by_load(each for each in entries if each.is_listed)
    for board in (each.board for each in standings):
        if len(own := of_load.get(board.key, [])) < 2:  # noqa: PLR2004 - one is no history
            continue
        moments = list(zip(own, _changes(own), strict=True))[: -_LISTED - 1 : -1]
        full = [
            (entry, (entry.low, entry.value, entry.high))
            for entry in own
            if entry.is_good and entry.value and entry.low is not None and entry.high is not None
        ][-_DRAWN:]
        most = max((high for _, (_, _, high) in full), default=0.0)
        yield {
            "board": board,
            "moments": moments,
            "more": len(own) - len(moments),
            "drawn": line([figures for _, figures in full]) if len(full) > 1 else None,
            "first": _day(full[0][0]) if full else "",
            "last": _day(full[-1][0]) if full else "",
            "most": rounded_words(board.metric, most, most, most) if most else "",
        }


def _changes(entries: Sequence[Entry]) -> list[list[str]]:
    """Return how each record differs from the one before, as text."""
    aspects = {"source": "source_sha256", "generator": "made_by"}.items()
    return [
        [word for word, of in aspects if getattr(one, of) != getattr(other, of)]
        + epoch_changes(one, other)
        for one, other in zip([entries[0], *entries], entries, strict=False)
    ]


def _framework_json(edition: Edition, name: str) -> str:
    entries = edition.by_framework[name]
    of_load = by_load(each for each in entries if each.is_listed)
    histories = [
        LoadHistory(
            **{
                of: getattr(it.board, of)
                for of in LoadHistory.model_fields
                if hasattr(it.board, of)
            }
            | {of: getattr(it.row, of) for of in ("rank", "rank_set", "estimate")}
            | {"host_class": it.board.host_class.id, "board": edition.relative(it.path)},
            results=tuple(_result(edition, each) for each in of_load.get(it.board.key, [])),
        )
        for it in edition.standings[name]
    ]
    framework = edition.read(entries[-1].path).framework
    # For scripts: no spaces.
    return FrameworkData(framework=framework, histories=tuple(histories)).model_dump_json() + "\n"


def _result(edition: Edition, entry: Entry) -> HistoryPoint:
    same = {
        name: getattr(entry, name) for name in HistoryPoint.model_fields if hasattr(entry, name)
    }
    if entry.problem:
        same |= {"value": None, "low": None, "high": None, "failure": entry.problem}
    return HistoryPoint(**same, record=edition.relative(edition.page_or_json(entry.path)))
