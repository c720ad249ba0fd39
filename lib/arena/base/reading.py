"""Reading hand-written files: every fault is a UsageError that names the file and the key."""

import json
import os
import re
from collections.abc import Callable
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
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def read_input(path: Path) -> str:
    """Return a hand-written file's text; UsageError if it is missing, huge or not UTF-8."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_INPUT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read ({error.strerror})") from error
    if len(data) > _LONGEST_INPUT_BYTES:
        raise UsageError(f"{shown(path)}: is larger than 1 MiB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)}: is not UTF-8 text") from error


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML file's mapping; UsageError with the line where it is broken."""
    import yaml

    def parse(text: str) -> Any:
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark else ""
            raise ValueError(where + (getattr(error, "problem", None) or "is not YAML")) from error

    return _mapping(path, parse)


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON file's object; UsageError with the line where it is broken."""

    def parse(text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}") from error

    return _mapping(path, parse)


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
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    found = [each.removeprefix("error: ") for each in lines if each.startswith("error: ")]
    return printable(found[-1])[:_LONGEST_ERROR] if found else ""


def tail(path: Path, lines: int = 8) -> str:
    """Return the last lines of a log, printable; empty if it cannot be read.

    If they belong to a long stack trace, the line with its cause comes first.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    plain = _COLOUR.sub("", text)
    kept = [line.rstrip() for line in plain.splitlines() if line.strip()]
    before = kept[:-lines]
    causes = [before[at : at + 2] for at, line in enumerate(before) if _CAUSE.match(line)]
    # Rust prints the place of a panic, and the reason on the next line.
    cause = causes[-1][: 1 + causes[-1][0].endswith(":")] if causes else []
    return "\n".join(printable(line) for line in cause + kept[-lines:])
