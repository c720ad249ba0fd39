"""The data beside the pages: JSON with its schemas, CSV, the feed, records, raw outputs, styles."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from arena.base.model import to_json
from arena.judge.entry import Entry, by_load
from arena.judge.flags import UNRANKED
from arena.publish.site import links
from arena.publish.site.cells import headline_words, interval_words
from arena.publish.site.edition import Edition
from arena.publish.site.feed import PATH as FEED
from arena.publish.site.feed import feed, newest
from arena.publish.site.models import (
    MODELS,
    ComparedFramework,
    ComparedProfile,
    Comparison,
    Figure,
    FrameworkData,
    History,
    Result,
    schema_of,
)
from arena.publish.site.output import Copy, Output, Page
from arena.publish.site.raw import raw_files
from arena.publish.site.site import Site
from arena.publish.site.table import board_csv


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield an edition's data, and with the current one what the site has once."""
    yield from _boards(edition)
    yield from _frameworks(edition)
    yield from _records(edition)
    key = _digest(*map(edition.board_digest, edition.boards))
    yield Page(f"{edition.root}compare/compare.json", key, partial(_comparison, edition))
    if edition is site.current:
        key = _digest(*(each.sha256 for each in newest(edition)), *edition.shown_records)
        yield Page(FEED, key, partial(feed, edition))
        for name in MODELS:
            yield Page(f"schema/{name}.schema.json", "", partial(_schema, name))
        for path in sorted(site.static.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield Copy(f"static/{path.relative_to(site.static).as_posix()}", str(path))


def _boards(edition: Edition) -> Iterator[Output]:
    for board in edition.boards:
        folder = edition.board_folder(board)
        key = edition.board_digest(board)
        yield Page(f"{folder}/board.json", key, partial(to_json, board))
        yield Page(f"{folder}/board.csv", key, partial(board_csv, board, edition))


def _records(edition: Edition) -> Iterator[Output]:
    """Yield every record as it is, and the raw outputs of those that have a page."""
    for path, entry in edition.entries.items():
        yield Copy(edition.record_json(path), f"{edition.folder}/{path}", entry.sha256)
    for path in edition.shown_records:
        folder = f"{edition.root}{links.record_folder(path)}"
        for file in raw_files(edition.folder, path):
            yield Copy(f"{folder}/{file.name}", str(file.source))


def _frameworks(edition: Edition) -> Iterator[Output]:
    """Yield the history of each framework."""
    for name, own in edition.by_framework.items():
        ranks = [f"{place.path} {place.row.rank}" for place in edition.places.get(name, ())]
        key = _digest(*(each.sha256 for each in own), *ranks)
        path = f"{edition.root}{links.framework_folder(name)}/framework.json"
        yield Page(path, key, partial(_framework, edition, name))


def _framework(edition: Edition, name: str) -> str:
    """Return a framework's JSON."""
    entries = edition.by_framework[name]
    of_load = by_load(entries)
    histories = [
        History(
            profile=place.board.profile,
            connections=place.board.connections,
            generator=place.board.generator,
            metric=place.board.metric,
            rank=place.row.rank,
            board=_below(edition, place.path),
            results=tuple(_result(edition, each) for each in of_load[place.board.load]),
        )
        for place in edition.places.get(name, ())
        if place.board.load in of_load
    ]
    newest = entries[-1]
    framework = edition.read(newest.path).framework
    return to_json(FrameworkData(framework=framework, histories=tuple(histories)))


def _result(edition: Edition, entry: Entry) -> Result:
    return Result(
        started_at=entry.started_at,
        status=entry.status,
        value=entry.value,
        low=entry.low,
        high=entry.high,
        is_trial=entry.is_trial,
        flags=entry.flags,
        failure=entry.failure,
        made_by=entry.made_by,
        machine=entry.machine,
        commit=entry.commit,
        source_sha256=entry.source_sha256,
        record=_below(edition, edition.record_json(entry.path)),
    )


def _comparison(edition: Edition) -> str:
    """Return the JSON of all figures. A framework's words are those of its newest record."""
    places: dict[tuple[str, str], int] = {}
    profiles: list[ComparedProfile] = []
    frameworks: dict[str, ComparedFramework] = {}
    figures: dict[str, dict[str, Figure]] = defaultdict(dict)
    when: dict[str, str] = {}
    for board in edition.boards:
        name = f"{board.profile}/{board.connections}/{board.generator}"
        place = places.setdefault((name, board.metric), len(profiles))
        if place == len(profiles):
            is_second = any(each.id == name for each in profiles)
            profiles.append(
                ComparedProfile(
                    id=f"{name}/{links.name(board.metric)}" if is_second else name,
                    title=board.title,
                    metric=board.metric,
                    lower_is_better=board.metric.lower_is_better,
                    href=_below(edition, edition.board(board)),
                )
            )
        for row in board.rows:
            result = row.result
            if result is None:
                continue
            figures[row.framework][str(place)] = (
                result.value, result.low, result.high, ",".join(result.flags),
                _below(edition, edition.record(result.record)),
                headline_words(board, result), interval_words(board, result),
                UNRANKED.isdisjoint(result.flags),
            )  # fmt: skip
            if when.get(row.framework, "") < result.started_at:
                when[row.framework] = result.started_at
                frameworks[row.framework] = ComparedFramework(
                    name=row.framework,
                    display_name=row.display_name,
                    language=row.language,
                    type=row.type,
                    href=_below(edition, edition.framework(row.framework)),
                    figures={},
                )
    found = [
        frameworks[name].model_copy(update={"figures": figures[name]}) for name in sorted(figures)
    ]
    # A large file that scripts load: no spaces.
    return Comparison(profiles=tuple(profiles), frameworks=tuple(found)).model_dump_json() + "\n"


def _schema(name: str) -> str:
    return json.dumps(schema_of(name), indent=2) + "\n"


def _below(edition: Edition, path: str) -> str:
    """Return a path of the site as one below its edition."""
    return path.removeprefix(edition.root)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
