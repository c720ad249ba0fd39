"""Reading files: a fault of a hand-written one is a UsageError that names it. Logs, and hashes."""

import hashlib
import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from arena.base.errors import UsageError
from arena.base.text import printable, shown

# The maximum size of a hand-written file, such as a profile or a meta.json.
_LONGEST_INPUT_BYTES = 1 << 20

# How much of the end of a log is searched, and the lines that begin a stack trace.
_TAIL_BYTES = 1 << 16
_CAUSE = re.compile(r"(?i)panic:|fatal error|thread '.*' .*panicked|traceback|unhandled exception")

# How much of an error is quoted.
_LONGEST_ERROR = 300

# The escape sequences for coloured output (ECMA-48: SGR).
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def read_input(path: Path) -> str:
    """Return a hand-written file's text; UsageError if it is missing, huge or not UTF-8."""
    try:
        # A pipe that nobody writes to would be waited for.
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{shown(path)}: is not a plain file")
            data = file.read(_LONGEST_INPUT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read ({error.strerror})") from error
    if len(data) > _LONGEST_INPUT_BYTES:
        raise UsageError(f"{shown(path)}: is larger than 1 MiB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)}: is not UTF-8 text") from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_yaml(path: Path, *, odd_numbers: bool = False) -> dict[str, Any]:
    """Return the mapping in a file of YAML 1.2; UsageError with the line where it is broken.

    0100 is 64 in YAML 1.1, and 1:00 is 60. They are errors, or texts with `odd_numbers`.
    """
    import yaml

    def parse(text: str) -> Any:
        try:
            return yaml.load(text, _core(odd_numbers))  # noqa: S506 - it is a SafeLoader
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark else ""
            raise ValueError(where + (getattr(error, "problem", None) or "is not YAML")) from error

    return _mapping(path, parse)


@cache
def _core(odd_numbers: bool) -> Any:
    """Return a loader of the core schema: `on` is a text, and so is a date."""
    import yaml

    def wrong(node: yaml.Node, why: str) -> yaml.YAMLError:
        return yaml.constructor.ConstructorError(None, None, why, node.start_mark)

    class Core(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
            keys = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in keys:
                    raise wrong(key, f"the key `{printable(key.value)}` is there twice")
                keys.add(key.value if isinstance(key, yaml.ScalarNode) else None)
            return super().construct_mapping(node, deep)

    def odd(_: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
        why = f"`{printable(node.value)}` is no clear number: write it without leading zeros "
        raise wrong(node, why + "or colons, or in quotes if it is a text")

    for tag, shape, first in (
        ("null", r"~|null|Null|NULL|", [*"~nN", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
        ("odd", r"[-+]?(0[0-9]+|[0-9]+(:[0-5]?[0-9])+)", list("-+0123456789")),
        ("merge", r"<<", ["<"]),
    ):
        Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^({shape})$"), first)
    text = yaml.SafeLoader.construct_yaml_str
    Core.add_constructor("tag:yaml.org,2002:odd", text if odd_numbers else odd)
    return Core


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's table; UsageError with the line where it is broken."""
    return _mapping(path, tomllib.loads)


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON file's object; UsageError with the line where it is broken."""

    def parse(text: str) -> Any:
        try:
            return json.loads(text, object_pairs_hook=_once)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}") from error

    return _mapping(path, parse)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key `{printable(key)}` is there twice")
        found[key] = value
    return found


def _mapping(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    try:
        data = parse(read_input(path))
    except ValueError as error:
        # This includes invalid dates and numbers: `2026-13-45`, or 5000 digits.
        raise UsageError(f"{shown(path)}: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{shown(path)}: is nested too deeply") from error
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise UsageError(f"{shown(path)}: must be a mapping of keys to values")
    return data


def last_error(log: Path) -> str:
    """Return the last error that the runner reported in a log, printable; empty without one."""
    lines = text_of(log).splitlines()
    found = [each.removeprefix("error: ") for each in lines if each.startswith("error: ")]
    return printable(found[-1])[:_LONGEST_ERROR] if found else ""


def tail(path: Path, lines: int = 8) -> str:
    """Return the last lines of a log, printable; empty if it cannot be read.

    If they belong to a long stack trace, the line with its cause comes first.
    """
    return last_lines(end_of(path), lines)


def end_of(path: Path) -> bytes:
    """Return the last 64 KiB of a log; nothing if it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read()
    except OSError:
        return b""


def text_of(path: Path) -> str:
    """Return the text of a file, such as one of the kernel; empty if it cannot be read."""
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def last_lines(log: bytes, lines: int) -> str:
    """Return the last lines of a log's content as `tail` does."""
    plain = COLOUR.sub("", log[-_TAIL_BYTES:].decode(errors="replace"))
    kept = [line.rstrip() for line in plain.splitlines() if line.strip()]
    before = kept[:-lines]
    causes = [before[at : at + 2] for at, line in enumerate(before) if _CAUSE.match(line)]
    # Rust prints the place of a panic, and the reason on the next line.
    cause = causes[-1][: 1 + causes[-1][0].endswith(":")] if causes else []
    return "\n".join(printable(line) for line in cause + kept[-lines:])


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_sha256(folder: Path, files: Iterable[Path]) -> str:
    """Return one SHA-256 in hex over the path below `folder` and the content of each file.

    The order of the files matters. A symbolic link is hashed as its target path.
    """
    digest = hashlib.sha256()
    for path in files:
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        for part in (os.fsencode(path.relative_to(folder)), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
