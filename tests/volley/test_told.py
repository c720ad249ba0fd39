"""A window that the runner opens: the load flows from the warm-up into it (real volley)."""

from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.generators import WarmUp
from tests.fakes import FakeProgress
from tests.integration.plumbing import ROOT
from tools.bench.counting_server import CountingServer
from tools.bench.workloads import UNARY

pytestmark = pytest.mark.integration

WARM_UP = WarmUp(seconds=0.3, wait_s=30.0)


def test_the_window_opens_when_the_runner_says_so(
    volley_program: Path, counting: CountingServer, tmp_path: Path
) -> None:
    workspace = Workspace(ROOT)
    located = generators.locate("volley", workspace, {"VOLLEY": str(volley_program)})
    generator = located.ready(workspace, None, FakeProgress())
    profile = UNARY.profile(counting.port, 0.5)
    warm_at: list[float] = []

    def may_open(elapsed_s: float, is_warm: bool) -> bool:
        if is_warm:
            warm_at.append(elapsed_s)
        return is_warm and elapsed_s > warm_at[0] + 0.9

    shot = generator.fire_told(profile, WARM_UP, tmp_path / "run-1", may_open)
    assert shot.problem is None, shot
    found = generator.parse(shot.raw, profile)
    assert found.elapsed_s == 0.5
    assert len(found.warm_up) >= 2
    assert found.data_frames == found.messages > 0
    unread = counting.counts().messages - sum(found.warm_up) - found.messages
    assert 0 <= unread <= profile.in_flight
    assert 0 < shot.cost.cpu_s < 2 * 0.5
