"""What is planned for a request, and what is refused before anything starts."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.machine import cpus
from arena.run.plan import Plan, plan_sessions
from arena.run.request import Request
from arena.what import selection
from arena.what.loads import Blast, Scheduled
from tests.fakes import a_program, a_request, add_framework


@pytest.fixture(autouse=True)
def _shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(cpus, "physical_cores", lambda: [(0,), (1,), (2,), (3,)])
    add_framework(workspace, "grpc-go", "stream-grpc", "stream-grpc-tls", "unary-of-httparena")
    add_framework(workspace, "tonic")
    add_framework(workspace, "retired", enabled=False)


def plans_of(workspace: Workspace, request: Request, **environment: str) -> list[Plan]:
    selected = selection.frameworks(workspace, request.selected)
    return plan_sessions(workspace, request, environment, selected)


@pytest.mark.parametrize(
    ("frameworks", "profiles", "expected"),
    [
        ("tonic", ["stream-grpc"], [("tonic", "stream-grpc")]),
        ("grpc-go", [], [("grpc-go", "stream-grpc"), ("grpc-go", "stream-grpc-tls")]),
        ("all", ["stream-grpc"], [("grpc-go", "stream-grpc"), ("tonic", "stream-grpc")]),
        ("all", ["stream-grpc-tls"], [("grpc-go", "stream-grpc-tls")]),
        ("[gr]*", ["stream-grpc"], [("grpc-go", "stream-grpc")]),
        ("retired", ["stream-grpc"], [("retired", "stream-grpc")]),
    ],
)
def test_what_is_subscribed_to_is_planned(
    workspace: Workspace, frameworks: str, profiles: list[str], expected: list[tuple[str, str]]
) -> None:
    plans = plans_of(workspace, a_request(frameworks, tuple(profiles)))
    assert [(each.framework.name, each.profile.name) for each in plans] == expected


SHORTER = a_request("odd-jobs", requests=100, duration=0.5)


def test_an_override_is_in_force_only_where_it_means_something(workspace: Workspace) -> None:
    add_framework(workspace, "odd-jobs", "stream-grpc", "load-const", "blast-unary")
    found = {each.profile.name: each for each in plans_of(workspace, SHORTER)}
    closed, scheduled, blast = (
        found[name] for name in ("stream-grpc", "load-const", "blast-unary")
    )
    assert (closed.profile.window_s, dict(closed.overrides)) == (0.5, {"DURATION": "500ms"})
    assert scheduled.profile.load_as(Scheduled).requests == 100
    assert dict(scheduled.overrides) == {"REQUESTS": "100"}
    assert scheduled.profile.window_s == 99 / 200
    assert blast.profile.load_as(Blast).sweep == (1, 2, 5, 10, 20, 50, 100)
    assert dict(blast.overrides) == {"DURATION": "500ms", "REQUESTS": "100"}


def test_a_blast_is_never_shortened_to_nothing(workspace: Workspace) -> None:
    (workspace.profiles / "big.yaml").write_text(
        "extends: blast-unary\nname: big\nconnections: [1]\nsweep: [10, 20]"
    )
    add_framework(workspace, "wide", "big")
    (one,) = plans_of(workspace, a_request("wide", requests=3))
    assert one.profile.load_as(Blast).sweep == (3,)


@pytest.mark.parametrize(
    ("schedule", "requests", "said"),
    [
        ("{shape: line, start: 50, step: -5}", 5000, "schedule: never ends: its rate falls to 0"),
        ("{shape: const, rps: 1}", 100_000, "schedule: takes longer than a day"),
    ],
)
def test_a_schedule_that_more_requests_would_make_endless_is_refused(
    workspace: Workspace, schedule: str, requests: int, said: str
) -> None:
    (workspace.profiles / "odd.yaml").write_text(
        f"extends: load-const\nname: odd\nrequests: 10\nschedule: {schedule}"
    )
    add_framework(workspace, "odd-jobs", "odd")
    with pytest.raises(UsageError, match=f"^odd with {requests} requests: {said}"):
        plans_of(workspace, a_request("odd-jobs", requests=requests))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (a_request("tonic", requests=9), r"^REQUESTS \(--requests\): is for blast and scheduled"),
        (
            a_request("timed", duration=9.0),
            r"^DURATION \(--duration\): is for blast, capacity, closed, cold, live, pac",
        ),
    ],
)
def test_an_override_that_means_nothing_here_is_refused(
    workspace: Workspace, request_: Request, said: str
) -> None:
    add_framework(workspace, "timed", "load-const")
    with pytest.raises(UsageError, match=said):
        plans_of(workspace, request_)


def test_each_connection_count_is_a_session_of_its_own(workspace: Workspace) -> None:
    (workspace.profiles / "many.yaml").write_text(
        "extends: stream-grpc\nname: many\nconnections: [1, 64]"
    )
    add_framework(workspace, "wide", "many")
    plans = plans_of(workspace, a_request("wide"))
    assert [each.profile.connection_count for each in plans] == [1, 64]


@pytest.mark.parametrize(
    ("request_", "environment", "said"),
    [
        (
            a_request("tonic", runtime="podman"),
            {},
            r"--runtime \(RUNTIME\): there is no runtime `podman`",
        ),
        (a_request("tonic", generator="gzh"), {}, r"--generator: .*did you mean ghz"),
        (a_request("tonic"), {"GHZ": "/no/such/ghz"}, "GHZ: /no/such/ghz is not a program"),
        (a_request("tonic"), {"GHZ": "/bin/true"}, "GHZ: /bin/true is not ghz"),
        (a_request("tonic"), {"SERVER_CPUS": "x"}, "SERVER_CPUS"),
        (a_request("tonic"), {"LOADGEN_DOCKER": "banana"}, "^LOADGEN_DOCKER: write true or false"),
        (a_request("tonic"), {"GHZ": "/x/\udcff"}, "^GHZ: is not UTF-8 text$"),
        (a_request("tonic"), {"GHZ_IMAGE": "\udcff"}, "^GHZ_IMAGE: is not UTF-8 text$"),
        (a_request("tonic"), {"LOADGEN_DOCKER": "\udcff"}, "^LOADGEN_DOCKER: is not UTF-8 text$"),
    ],
)
def test_a_bad_setting_is_refused(
    workspace: Workspace, request_: Request, environment: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        plans_of(workspace, request_, **environment)


def test_a_profile_with_an_unknown_generator_is_named(workspace: Workspace) -> None:
    (workspace.profiles / "odd.yaml").write_text("extends: stream-grpc\nname: odd\ngenerator: wrk")
    add_framework(workspace, "odd", "odd")
    with pytest.raises(UsageError, match=r"^profiles/odd\.yaml: generator: there is no .* `wrk`"):
        plans_of(workspace, a_request("odd"))


def test_overrides_change_the_profile_and_are_recorded(
    workspace: Workspace, tmp_path: Path
) -> None:
    named = str(a_program(tmp_path / "x" / "ghz", "echo --proto --call --connections"))
    request = a_request("tonic", runs=1, duration=0.5, runtime="native", generator="ghz")
    environment = {"SERVER_CPUS": "0", "GHZ": named, "LOADGEN_DOCKER": "", "HOME": "/root"}
    (one,) = plans_of(workspace, request, **environment)
    assert (one.profile.runs, one.profile.window_s) == (1, 0.5)
    assert (one.cpus.server, one.cpus.generator) == ((0,), (1, 2, 3))
    assert dict(one.overrides) == {
        "SERVER_CPUS": "0",
        "GHZ": named,
        "RUNS": "1",
        "DURATION": "500ms",
        "RUNTIME": "native",
        "GENERATOR": "ghz",
    }


def test_without_overrides_the_profile_stands_and_none_is_recorded(workspace: Workspace) -> None:
    (one,) = plans_of(workspace, a_request("tonic"), RUNS="")
    assert (one.profile.runs, one.profile.window_s, dict(one.overrides)) == (3, 5.0, {})


def sessions(workspace: Workspace, *counts: int, test: str) -> list[tuple[str, dict[str, str]]]:
    """Return the label and the overrides of each session under a test with these connections."""
    add_framework(workspace, "wide", test)
    plans = plans_of(workspace, a_request("wide", (test,), connections=counts or None))
    return [(each.profile.label, dict(each.overrides)) for each in plans]


def test_connections_pick_among_a_profiles_counts_and_any_other_is_a_trial(
    workspace: Workspace,
) -> None:
    at_256, at_1024 = sessions(workspace, test="unary-grpc")
    assert at_256 == ("unary-grpc at 256 connections", {})
    assert sessions(workspace, 1024, test="unary-grpc") == [at_1024]
    assert sessions(workspace, 64, 256, test="unary-grpc") == [
        ("unary-grpc at 64 connections", {"CONNECTIONS": "64"}),
        at_256,
    ]
    assert sessions(workspace, 1, test="stream-grpc") == [
        ("stream-grpc at 1 connection", {"CONNECTIONS": "1"})
    ]


def test_a_blast_uses_all_its_connection_counts_in_one_session(workspace: Workspace) -> None:
    assert sessions(workspace, 1, 8, 1000, test="blast-unary") == [("blast-unary", {})]
    ((label, overrides),) = sessions(workspace, 1, 8, test="blast-unary")
    assert (label, overrides) == ("blast-unary", {"CONNECTIONS": "1,8"})


def test_more_connections_than_a_load_has_calls_are_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="connections: 9999 is more than the"):
        sessions(workspace, 9999, test="load-const")


def test_a_connection_count_that_the_generator_cannot_make_is_refused(workspace: Workspace) -> None:
    add_framework(workspace, "wide", "sustained-unary")
    asked = a_request("wide", generator="h2load", connections=(8, 3))
    with pytest.raises(UsageError, match=r"h2load cannot make this load: .* do not fit on 3$"):
        plans_of(workspace, asked)
