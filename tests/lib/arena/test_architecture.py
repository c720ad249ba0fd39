"""What the folders promise: generated code is current, and data never flows back."""

import ast
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


def modules() -> dict[str, Path]:
    names = {}
    for path in ARENA.rglob("*.py"):
        parts = ["arena", *path.relative_to(ARENA).with_suffix("").parts]
        names[".".join(part for part in parts if part != "__init__")] = path
    return names


MODULES = modules()


def imports_of(name: str) -> set[str]:
    """Return the modules of arena that a module imports, wherever in it; not only for types."""
    found = set()
    tree = ast.parse(MODULES[name].read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & set(MODULES)


def reachable(name: str) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for each in imports_of(todo.pop()) - seen:
            seen.add(each)
            todo.append(each)
    return seen


def test_measuring_is_unknown_to_judging_and_publishing() -> None:
    for name in MODULES:
        if name.startswith(("arena.judge", "arena.publish")):
            assert not {each for each in reachable(name) if each.startswith("arena.measure")}, name


def test_the_generated_messages_are_those_of_the_proto(tmp_path: Path) -> None:
    arguments = [f"--proto_path={PROTO.parent}", f"--python_out={tmp_path}"]
    code = protoc.main(["protoc", *arguments, f"--pyi_out={tmp_path}", str(PROTO)])
    assert code == 0
    for name in ("benchmark_pb2.py", "benchmark_pb2.pyi"):
        assert (tmp_path / name).read_text() == (ARENA / "what" / name).read_text()


HEAVY = {
    "cryptography", "google", "h2", "jinja2", "psutil", "pydantic", "rich", "tinyhtml5", "yaml",
}  # fmt: skip


def loaded_by(*words: str) -> set[str]:
    """Return the top-level modules that a command line loads, as Python itself tells it."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(ROOT / "lib"), *words],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
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
