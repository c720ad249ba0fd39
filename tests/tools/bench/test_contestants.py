"""The generators of the bench: how they are told, what is read of them, and who may take part."""

import json
from pathlib import Path

import pytest

import parse_ghz
from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.measure.generators import ghz, volley
from arena.measure.generators.h2load_flags import Version, arguments
from arena.measure.generators.program import Program
from tests.fakes import FakeProgress, a_program
from tests.lib.arena.measure.generators.volley_reports import a_report
from tools.bench.contestants import Contestant, Ghz, H2load, Told, Volley, find
from tools.bench.workloads import STREAM, UNARY, UNARY_1024

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FAIR = ["--duration-stop=wait", "--disable-template-functions", "--disable-template-data"]
HELP = "[ $1 = --help ] && echo --proto --call --connections && exit"


@pytest.fixture
def program(workspace: Workspace) -> Program:
    return Program(volley.DIALECT, workspace, None, "/bin/it", "1.0", "$GHZ")


def test_ghz_and_volley_get_the_same_load_and_wait_for_their_last_calls(
    program: Program, tmp_path: Path
) -> None:
    profile = STREAM.profile(1234, 5.0)
    load = [
        "--insecure", "--proto", "requests/benchmark.proto",
        "--call", "benchmark.BenchmarkService/StreamSum", "-d", '{"a":1,"b":2,"count":5000}',
        "--connections", "64", "-c", "256", "-z", "5s",
    ]  # fmt: skip
    assert Ghz(program).argv(profile) == [
        "/bin/it", *load, "-O", "summary", *FAIR, "localhost:1234"
    ]  # fmt: skip
    assert Volley(program).argv(profile) == [
        "/bin/it", *load, "-O", "json",
        "--expect-replies", "5000", "--expect", "result = a + b + i", "--duration-stop=wait",
        "localhost:1234",
    ]  # fmt: skip


def test_a_unary_reply_is_checked_too(program: Program, tmp_path: Path) -> None:
    argv = Volley(program).argv(UNARY_1024.profile(1, 5.0))
    assert argv[argv.index("--expect") + 1] == "result = a + b"
    assert argv[argv.index("--expect-replies") + 1] == "1"
    assert argv[argv.index("--connections") + 1] == "1024"
    assert argv[argv.index("-c") + 1] == "102400"


@pytest.fixture
def h2load(workspace: Workspace) -> H2load:
    return H2load("/bin/h2load", Version("1.70.0", (1, 70)), workspace)


def test_h2load_gets_the_same_load_and_prints_the_short_report(
    h2load: H2load, workspace: Workspace, tmp_path: Path
) -> None:
    profile = UNARY.profile(1234, 1.5)
    argv = h2load.argv(profile)
    assert argv == ["/bin/h2load", *arguments(profile, None, Version("1.52.0", (1, 52)))]
    body = workspace.root / argv[argv.index("-d") + 1]
    assert body.read_bytes() == b"\0\0\0\0\4\x08\1\x10\2"


def read(contestant: Contestant, raw: Path) -> Told:
    return contestant.read(raw, STREAM.profile(1, 5.0))


def test_ghz_counts_its_ok_calls(program: Program) -> None:
    told = read(Ghz(program), FIXTURES / "ghz" / "ghz-121-stream.txt")
    calls = parse_ghz.parse_file(FIXTURES / "ghz" / "ghz-121-stream.txt").calls
    assert (told.counted, told.failed) == (calls.ok * 5000, calls.cut)


def test_volley_counts_its_messages(program: Program, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.write_text(json.dumps(a_report()))
    assert read(Volley(program), raw) == Told(counted=21_000, failed=3, elapsed_s=5.0)


def test_h2load_counts_its_ok_calls(h2load: H2load) -> None:
    told = read(h2load, FIXTURES / "h2load" / "h2load-152-mixed.txt")
    assert told == Told(counted=600, failed=400, elapsed_s=0.1579)
    dead = read(h2load, FIXTURES / "h2load" / "h2load-152-dead-port.txt")
    assert (dead.counted, dead.failed) == (0, 0)


@pytest.mark.parametrize("kind", [Ghz, Volley, None])
def test_broken_output_is_a_valueerror(
    program: Program, h2load: H2load, tmp_path: Path, kind: type[Ghz | Volley] | None
) -> None:
    raw = tmp_path / "raw"
    raw.write_text("finished in 1.00s\n")
    contestant = kind(program) if kind else h2load
    with pytest.raises(ValueError):
        read(contestant, raw)


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """Return the environment in which there is each of them."""
    folder = tmp_path / "bin"
    a_program(folder / "h2load", "echo h2load nghttp2/1.52.0")
    named = a_program(tmp_path / "ghz", f"{HELP}; echo v0.121.0")
    ours = a_program(tmp_path / "volley", "echo volley 0.1.0")
    return {"PATH": str(folder), "GHZ": str(named), "VOLLEY": str(ours), "LOADGEN_DOCKER": "true"}


def test_all_are_found_as_programs_whatever_is_said_of_docker(
    workspace: Workspace, programs: dict[str, str]
) -> None:
    found = find(workspace, programs, FakeProgress())
    assert {name: each.version for name, each in found.items()} == {
        "ghz": "v0.121.0",
        "h2load": "1.52.0",
        "volley": "0.1.0",
    }


def test_volley_does_not_take_ghzs_part(workspace: Workspace, programs: dict[str, str]) -> None:
    both = a_program(Path(programs["GHZ"]), f"{HELP}; echo volley 0.1.0")
    with pytest.raises(UsageError, match=f"^GHZ: {both} is volley, and ghz is to be compared"):
        find(workspace, programs, FakeProgress())


def test_without_h2load_its_package_is_named(
    workspace: Workspace, programs: dict[str, str]
) -> None:
    with pytest.raises(HostError, match="Debian: nghttp2-client"):
        find(workspace, {**programs, "PATH": ""}, FakeProgress())


def test_what_is_wrong_with_a_named_program_is_said(
    workspace: Workspace, programs: dict[str, str]
) -> None:
    for name in ("GHZ", "VOLLEY"):
        with pytest.raises(UsageError, match=f"^{name}: /no/such is not a program"):
            find(workspace, {**programs, name: "/no/such"}, FakeProgress())


def test_an_image_cannot_take_part(
    workspace: Workspace, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from arena.measure.generators.program import ProgramInDocker

    contained = ProgramInDocker(volley.DIALECT, workspace, None, "image", "1", "image image")
    contained.name = "ghz"
    monkeypatch.setattr(ghz, "resolve", lambda *_: contained)
    with pytest.raises(HostError, match="name a program with GHZ=/path/to/ghz"):
        find(workspace, programs, FakeProgress())
