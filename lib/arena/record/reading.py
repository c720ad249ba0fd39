"""Reading records, including those of older schemas: one step per schema, by its number."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from arena.record.record import Record

# Raised by one for each change that breaks older readers or older files. A new field with a default
# does not raise it.
SCHEMA = 3


def parse_record(data: bytes) -> Record:
    """Return the record that a file holds; ValueError with a one-line message if it is broken."""
    try:
        return Record.model_validate(upgraded(json.loads(data.decode())))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except json.JSONDecodeError as error:
        said = f"is not a whole JSON file (line {error.lineno}: {error.msg})"
        raise ValueError(said) from error
    except RecursionError as error:
        raise ValueError(str(error)) from error


def upgraded(data: Any) -> Any:
    """Return a record upgraded to this schema; ValueError if its schema is newer or missing.

    Broken data is left as it is: the record's own validation reports it.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if type(schema) is not int:
        raise ValueError("is not a record: it has no `schema`")
    if schema > SCHEMA:
        raise ValueError(f"schema {schema} is newer than this runner's {SCHEMA}")
    while step := _STEPS.get(data["schema"]):
        step(data)
        data["schema"] += 1
    return data


def _from_1(data: dict[str, Any]) -> None:
    """Rename the error bars from `low` and `high`, and nest the load's keys."""
    if isinstance(profile := data.get("profile"), dict):
        data["profile"] = _with_load(profile)
    for run in _dicts(data.get("runs")):
        for figure in (run, *_dicts(run.get("points"))):
            _rename(figure, rate_low="rate_at_least", rate_high="rate_at_most")


def _from_2(data: dict[str, Any]) -> None:
    """Drop what was judged; what cannot be judged again is noted."""
    for name in ("headline", "spread", "flags"):
        data.pop(name, None)
    for visit in _dicts([data.get("visit")]):
        visit.pop("is_void", None)  # It says whether the first run was disturbed.
    runs = _dicts(data.get("runs"))
    noted = {
        "disturbed": [run.pop("disturbed", []) for run in runs],
        "saturated": [
            [it.get("number") for it in _dicts(run.get("generators")) if it.pop("flags", None)]
            for run in runs
        ],
    }
    if any(map(any, noted.values())):
        data["noted"] = noted


# The keys of each kind of load; in schema 1 they were keys of the profile.
_FLAT = {
    "closed": ("duration_s", "streams_per_connection", "concurrency"),
    "scheduled": ("schedule", "requests", "concurrency"),
    "blast": ("sweep", "repetitions", "seed", "duration_s"),
}


def _with_load(profile: dict[str, Any]) -> dict[str, Any]:
    """Return a profile of schema 1 with the keys of its load in `load`."""
    flat = {key for keys in _FLAT.values() for key in keys}
    found = {key: value for key, value in profile.items() if key not in {"kind", *flat}}
    kind = profile.get("kind", "closed")
    own = _FLAT.get(kind, ()) if isinstance(kind, str) else ()
    load = {key: profile[key] for key in own if profile.get(key) is not None}
    return {**found, "load": {"kind": kind, **load}}


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _rename(data: dict[str, Any], **names: str) -> None:
    for old, new in names.items():
        if old in data:
            data[new] = data.pop(old)


_STEPS: Mapping[int, Callable[[dict[str, Any]], None]] = {1: _from_1, 2: _from_2}
