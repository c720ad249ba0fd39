"""Ctrl-C, SIGTERM and a killed runner: nothing is left running, nothing half-written."""

import signal

import pytest

from tests.integration.plumbing import Arena, eventually

pytestmark = pytest.mark.integration

# The line that tells that a stage has begun, and a server and options that make it last.
STAGES = {
    "build": ("build victim", {"build": "sleep 60", "run": "true"}, []),
    "start": ("start victim", {"run": "sleep 60 & setsid sleep 60 & wait"}, []),
    "contract": ("contract check", None, []),
    "warm-up": ("warm-up", None, ["--duration", "60s"]),
    "run 1": ("run 1 of 2 (", None, ["--duration", "60s", "--runs", "2"]),
    "run 2": ("run 2 of 2 (", None, ["--duration", "300ms", "--runs", "2"]),
}


def moments(*stages: str) -> pytest.MarkDecorator:
    """Return Ctrl-C at each stage, and SIGTERM at the last one: one handler takes all signals."""
    found = [(stage, signal.SIGINT) for stage in stages]
    return pytest.mark.parametrize(("stage", "number"), [*found, (stages[-1], signal.SIGTERM)])


def interrupted(
    arena: Arena, stage: str, number: signal.Signals, runtime: str = "native", times: int = 1
) -> None:
    """Send the signal at that stage; check that it ends at once, with nothing left."""
    line, _, options = STAGES[stage]
    before = arena.snapshot()
    with arena.running("victim", "quick", *options, runtime=runtime) as running:
        running.await_line(line)
        for _ in range(times):
            running.signal(number)
        done = running.end()
    assert done.code == 130, done
    assert done.stderr.splitlines()[-1] == "interrupted"
    assert "error:" not in done.stderr
    assert "Traceback" not in done.stderr
    assert arena.left_behind() == []
    after = {name: what for name, what in arena.snapshot().items() if ".certs" not in name}
    assert after == before


def prepare(arena: Arena, stage: str) -> None:
    """Make the stage long enough to be hit."""
    native = STAGES[stage][1]
    if native:
        arena.add("victim", native=native)
    if stage == "warm-up":
        quick = arena.workspace.profiles / "quick.yaml"
        quick.write_text(quick.read_text().replace("warmup: 500ms", "warmup: 60s"))


@moments(*STAGES)
def test_an_interrupt_ends_a_native_session_and_leaves_nothing(
    arena: Arena, stage: str, number: signal.Signals
) -> None:
    prepare(arena, stage)
    interrupted(arena, stage, number)


def test_a_terminal_that_is_closed_leaves_nothing(arena: Arena) -> None:
    interrupted(arena, "run 1", signal.SIGHUP)


def test_an_impatient_second_and_third_ctrl_c_leave_nothing_either(arena: Arena) -> None:
    interrupted(arena, "run 1", signal.SIGINT, times=3)


@pytest.mark.docker
@pytest.mark.usefixtures("docker", "victim_image")
@moments("build", "start", "run 1")
def test_an_interrupt_ends_a_docker_session_and_leaves_nothing(
    arena: Arena, stage: str, number: signal.Signals
) -> None:
    prepare(arena, stage)
    arena.containerize("victim", {"build": "RUN sleep 60", "start": "CMD sleep 60"}.get(stage))
    interrupted(arena, stage, number, runtime="docker")


@pytest.mark.docker
@pytest.mark.usefixtures("docker")
def test_an_interrupt_ends_a_ghz_in_docker_too(arena: Arena) -> None:
    with arena.under_load(LOADGEN_DOCKER="true") as running:
        eventually(arena.containers, "ghz runs in a container")
        running.signal(signal.SIGINT)
        assert running.end().code == 130
    assert arena.left_behind() == []


def test_a_queued_benchmark_can_be_interrupted(arena: Arena) -> None:
    with arena.under_load() as first:
        with arena.running("victim", "quick") as second:
            second.await_line("waiting")
            second.signal(signal.SIGTERM)
            assert second.end().code == 130
        first.signal(signal.SIGINT)
        assert first.end().code == 130


def test_server_and_ghz_die_with_a_killed_runner_and_its_draft_goes_at_the_next_start(
    arena: Arena,
) -> None:
    with arena.under_load() as running:
        for program in ("server", arena.ghz.name):
            eventually(lambda name=program: arena.processes(name), f"{program} runs")  # type: ignore[misc]
        running.signal(signal.SIGKILL)
        assert running.end().code == -signal.SIGKILL
    eventually(lambda: not arena.processes(), "everything died with the runner")
    assert len(list(arena.results.glob(".httparena-draft-*"))) == 1
    assert len(arena.records("victim")) == 1

    done = arena.run("victim", "quick")
    assert done.code == 0, done
    assert arena.left_behind() == []
    assert len(arena.records("victim")) == 2


@pytest.mark.docker
@pytest.mark.usefixtures("docker", "victim_image")
def test_a_container_left_by_a_killed_runner_is_removed_at_the_next_start(arena: Arena) -> None:
    arena.containerize("victim")
    with arena.under_load(runtime="docker") as running:
        eventually(lambda: arena.processes(arena.ghz.name), "ghz runs")
        running.signal(signal.SIGKILL)
        running.end()
    assert [each["Name"] for each in arena.containers()] == ["/httparena-victim"]

    done = arena.run("victim", "quick", runtime="docker")
    assert done.code == 0, done
    assert "removed the container httparena-victim, left behind" in done.stderr
    assert arena.left_behind() == []
