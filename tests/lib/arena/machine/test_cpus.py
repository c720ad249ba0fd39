"""Which CPUs each side gets."""

import os
from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from arena.machine import cpus
from arena.machine.cpus import CpuPlan, kept_awake, plan_cpus

TWO = [(0,), (1,)]

FOUR = [(0,), (1,), (2,), (3,)]

EIGHT_SMT = [(0, 4), (1, 5), (2, 6), (3, 7)]


@pytest.mark.parametrize(
    ("cores", "server", "generator"),
    [
        (FOUR, (0, 1), (2, 3)),
        (EIGHT_SMT, (0, 1, 4, 5), (2, 3, 6, 7)),
        ([(2, 3), (0, 1)], (0, 1), (2, 3)),
        ([(i,) for i in range(5)], (0, 1), (2, 3, 4)),
        ([(0, 1), (2, 3), (4, 5)], (0, 1), (2, 3, 4, 5)),
    ],
    ids=["4 cores", "8 CPUs, siblings apart", "unsorted", "5 cores", "3 cores with SMT"],
)
def test_each_side_gets_half_of_the_cores_and_the_generator_an_odd_one(
    cores: list[tuple[int, ...]], server: tuple[int, ...], generator: tuple[int, ...]
) -> None:
    assert plan_cpus(cores, {}) == CpuPlan("pinned", server, generator)
    assert plan_cpus(cores, {}).generator_count == len(generator)


@pytest.mark.parametrize(
    "cores",
    [[(0,)], TWO, [(0, 1)], [(0,), (1,), (2,)], [(0, 1, 2, 3)]],
    ids=["1 CPU", "2 CPUs", "1 core with SMT", "3 CPUs", "1 core with 4 threads"],
)
def test_too_few_cores_are_shared(cores: list[tuple[int, ...]]) -> None:
    plan = plan_cpus(cores, {})
    assert plan == CpuPlan("unpinned", None, None)
    assert plan.generator_count is None
    assert plan.record().model_dump() == {"policy": "unpinned", "server": None, "generator": None}
    assert "share all CPUs" in str(plan)


@pytest.mark.parametrize(
    ("environment", "server", "generator", "own"),
    [
        ({"SERVER_CPUS": "0"}, (0,), (1, 2, 3), 3),
        ({"LOADGEN_CPUS": "2-3"}, (0, 1), (2, 3), 2),
        ({"SERVER_CPUS": "0", "LOADGEN_CPUS": "3"}, (0,), (3,), 1),
        ({"SERVER_CPUS": "0-2", "LOADGEN_CPUS": "2-3"}, (0, 1, 2), (2, 3), None),
        ({"SERVER_CPUS": "0-3", "LOADGEN_CPUS": "0-3"}, (0, 1, 2, 3), (0, 1, 2, 3), None),
        ({"SERVER_CPUS": "", "LOADGEN_CPUS": "1"}, (0, 2, 3), (1,), 1),
    ],
)
def test_an_override_names_its_side_and_leaves_the_rest_to_the_other(
    environment: dict[str, str],
    server: tuple[int, ...],
    generator: tuple[int, ...],
    own: int | None,
) -> None:
    plan = plan_cpus(FOUR, environment)
    assert plan == CpuPlan("override", server, generator)
    assert plan.generator_count == own


def test_two_cpus_can_be_split_by_hand() -> None:
    plan = plan_cpus(TWO, {"SERVER_CPUS": "1"})
    assert str(plan) == "server on CPUs 1, generator on CPUs 0"
    assert plan.record().model_dump() == {"policy": "override", "server": "1", "generator": "0"}


def test_a_quota_is_of_the_server_and_no_more_than_its_cpus() -> None:
    plan = plan_cpus(TWO, {}, 1.5)
    assert str(plan) == f"{plan_cpus(TWO, {})}, server limited to 1.5 CPUs"
    assert plan.record().server_quota == 1.5
    assert str(plan_cpus(FOUR, {}, 1.0)).endswith(", server limited to 1 CPU")
    for cores, environment in ((TWO, {}), (FOUR, {"SERVER_CPUS": "0,2"})):
        assert plan_cpus(cores, environment, 2.0).server_quota == 2.0
        with pytest.raises(HostError, match=r"--server-quota: is 2\.5, but the server has 2 CPUs"):
            plan_cpus(cores, environment, 2.5)


def test_idle_cpus_are_kept_awake_as_long_as_a_benchmark_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_cpus(TWO, {"CPU_IDLE": "poll"})
    assert str(plan) == f"{plan_cpus(TWO, {})}, idle CPUs poll"
    assert plan.record().idle == "poll"
    latency, state = tmp_path / "latency", tmp_path / "cpu0" / "cpuidle" / "state0" / "name"
    monkeypatch.setattr(cpus, "_LATENCY", latency)
    monkeypatch.setattr(cpus, "CPU_FOLDERS", tmp_path)
    with (
        pytest.raises(
            HostError, match=r"^CPU_IDLE=poll: this kernel has no idle state that polls$"
        ),
        kept_awake(plan),
    ):
        pass
    state.parent.mkdir(parents=True)
    state.write_text("POLL\n")
    with kept_awake(plan_cpus(TWO, {})):
        assert not latency.exists()
    with kept_awake(plan):
        assert latency.read_bytes() == bytes(4)
    monkeypatch.setattr(cpus, "_LATENCY", tmp_path)
    with (
        pytest.raises(HostError, match=r"^CPU_IDLE=poll: .* cannot be set \(Is a directory\)$"),
        kept_awake(plan),
    ):
        pass


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CPU_IDLE": "halt"}, "^CPU_IDLE: write poll, or leave it out, instead of 'halt'$"),
        ({"SERVER_CPUS": "all"}, "SERVER_CPUS: 'all' is not a CPU list"),
        ({"LOADGEN_CPUS": "2-9"}, r"LOADGEN_CPUS: CPU 4-9 is not available here \(there are 0-3\)"),
        ({"SERVER_CPUS": "0-3"}, "SERVER_CPUS: takes every CPU"),
        ({"LOADGEN_CPUS": "0,1,2,3"}, "LOADGEN_CPUS: takes every CPU"),
    ],
)
def test_a_bad_override_is_refused_by_its_name(environment: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan_cpus(FOUR, environment)


def test_cores_are_read_as_far_as_we_may_use_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cpu, siblings in {0: "0,4\n", 1: "1,5\n", 4: "0,4\n"}.items():
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    monkeypatch.setattr(cpus, "CPU_FOLDERS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 4, 7})
    assert cpus.physical_cores() == [(0, 4), (1,), (7,)]
