"""The generators of the bench: their arguments, how they are read, and which may take part."""

import json
from pathlib import Path

import pytest

import parse_ghz
from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from tests.fakes import FakeProgress, a_program
from tests.lib.arena.load.volley_reports import a_report
from tools.bench.contestants import Contestant, Told, find
from tools.bench.workloads import PACED, PACED_10MS, STREAM, UNARY, UNARY_1024, UNARY_TEMPLATE

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FAIR = ["--duration-stop=wait", "--disable-template-functions", "--disable-template-data"]
HELP = "[ $1 = --help ] && echo --proto --call --connections && exit"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment in which all of them are found, and no Docker daemon."""
    monkeypatch.setattr("arena.machine.docker.daemon_version", lambda: (None, "none"))
    folder = tmp_path / "bin"
    a_program(folder / "h2load", "echo h2load nghttp2/1.52.0")
    named = a_program(tmp_path / "ghz", f"{HELP}; echo v0.121.0")
    ours = a_program(tmp_path / "volley", "echo volley 0.1.0")
    return {"PATH": str(folder), "GHZ": str(named), "VOLLEY": str(ours), "LOADGEN_DOCKER": "true"}


@pytest.fixture
def found(workspace: Workspace, programs: dict[str, str]) -> dict[str, Contestant]:
    return find(workspace, programs, FakeProgress())


def test_ghz_and_volley_get_the_same_load_and_wait_for_their_last_calls(
    found: dict[str, Contestant],
) -> None:
    profile = STREAM.profile(1234, 5.0)
    load = [
        "--insecure", "--proto", "requests/benchmark.proto",
        "--call", "benchmark.BenchmarkService/StreamSum", "-d", '{"a":1,"b":2,"count":5000}',
        "--connections", "64", "-c", "256", "-z", "5s",
    ]  # fmt: skip
    assert found["ghz"].arguments(profile, 0) == [*load, "-O", "summary", *FAIR, "localhost:1234"]
    assert found["volley"].arguments(profile, 0) == [
        *load, "-O", "json", "--max-recv-message-size", "4MiB",
        "--expect-replies", "5000", "--expect", "result = a + b + i", "--duration-stop=wait",
        "localhost:1234",
    ]  # fmt: skip


def test_a_unary_reply_is_checked_too(found: dict[str, Contestant]) -> None:
    argv = found["volley"].arguments(UNARY_1024.profile(1, 5.0), 0)
    assert argv[argv.index("--expect") + 1] == "result = a + b"
    assert argv[argv.index("--expect-replies") + 1] == "1"
    assert argv[argv.index("--connections") + 1] == "1024"
    assert argv[argv.index("-c") + 1] == "102400"


def test_templates_are_filled_in_by_both_that_can(found: dict[str, Contestant]) -> None:
    profile = UNARY_TEMPLATE.profile(1234, 5.0)
    for name in UNARY_TEMPLATE.generators:
        argv = UNARY_TEMPLATE.rendered(found[name].arguments(profile, 0), name)
        assert argv[argv.index("-d") + 1] == UNARY_TEMPLATE.data
        assert argv[argv.index("-m") + 1] == UNARY_TEMPLATE.metadata
        assert not any("disable" in each for each in argv)
    argv = found["ghz"].arguments(profile, 0)
    assert UNARY.rendered(argv, "ghz") == argv


def test_h2load_gets_the_same_load(found: dict[str, Contestant], workspace: Workspace) -> None:
    argv = found["h2load"].arguments(UNARY.profile(1234, 1.5), 0)
    assert argv[:4] == ["-c", "64", "-m", "100"]
    body = workspace.root / argv[argv.index("-d") + 1]
    assert body.read_bytes() == b"\0\0\0\0\4\x08\1\x10\2"


def test_a_pace_is_for_all_connections_together(found: dict[str, Contestant]) -> None:
    profile = PACED.profile(1234, 5.0)
    for name in ("ghz", "volley"):
        argv = found[name].arguments(profile, PACED.rps)
        assert argv[argv.index("--rps") + 1] == "10000"
    argv = found["h2load"].arguments(profile, PACED.rps)
    assert "--rps=625" in argv
    assert PACED_10MS.rendered(argv, "h2load") == argv
    assert PACED_10MS.rendered([], "volley") == ["--coalesce-sends", "10ms"]


def read(contestant: Contestant, raw: Path) -> Told:
    return contestant.read(raw, STREAM.profile(1, 5.0))


def test_ghz_counts_its_ok_calls(found: dict[str, Contestant]) -> None:
    told = read(found["ghz"], FIXTURES / "ghz" / "ghz-121-stream.txt")
    calls = parse_ghz.parse_file(FIXTURES / "ghz" / "ghz-121-stream.txt").calls
    assert (told.counted, told.failed) == (calls.ok * 5000, calls.cut)


def test_volley_counts_its_messages(found: dict[str, Contestant], tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.write_text(json.dumps(a_report()))
    assert read(found["volley"], raw) == Told(counted=21_000, failed=3, elapsed_s=5.0)


def test_h2load_counts_its_ok_calls(found: dict[str, Contestant]) -> None:
    told = read(found["h2load"], FIXTURES / "h2load" / "h2load-152-mixed.txt")
    assert told == Told(counted=600, failed=400, elapsed_s=0.1579)
    dead = read(found["h2load"], FIXTURES / "h2load" / "h2load-152-dead-port.txt")
    assert (dead.counted, dead.failed) == (0, 0)


@pytest.mark.parametrize("name", ["ghz", "h2load", "volley"])
def test_broken_output_is_a_valueerror(
    found: dict[str, Contestant], tmp_path: Path, name: str
) -> None:
    raw = tmp_path / "raw"
    raw.write_text("finished in 1.00s\n")
    with pytest.raises(ValueError):
        read(found[name], raw)


def test_all_are_found_as_programs_whatever_is_said_of_docker(
    found: dict[str, Contestant],
) -> None:
    assert {name: each.program.version for name, each in found.items()} == {
        "ghz": "v0.121.0",
        "h2load": "1.52.0",
        "volley": "0.1.0",
    }


def test_volley_does_not_take_ghzs_part(workspace: Workspace, programs: dict[str, str]) -> None:
    both = a_program(Path(programs["GHZ"]), f"{HELP}; echo volley 0.1.0")
    with pytest.raises(UsageError, match=f"^GHZ: {both} is volley, not ghz$"):
        find(workspace, programs, FakeProgress())


def test_without_h2load_the_others_take_part_and_its_package_is_named(
    workspace: Workspace, programs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(find(workspace, {**programs, "PATH": ""}, FakeProgress())) == {"ghz", "volley"}
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("error: there is no h2load: ")
    assert "nghttp2-client" in said
    assert said.endswith("; the other generators are measured")


def test_what_is_wrong_with_a_named_program_is_an_error(
    workspace: Workspace, programs: dict[str, str]
) -> None:
    for name in ("GHZ", "H2LOAD", "VOLLEY"):
        with pytest.raises(UsageError, match=f"^{name}: /no/such is not a program"):
            find(workspace, {**programs, name: "/no/such"}, FakeProgress())
