"""Bad usage and bad input: refused in one line, before anything starts or is written."""

import json
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from tests.integration.plumbing import Arena

pytestmark = pytest.mark.integration


@pytest.fixture
def arena(checkout: Workspace, ghz: Path) -> Arena:
    """Return a checkout where no server is ever started, and so no port of the host is needed."""
    arena = Arena(checkout, ghz)
    arena.add("victim", native={"run": "exit 7"})
    return arena


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["victin", "quick"], ["no framework `victin`", "did you mean victim?"]),
        (["../victim", "quick"], ["no framework `../victim`", "victim"]),
        (["victim", "quik"], ["no profile `quik`", "did you mean quick?"]),
        (["zzz", "quick"], ["no framework `zzz`", "there are: victim"]),
        (["victim", "stream-grpc-tls"], ["victim does not subscribe to stream-grpc-tls"]),
        (["all", "stream-grpc-tls"], ["no enabled framework subscribes to `stream-grpc-tls`"]),
        (["victim", "quick", "--generator", "gzh"], ["--generator", "`gzh`", "did you mean ghz?"]),
        (["victim", "quick", "--runtime", "podman"], ["`podman`", "auto, docker, native"]),
        (["victim", "quick", "--runs", "0"], ["--runs"]),
        (["victim", "quick", "--duration", "5"], ["--duration", "write 5s"]),
        (["victim", "quick", "--duration", "0s"], ["--duration", "at least 1ms"]),
        (["victim", "quick", "--bogus"], ["--bogus"]),
        ([], ["FRAMEWORK"]),
    ],
)
def test_a_wrong_word_on_the_command_line_is_refused_by_name(
    arena: Arena, arguments: list[str], words: list[str]
) -> None:
    before = arena.snapshot()
    done = arena.run(*arguments)
    assert done.code == 2
    assert all(word in done.error for word in words), done.error
    assert arena.snapshot() == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RUNS", "many", ["runs", "many"]),
        ("DURATION", "5 parsecs", ["duration", "5 parsecs"]),
        ("SERVER_CPUS", "3-1", ["SERVER_CPUS", "runs backwards"]),
        ("LOADGEN_CPUS", "4096", ["LOADGEN_CPUS", "4096", "not available"]),
    ],
)
def test_a_wrong_environment_variable_is_refused_by_name(
    arena: Arena, name: str, value: str, words: list[str]
) -> None:
    before = arena.snapshot()
    done = arena.run("victim", "quick", **{name: value})
    assert done.code == 2
    assert all(word in done.error for word in words), done.error
    assert arena.snapshot() == before


def test_a_wrong_runtime_in_the_environment_is_refused_by_name(arena: Arena) -> None:
    done = arena.command("run", "--wait", "victim", "quick", RUNTIME="podman")
    assert done.code == 2
    assert "RUNTIME" in done.error
    assert "`podman`" in done.error


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("profiles/quick.yaml", "extends: stream-grpc\nname: [", ["line"]),
        ("profiles/quick.yaml", "extends: stream-grpc\nname: other\n", ["name", "must be `quick`"]),
        ("profiles/quick.yaml", "extends: stream-grpc\nname: quick\nrun: 3\n", ["run", "runs"]),
        ("profiles/quick.yaml", "extends: stream-grp\nname: quick\n", ["extends", "stream-grpc"]),
        ("profiles/quick.yaml", "extends: quick\nname: quick\n", ["extends", "circle"]),
        (
            "profiles/quick.yaml",
            "extends: stream-grpc\nname: quick\nduration: 5\n",
            ["duration", "write 5s"],
        ),
        (
            "profiles/quick.yaml",
            "extends: stream-grpc\nname: quick\ngenerator: wrk\n",
            ["generator", "no generator `wrk`"],
        ),
        ("profiles/quick.yaml", "name: quick\n", ["warmup", "is missing"]),
        ("profiles/quick.yaml", "just words\n", ["mapping"]),
        ("frameworks/victim/meta.json", '{"display_name": "x",\n}', ["line 2"]),
        ("frameworks/victim/meta.json", "[]", ["mapping"]),
        ("frameworks/victim/meta.json", "\xff", ["UTF-8"]),
    ],
)
def test_a_broken_file_is_named_with_its_key_or_line(
    arena: Arena, file: str, text: str, words: list[str]
) -> None:
    (arena.root / file).write_bytes(text.encode("latin-1"))
    before = arena.snapshot()
    done = arena.run("victim", "quick")
    assert done.code == 2
    assert done.error.startswith(f"error: {file}: ")
    assert all(word in done.error for word in words), done.error
    assert arena.snapshot() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"langauge": "Go"}, ["langauge: unknown key", "did you mean language"]),
        ({"type": "toy"}, ["type", "production"]),
        ({"tests": "quick"}, ["tests"]),
        ({"display_name": ""}, ["display_name"]),
        ({"tests": None}, ["tests"]),
        ({"name": "victim"}, ["name: unknown key"]),
        ({"native": {"needs": []}}, ["native.run", "required"]),
        ({"native": {"run": "true", "bulid": "true"}}, ["native.bulid: unknown key"]),
    ],
)
def test_a_wrong_key_of_a_meta_json_is_named(
    arena: Arena, changes: dict[str, object], words: list[str]
) -> None:
    path = arena.workspace.frameworks / "victim" / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))
    done = arena.run("victim", "quick")
    assert done.code == 2
    assert done.error.startswith("error: frameworks/victim/meta.json: ")
    assert all(word in done.error for word in words), done.error


@pytest.fixture
def impostor(tmp_path: Path) -> dict[str, str]:
    """Return things that GHZ may name and that are not ghz."""
    text = tmp_path / "impostor"
    text.write_text("no program at all\n")
    text.chmod(0o755)
    return {
        "nothing": "/nowhere/ghz",
        "a folder": str(tmp_path),
        "a text file": str(text),
        "another program": "/bin/true",
        "a file that may not be run": "/etc/passwd",
    }


@pytest.mark.parametrize(
    "what",
    ["nothing", "a folder", "a text file", "another program", "a file that may not be run"],
)
def test_a_ghz_that_is_not_ghz_is_refused_before_the_server_is_built(
    arena: Arena, impostor: dict[str, str], what: str
) -> None:
    before = arena.snapshot()
    done = arena.run("victim", "quick", GHZ=impostor[what])
    assert done.code == 2
    assert done.error.startswith(f"error: GHZ: {impostor[what]} is not ")
    assert "build victim" not in done.stderr
    assert arena.snapshot() == before
