"""Scenarios, run whole: their files, and what came of them beside the server's own counts."""

import json
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.plumbing import eventually
from tests.volley.plumbing import Outcome, Volley
from tools.bench_scenarios.servers import Running

Plan = dict[str, Any]

CHANGE = "item ${sku}"


@dataclass(frozen=True)
class Scenarios:
    """volley, and a folder for the files that it runs."""

    volley: Volley
    folder: Path

    def write(self, plan: Plan) -> Path:
        """Write a scenario file; return its path."""
        file = self.folder / "plan.json"
        file.write_text(json.dumps(plan, indent=2))
        return file

    def run(self, plan: Plan | Path, *words: str) -> "Told":
        """Run a scenario; its report is JSON."""
        file = plan if isinstance(plan, Path) else self.write(plan)
        done = self.volley.run("run", str(file), "-O", "json", "--quiet", *words)
        return Told(done.code, done.stdout, done.stderr)


class Told(Outcome):
    """How a run of scenarios ended, and its report."""

    @property
    def iterations(self) -> dict[str, int]:
        """The iterations of all scenarios."""
        found: dict[str, int] = self.report["iterations"]
        return found

    def iterations_of(self, scenario: str) -> dict[str, int]:
        """The iterations of one scenario."""
        (found,) = (each for each in self.report["scenarios"] if each["name"] == scenario)
        iterations: dict[str, int] = found["iterations"]
        return iterations

    def step(self, name: str) -> dict[str, Any]:
        """One step."""
        (found,) = (each for each in self.report["steps"] if each["name"] == name)
        step: dict[str, Any] = found
        return step

    def ok(self, name: str) -> int:
        """Return how many requests of a step succeeded, and check that all did that were sent."""
        requests = self.step(name)["requests"]
        assert requests["ok"] == requests["sent"], self.step(name)
        assert (requests["failed"], requests["unsent"], requests["open"]) == (0, 0, 0)
        count: int = requests["ok"]
        return count

    def passed_all(self) -> None:
        """Check that every check passed, and each at least once."""
        checks = [each for step in self.report["steps"] for each in step["checks"]]
        assert checks
        assert all(each["passed"] > 0 == each["failed"] for each in checks), checks


def target(url: str) -> Mapping[str, Any] | str:
    """Return a target; the certificate of a test's server is its own."""
    return {"hosts": url, "tls": {"insecure": True}} if url.startswith("https:") else url


def plan(url: str, steps: Sequence[Plan], load: Sequence[Plan], **more: Any) -> Plan:
    """Return the file of one scenario, `only`; it speaks HTTP/2 unless `http` says otherwise."""
    http = {"version": 2, "connections": 4, "timeout": "30s", **more.pop("http", {})}
    return {
        "targets": {"api": target(url)},
        "http": http,
        "scenarios": {"only": {"steps": list(steps)}},
        "load": list(load),
        **more,
    }


def crud(url: str, load: Sequence[Plan], **more: Any) -> Plan:
    """Return the file of a scenario that creates, changes and deletes an item."""
    steps = [
        {
            "name": "create",
            "post": "${api}/v1/items",
            "json": {"owner": "ann", "sku": "${sku}"},
            "expect": {"status": 201, "json": {"/item/sku": "${sku}", "/item/owner": "ann"}},
            "save": {"url": {"header": "location"}, "rev": {"json": "/item/rev"}},
        },
        {
            "name": "change",
            "patch": "${url}",
            "headers": {"if-match": '"${rev}"'},
            "text": CHANGE,
            "expect": {"status": 204},
        },
        {"name": "remove", "delete": "${url}", "expect": {"status": 204}},
    ]
    data = {"sku": {"range": [0, 10_000_000], "width": 8}}
    return plan(url, steps, load, data=data, **more)


def changes_hash(iterations: int) -> int:
    """Return the sum of the CRC-32 of the bodies of so many changes, as servers sum them."""
    bodies = (CHANGE.replace("${sku}", f"{sku:08d}") for sku in range(iterations))
    return sum(zlib.crc32(body.encode()) for body in bodies) % 2**64


def settled(server: Running) -> dict[str, int]:
    """Wait until no request is under way at a server, and return its counts."""

    def quiet() -> dict[str, int] | None:
        counts = server.counts()
        return None if counts.get("open", counts.get("calls_open")) else counts

    return eventually(quiet, "no request is under way") or {}


def program(name: str) -> str | None:
    """Find a program, also where Debian keeps those of servers."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")
