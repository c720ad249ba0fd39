"""The scenario files that profiles name: requests that depend on each other, as volley reads them.

What is sent is in the file. Where to, and how fast, is in the profile, so the file's own targets,
loads, thresholds and control do not apply.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from arena.base.errors import UsageError
from arena.base.model import Frozen
from arena.base.reading import read_yaml, tree_sha256
from arena.base.text import nearest, shown

# The folder of the files that volley gets, from the project's root: paths in a plan start there.
MADE = ".tools/scenarios"
_ROOT = "../.."

# Containers of generators see this folder and no other of the project's own.
_FOLDER = "requests"
_PATH = re.compile(rf"{_FOLDER}/[\w./-]{{1,200}}\.(yaml|yml|json)", re.ASCII)

# What the profile says instead, or its board.
_NOT_OURS = ("load", "start_after", "thresholds", "control")


class ScenarioFile(Frozen):
    """The file that a profile names: its path below the project's root, and a hash of its content.

    The hash covers the files that it names, too. `plan` is what it says, without that of which the
    profile decides. Records do not have it: it is empty once they are read.
    """

    file: str
    sha256: str
    plan: SkipJsonSchema[dict[str, Any]] = Field(default={}, exclude=True, repr=False)


def scenario_of(root: Path, file: object, *, whole: bool = True) -> ScenarioFile:
    """Read a scenario file; ValueError with a sentence if it cannot be a profile's.

    If it is not to be `whole`, folders are hashed as nothing, as in older records. Only volley
    knows all that is wrong with a file: `volley check FILE` reports it.
    """
    example = f"write a path such as {_FOLDER}/crud.yaml"
    if not isinstance(file, str) or not _PATH.fullmatch(file) or ".." in Path(file).parts:
        raise ValueError(f"names no scenario file below {_FOLDER}/: {example}")
    path = root / file
    if not path.is_file():
        there = [each.relative_to(root).as_posix() for each in (root / _FOLDER).rglob("*")]
        raise ValueError(f"there is no {file}{nearest(file, list(filter(_PATH.fullmatch, there)))}")
    plan = _read(path)
    for key, default in (("targets", None), ("scenarios", None), ("http", {}), ("limits", {})):
        if not isinstance(plan.setdefault(key, default), dict):
            complaint = "must be a mapping of keys to values"
            raise ValueError(f"{file}: {key}: {complaint}")  # noqa: TRY004
    for name, scenario in plan["scenarios"].items():
        for key in ("load", "start_after"):
            if isinstance(scenario, dict) and key in scenario:
                where = f"scenarios.{name}.{key}"
                raise ValueError(f"{file}: {where}: the load is in the profile, for all scenarios")
    digest = hashlib.sha256()
    plan = {key: value for key, value in plan.items() if key not in _NOT_OURS}
    named = list(_named(plan))
    contents = (_content(root, path, each, whole=whole) for each, _, _ in named)
    for part in (json.dumps(plan).encode(), *contents):
        digest.update(len(part).to_bytes(8, "big") + part)
    for each, holder, key in named:
        holder[key] = f"{_ROOT}/{(path.parent / each).relative_to(root).as_posix()}"
    return ScenarioFile(file=file, sha256=digest.hexdigest(), plan=plan)


def _read(path: Path) -> dict[str, Any]:
    """Return the mapping in a file of YAML, as its version 1.2 reads it; ValueError if broken."""
    try:
        plan = read_yaml(path, odd_numbers=True)
        json.dumps(plan, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{shown(path)}: is not what JSON can hold ({error})") from error
    except UsageError as error:
        raise ValueError(str(error)) from error
    return plan


def _named(plan: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each file that a plan names, with what holds its name, and where in that."""
    for key in ("protos", "import_paths"):
        if isinstance(plan.get(key), str):
            plan[key] = [plan[key]]
        yield from ((each, plan[key], at) for at, each in enumerate(_list(plan.get(key))))
    for feed in _dicts(plan.get("data")):
        yield from ((feed[key], feed, key) for key in ("csv", "jsonl") if key in feed)
    lists = [plan.get("setup"), plan.get("teardown")]
    lists += [scenario.get("steps") for scenario in _dicts(plan.get("scenarios"))]
    while lists:
        for step in _dicts(lists.pop(0)):
            lists.append(step.get("together"))
            for part in (*_dicts([step.get("body")]), *_dicts(step.get("multipart"))):
                if "file" in part:
                    yield part["file"], part, "file"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    """Return the mappings in a list, or in the values of a mapping."""
    every = value.values() if isinstance(value, dict) else _list(value)
    return [each for each in every if isinstance(each, dict)]


def _content(root: Path, path: Path, named: object, *, whole: bool) -> bytes:
    """Return the content of a file that a scenario names; of a folder, a hash of its .proto files.

    Folders are where imports are found.
    """
    file = path.parent / str(named)
    if not file.resolve().is_relative_to((root / _FOLDER).resolve()):
        raise ValueError(f"{shown(path)}: names `{named}`, which is not below {_FOLDER}/")
    try:
        if file.is_dir():
            protos = sorted(each for each in file.rglob("*.proto") if each.is_file())
            return tree_sha256(file, protos).encode() if whole else b""
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"{shown(path)}: names `{named}`: {error.strerror}") from error
