"""What a person named, and what that means."""

import json
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what import selection
from tests.fakes import FakeProgress


@pytest.fixture(autouse=True)
def _shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root)
    add(workspace, "grpc-go", tests=["stream-grpc", "of-another-runner", "unary-grpc"])
    add(workspace, "odd", tests=["of-another-runner"])
    add(workspace, "retired", enabled=False)
    add(workspace, "zz-broken")
    (workspace.frameworks / "zz-broken" / "meta.json").write_text("{")


def add(workspace: Workspace, name: str, **changes: Any) -> None:
    meta = {"display_name": name, "language": "Go", "type": "tuned", "tests": ["stream-grpc"]}
    folder = workspace.frameworks / name
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({**meta, **changes}))


def names(workspace: Workspace, framework: str, *wanted: str, of_all: bool) -> list[str]:
    (found,) = selection.frameworks(workspace, framework).frameworks
    return [each.name for each in selection.profiles(workspace, found, wanted, of_all=of_all)]


def test_all_are_those_that_can_be_read_and_those_that_cannot(workspace: Workspace) -> None:
    found = selection.frameworks(workspace, "all")
    assert [each.name for each in found.frameworks] == ["grpc-go", "odd", "retired"]
    (broken,) = found.broken
    assert broken.name == "zz-broken"
    assert str(broken.error).startswith("frameworks/zz-broken/meta.json: line 1: ")


def test_one_that_was_named_must_be_there_and_can_be_read(workspace: Workspace) -> None:
    assert [each.name for each in selection.frameworks(workspace, "odd").frameworks] == ["odd"]
    with pytest.raises(UsageError, match=r"^frameworks/zz-broken/meta\.json: line 1: "):
        selection.frameworks(workspace, "zz-broken")
    with pytest.raises(UsageError, match=r"no framework `grpcgo` \(did you mean grpc-go"):
        selection.frameworks(workspace, "grpcgo")


@pytest.mark.parametrize("of_all", [False, True])
def test_without_a_profile_all_that_is_subscribed_to_and_known_is_meant(
    workspace: Workspace, *, of_all: bool
) -> None:
    assert names(workspace, "grpc-go", of_all=of_all) == ["stream-grpc", "unary-grpc"]
    assert names(workspace, "grpc-go", "unary-grpc", of_all=of_all) == ["unary-grpc"]


@pytest.mark.parametrize(
    ("framework", "profiles", "said"),
    [
        ("odd", [], "odd subscribes to no profile of this runner"),
        ("odd", ["stream-grpc"], "odd does not subscribe to stream-grpc: .* of-another-runner"),
    ],
)
def test_nothing_is_an_error_only_for_what_was_named(
    workspace: Workspace, framework: str, profiles: list[str], said: str
) -> None:
    assert names(workspace, framework, *profiles, of_all=True) == []
    with pytest.raises(UsageError, match=said):
        names(workspace, framework, *profiles, of_all=False)


@pytest.mark.parametrize("of_all", [False, True])
def test_a_profile_that_is_not_there_is_always_an_error(
    workspace: Workspace, *, of_all: bool
) -> None:
    with pytest.raises(UsageError, match=r"no profile `stream-grp` \(did you mean stream-grpc"):
        names(workspace, "grpc-go", "stream-grp", of_all=of_all)


def test_a_subscription_that_looks_misspelt_is_warned_of(workspace: Workspace) -> None:
    add(workspace, "typist", tests=["stream-grcp", "another-runners"])
    (typist,) = selection.frameworks(workspace, "typist").frameworks
    progress = FakeProgress()
    selection.warn_of_typos(workspace, typist, progress)
    (line,) = progress.lines
    assert line == (
        "warning: frameworks/typist/meta.json: tests: no profile `stream-grcp` "
        "(did you mean stream-grpc?)"
    )


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["*-grpc"], ["stream-grpc", "unary-grpc"]),
        (["unary-*", "stream-grpc", "unary-grpc"], ["stream-grpc", "unary-grpc"]),
        (["unary-grp?"], ["unary-grpc"]),
        # What matches beside it is not subscribed to.
        (["stream-grpc*"], ["stream-grpc"]),
    ],
)
def test_profiles_can_be_named_by_patterns_and_come_once(
    workspace: Workspace, wanted: list[str], expected: list[str]
) -> None:
    assert names(workspace, "grpc-go", *wanted, of_all=False) == expected


@pytest.mark.parametrize("of_all", [False, True])
def test_a_pattern_without_a_match_is_always_an_error(
    workspace: Workspace, *, of_all: bool
) -> None:
    with pytest.raises(UsageError, match=r"^no profile matches `lo-\*` \(there are: .*stream-grpc"):
        names(workspace, "grpc-go", "stream-grpc", "lo-*", of_all=of_all)


def test_a_pattern_that_matches_only_what_is_not_subscribed_to_is_an_error(
    workspace: Workspace,
) -> None:
    with pytest.raises(UsageError, match=r"^grpc-go does not subscribe to load-\*: "):
        names(workspace, "grpc-go", "load-*", of_all=False)
    assert names(workspace, "grpc-go", "load-*", of_all=True) == []


def test_the_light_ones_come_first(workspace: Workspace) -> None:
    add(workspace, "all-round", tests=["unary-grpc", "blast-unary", "stream-grpc", "load-const"])
    expected = ["load-const", "stream-grpc", "blast-unary", "unary-grpc"]
    assert names(workspace, "all-round", of_all=False) == expected
