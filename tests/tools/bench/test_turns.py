"""One shot of the bench, with stubs for the server and the generator."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.load import program
from arena.load.program import Program
from arena.load.volley import VOLLEY
from arena.what.profile import MeasuredProfile
from tests.fakes import FakeProgress, a_profile, a_program, still_sentinel
from tools.bench import turns
from tools.bench.contestants import Contestant, Told
from tools.bench.turns import Shot, Watched
from tools.bench.workloads import UNARY

SERVER = """
trap 'echo "{\\"calls\\": 40, \\"messages\\": 40, \\"open\\": 0}"' USR1
echo '{"listen": "127.0.0.1:4711"}'
while :; do sleep 0.01; done
"""


Shoot = Callable[[str], Shot]


def read(raw: Path, _: MeasuredProfile) -> Told:
    """Read the output of a generator that prints only its count."""
    return Told(counted=int(raw.read_text()), failed=1, elapsed_s=2.0)


@pytest.fixture
def shoot(workspace: Workspace, tmp_path: Path) -> Shoot:
    server = a_program(tmp_path / "server", SERVER)

    def run(script: str) -> Shot:
        stub = str(a_program(tmp_path / "stub", script))
        stubbed = Program(replace(VOLLEY, name="stub"), workspace, None, stub, "1", "here")
        watched = Watched(still_sentinel(), 0.0, FakeProgress())
        contestant = Contestant(stubbed, lambda profile, _: [str(profile.port)], read)
        return turns._shot(server, workspace.certs, UNARY, contestant, 0.1, watched, 1)

    return run


def test_a_shot_has_what_both_sides_counted_and_what_it_cost(shoot: Shoot) -> None:
    shot = shoot('[ "$1" = 4711 ] && echo 38')
    assert (shot.counted, shot.server_counted, shot.failed) == (38, 40, 1)
    assert shot.rate == 19.0
    assert shot.cpu_ns_per_unit == pytest.approx(shot.cost.cpu_s / 38 * 1e9)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo oh no >&2; exit 3",
            r"^stub, unary: stub ended in the middle of it \(exit code 3\): oh no$",
        ),
        ("echo what", "^stub, unary: its output cannot be read: "),
        ("echo 0", "^stub, unary: no call succeeded$"),
    ],
)
def test_a_generator_that_breaks_is_told(shoot: Shoot, script: str, said: str) -> None:
    with pytest.raises(HostError, match=said):
        shoot(script)


def test_one_that_does_not_end_is_killed(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_GRACE_S", 0.1)
    with pytest.raises(HostError, match=r"^stub, unary: stub did not end "):
        shoot("while :; do sleep 0.01; done")


def test_a_workload_is_a_profile_that_can_be_run() -> None:
    profile = UNARY.profile(4711, 5.0)
    assert type(profile) is type(a_profile())
    assert (profile.in_flight, profile.replies, profile.messages_per_call) == (6400, 1, 1)
