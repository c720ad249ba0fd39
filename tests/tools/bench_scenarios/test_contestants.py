"""The tools of the bench: their command lines, what is read of them, and which are here."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from tests.fakes import a_program
from tools.bench_scenarios.contestants import (
    CONTESTANTS,
    Job,
    Told,
    astray,
    find,
    requests_of,
    succeeded,
)
from tools.bench_scenarios.workloads import (
    CRUD_H1,
    CRUD_H2C,
    CRUD_PACED,
    CRUD_TLS,
    GRPC_FLOW,
    GRPC_UNARY,
    Workload,
)

MakeJob = Callable[[Workload], Job]


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    def make(workload: Workload) -> Job:
        return Job(workload, 4711, 2.5, tmp_path, "/v1/items/7")

    return make


def test_h2load_changes_one_item_over_and_over(job: MakeJob) -> None:
    argv = CONTESTANTS["h2load"].argv("h2load", job(CRUD_H2C))
    assert argv[-1] == "http://127.0.0.1:4711/v1/items/7"
    assert {"--clients=4", "--max-concurrent-streams=128", "--header=:method: PATCH"} <= set(argv)
    (data,) = (each.partition("=")[2] for each in argv if each.startswith("--data="))
    assert len(Path(data).read_bytes()) == 317
    assert "--h1" not in argv
    assert "--h1" in CONTESTANTS["h2load"].argv("h2load", job(CRUD_H1))


def test_k6_gets_its_load_from_the_environment(job: MakeJob) -> None:
    argv = CONTESTANTS["k6"].argv("k6", job(CRUD_TLS))
    assert {"--env=URL=https://127.0.0.1:4711", "--env=USERS=32", "--env=SECONDS=2.5"} <= set(argv)
    assert Path(argv[-1]).is_file()


def test_volley_and_h2loadrunner_get_a_file(job: MakeJob) -> None:
    _, verb, plan, *_ = CONTESTANTS["volley"].argv("volley", job(CRUD_H2C))
    assert verb == "run"
    assert "4711" in Path(plan).read_text()
    (config,) = CONTESTANTS["h2loadrunner"].argv("h2loadrunner", job(CRUD_H2C))[1:]
    assert "4711" in Path(config.partition("=")[2]).read_text()


def test_without_a_scenario_volley_makes_calls(job: MakeJob) -> None:
    for tool in ("volley", "volley-before"):
        argv = CONTESTANTS[tool].argv("volley", job(GRPC_UNARY))
        assert "run" not in argv
        assert argv[argv.index("--call") + 1] == "benchmark.BenchmarkService/GetSum"
        assert argv[argv.index("--threads") + 1] == "1"


def told(job: Job, report: Mapping[str, object]) -> Told:
    (job.folder / "report.json").write_text(json.dumps(report))
    return CONTESTANTS["volley"].read(job.folder / "raw", job)


def test_volley_counts_requests_and_of_grpc_messages(job: MakeJob) -> None:
    iterations = {"begun": 9, "dropped": 0}
    report = {"requests": {"ok": 27, "replies": 101}, "iterations": iterations}
    assert told(job(CRUD_H2C), report) == Told(27)
    assert told(job(GRPC_FLOW), report) == Told(101)
    assert told(job(GRPC_UNARY), {"volley": {"messages": 7}}) == Told(7)


@pytest.mark.parametrize(
    ("begun", "dropped", "number"),
    [(49_000, 1000, 0), (49_000, 999, 1), (49_000, 1001, 1)],
)
def test_every_iteration_of_a_rate_is_accounted_for(
    job: MakeJob, begun: int, dropped: int, number: int
) -> None:
    # Those without data neither began nor were dropped.
    unfed = max(0, 50_000 - begun - dropped)
    iterations = {"due": 50_000, "begun": begun, "dropped": dropped, "unfed": unfed}
    assert astray(job(CRUD_PACED), iterations) == number
    assert astray(job(CRUD_H2C), iterations) == 0


def test_h2loadrunner_counts_on_its_stderr(job: MakeJob) -> None:
    made = job(CRUD_H2C)
    (made.folder / "stderr").write_text("requests: 9 started, 9 done, 8 succeeded, 1 failed\n")
    assert CONTESTANTS["h2loadrunner"].read(made.folder / "raw", made) == Told(8)


def test_the_last_line_of_requests_counts() -> None:
    line = "requests: 9 total, 9 started, 9 done, {} succeeded, 1 failed, 0 errored, 0 timeout\n"
    assert succeeded(f"x\n{line.format(3)}{line.format(8)}") == 8
    with pytest.raises(ValueError, match="no line"):
        succeeded("nothing")


def test_the_summary_of_k6_has_its_requests_that_succeeded() -> None:
    # Captured from k6 1.8: 30 requests, of which 10 had another status.
    metrics = {
        "http_reqs": {"count": 30, "rate": 35.122846170192325},
        "http_req_failed": {"passes": 10, "fails": 20, "value": 0.3333333333333333},
    }
    assert requests_of({"metrics": metrics}) == 20
    with pytest.raises(ValueError, match="http_req_failed"):
        requests_of({"metrics": {}})


def test_what_is_missing_is_named_with_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    volley = a_program(tmp_path / "volley", "true")
    k6 = a_program(tmp_path / "my-k6", "true")
    before = a_program(tmp_path / "before", "true")
    variables = {"K6": str(k6), "VOLLEY_BEFORE": str(before)}
    found = {"volley": str(volley), "volley-before": str(before), "k6": str(k6)}
    assert find(variables, volley) == found
    said = capsys.readouterr().err
    assert "there is no h2loadrunner: name one with H2LOADRUNNER=PROGRAM" in said
    assert "there is no h2load:" in said
    assert "k6" not in said


def test_a_variable_that_names_nothing_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="K6: /none is not a program"):
        find({"K6": "/none"}, None)
    with pytest.raises(HostError, match="no tool"):
        find({}, None)
