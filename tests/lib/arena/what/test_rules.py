"""docs/rules.md says what is checked, and what HttpArena's words mean here."""

import re
from pathlib import Path

from arena.measure.contract import Scope, checks
from arena.what import framework

RULES = (Path(__file__).resolve().parents[4] / "docs" / "rules.md").read_text()


def section(title: str) -> str:
    return RULES.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_check_of_the_contract_is_explained_and_no_other() -> None:
    calls = frozenset({"GetSum", "StreamSum", "CollectSum", "EchoSum"})
    scope = Scope(8443, True, calls, ({"a": 1, "b": 2, "count": 10},))  # type: ignore[arg-type]
    made = [name for name, _ in checks._checks(scope, None, [])]
    table = [line for line in section("The contract").splitlines() if line.startswith("| `")]
    explained = [name for line in table for name in re.findall(r"`([^`]+)`", line.split("|")[1])]
    assert sorted(explained) == sorted(made)


def test_every_word_of_httparenas_has_its_meaning() -> None:
    theirs = section("HttpArena's entries")
    for word in (*framework._RULES, *framework._MODES, *framework._UNUSED):
        assert f"`{word}`" in theirs
