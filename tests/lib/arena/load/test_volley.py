"""volley: its command line, the ways it is found, and when it is built (stub programs)."""

import fcntl
import json
from pathlib import Path

import psutil
import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.load import generators, ghz_flags, volley
from arena.load.find import locate
from arena.load.generators import MayOpen, WarmUp
from arena.load.program import Program
from tests.fakes import LIVE, FakeProgress, a_profile, a_program
from tests.lib.arena.load.stubs import (
    Find,
    argv,
    bare,
    docker_stub,
    finder,
    lines,
    preview,
)
from tests.lib.arena.load.volley_reports import a_report

VOLLEY = '[ "$1" = --version ] && echo volley 0.1.0 && exit'
# Stands in for cargo: what it builds says which version stands in Cargo.toml.
CARGO = """
echo "$*" >>"$OUTSIDE/cargo.calls"
[ -z "$(cat "$OUTSIDE/broken" 2>/dev/null)" ] || { echo "error: no such crate"; exit 101; }
for last; do :; done
case $* in *--no-default-features*) features=none ;; *) features='edit lua' ;; esac
mkdir -p "$last/$3"
printf '#!/bin/sh\\necho "volley %s (%s; features: %s)"\\n' \\
  "$(cat version)" "$3" "$features" >"$last/$3/volley"
chmod +x "$last/$3/volley"
"""
SLIM = "build --profile release --locked --no-default-features"
DAEMON = docker_stub("volley 0.1.0")


@pytest.fixture
def find(bin_: Path, outside: Path, workspace: Workspace) -> Find:
    """Return what finds volley in a checkout that has its sources."""
    (workspace.volley / "src" / "http2").mkdir(parents=True)
    (workspace.volley / "crates" / "http" / "src").mkdir(parents=True)
    (workspace.volley / "Cargo.toml").write_text('version = "0.1.0"')
    (workspace.volley / "version").write_text("0.1.0")
    (workspace.volley / "Cargo.lock").write_text("locked")
    (workspace.volley / "build.rs").write_text("fn main() {}")
    (workspace.volley / "src" / "main.rs").write_text("fn main() {}")
    (workspace.volley / "src" / "http2" / "frame.rs").write_text("struct Frame;")
    (workspace.volley / "crates" / "http" / "src" / "lib.rs").write_text("")
    (workspace.root / "docker").mkdir()
    (workspace.root / "docker" / "volley.Dockerfile").write_text("FROM rust")
    return finder("volley", bin_, workspace)


def found(generator: Program) -> tuple[str, str]:
    info = generator.info(a_profile())
    assert info.name == "volley"
    return info.found, info.version


# ---- its command line


def test_the_flags_are_ghzs_and_what_the_replies_must_be(workspace: Workspace) -> None:
    profile = a_profile(generator="volley", expect=("result = a + b + i", "x = 1"))
    shown = preview(profile, workspace, {"PATH": ""})
    assert shown[0] == "volley"
    ghz = ghz_flags.closed(profile)
    assert shown[1:] == [
        *ghz[:-1],
        "--max-recv-message-size", "4MiB",
        "--expect-replies", "5000", "--expect", "result = a + b + i", "--expect", "x = 1",
        ghz[-1],
    ]  # fmt: skip


def test_without_a_rule_only_the_number_of_replies_is_checked() -> None:
    flags = volley.closed(a_profile())
    assert "--expect" not in flags
    assert flags[flags.index("--expect-replies") + 1] == "5000"


def test_streams_that_live_have_their_rate_and_no_end_of_their_own() -> None:
    profile = a_profile(**LIVE, warmup_s=10.0)
    flags = volley.live(profile)
    assert flags[flags.index("--stream-rate") :][:2] == ["--stream-rate", "10"]
    assert flags[flags.index("-c") :][:2] == ["-c", "1000"]
    assert not {"--stream-call-count", "--expect-replies", "--timeout"} & {*flags}
    told = volley.told(volley.live, profile, WarmUp(10.0, 40.0))
    assert told[:-1] == [
        *flags[:-1], "--warmup", "10s", "--open-on-stdin", "--warmup-at-most", "60s",
    ]  # fmt: skip


# ---- the ways it is found


def test_volley_named_by_the_environment_comes_first(
    find: Find, bin_: Path, tmp_path: Path, outside: Path
) -> None:
    a_program(bin_ / "cargo", CARGO)
    named = a_program(tmp_path / "mine", "echo volley 7.0.0-beta")
    assert found(find(VOLLEY=str(named))) == ("$VOLLEY", "7.0.0-beta")
    assert argv(find(VOLLEY=str(named)), a_profile())[0] == "./mine"
    assert lines(outside / "cargo.calls") == []


def test_cargo_builds_it_once_and_what_it_built_is_used_again(
    find: Find, bin_: Path, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    assert found(find()) == ("cargo", "0.1.0 (release; features: none)")
    assert found(find()) == (".tools", "0.1.0 (release; features: none)")
    manifest, target = workspace.volley / "Cargo.toml", workspace.tools / "volley-target"
    assert lines(outside / "cargo.calls") == [
        f"{SLIM} --manifest-path {manifest} --target-dir {target}"
    ]
    assert argv(find(), a_profile())[0] == "./.tools/bin/volley"
    names = sorted(path.name for path in (workspace.tools / "bin").iterdir())
    assert names == ["volley", "volley.sources"]


def test_who_waits_for_cargo_is_told_where_its_log_is(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    progress = FakeProgress()
    located = generators.locate("volley", workspace, {"PATH": str(bin_)})
    located.ready(workspace, None, progress)
    (line,) = progress.lines
    assert line.startswith("build volley (once, some minutes; ")
    assert f"log: {workspace.tools / 'volley-build.log'}" in line


@pytest.mark.parametrize(
    "changed",
    ["Cargo.toml", "Cargo.lock", "build.rs", "src/http2/frame.rs", "crates/http/src/lib.rs"],
)
def test_when_its_sources_change_it_is_built_again(
    find: Find, bin_: Path, workspace: Workspace, changed: str
) -> None:
    a_program(bin_ / "cargo", CARGO)
    assert found(find())[0] == "cargo"
    (workspace.volley / changed).write_text("something else")
    (workspace.volley / "version").write_text("0.2.0")
    assert found(find()) == ("cargo", "0.2.0 (release; features: none)")
    assert found(find()) == (".tools", "0.2.0 (release; features: none)")


def builds_of(outside: Path) -> list[str]:
    return [line.partition(" --manifest")[0] for line in lines(outside / "cargo.calls")]


def test_another_profile_is_another_build(
    find: Find, bin_: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_program(bin_ / "cargo", CARGO)
    find()
    monkeypatch.setenv("VOLLEY_PROFILE", "dist")
    assert found(find()) == ("cargo", "0.1.0 (dist; features: none)")
    assert found(find())[0] == ".tools"
    assert builds_of(outside) == [SLIM, SLIM.replace("release", "dist")]


def test_the_one_with_all_features_is_a_program_of_its_own(
    find: Find, bin_: Path, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)

    def whole() -> Program:
        located = locate(volley.WHOLE, workspace, {"PATH": str(bin_)})
        return located.ready(workspace, None, FakeProgress())

    find()
    assert found(whole()) == ("cargo", "0.1.0 (release; features: edit lua)")
    assert found(whole())[0] == ".tools"
    assert argv(whole(), a_profile())[0] == "./.tools/bin/volley-whole"
    assert found(find()) == (".tools", "0.1.0 (release; features: none)")
    assert builds_of(outside) == [SLIM, "build --profile release --locked"]


def test_of_two_that_need_it_at_once_one_builds(
    bin_: Path, find: Find, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    first, second = (locate(volley.VOLLEY, workspace, {"PATH": str(bin_)}) for _ in range(2))
    build = first.build(workspace, None)
    next(build)
    with (
        (workspace.tools / "volley-build.lock").open("w") as file,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    build.close()
    first.ready(workspace, None, FakeProgress())
    assert found(second.ready(workspace, None, FakeProgress()))[0] == "cargo"
    assert builds_of(outside) == [SLIM]


def test_a_profile_that_is_not_volleys_is_refused(
    find: Find, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_program(bin_ / "cargo", CARGO)
    find()
    monkeypatch.setenv("VOLLEY_PROFILE", "debug")
    with pytest.raises(UsageError, match=r"^VOLLEY_PROFILE: write release or dist, not 'debug'$"):
        find()


def test_an_older_volley_says_nothing_of_its_build(find: Find, tmp_path: Path) -> None:
    named = a_program(tmp_path / "mine", "echo volley 0.1.0")
    assert found(find(VOLLEY=str(named))) == ("$VOLLEY", "0.1.0")


def test_a_file_that_is_added_moved_or_removed_is_a_change(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    find()
    source = workspace.volley / "src"
    (source / "new.rs").write_text("")
    assert found(find())[0] == "cargo"
    (source / "new.rs").rename(source / "newer.rs")
    assert found(find())[0] == "cargo"
    (source / "newer.rs").unlink()
    assert found(find())[0] == "cargo"
    (workspace.volley / "docs").mkdir()
    (workspace.volley / "docs" / "volley.1").write_text(".TH volley 1")
    assert found(find())[0] == "cargo"


def test_what_it_is_not_built_from_is_no_change(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    find()
    (workspace.volley / "README.md").write_text("new")
    (workspace.volley / "target").mkdir()
    (workspace.volley / "target" / "x").write_text("new")
    assert found(find())[0] == ".tools"


def test_a_volley_of_unknown_sources_is_not_trusted(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    a_program(workspace.tools / "bin" / "volley", "echo volley 0.0.1")
    assert found(find())[0] == "cargo"
    (workspace.tools / "bin" / "volley.sources").write_bytes(b"\xff")
    assert found(find())[0] == "cargo"


def test_a_build_that_fails_names_its_log_and_the_other_ways_and_leaves_the_old_one(
    find: Find, bin_: Path, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    find()
    (outside / "broken").write_text("yes")
    (workspace.volley / "src" / "main.rs").write_text("fn main() { oops }")
    with pytest.raises(
        HostError, match=r"^volley: .*failed.*volley-build\.log; or name one with V"
    ):
        find()
    assert lines(workspace.tools / "volley-build.log") == ["error: no such crate"]
    (workspace.volley / "src" / "main.rs").write_text("fn main() {}")
    assert found(find())[0] == ".tools"


def test_volley_on_path_is_not_looked_for(find: Find, bin_: Path) -> None:
    a_program(bin_ / "volley", "echo volley 9.9.9")
    with pytest.raises(HostError, match="there is no volley"):
        find()


def test_without_its_sources_the_missing_one_is_named(
    find: Find, bin_: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "cargo", CARGO)
    (workspace.volley / "Cargo.lock").unlink()
    with pytest.raises(HostError, match=r"Cargo\.lock: cannot be read \(No such file"):
        find()


# ---- in a container


def test_without_cargo_an_image_is_built_from_the_sources_and_named_by_them(
    find: Find, bin_: Path, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "docker", DAEMON)
    where, version = found(find())
    assert where.startswith("image httparena-volley:")
    assert version == "0.1.0 (sha256:0123456789ab)"
    image = where.removeprefix("image ")
    (build,) = [line for line in lines(outside / "docker.calls") if line.startswith("build ")]
    assert f"--tag {image}" in build
    file = workspace.root / "docker" / "volley.Dockerfile"
    assert f"--file {file} --build-arg PROFILE=release {workspace.volley}" in build
    assert found(find())[0] == where
    assert len([line for line in lines(outside / "docker.calls") if line[:6] == "build "]) == 1
    (workspace.volley / "src" / "main.rs").write_text("something else")
    other = found(find())[0]
    assert other != where
    (workspace.root / "docker" / "volley.Dockerfile").write_text("FROM other")
    assert found(find())[0] not in (where, other)


def test_in_docker_by_wish_even_with_volley_named(
    find: Find, bin_: Path, outside: Path, tmp_path: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "docker", DAEMON)
    (outside / "images").write_text("abc")
    named = a_program(tmp_path / "mine", "echo volley 7")
    environment = {"LOADGEN_DOCKER": "true", "VOLLEY": str(named), "VOLLEY_IMAGE": "mine:1"}
    generator = find(**environment)
    assert found(generator)[0] == "image mine:1"
    whole = argv(generator, a_profile())
    assert whole[:3] == ["docker", "run", "--rm"]
    assert whole[whole.index("--name") + 1] == "httparena-volley-run"
    assert whole[whole.index("mine:1") + 1 :] == volley.closed(a_profile())
    assert preview(a_profile(generator="volley"), workspace, environment) == whole


# ---- running it


def fire(find: Find, tmp_path: Path, script: str) -> tuple[generators.Shot, Program]:
    named = a_program(tmp_path / "mine", f"{VOLLEY}\n{script}")
    generator = find(VOLLEY=str(named))
    return generator.fire(a_profile(duration_s=0.5), tmp_path / "run-1", lambda _: None), generator


def test_a_shot_leaves_its_report(find: Find, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(json.dumps(a_report()))
    shot, generator = fire(find, tmp_path, f"cat {tmp_path / 'report'}")
    assert shot.problem is None
    assert generator.parse(shot.raw, a_profile()).rate == 4200.0


def test_where_no_call_succeeded_it_ends_with_1_and_its_report_counts(
    find: Find, tmp_path: Path
) -> None:
    shot, _ = fire(find, tmp_path, "echo '{}'; exit 1")
    assert shot.problem is None


def test_a_long_error_line_is_kept_whole(find: Find, tmp_path: Path) -> None:
    said = f"error: flow.yaml: steps[0].lua: needs the feature `lua`; {'get it so, ' * 20}"
    shot, _ = fire(find, tmp_path, f"echo '{said}' >&2; exit 2")
    assert shot.problem == "volley ended in the middle of it (exit code 2)"
    assert shot.output == said.strip()


@pytest.mark.parametrize("script", ["echo no such host >&2; exit 1", "echo '{}'; exit 2"])
def test_any_other_end_is_a_problem(find: Find, tmp_path: Path, script: str) -> None:
    shot, _ = fire(find, tmp_path, script)
    assert shot.problem
    assert shot.problem.startswith("volley ended in the middle of it (exit code ")


# ---- a window that is opened from here

WARM_UP = WarmUp(seconds=0.5, wait_s=120.0)


def fire_told(
    find: Find, tmp_path: Path, script: str, may_open: MayOpen
) -> tuple[generators.Shot, Program]:
    (tmp_path / "report").write_text(json.dumps(a_report()))
    named = a_program(tmp_path / "mine", f"{VOLLEY}\n{script.replace('REPORT', 'cat report')}")
    generator = find(VOLLEY=str(named))
    return generator.fire_told(a_profile(), WARM_UP, tmp_path / "run-1", may_open), generator


def test_only_a_closed_load_can_be_opened_from_here(find: Find, tmp_path: Path) -> None:
    generator = find(VOLLEY=str(a_program(tmp_path / "mine", VOLLEY)))
    assert generator.tells_window(a_profile())
    assert not generator.tells_window(a_profile(kind="scheduled"))
    assert not generator.tells_window(a_profile(kind="blast"))
    with pytest.raises(RuntimeError, match="does not open its window when it is told"):
        generator.info(a_profile(kind="scheduled"), WARM_UP)


def test_its_command_line_has_the_warm_up_and_an_end_of_all_patience(
    find: Find, tmp_path: Path
) -> None:
    generator = find(VOLLEY=str(a_program(tmp_path / "mine", VOLLEY)))
    flags = bare(generator.info(a_profile(), WARM_UP).argv)[1:]
    told = ["--warmup", "500ms", "--open-on-stdin", "--warmup-at-most", "130500ms"]
    # No call of a slow server ends for being as old as the warm-up.
    assert flags == volley.closed(a_profile(), [*told, "--timeout", "150500ms"])


def test_the_window_opens_when_it_may_and_its_cost_is_the_windows(
    find: Find, tmp_path: Path
) -> None:
    asked: list[tuple[float, bool]] = []

    def may_open(elapsed_s: float, is_warm: bool) -> bool:
        asked.append((elapsed_s, is_warm))
        if len(asked) == 3:
            (tmp_path / "connected").touch()
        return is_warm

    script = (
        "until [ -e connected ]; do :; done; echo volley: warm >&2\n"
        "read line; echo $line >told; REPORT"
    )
    shot, generator = fire_told(find, tmp_path, script, may_open)
    assert (tmp_path / "told").read_text() == "open\n"
    assert [is_warm for _, is_warm in asked[:3]] == [False] * 3
    assert (shot.problem, shot.cost.cpu_s) == (None, 0.1)
    assert shot.measured == generator.parse(shot.raw, a_profile())
    assert shot.measured.warm_up == (3_000, 2_000)
    assert (shot.log, [*tmp_path.glob("*.stderr")]) == (shot.raw, [])


def test_it_is_told_once_however_often_it_may(find: Find, tmp_path: Path) -> None:
    asked: list[float] = []

    def may_open(elapsed_s: float, _: bool) -> bool:
        asked.append(elapsed_s)
        if len(asked) == 4:
            (tmp_path / "closed").touch()
        return True

    script = "exec 3<&0; cat <&3 >told & until [ -e closed ] && [ -s told ]; do :; done; REPORT"
    shot, _ = fire_told(find, tmp_path, script, may_open)
    assert shot.problem is None
    assert (tmp_path / "told").read_text() == "open\n"


def test_a_warning_beside_the_sign_of_being_warm_is_kept(find: Find, tmp_path: Path) -> None:
    script = "echo volley: warm >&2; read line; echo warning: oh >&2; REPORT"
    shot, _ = fire_told(find, tmp_path, script, lambda _, is_warm: is_warm)
    assert shot.log.read_text() == "volley: warm\nwarning: oh\n"


def test_one_that_ends_in_its_warm_up_was_never_opened(find: Find, tmp_path: Path) -> None:
    script = "echo error: no server >&2; exit 1"
    shot, _ = fire_told(find, tmp_path, script, lambda _, is_warm: is_warm)
    assert shot.problem == "volley ended in the middle of it (exit code 1)"
    assert shot.output == "error: no server"


def test_an_exception_while_it_warms_up_ends_it(find: Find, tmp_path: Path) -> None:
    def interrupt(_: float, is_warm: bool) -> bool:
        if is_warm:
            raise KeyboardInterrupt
        return False

    script = "echo $$ >pid; echo volley: warm >&2; read line"
    with pytest.raises(KeyboardInterrupt):
        fire_told(find, tmp_path, script, interrupt)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
