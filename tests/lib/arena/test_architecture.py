"""What the folders promise: generated code is current, and data never flows back."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from grpc_tools import protoc  # type: ignore[import-untyped]

import arena
from arena.cli.main import cli

ROOT = Path(__file__).resolve().parents[3]
PROTO = ROOT / "requests" / "benchmark.proto"
ARENA = Path(arena.__file__).parent


def lint_imports(root: Path) -> "subprocess.CompletedProcess[str]":
    """Run import-linter as scripts/test.sh does, on the packages below a folder."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"], cwd=root, env={"PYTHONPATH": "lib:fleet"},
        check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("arena/judge/wrong.py", "from arena.run import session"),
        ("arena/base/wrong.py", "def late():\n    import arena.record"),
        ("arena/night/wrong.py", "from arena import site"),
        ("parsers/wrong.py", "from arena.base import errors"),
        ("arena/night/wrong.py", "def late():\n    import distributed"),
        ("arena/cli/wrong.py", "from dask import config"),
        ("arena/night/wrong.py", "def late():\n    import arena_fleet.racks"),
    ],
)
def test_an_import_against_the_flow_of_data_is_refused_by_its_name(
    tmp_path: Path, module: str, line: str
) -> None:
    for root in ("lib", "fleet"):
        shutil.copytree(ROOT / root, tmp_path / root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "lib" / module).write_text(f"{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done
    assert "1 broken" in done.stdout
    assert module.removesuffix(".py").replace("/", ".") in done.stdout


def test_the_generated_messages_are_those_of_the_proto(tmp_path: Path) -> None:
    arguments = [f"--proto_path={PROTO.parent}", f"--python_out={tmp_path}"]
    code = protoc.main(["protoc", *arguments, f"--pyi_out={tmp_path}", str(PROTO)])
    assert code == 0
    for name in ("benchmark_pb2.py", "benchmark_pb2.pyi"):
        assert (tmp_path / name).read_text() == (ARENA / "what" / name).read_text()


HEAVY = {
    "cryptography", "dask", "distributed", "google", "h2", "jinja2", "psutil", "pydantic",
    "tinyhtml5", "yaml",
}  # fmt: skip


def loaded_by(*words: str) -> set[str]:
    """Return the top-level modules that a command line loads, as Python itself tells it."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(ROOT / "lib"), *words],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    return {name.partition(".")[0] for name in names}


def commands() -> Iterator[list[str]]:
    """Yield the words of every command, of those in groups too."""
    context = click.Context(cli)
    yield []
    for verb in cli.list_commands(context):
        yield [verb]
        command = cli.get_command(context, verb)
        yield from ([verb, name] for name in getattr(command, "commands", {}))


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_the_help_needs_none_of_the_heavy_libraries(command: list[str]) -> None:
    loaded = loaded_by(*command, "--help")
    assert {"arena", "click"} <= loaded
    assert loaded & HEAVY == set()


def test_the_check_itself_sees_a_heavy_library() -> None:
    assert "pydantic" in loaded_by("schema", "record")


@pytest.fixture
def no_dask(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which an import of Dask is an error that nobody catches."""
    for name in ("dask", "distributed"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported Dask')\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["night", "--help"],
        ["fleet", "--help"],
        ["run", "grpc-go", "stream-grpc", "--generator", "volley", "--dry-run"],
        ["list"],
    ],
    ids=" ".join,
)
def test_nothing_but_a_fleet_imports_dask(no_dask: dict[str, str], words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "lib"), *words],
        check=False, capture_output=True, text=True, timeout=120, env=no_dask,
    )  # fmt: skip
    assert (done.returncode, "imported Dask" in done.stderr) == (0, False), done


def test_the_ban_on_dask_itself_works(no_dask: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "lib"), "fleet", "status"],
        check=False, capture_output=True, text=True, timeout=120, env=no_dask,
    )  # fmt: skip
    assert "imported Dask" in done.stderr
