"""Generator hosts in this process, with a volley that is a script."""

import asyncio
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arena_fleet.agent import Agent
from arena_fleet.facts import divide
from arena_fleet.fleet import LostError, Member
from tests.conftest import ROOT
from tests.fleet.test_facts import host

SHARES = [ROOT / "tests" / "fixtures" / "volley" / f"share-{n}-of-3.json" for n in (1, 2, 3)]

# It says that it is ready, waits for its moment, notes it, and writes its report at once. Words in
# its arguments make it fail.
_VOLLEY = """#!/bin/bash
out=${!#}
echo $$ >>"$0.pids"
case " $* " in
*' refused '*) echo 'error: cannot connect to 10.0.0.1:8080' >&2; exit 1 ;;
*' silent '*) exec sleep 60 ;;
*' long '*) head -c 200000 /dev/zero | tr '\\0' x >&2; echo >&2 ;;
esac
echo 'volley: ready' >&2
read -r at || exit 3
echo "$at" >>"$0.fired"
case " $* " in
*' late '*) echo 'error: the start has passed' >&2; exit 4 ;;
*' broken '*) echo '{"volley"' >"$out"; exit 0 ;;
*' hangs '*) exec sleep 60 ;;
esac
cp "$0.report" "$out"
"""


@dataclass
class Hosts:
    """Agents that can be asked by name.

    `before` may fail a call, or change what is asked, and `after` what is answered.
    """

    agents: dict[str, Agent]
    members: list[Member]
    volley: Path
    asked: list[tuple[str, str]] = field(default_factory=list)
    before: Callable[[str, str, dict[str, Any]], None] = lambda *_: None
    after: Callable[[str, str, Any], Any] = lambda _, __, said: said

    async def names(self) -> list[str]:
        """Return the hosts that are there."""
        return sorted(self.agents)

    async def call(self, name: str, verb: str, deadline_s: float, **given: Any) -> Any:
        """Ask an agent as the link does."""
        self.asked.append((name, verb))
        self.before(name, verb, given)
        try:
            async with asyncio.timeout(deadline_s):
                said = await getattr(self.agents[name], verb)(**given)
                return self.after(name, verb, said)
        except TimeoutError as error:
            raise LostError("no answer") from error

    def busy(self) -> list[str]:
        """Return the hosts that a run holds."""
        return [name for name, each in self.agents.items() if each._armed]

    def fired(self) -> int:
        """Return how many volleys were given a moment."""
        path = Path(f"{self.volley}.fired")
        return len(path.read_text().split()) if path.exists() else 0


@pytest.fixture
def volley(tmp_path: Path) -> Path:
    """Make the script that plays volley."""
    path = tmp_path / "volley"
    path.write_text(_VOLLEY)
    shutil.copy(SHARES[0], f"{path}.report")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def hosts(tmp_path: Path, volley: Path) -> Hosts:
    """Make three hosts."""
    facts = [host(name=f"g{number}") for number in (1, 2, 3)]
    shares = divide([1, 1, 1], [None] * 3)
    return Hosts(
        {each.name: Agent(each, volley, tmp_path, tmp_path / each.name) for each in facts},
        [
            Member(n, 3, each, share)
            for n, (each, share) in enumerate(zip(facts, shares, strict=True), 1)
        ],
        volley,
    )
