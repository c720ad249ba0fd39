"""Whatever stands in a file that somebody else made, it costs one line, and never the rest.

ARENA_MUTANTS=500 tries so many of each kind, and ARENA_MUTANTS_SEED others.
"""

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.base.model import to_json
from arena.base.reading import read_json, read_yaml
from arena.base.workspace import Workspace
from arena.judge.store import SUMS
from arena.record.arrivals import record_of
from arena.record.branch import take
from arena.site.build import build
from tests.commandline import Line, line
from tests.conftest import ROOT
from tests.fakes import FakeProgress, a_record, save
from tests.golden import published
from tests.lib.arena.judge.visits import blocks
from tests.lib.arena.site.loads import lasting
from tests.mutants import archive_of, as_json, damaged, mutant
from tools.site_check import check

__all__ = ["line"]

COUNT = int(os.environ.get("ARENA_MUTANTS", "60"))


@pytest.fixture
def lot(request: pytest.FixtureRequest) -> Random:
    seed = f"{request.node.name} {os.environ.get('ARENA_MUTANTS_SEED', '1')}"
    return random.Random(seed)


@pytest.fixture
def whole(workspace: Workspace) -> Workspace:
    for name in ("docs", "site/static"):
        shutil.copytree(ROOT / name, workspace.root / name, dirs_exist_ok=True)
    save(workspace.results, a_record("innocent", 1.5e6))
    return workspace


def originals() -> list[dict[str, Any]]:
    """Return records of each kind of load, of both schemas, of nights, and of failures."""
    found = {path.split("/")[0]: json.loads(text) for path, text in published.texts().items()}
    made = [a_record("a", 1e6, 2e6, 3e6), a_record("b", failure="it fell"), *blocks({"c": 1e6}, 1)]
    made += [lasting("third", 1000.0)]
    return [*found.values(), *(json.loads(to_json(each)) for each in made)]


def mutants(lot: Random) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of records, each of a framework of its own."""
    known = originals()
    for number in range(COUNT):
        data = {**lot.choice(known), "started_at": f"2026-02-01T00-00-00.{number:06}Z"}
        # Each has a row and a page of its own.
        data["framework"] = {**data["framework"], "name": f"m{number:03}"}
        path = place(data) or ""
        data = mutant(data, lot)
        yield place(data) or path, as_json(data)


def place(data: Mapping[str, Any]) -> str | None:
    try:
        profile, framework = data["profile"], data["framework"]
        path = f"{profile['name']}/{profile['connection_count']}/{framework['name']}"
    except (KeyError, TypeError, ValueError):
        return None
    return record_of(f"{path}/{data.get('started_at')}.json")


def builds(workspace: Workspace) -> Sequence[str]:
    """Build the site, and return what is left out: each in one line, and not the innocent."""
    progress = FakeProgress()
    build(workspace, progress)
    lines = [each for each in progress.lines if each.startswith("warning: ")]
    assert all(re.fullmatch(r"warning: [^\n]* is left out: [^\n]+", each) for each in lines)
    assert [each for each in lines if "innocent" in each] == []
    boards = (workspace.public / "boards/stream-grpc/64/ghz").rglob("index.html")
    assert any("frameworks/innocent/" in page.read_text() for page in boards)
    assert [each for each in lines if str(workspace.public) in each] == []
    assert check(workspace.public, FakeProgress()).problems == []
    return lines


def test_mutated_records(whole: Workspace, lot: Random) -> None:
    there = dict(mutants(lot))
    for path, text in there.items():
        file = whole.results / path
        beside = file.with_suffix("")
        beside.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
        sum_ = hashlib.sha256(text).hexdigest()
        (beside / SUMS).write_text(f"{sum_}  ../{file.name}\n")
    left_out = builds(whole)
    assert 0 < len(left_out) < len(there)


def test_mutated_archives(whole: Workspace, lot: Random, tmp_path: Path) -> None:
    file = tmp_path / "records.tar"
    refused = 0
    for path, text in mutants(lot):
        beside = path.removesuffix(".json")
        file.write_bytes(damaged(archive_of({f"{beside}/run-1.json": b"{}", path: text}, lot), lot))
        try:
            take(whole.results, file)
        except UsageError as error:
            refused += len(str(error).splitlines()) == 1 or pytest.fail(str(error))
    assert 0 < refused < COUNT
    builds(whole)


@pytest.mark.parametrize("kind", ["frameworks", "profiles"])
def test_mutated_descriptions(line: Line, lot: Random, kind: str) -> None:
    root = line.workspace.root
    if kind == "frameworks":
        known = [read_json(each) for each in sorted(ROOT.glob("frameworks/*/meta.json"))]
    else:
        known = [read_yaml(each) for each in sorted(ROOT.glob("profiles/*.yaml"))]
    for number in range(COUNT):
        name = f"m{number:03}"
        path = root / kind / (f"{name}/meta.json" if kind == "frameworks" else f"{name}.yaml")
        path.parent.mkdir(exist_ok=True)
        data = lot.choice(known)
        path.write_bytes(as_json(mutant({**data, "name": name} if "name" in data else data, lot)))
    ended = line("list")
    lines = [each for each in ended.err.splitlines() if not each.startswith("warning: ")]
    assert ended.code == UsageError.exit_code
    assert all(re.match(rf"error: {kind}/m\d{{3}}\b.*: ", each) for each in lines), ended.err
    assert 0 < len(lines) < COUNT
    assert "  tonic " in ended.out
    assert "  stream-grpc " in ended.out
