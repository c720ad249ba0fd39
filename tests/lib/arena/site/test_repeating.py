"""The command on a record's page plans the load of that record, and no other."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from arena.judge.load_key import digest_of
from arena.machine import cpus
from arena.night import benchmark
from arena.record.reading import parse_record
from arena.record.record import Record
from arena.run.plan import Plan, plan_sessions
from arena.run.request import Request
from arena.site.pages.records import _repeat
from arena.what import selection
from arena.what.loads import KINDS
from arena.what.profile import load_profile, measured_profile
from tests.commandline import Line, line
from tests.conftest import ROOT
from tests.fakes import a_record, a_visit, add_framework
from tests.golden import published

__all__ = ["line"]


def kinds() -> Iterator[Record]:
    """Yield a committed record of each load, of each way in which it was asked for."""
    found: dict[str, Record] = {}
    for path, made in published.texts().items():
        # The parts of the name say enough: only a few of the records have to be parsed.
        profile, connections = path.split("/")[:2]
        is_visit = b'"visit":{' in made
        name = f"{published.members()[path][0]} {profile} {connections}{' visit' * is_visit}"
        if name not in found:
            found[name] = parse_record(made)
    yield from found.values()


@pytest.fixture
def asked(line: Line, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what asks the runner for a record's command."""
    monkeypatch.setattr(cpus, "physical_cores", lambda: [(0,), (1,), (2,), (3,)])
    requests: list[Request] = []

    def note(_: object, request: Request, *__: object) -> int:
        request.require_sense()
        requests.append(request)
        return 0

    monkeypatch.setattr(benchmark, "benchmark", note)

    def plans_of(record: Record) -> tuple[Request, list[Plan]]:
        add_framework(line.workspace, record.framework.name, *record.framework.tests)
        *_, program, command = _repeat(record).rpartition("./scripts/benchmark.sh ")
        assert program
        ended = line("run", *shlex.split(command))
        assert (ended.code, ended.err) == (0, "")
        selected = selection.frameworks(line.workspace, requests[-1].selected)
        return requests[-1], plan_sessions(line.workspace, requests[-1], {}, selected)

    return plans_of


def require_same(record: Record, asked: Any) -> None:
    request, (plan,) = asked(record)
    assert plan.framework.name == record.framework.name
    there, here = record.profile, plan.profile
    assert (digest_of(there), there.connection_count) == (digest_of(here), here.connection_count)
    assert (there.name, there.generator, there.runs) == (here.name, here.generator, here.runs)
    trial = {"RUNS", "DURATION", "REQUESTS", "CONNECTIONS"}
    made = {name: value for name, value in plan.overrides.items() if name in trial}
    overrides = record.provenance.overrides
    assert made == {name: value for name, value in overrides.items() if name in trial}
    assert request.blocks == (record.visit.blocks if record.visit else None)


def test_committed_records_are_repeated_by_their_commands(asked: Any) -> None:
    found = list(kinds())
    # No round has these yet.
    new = {"paced", "share", "live", "capacity", "cold"}
    assert {type(each.profile.load).name() for each in found} >= set(KINDS) - new
    for record in found:
        require_same(record, asked)


@pytest.mark.parametrize(
    ("name", "count", "overrides", "visit", "options"),
    [
        ("unary-grpc", 256, {}, False, "--connections 256"),
        ("unary-grpc", 7, {"CONNECTIONS": "7"}, False, "--connections 7"),
        ("unary-grpc", 256, {"DURATION": "2s"}, True, "--blocks 8 --block-warm-up 10s"),
        ("stream-grpc", 64, {}, True, "--blocks 8"),
        ("blast-unary", 1000, {"REQUESTS": "50"}, False, "--requests 50"),
        ("sustained-unary", 8, {"RUNS": "1", "DURATION": "500ms"}, False, "--connections 8"),
        ("health-grpc", 64, {"RUNS": "2"}, False, "--runs 2"),
    ],
)
def test_what_a_user_may_have_asked_for_is_repeated(
    name: str, count: int, overrides: dict[str, str], visit: bool, options: str, asked: Any
) -> None:
    seconds = {"2s": 2.0, "500ms": 0.5}.get(overrides.get("DURATION", ""))
    profile = load_profile(ROOT / "profiles", name).overridden(
        runs=int(overrides.get("RUNS", 0)) or None,
        duration_s=seconds,
        requests=int(overrides.get("REQUESTS", 0)) or None,
    )
    record = a_record("mine", 1e6, overrides=overrides, tests=(name,))
    changes = {
        "profile": measured_profile(profile, count), "visit": a_visit(2) if visit else None,
    }  # fmt: skip
    record = record.model_copy(update=changes)
    assert options in _repeat(record)
    require_same(record, asked)
