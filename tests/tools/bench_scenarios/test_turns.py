"""One shot of the bench, with stubs for the server and the tool."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import HostError
from tests.fakes import a_program
from tools.bench_scenarios import turns
from tools.bench_scenarios.servers import Programs, answered, arguments, port_of
from tools.bench_scenarios.workloads import CRUD_H2C, CRUD_PACED, CRUD_TLS

# It has answered 10 requests more each time that it is asked.
SERVER = """
n=0
trap 'echo "{\\"calls_started\\": $n}"; n=$((n + 10))' USR1
echo 'listening on 127.0.0.1:4711'
while :; do sleep 0.01; done
"""
REPORT = "requests: 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout"


Shoot = Callable[[str], turns.Shot]


@pytest.fixture
def shoot(tmp_path: Path) -> Shoot:
    server = a_program(tmp_path / "server", SERVER)

    def run(script: str) -> turns.Shot:
        stub = str(a_program(tmp_path / "stub", script))
        return turns.shoot([str(server)], CRUD_H2C, "h2loadrunner", stub, 0.5)

    return run


def test_a_shot_has_what_both_sides_counted_and_what_it_cost(shoot: Shoot) -> None:
    shot = shoot(f"echo '{REPORT}' >&2")
    assert (shot.told.counted, shot.server_counted, shot.rate) == (9, 10, 20.0)
    assert shot.cpu_ns_per_request == pytest.approx(shot.cost.cpu_s / 10 * 1e9)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo broken >&2; exit 3", "h2loadrunner, crud-h2c: exit code 3: broken"),
        ("echo nothing", "its output cannot be read: it has no line of its requests"),
    ],
)
def test_a_tool_that_breaks_is_named(shoot: Shoot, script: str, said: str) -> None:
    with pytest.raises(HostError, match=said):
        shoot(script)


def test_a_server_says_its_port_in_either_way() -> None:
    assert port_of("listening on 127.0.0.1:40123") == 40123
    both = '{"grpc":"127.0.0.1:1","listen":"127.0.0.1:40124"}'
    assert (port_of(both), port_of(both, "grpc")) == (40124, 1)


def test_requests_are_those_between_two_counts() -> None:
    before = {"calls_started": 1, "created": 1, "messages_sent": 5}
    after = {"calls_started": 10, "created": 4, "messages_sent": 106}
    assert answered(before, after, is_grpc=False) == 9
    assert answered(before, after, is_grpc=True) == 101
    assert answered({"created": 1}, {"created": 4, "patched": 3, "live": 9}, is_grpc=False) == 6


def test_each_workload_has_its_server() -> None:
    programs, certificates = Programs(Path("volley"), Path("go")), Path("c")
    assert arguments(programs, CRUD_TLS, certificates) == ["go", "-tls=c"]
    paced = arguments(programs, CRUD_PACED, certificates)
    assert paced == ["volley", "serve", "--listen=127.0.0.1:0", "--unanswered-every", "33"]
    secure = arguments(programs, replace(CRUD_H2C, tls=True), certificates)
    assert secure[-4:] == ["--tls-cert", "c/server.crt", "--tls-key", "c/server.key"]
