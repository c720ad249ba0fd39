"""Loads of older records: what their commit says of the files that they were made with."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.base.model import to_json
from arena.base.workspace import Workspace
from arena.judge import origins
from arena.judge.archive import open_archive
from arena.judge.cache import Cache
from arena.judge.leaderboard import Board, rank_entries
from arena.judge.load_key import digest_of
from arena.record.record import Git, Record
from arena.what import protos
from arena.what.profile import Profile, load_profile, measured_profile
from arena.what.scenarios import scenario_of
from tests.fakes import a_provenance, a_record

PROTO = 'syntax = "proto3"; import "sizes.proto"; service S { rpc Get(Size) returns (Size); }'
SIZES = 'syntax = "proto3"; message Size { int32 width = 1; } // in metres'
CALL = """
title: x
generator: volley
port: 8080
tls: false
connections: [2]
duration: 1s
warmup: 1s
runs: 1
pick: best
metric: requests/s
"""
OWN = f"name: own\nproto: requests/own.proto\ncall: S/Get\nrequest: {{}}\n{CALL}"
OWN += "messages_per_call: 1\nstreams_per_connection: 1\n"
ITEMS = f"name: items\nkind: scenario\nscenario: requests/items.yaml\n{CALL}"


@pytest.fixture
def checkout(workspace: Workspace) -> Workspace:
    """Make a checkout with git, and profiles with a .proto and a scenario of their own."""
    subprocess.run(["git", "init", "-q", workspace.root], check=True)
    (workspace.profiles / "own.yaml").write_text(OWN)
    (workspace.profiles / "items.yaml").write_text(ITEMS)
    (workspace.requests / "own.proto").write_text(PROTO)
    (workspace.requests / "sizes.proto").write_text(SIZES)
    plan = {"targets": {}, "scenarios": {}, "import_paths": "shapes"}
    (workspace.requests / "items.yaml").write_text(json.dumps(plan))
    (workspace.requests / "shapes").mkdir()
    (workspace.requests / "shapes" / "s.proto").write_text(SIZES)
    return workspace


def committed(workspace: Workspace) -> Git:
    git = ["git", "-C", str(workspace.root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return Git(commit=done.stdout.strip(), dirty=False)


def saved(workspace: Workspace, profile: Profile, name: str, minute: int, **about: Any) -> Record:
    """Save a record without the hash of its .proto, as older ones are, unless it is `new`."""
    is_new, git = about.get("new", False), about.get("git")
    changes = {"profile": measured_profile(profile, 2), "provenance": a_provenance(git=git)}
    record = a_record(name, minute=minute).model_copy(update=changes)
    data = json.loads(to_json(record))
    if not is_new and data["profile"]["proto"]:
        del data["profile"]["proto"]["sha256"]
    if before := about.get("before"):
        data["profile"]["load"]["scenario"]["sha256"] = before
    path = workspace.results / record.path
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(data))
    return record


def boards(workspace: Workspace, kept: Cache | None = None) -> list[Board]:
    found = open_archive(workspace.results, kept)
    assert found.broken == {}
    return list(rank_entries(found.entries.values(), found.read).boards)


def frameworks(board: Board) -> list[str]:
    return sorted(row.framework for row in board.rows)


def test_another_type_of_a_field_in_an_import_is_another_load(checkout: Workspace) -> None:
    def digest() -> str:
        return digest_of(measured_profile(load_profile(checkout.profiles, "own"), 2))

    before = digest()
    (checkout.requests / "sizes.proto").write_text(SIZES.replace("metres", "feet"))
    assert digest() == before
    (checkout.requests / "sizes.proto").write_text(SIZES.replace("int32", "fixed64"))
    # Each command compiles a file once.
    protos._compiled.cache_clear()
    assert digest() != before


def test_older_records_have_the_proto_of_their_commit(checkout: Workspace) -> None:
    old = load_profile(checkout.profiles, "own")
    first = committed(checkout)
    (checkout.requests / "sizes.proto").write_text(SIZES.replace("int32", "fixed64"))
    second = committed(checkout)
    protos._compiled.cache_clear()
    new = load_profile(checkout.profiles, "own")
    assert old.proto
    assert new.proto
    assert old.proto.sha256 != new.proto.sha256
    saved(checkout, old, "a", 1, git=first)
    saved(checkout, old, "b", 2, git=first, new=True)
    saved(checkout, new, "c", 3, git=second)
    saved(checkout, new, "d", 4, git=second, new=True)
    newer, older = boards(checkout)
    assert (frameworks(newer), frameworks(older)) == (["c", "d"], ["a", "b"])
    (difference,) = older.differences
    assert difference.fact == "proto.sha256"


@pytest.mark.parametrize(
    "git",
    [
        None,
        Git(commit="0" * 40, dirty=False),
        Git(commit="--output=stolen", dirty=False),
        Git(commit="HEAD", dirty=False),
    ],
)
def test_older_records_of_unknown_commits_stand_apart_with_a_line(
    checkout: Workspace, git: Git | None, tmp_path: Path
) -> None:
    own = load_profile(checkout.profiles, "own")
    known = committed(checkout)
    saved(checkout, own, "a", 1, git=git)
    saved(checkout, own, "b", 2, git=known.model_copy(update={"dirty": True}))
    saved(checkout, own, "c", 3, git=known)
    kept = Cache(tmp_path / "cache.sqlite")
    for _ in range(2):
        current, apart = boards(checkout, kept)
        assert (frameworks(current), frameworks(apart)) == (["c"], ["a", "b"])
        (line,) = apart.differences
        assert (line.fact, line.here) == ("proto.sha256", '"unknown"')
    assert not list(checkout.root.rglob("stolen*"))


def test_a_commit_that_is_fetched_later_counts_whatever_is_cached(
    checkout: Workspace, tmp_path: Path
) -> None:
    own = load_profile(checkout.profiles, "own")
    git = committed(checkout)
    hidden = (checkout.root / ".git").rename(checkout.root / ".elsewhere")
    saved(checkout, own, "a", 1, git=git)
    saved(checkout, own, "b", 2, git=git, new=True)
    kept = Cache(tmp_path / "cache.sqlite")
    assert len(boards(checkout, kept)) == 2
    hidden.rename(checkout.root / ".git")
    origins._proto_sha256.cache_clear()
    assert [frameworks(each) for each in boards(checkout, kept)] == [["a", "b"]]


def test_what_is_in_a_folder_of_imports_is_in_the_load(checkout: Workspace) -> None:
    def scenario() -> Profile:
        return load_profile(checkout.profiles, "items")

    def digest() -> str:
        return digest_of(measured_profile(scenario(), 2))

    first = committed(checkout)
    old, before = scenario(), digest()
    (checkout.requests / "shapes" / "README").write_text("no part of it")
    assert digest() == before
    (checkout.requests / "shapes" / "s.proto").write_text(SIZES.replace("int32", "fixed64"))
    assert digest() != before
    second = committed(checkout)
    root, file = checkout.root, "requests/items.yaml"
    whole = scenario_of(root, file, whole=False).sha256
    saved(checkout, old, "a", 1, git=first, before=whole)
    saved(checkout, old, "b", 2, git=first)
    saved(checkout, scenario(), "c", 3, git=second, before=whole)
    saved(checkout, scenario(), "d", 4, git=None, before=whole)
    shown = {tuple(frameworks(each)) for each in boards(checkout)}
    assert shown == {("a", "b"), ("c",), ("d",)}
