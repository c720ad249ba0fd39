"""What docs/ says of profiles, of the contract and of HttpArena's words is current."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.contract import ItemScope, Scope, checks, items
from arena.contract.flow_control import SIGTERM
from arena.judge.proofs import CONTRACT
from arena.site.pages.frameworks import anchor_of_check
from arena.site.pages.texts import read
from arena.what import framework, profile
from arena.what.profile import load_profile

ROOT = Path(__file__).resolve().parents[4]


def a_copy(workspace: Workspace, text: str) -> Path:
    path = workspace.root / "docs" / "profiles.md"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_the_documented_table_is_that_of_the_profiles(workspace: Workspace) -> None:
    documented = (ROOT / "docs" / "profiles.md").read_text()
    copy = a_copy(workspace, documented)
    profile.write_table(workspace)
    assert copy.read_text() == documented, "run ./scripts/arena.sh profiles --write"


def test_every_profile_has_a_row_of_as_many_cells_as_the_head(workspace: Workspace) -> None:
    head, _, *rows = profile.table(profile.all_profiles(workspace)).splitlines()
    assert {row.count("|") for row in rows} == {head.count("|")}
    named = [row.split("`")[1] for row in rows]
    assert sorted(named) == sorted(path.stem for path in workspace.profiles.glob("*.yaml"))


def test_a_row_says_what_the_load_is(workspace: Workspace) -> None:
    text = profile.table(profile.all_profiles(workspace))
    for words in (
        "| 10,000 calls in 50 s: 200 a second |",
        "| 10,000 calls in 85 s: from 50 a second, +10 every 5s, to 150, then held |",
        "| 10,000 calls in 68 s: from 200 a second, -10 every 5s, for 40s, then held |",
        "| 10,000 calls in 63 s: from 5 a second, +5 each second |",
        "| 1 to 10,000 calls at once, 10 times each | 1, 8, 1,000 |",
        "| 4 calls at a time on each connection, 5,000 messages a call | 64 | 3 × 5s |",
        "| 1,000 calls at a time | 1, 8, 1,000 | 3 × 10s |",
    ):
        assert words in text


def test_a_page_without_a_place_for_the_table_is_left_alone(workspace: Workspace) -> None:
    copy = a_copy(workspace, "# Profiles")
    with pytest.raises(HostError, match=r"profiles\.md: the place of the table is not marked"):
        profile.write_table(workspace)
    assert copy.read_text() == "# Profiles"


RULES = (ROOT / "docs" / "rules.md").read_text()


def section(title: str) -> str:
    return RULES.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def explained(title: str) -> list[str]:
    """Return the names in the first column of a section's table."""
    table = [line for line in section(title).splitlines() if line.startswith("| `")]
    return [name for line in table for name in re.findall(r"`([^`]+)`", line.split("|")[1])]


def of_calls() -> list[str]:
    """Return the names of all checks of gRPC, in their order."""
    calls = frozenset({"GetSum", "StreamSum", "CollectSum", "EchoSum"})
    scope = Scope(8443, True, calls, ({"a": 1, "b": 2, "count": 10},))  # type: ignore[arg-type]
    both = replace(scope, own=(load_profile(ROOT / "profiles", "health-grpc"),))
    return [name for name, _ in checks._checks(both, None, [])]


def of_items() -> list[str]:
    """Return the names of all checks of items, in their order."""
    return [name for name, _ in items.checks(ItemScope(8443, True, ("h1", "h2")))]


def test_every_check_of_the_contract_is_explained_and_no_other() -> None:
    assert sorted(explained("The contract")) == sorted([*of_calls(), SIGTERM])


def test_every_check_of_items_is_explained_and_no_other() -> None:
    made = {re.sub(r"^h[12]-", "", name) for name in of_items()}
    assert sorted(explained("The contract of items")) == sorted({*made, SIGTERM})


def test_every_check_has_a_row_of_the_rules_to_which_the_page_of_a_framework_leads() -> None:
    html = re.sub("</?code>", "", read(RULES, lambda _: None).html)
    tables = html.partition(' id="the-contract-of-items"')
    for names, of_items_, table in ((of_calls(), False, tables[0]), (of_items(), True, tables[2])):
        rows = {
            f' id="{anchor_of_check(name, of_items=of_items_)}">{re.sub("^h[12]-", "", name)}<'
            for name in (*names, SIGTERM)
        }
        assert sorted(row for row in rows if row not in table) == []


def test_other_checks_are_another_version_of_the_contract() -> None:
    """If it fails: raise CONTRACT, so that every framework is validated again, and pin both."""
    digest = hashlib.sha256(" ".join((*of_calls(), *of_items(), SIGTERM)).encode()).hexdigest()
    assert (CONTRACT, digest[:12]) == (3, "9e838cba5da5")


def test_every_word_of_httparenas_has_its_meaning() -> None:
    theirs = section("HttpArena's entries")
    for word in (*framework._RULES, *framework._MODES, *framework._UNUSED):
        assert f"`{word}`" in theirs
