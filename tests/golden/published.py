"""What is published, for the golden tests: the only module of theirs that knows how it is stored.

If the store, the records or the boards get another form, this module follows, and the kept files
stay as they are. A record, or a file beside it, has one name in all rounds, and one content.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from arena.base.reading import sha256_of
from arena.base.workspace import Workspace
from arena.judge.archive import NIGHTS, open_archive
from arena.judge.beside import Beside
from arena.judge.derive import RULES, derive
from arena.judge.leaderboard import Board, Leaderboard, rank_entries
from arena.judge.rounds import Round, read_rounds, require_records, round_files
from arena.judge.row import Row
from arena.load.generators import descriptions
from arena.machine.sentinel import Limits
from arena.record.arrivals import record_of
from arena.record.bundle import Bundle
from arena.record.measurement import LimitsInForce, Measurement, Run
from arena.record.reading import parse_record
from arena.record.record import Record
from arena.site import board_columns, words
from arena.site.edition import Edition
from tests.conftest import ROOT
from tests.golden.kept import digest, plain

STORE = Workspace(ROOT)

GENERATORS = descriptions()

# What a run has from its raw output. No record has `wrong` replies.
MEASURED = Measurement.model_fields.keys() - {"wrong"}

# What of a record is no fact of its own.
_NO_FACTS = {"schema_version", "noted"}

# What of a row is too long for a kept file: its digest is kept.
_LONG_RESULT = ("seconds", "points", "steps", "checks_warned")


# ---- the store


def names() -> list[str]:
    """Return the names of the rounds, sorted. Nothing is read: tests are collected by them."""
    return [file.stem for file in round_files(STORE.rounds)]


@cache
def rounds() -> Mapping[str, Round]:
    """Return the rounds by name; each is as it was frozen."""
    found: dict[str, Round] = {}
    for file, each in read_rounds(STORE.rounds):
        if not isinstance(each, Round):
            raise each
        found[file.stem] = each
    return found


def about(name: str) -> dict[str, Any]:
    """Return what a round says of itself and of the twins of its loads."""
    return rounds()[name].model_dump(mode="json", include={"name", "frozen_at", "note", "twins"})


@cache
def members() -> Mapping[str, tuple[str, ...]]:
    """Return the names of the rounds that have a record, by the record's path."""
    found: dict[str, list[str]] = defaultdict(list)
    own: dict[str, str] = {}
    for name, each in rounds().items():
        for path, record in each.records.items():
            if own.setdefault(path, record) != record:
                raise ValueError(f"{path}: differs between rounds")
            found[path].append(name)
    return {path: tuple(found[path]) for path in sorted(found)}


@cache
def _bundles() -> Sequence[Bundle]:
    """Return the bundles of all rounds."""
    every = {bundle for each in rounds().values() for bundle in each.bundles}
    return [Bundle.open(STORE.results / NIGHTS / bundle) for bundle in sorted(every)]


@cache
def texts() -> Mapping[str, bytes]:
    """Return the JSON of every published record, once, by its path."""
    lines = {name: line for bundle in _bundles() for name, line in bundle.by_name.items()}
    named = {path: rounds()[found[0]].records[path] for path, found in members().items()}
    return {path: lines[name] for path, name in named.items()}


@cache
def records() -> Mapping[str, Record]:
    """Return every published record, once, by its path."""
    return {path: parse_record(text) for path, text in texts().items()}


@cache
def _extracted() -> Path:
    """Return a folder with what was saved beside all records; it is removed at the end."""
    folder = tempfile.TemporaryDirectory(prefix="httparena-golden-")
    _KEPT.append(folder)
    for bundle in _bundles():
        bundle.extract(Path(folder.name))
    return Path(folder.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def raw_outputs(record: Record) -> list[tuple[Run, Path]]:
    """Return each run of a record with its raw output."""
    return [(run, _extracted() / run.raw.path) for run in record.runs]


def files() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return the SHA-256 of every file beside the records, and the rounds that have the file.

    These are raw outputs, logs and the outputs of warm-ups.
    """
    folder = _extracted()
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): sha256_of(path) for path in every}
    return {file: (sha256, members()[record_of(file) or ""]) for file, sha256 in found.items()}


# ---- records


def measured(record: Record, raw: Path) -> dict[str, Any]:
    """Return what a run has from its raw output, parsed again.

    If the generator was told when to open its window, that is also the CPU time it used inside.
    """
    made_by = record.provenance.generator
    if made_by is None:
        raise ValueError(f"{record.path}: names no generator")
    way = GENERATORS[made_by.name].way(record.profile)
    if record.visit is None or way.told is None or raw.stem != "run-1":
        report, own = way.read(raw, record.profile), {}
    else:
        report, cpu_s = way.told.read(raw, record.profile)
        own = {"generator.cpu_s": cpu_s}
    return {name: getattr(report, name) for name in MEASURED} | own


def observed(run: Run, name: str) -> Any:
    """Return a part of a run as it stands in its record: `rate`, or `generator.cpu_s`."""
    return run.generator.cpu_s if name == "generator.cpu_s" else getattr(run, name)


def facts(record: Record) -> Any:
    """Return what was observed."""
    return plain(record.model_dump(mode="json", by_alias=True, exclude=_NO_FACTS))


def told(text: bytes) -> dict[str, Any]:
    """Return what was judged of a record of schema 1 or 2: it stands in the JSON of the record.

    The interval of the headline and that of its run are left out: schema 1 has only the latter.
    """
    it = json.loads(text)
    headline, runs = it["headline"], it["runs"]
    disturbed = [run.get("disturbed", []) for run in runs]
    return dict(
        plain(
            {
                "status": it["status"],
                "headline": headline and {name: headline[name] for name in TOLD},
                "spread": it["spread"],
                "flags": it["flags"],
                "disturbed": [own for own in disturbed if any(disturbed)],
                "is_void": (it.get("visit") or {}).get("is_void") or None,
            }
        )
    )


# What every schema has of a headline.
TOLD = ("metric", "value", "rule", "run")


def derived(record: Record, limits: LimitsInForce | None = None) -> dict[str, Any]:
    """Return what is judged of a record by the rules of today.

    With the `limits` of its host when it was made, these decide, and not what was noted.
    """
    if limits:
        record = record.model_copy(update={"limits": limits, "noted": None})
    it = derive(record)
    found = {
        "status": record.status,
        "headline": it.headline and asdict(it.headline),
        "spread": it.spread and asdict(it.spread),
        "flags": it.flags,
        "disturbed": [
            [each.model_dump() for each in own] for own in it.disturbed if any(it.disturbed)
        ],
        "is_void": it.is_void or None,
    }
    return dict(plain(found))


def limits_of(learned: Mapping[str, Any]) -> LimitsInForce:
    """Return the limits of a virtual host that had learned some; those in force."""
    first = Limits.first("", is_virtual=True).recorded.most
    every = {**first, **learned["limits"]}
    most = {name: limit for name, limit in every.items() if limit is not None}
    return LimitsInForce(softirq_in_tasks=learned["softirq_in_tasks"], most=most)


# ---- boards


@cache
def edition(name: str) -> Edition:
    """Return a round as the site shows it, by the newest rules."""
    found = rounds()[name]
    return Edition.of_round(found, require_records(found, open_archive(STORE.results)))


def boards(name: str) -> dict[str, Any]:
    """Return every board of a round as it was frozen, by its address in the round."""
    of = (*edition(name).older, edition(name))[0]
    return {
        of.board(each).removeprefix(of.root + of.below): _board(each)
        for each in of.leaderboard.boards
    }


def older_sums(name: str) -> dict[str, str]:
    """Return the sum of the boards of a round by the rules before today's; empty if it is wrong."""
    return {
        str(each.leaderboard.rules): each.sha256 * each.is_unaltered
        for each in rounds()[name].judged
        if each.leaderboard.rules < RULES
    }


def figures(name: str) -> dict[str, Any]:
    """Return what each board of a night says by each figure, by its address in the round.

    The newest rules judged it. A figure has its estimates, rank sets, letters and levels by
    framework.
    """
    of = edition(name)
    return {
        of.board(board).removeprefix(of.root): plain(_ranked(board))
        for board in of.leaderboard.boards
        if board.night
    }


def _ranked(board: Board) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in board.rows:
        if (it := row.estimate) is None:
            continue
        ranks = {"rank_set": row.rank_set, "letters": row.letters}
        fields = it.model_dump(mode="json", include={"value", "low", "high", "levels"})
        found["headline"][row.framework] = fields | ranks
        for figure, beside in (*it.beside.items(), *it.steps.items()):
            if beside.estimate:
                found[figure][row.framework] = beside.estimate.model_dump(mode="json")
    return {"suspended": board.night and board.night.suspended, **found}


def ranked_again(name: str) -> tuple[Leaderboard, Leaderboard] | None:
    """Return the newest boards of a round, and those that its records have; None of older rules."""
    of = edition(name)
    if of.round is None or of.leaderboard.rules != RULES:
        return None
    return of.leaderboard, rank_entries(of.entries.values(), of.read, of.round.twin_book)


def _board(board: Board) -> dict[str, Any]:
    head = board.model_dump(mode="json", exclude={"rows", "schema_version"})
    with_figures = [row for row in board.rows if row.result or row.estimate]
    columns = board_columns.columns_of(board, with_figures)
    return {
        **plain(head),
        "key": "/".join(map(str, board.key)),
        "order": [row.framework for row in board.rows],
        "columns": [", ".join(filter(None, (it.title, it.unit))) for it in columns],
        "rows": {
            row.framework: _row(board, row, _cells(columns, with_figures, row))
            for row in board.rows
        },
    }


def _cells(columns: list[board_columns.Column], rows: list[Row], row: Row) -> Iterator[str]:
    """Yield the texts of a row, as its page has them."""
    if row in rows:
        for cell in (column.cells[rows.index(row)] for column in columns):
            yield f"{cell.text} [{cell.remark}]" if cell.remark else cell.text


def _row(board: Board, row: Row, cells: Iterator[str]) -> dict[str, Any]:
    """Return a row: its rank and figures in words, and then each exact number."""
    found = row.model_dump(mode="json", exclude={"framework", "result", "estimate"})
    shown = {"rank": words.rank(row, board), "classic_rank": found.pop("rank"), "cells": [*cells]}
    if row.result:
        result = row.result.model_dump(mode="json")
        shown["result"] = result | {
            name: digest(plain(result[name])) for name in _LONG_RESULT if result[name]
        }
    if row.estimate:
        estimate = row.estimate.model_dump(mode="json", exclude={"beside", "steps"})
        shown["estimate"] = estimate | {
            "records": digest(estimate["records"]),
            "beside": _ends(row.estimate.beside),
            "steps": _ends(row.estimate.steps),
        }
    return {"rank": shown["rank"], **plain({**found, **shown})}


def _ends(figures: Mapping[str, Beside]) -> dict[str, Any]:
    """Return figures as lists: at least, at most, the lowest and the highest block."""
    return {name: [it.at_least, it.at_most, it.low, it.high] for name, it in figures.items()}
