"""A fleet as a generator: how it divides a load, what it refuses, and what it keeps to itself."""

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.machine.cpus import CpuPlan
from arena.run.plan import Plan, plan_sessions
from arena.run.request import Request
from arena.what import selection
from arena.what.environment import GENERATORS
from arena_fleet import generator as module
from arena_fleet.agent import ShareReport
from arena_fleet.facts import HostFacts, Offset, boot_id
from arena_fleet.fleet import (
    Fleet,
    Seen,
    members_of,
    own_address,
    require_interface,
)
from arena_fleet.fleet import join as join_fleet
from arena_fleet.generator import FLEET, FleetProgram, LocatedFleet, joined
from arena_fleet.window import Made, Part, Problem
from tests.fakes import ITEMS, FakeProgress, a_profile, a_request, add_framework
from tests.fleet.conftest import SHARES
from tests.fleet.test_facts import NEAR, host

SERVER = "10.7.7.7"


def a_fleet(*cpus: float, server: str = SERVER, **changes: Any) -> Fleet:
    """Return a fleet of hosts with so many CPUs, which nobody can call."""
    seen = [
        Seen(f"g{n}", host(name=f"g{n}", cpus=each, **changes), NEAR)
        for n, each in enumerate(cpus, 1)
    ]
    return Fleet(cast("Any", None), members_of(seen), server)


def program(workspace: Workspace, fleet: Fleet) -> FleetProgram:
    return FleetProgram(fleet, workspace, "/bin/volley", "0.1.0")


def value(arguments: list[str], flag: str) -> str:
    return arguments[arguments.index(flag) + 1]


def test_connections_and_threads_are_dealt_out_by_the_hosts_cpus(workspace: Workspace) -> None:
    load = program(workspace, a_fleet(2, 4))._load(a_profile())
    first, second = load.parts
    assert [value(list(each), "--share") for each in first] == ["1/3"]
    assert [value(list(each), "--share") for each in second] == ["2/3", "3/3"]
    assert {value(list(each), "--threads") for each in (*first, *second)} == {"2"}
    assert load.connections == [22, 42]
    assert sum(load.connections) == 64


@pytest.mark.parametrize("hosts", range(1, 9))
@pytest.mark.parametrize("connections", [8, 9, 63, 64])
def test_every_connection_has_one_host(workspace: Workspace, hosts: int, connections: int) -> None:
    profile = a_profile(connections=(connections,), connection_count=connections)
    load = program(workspace, a_fleet(*([8.0] * hosts)))._load(profile)
    assert sum(load.connections) == connections
    assert max(load.connections) - min(load.connections) <= 1


def test_a_host_has_no_more_threads_than_connections(workspace: Workspace) -> None:
    profile = a_profile(connections=(3,), connection_count=3)
    load = program(workspace, a_fleet(8, 8))._load(profile)
    assert [value(list(host_parts[0]), "--threads") for host_parts in load.parts] == ["2", "1"]


def test_a_closed_load_warms_up_before_its_window_and_a_schedule_does_not(
    workspace: Workspace,
) -> None:
    fleet = program(workspace, a_fleet(1, 1))
    closed = fleet._load(a_profile())
    assert closed.lead_s == 0.5
    assert value(list(closed.parts[0][0]), "--warmup") == "500ms"
    scheduled = fleet._load(a_profile(kind="scheduled"))
    assert scheduled.lead_s == 0
    assert "--warmup" not in scheduled.parts[0][0]
    assert scheduled.drain_s == 20


@pytest.mark.parametrize(
    ("server", "target"), [(SERVER, "10.7.7.7:8080"), ("fd00::7", "[fd00::7]:8080")]
)
def test_hosts_call_the_server_and_a_record_does_not_say_where(
    workspace: Workspace, server: str, target: str
) -> None:
    made = program(workspace, a_fleet(1, 1, server=server))
    assert made._load(a_profile()).parts[0][0][-1] == target
    info = made.info(a_profile())
    assert info.argv[-1] == "SERVER:8080"
    assert (info.name, info.found) == ("volley-fleet", "2 generator hosts")
    assert server not in " ".join(info.argv)


def test_a_window_of_a_fleet_is_not_opened_from_here(workspace: Workspace) -> None:
    assert not program(workspace, a_fleet(1)).tells_window(a_profile())


def test_a_host_that_is_not_ready_is_named_to_the_user() -> None:
    with pytest.raises(HostError, match="has no generator hosts"):
        members_of([])
    silent = Seen("g2", None, None, "no answer within 5.0 s")
    with pytest.raises(HostError, match="generator 2 of 2: g2 is not ready: no answer"):
        members_of([Seen("g1", host(), NEAR), silent])
    slow = Seen("g2", host(name="g2"), Offset(0, 9_000_000, 18_000_000))
    with pytest.raises(HostError, match="generator 2 of 2: g2 is not ready: its clock"):
        members_of([Seen("g1", host(), NEAR), slow])


@pytest.mark.parametrize(
    "address",
    [
        "", "localhost:8786", "tcp://h:1", "tls://h", "tls://h:0", "tls://h:70000", "tls://h:1/x",
        "tls://a..b:8786", f"tls://{'a' * 64}:8786",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_bad_usage(address: str) -> None:
    with pytest.raises(UsageError, match="is not an address like tls://coordinator:8786"):
        own_address(address)
    with pytest.raises(UsageError, match="is not an address like tls://coordinator:8786"):
        join_fleet(Workspace(Path("/none")), address)


def test_the_servers_address_is_the_one_that_leads_to_the_coordinator() -> None:
    assert own_address("tls://127.0.0.1:8786") == "127.0.0.1"
    assert own_address("tls://[::1]:8786") == "::1"
    with pytest.raises(HostError, match="no-such-host"):
        own_address("tls://no-such-host.invalid:1")


@pytest.mark.parametrize(
    ("interface", "own", "words"),
    [
        (None, "10.0.0.7", "--interface: the coordinator is on another host: .*lo"),
        ("", "fd00::7", "--interface: the coordinator is on another host"),
        ("nosuch0", "10.0.0.7", "--interface: 'nosuch0' is no network interface"),
        ("nosuch0", "127.0.0.1", "--interface: 'nosuch0' is no network interface"),
    ],
)
def test_a_worker_that_nobody_could_reach_is_bad_usage(
    interface: str | None, own: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        require_interface(interface, own)


@pytest.mark.parametrize(
    ("interface", "own"), [(None, "127.0.0.1"), (None, "::1"), ("lo", "10.0.0.7")]
)
def test_a_worker_listens_where_its_coordinator_is(interface: str | None, own: str) -> None:
    require_interface(interface, own)


def test_the_log_of_a_failure_is_not_the_output_of_a_host_that_did_well(
    workspace: Workspace, tmp_path: Path
) -> None:
    lost = Problem("generator 2 of 2 did not end in time", "g2: in <TLS tls://10.0.0.2:1>")
    made = Made("0" * 32, [a_part(1), lost])
    shot = program(workspace, a_fleet(1, 1))._shot(made, a_profile(), tmp_path / "run-1")
    assert [each.number for each in shot.generators] == [1]
    assert (tmp_path / "run-1-generator-1.json").exists()
    assert not shot.log.exists()
    assert shot.problem == lost.words
    assert shot.output == lost.detail


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file", "/home/me/volley"),
        subprocess.TimeoutExpired("/home/me/volley", 60),
    ],
)
def test_reports_that_cannot_be_merged_leave_no_path_in_the_record(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", none)
    made = Made("0" * 32, [a_part(1), a_part(2)])
    shot = program(workspace, a_fleet(1, 1))._shot(made, a_profile(), tmp_path / "warm-up")
    assert shot.problem == "the reports cannot be merged"
    assert "/home/me/volley" in shot.output


def a_part(number: int) -> Part:
    """Return the real output of a share."""
    content = SHARES[number - 1].read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return Part(content, sha256, ShareReport.read(SHARES[number - 1]), NEAR, None)


def join(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, *hosts: HostFacts
) -> tuple[LocatedFleet, CpuPlan]:
    """Join a fleet of these hosts."""
    members = members_of([Seen(each.name, each, NEAR) for each in hosts])
    fleet = Fleet(cast("Any", None), members, SERVER)
    monkeypatch.setattr(module, "join", lambda *_: fleet)
    monkeypatch.setattr(module, "find_volley", lambda *_: (Path("/bin/volley"), "0.1.0"))
    return joined(workspace, "tls://h:1", {}, FakeProgress())


def test_the_server_of_a_fleet_has_all_cpus_unless_its_hosts_are_played(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    located, split = join(workspace, monkeypatch, host(), host(name="g2"))
    assert (split.policy, split.generator_count) == ("fleet", 0)
    assert located.hosts == ("Some CPU, 8 CPUs",) * 2
    here = {"is_local": True, "boot_id": boot_id()}
    _, split = join(workspace, monkeypatch, host(**here), host(name="g2", **here))
    assert (split.policy, split.generator_count) == ("unpinned", None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"boot_id": boot_id()}, "g1 is this machine, which runs the server"),
        ({"is_local": True}, "g1 is one that `up local` plays on another machine"),
        ({"volley_version": "0.2.0"}, "g1 has volley 0.2.0, and this host has 0.1.0"),
    ],
)
def test_a_host_that_is_in_the_wrong_place_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(HostError, match=words):
        join(workspace, monkeypatch, host(**changes))


def plans(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    options: Request,
    tests: Sequence[str] = ("stream-grpc", "load-const", "blast-unary"),
) -> list[Plan]:
    """Plan with a fleet of two hosts."""
    located = join(workspace, monkeypatch, host(), host(name="g2"))
    add_framework(workspace, "odd-jobs", *tests)
    selected = selection.frameworks(workspace, options.selected)
    return plan_sessions(workspace, options, {}, selected, lambda: located)


def test_a_fleet_makes_what_it_can_and_only_what_is_named_can_be_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = ("stream-grpc", "load-const", "load-line-up", "blast-unary")
    [one] = plans(workspace, monkeypatch, a_request("odd-jobs", fleet="tls://h:1"), tests)
    err = capsys.readouterr().err
    cannot = "volley-fleet cannot make this load: "
    assert f"left out: blast-unary: {cannot}a blast load is not one it knows\n" in err
    assert f"left out: load-const, load-line-up: {cannot}this fleet divides a load into 2" in err
    assert "there is 1 (benchmark.sh --connections 2 makes a trial that has enough)\n" in err
    assert err.count("left out: ") == 2
    assert (one.profile.name, one.profile.generator) == ("stream-grpc", "volley-fleet")
    assert one.cpus.policy == "fleet"
    for name, why in (("blast-unary", "not one it knows"), ("load-const", "there is 1")):
        named = a_request("odd-jobs", (name,), fleet="tls://h:1")
        with pytest.raises(UsageError, match=f"{name}: volley-fleet cannot make this load.*{why}"):
            plans(workspace, monkeypatch, named)


def test_a_fleet_makes_the_loads_of_any_generator_but_no_blast_and_no_scenario() -> None:
    assert all(not FLEET.problem(a_profile(generator=name)) for name in GENERATORS)
    assert FLEET.problem(a_profile(**ITEMS)) == "a scenario load is not one it knows"


def test_a_fleet_that_can_make_nothing_says_why(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = a_request("odd-jobs", fleet="tls://h:1")
    with pytest.raises(UsageError, match="blast-unary: volley-fleet cannot make this load: a bl"):
        plans(workspace, monkeypatch, options, tests=["blast-unary"])
