"""ghz: its command line, and the ways it is found (stub programs on PATH)."""

import json
import shlex
from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.load import generators, ghz, ghz_flags, program, volley
from arena.load.measurements import of_ghz
from arena.load.program import Program
from arena.record.measurement import Cost
from arena.what.environment import GENERATORS
from arena.what.profile import MeasuredProfile
from tests.fakes import a_profile, a_program
from tests.lib.arena.load.stubs import Find, argv, finder, preview
from tests.lib.arena.load.volley_reports import a_report

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "ghz"
HELP = "echo --proto --call --connections"
# A ghz that answers when it is asked what it is.
GHZ = f"[ $1 = --help ] && {HELP} && exit; [ $1 = --version ] && echo v1 && exit"
DAEMON = """
case "$1" in
version) echo 29.1 ;;
images) echo abc ;;
inspect) echo '[{"Id": "sha256:0123456789abcdef", "State": {"Pid": 1}}]' ;;
esac
"""
GO_INSTALL = """
case "$1" in
install) echo "$CGO_ENABLED $2 $3" >"$GOBIN/../asked"
  printf '#!/bin/sh\\necho --proto --call --connections\\n' >"$GOBIN/ghz"
  chmod +x "$GOBIN/ghz" ;;
version) printf '%s: go1.24\\n\\tmod\\tgithub.com/bojand/ghz\\tv0.121.0\\th1:x=\\n' "$3" ;;
esac
"""


@pytest.fixture
def find(bin_: Path, workspace: Workspace) -> Find:
    return finder("ghz", bin_, workspace)


def found(generator: Program) -> tuple[str, str]:
    info = generator.info(a_profile())
    return info.found, info.version


@pytest.mark.parametrize(
    ("profile", "security", "target"),
    [
        (a_profile(), "--insecure", "localhost:8080"),
        (a_profile(name="stream-grpc-tls", port=8443, tls=True), "--skipTLS", "localhost:8443"),
    ],
)
def test_the_flags_are_httparenas(
    workspace: Workspace, profile: MeasuredProfile, security: str, target: str
) -> None:
    assert shlex.join(preview(profile, workspace, {"PATH": ""})) == (
        f"ghz {security} --proto requests/benchmark.proto "
        '--call benchmark.BenchmarkService/StreamSum -d \'{"a":1,"b":2,"count":5000}\' '
        f"--connections 64 -c 256 -z 5s -O json {target}"
    )


def test_an_unknown_generator_is_answered_with_those_there_are() -> None:
    assert tuple(each.name for each in generators.descriptions().values()) == GENERATORS
    with pytest.raises(UsageError, match=r"^here: there is no generator `gzh` \(did you mean ghz"):
        generators.require_known("gzh", "here")


def test_ghz_named_by_the_environment_comes_first(find: Find, bin_: Path, tmp_path: Path) -> None:
    a_program(bin_ / "ghz", GHZ)
    named = a_program(tmp_path / "mine", f"[ $1 = --help ] && {HELP} || echo v7")
    assert found(find(GHZ=str(named))) == ("$GHZ", "v7")
    assert argv(find(GHZ=str(named)), a_profile())[0] == "./mine"


VOLLEY = f"[ $1 = --help ] && {HELP} || echo volley 0.1.0"


def check_drop_in(generator: Program, where: str, tmp_path: Path) -> None:
    info = generator.info(a_profile())
    assert (generator.name, info.name, info.found) == ("volley", "volley", where)
    profile = a_profile(expect=("result = a + b + i",))
    # It is held to the same checks as every volley: one board, one rule.
    whole, own = argv(generator, profile), volley.closed(profile)
    assert whole[-len(own) :] == own
    assert whole[whole.index("--expect") + 1] == "result = a + b + i"
    raw = tmp_path / "raw.json"
    raw.write_text(json.dumps(a_report()))
    measured = generator.parse(raw, a_profile())
    # What volley counted; its three OK calls would have made 15,000.
    assert (measured.messages, measured.rate, measured.rate_at_most) == (21_000, 4200.0, 4200.0)


def test_volley_in_the_place_of_ghz_keeps_its_name_and_its_counts(
    find: Find, tmp_path: Path
) -> None:
    named = str(a_program(tmp_path / "mine", VOLLEY))
    check_drop_in(find(GHZ=named), "$GHZ", tmp_path)
    assert argv(find(GHZ=named), a_profile())[0] == "./mine"
    assert find(GHZ=named).version == "0.1.0"


def test_volley_that_is_called_ghz_is_still_volley(find: Find, bin_: Path, tmp_path: Path) -> None:
    a_program(bin_ / "ghz", VOLLEY)
    check_drop_in(find(), "PATH", tmp_path)


@pytest.mark.parametrize(
    ("says", "name", "version"), [("volley 0.1.0", "volley", "0.1.0"), ("dev", "ghz", "mine:1")]
)
def test_an_image_is_what_it_says_it_is(
    find: Find, bin_: Path, tmp_path: Path, says: str, name: str, version: str
) -> None:
    a_program(bin_ / "docker", DAEMON.replace("images)", f"run) echo {says} ;;\nimages)"))
    generator = find(LOADGEN_DOCKER="true", GHZ_IMAGE="mine:1")
    assert (generator.name, generator.version) == (name, f"{version} (sha256:0123456789ab)")
    if name == "volley":
        check_drop_in(generator, "image mine:1", tmp_path)


def test_path_comes_before_our_own_and_that_before_go(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "docker", DAEMON)
    assert found(find())[0] == "image httparena-ghz:v0.121.0"
    a_program(bin_ / "go", GO_INSTALL)
    assert found(find())[0] == "go install"
    assert found(find())[0] == ".tools"
    a_program(bin_ / "ghz", GHZ)
    assert found(find())[0] == "PATH"


def test_go_builds_the_pinned_version_into_our_tools(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "go", GO_INSTALL)
    assert found(find()) == ("go install", "v0.121.0")
    folder = workspace.tools / "bin"
    assert (folder / "asked").read_text() == "0 -trimpath github.com/bojand/ghz/cmd/ghz@v0.121.0\n"
    assert sorted(path.name for path in folder.iterdir()) == ["asked", "ghz"]


def test_a_build_that_fails_names_its_log_and_the_other_ways(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "go", "echo no network; exit 1")
    with pytest.raises(HostError, match=r"failed.*ghz-build\.log; or name one with GHZ="):
        find()
    assert (workspace.tools / "ghz-build.log").read_text() == "no network\n"
    assert list((workspace.tools / "bin").iterdir()) == []


def test_a_version_is_asked_of_go_and_else_of_ghz_itself(bin_: Path) -> None:
    command = [str(a_program(bin_ / "ghz", f"[ $1 = --help ] && {HELP} || echo v0.117.0"))]
    assert ghz.version_of(command) == "v0.117.0"
    a_program(bin_ / "go", GO_INSTALL)
    assert ghz.version_of(command) == "v0.121.0"
    a_program(bin_ / "go", "printf '\\tmod\\tgithub.com/bojand/ghz\\t(devel)\\n'")
    assert ghz.version_of(command) == "v0.117.0"


def test_a_silent_ghz_has_no_version(bin_: Path) -> None:
    assert ghz.version_of([str(a_program(bin_ / "ghz", f"[ $1 = --help ] && {HELP}"))]) == "unknown"


def test_in_docker_by_wish_even_with_ghz_on_path(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "ghz", GHZ)
    a_program(bin_ / "docker", DAEMON)
    generator = find(LOADGEN_DOCKER="true")
    assert generator.version == "v0.121.0 (sha256:0123456789ab)"
    whole = argv(generator, a_profile())
    assert whole[:3] == ["docker", "run", "--rm"]
    assert whole[whole.index("--mount") + 1] == (
        f'type=bind,"source={workspace.requests}",target=/requests,readonly'
    )
    image = whole.index("httparena-ghz:v0.121.0")
    assert whole[image + 1 :] == ghz_flags.closed(a_profile())


def fire(find: Find, bin_: Path, tmp_path: Path, script: str) -> generators.Shot:
    a_program(bin_ / "ghz", f"{GHZ}; {script}")
    return find().fire(a_profile(duration_s=1.5), tmp_path / "run-1", lambda _: None)


def test_a_shot_leaves_its_output_and_its_cost(find: Find, bin_: Path, tmp_path: Path) -> None:
    shot = fire(find, bin_, tmp_path, 'echo "$*"')
    assert shot.problem is None
    assert shot.raw.read_text().split() == ghz_flags.closed(a_profile(duration_s=1.5))
    assert "1500ms" in shot.raw.read_text()
    assert shot.cost.peak_bytes > 0
    assert shot.log == shot.raw
    assert not (tmp_path / "run-1.stderr").exists()


def test_a_shot_that_breaks_says_how_with_its_last_words(
    find: Find, bin_: Path, tmp_path: Path
) -> None:
    shot = fire(find, bin_, tmp_path, "echo bad flag >&2; exit 3")
    assert shot.problem
    assert "exit code 3" in shot.problem
    assert shot.output == "bad flag"
    assert shot.log.read_text() == "bad flag\n"
    assert not shot.may_repeat


def test_a_ghz_whose_window_closed_before_it_began_may_begin_again(
    find: Find, bin_: Path, tmp_path: Path
) -> None:
    trace = "panic: send on closed channel\\n\\ngoroutine 50 [running]:\\n" + 20 * "frame\\n"
    shot = fire(find, bin_, tmp_path, f"printf '{trace}' >&2; exit 2")
    assert shot.problem
    assert shot.may_repeat


def test_a_ghz_that_does_not_end_is_killed(
    find: Find, bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "_GRACE_S", -1.49)
    shot = fire(find, bin_, tmp_path, "while :; do :; done")
    assert shot.problem
    assert "was killed" in shot.problem


def test_a_container_whose_cost_cannot_be_read_is_a_problem(
    find: Find, bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(_: int, *, container: str) -> None:
        raise HostError("hidden")

    monkeypatch.setattr(program, "cgroup_of", hidden)
    a_program(bin_ / "docker", DAEMON)
    shot = find(LOADGEN_DOCKER="1").fire(a_profile(duration_s=1.5), tmp_path / "x", lambda _: None)
    assert shot.problem == "the control group of ghz's container could not be read"


def test_the_cpu_time_of_containers_is_known_only_while_they_run(
    find: Find, bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Group:
        def cost(self) -> Cost:
            return Cost(cpu_s=2.5, peak_bytes=1)

    monkeypatch.setattr(program, "cgroup_of", lambda _, *, container: Group())
    seen = tmp_path / "seen"
    runs = f"run) while [ ! -e {seen} ]; do sleep 0.01; done ;;\nesac"
    a_program(bin_ / "docker", DAEMON.replace("esac", runs))
    generator = find(LOADGEN_DOCKER="1")
    told: list[float | None] = []

    def tick(_: float) -> None:
        told.append(generator.away_s())
        if told[-1] is not None:
            seen.touch()

    for _ in range(2):
        assert generator.away_s() is None
        generator.fire(a_profile(duration_s=1.5), tmp_path / "x", tick)
        seen.unlink()
    # The second container's time comes on top of the first one's.
    assert {each for each in told if each} == {2.5, 5.0}
    assert generator.is_away


# With Docker, $GHZ is not looked at.
@pytest.mark.parametrize("docker", ["true", "TRUE", "1", "yes", "Yes"])
@pytest.mark.parametrize("named", [{"GHZ": "/no/such"}, {"GHZ": ""}, {}])
def test_yes_to_docker_can_be_written_in_several_ways(
    workspace: Workspace, docker: str, named: dict[str, str]
) -> None:
    generators.locate("ghz", workspace, {"LOADGEN_DOCKER": docker, **named})


@pytest.mark.parametrize("docker", ["false", "False", "0", "no", "", None])
def test_no_to_docker_can_be_written_in_several_ways(
    workspace: Workspace, docker: str | None
) -> None:
    asked = {} if docker is None else {"LOADGEN_DOCKER": docker}
    for named in ({}, {"GHZ": ""}):
        generators.locate("ghz", workspace, asked | named)
    with pytest.raises(UsageError, match=r"^GHZ: /no/such is not a program"):
        generators.locate("ghz", workspace, {**asked, "GHZ": "/no/such"})


@pytest.mark.parametrize("environment", [{}, {"GHZ": "/no/such"}])
def test_any_other_word_about_docker_is_refused(
    workspace: Workspace, environment: dict[str, str]
) -> None:
    said = "^LOADGEN_DOCKER: write true or false, not 'banana'$"
    with pytest.raises(UsageError, match=said):
        generators.locate("ghz", workspace, {**environment, "LOADGEN_DOCKER": "banana"})


def test_a_ghz_that_is_there_is_previewed_by_its_path(workspace: Workspace, bin_: Path) -> None:
    def program(**environment: str) -> str:
        return preview(a_profile(), workspace, environment)[0]

    assert program(PATH="") == "ghz"
    a_program(workspace.tools / "bin" / "ghz", GHZ)
    assert program(PATH="") == "./.tools/bin/ghz"
    a_program(bin_ / "ghz", GHZ)
    assert program(PATH=str(bin_)) == "./bin/ghz"
    named = a_program(workspace.root / "mine", GHZ)
    assert program(PATH=str(bin_), GHZ=str(named)) == "./mine"


def test_volley_in_the_place_of_ghz_is_previewed_with_its_checks(
    workspace: Workspace, tmp_path: Path
) -> None:
    named = str(a_program(tmp_path / "mine", VOLLEY))
    shown = preview(a_profile(), workspace, {"PATH": "", "GHZ": named})
    assert shown == ["./mine", *volley.closed(a_profile())]


def test_a_real_output_becomes_a_measurement() -> None:
    measured = of_ghz(FIXTURES / "ghz-121-stream.json", a_profile())
    assert measured.calls.ok > 0
    assert measured.messages == measured.calls.ok * 5000
    assert measured.rate == pytest.approx(measured.messages / measured.elapsed_s)
    assert measured.rate_at_least <= measured.rate <= measured.rate_at_most
    assert measured.latency_ns.kind == "service"


def test_the_projects_own_program_is_named_from_its_root_and_started_there(
    find: Find, workspace: Workspace, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    a_program(workspace.tools / "bin" / "ghz", f'{GHZ}; printf "%s" "$0"')
    generator = find()
    assert argv(generator, a_profile())[0] == "./.tools/bin/ghz"
    shot = generator.fire(a_profile(), tmp_path / "run-1", lambda _: None)
    assert shot.raw.read_text() == "./.tools/bin/ghz"
    elsewhere = a_program(tmp_path_factory.mktemp("elsewhere") / "ghz", HELP)
    assert argv(find(GHZ=str(elsewhere)), a_profile())[0] == str(elsewhere)
