"""Reading records, including those of older schemas: one step per schema, by its number."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arena.record.measurement import Run, interval_of
from arena.record.record import Record
from arena.what.metrics import Metric

# Raised by one for each change that breaks older readers or older files. A new field with a default
# does not raise it.
SCHEMA = 2

_RUNS = TypeAdapter(tuple[Run, ...])


def parse_record(data: bytes) -> Record:
    """Return the record that a file holds; ValueError with a one-line message if it is broken."""
    try:
        return Record.model_validate_json(data)
    except ValidationError:
        pass  # It may be of an older schema; if not, the error below is clearer.
    try:
        return Record.model_validate(upgraded(json.loads(data.decode())))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except RecursionError as error:
        raise ValueError(str(error)) from error


def upgraded(data: Any) -> Any:
    """Return a record upgraded to this schema; ValueError if its schema is newer or missing.

    Broken data is left as it is: the record's own validation reports it.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, int):
        raise ValueError("is not a record: it has no `schema`")  # noqa: TRY004
    if schema > SCHEMA:
        raise ValueError(f"schema {schema} is newer than this runner's {SCHEMA}")
    while step := _STEPS.get(data["schema"]):
        step(data)
        data["schema"] += 1
    return data


def _from_1(data: dict[str, Any]) -> None:
    """Rename the error bars from `low` and `high`, add the interval, and nest the load's keys."""
    if isinstance(profile := data.get("profile"), dict):
        data["profile"] = _with_load(profile)
    for run in _dicts(data.get("runs")):
        for figure in (run, *_dicts(run.get("points"))):
            _rename(figure, rate_low="rate_at_least", rate_high="rate_at_most")
    headline = data.get("headline")
    if isinstance(headline, dict):
        _rename(headline, low="at_least", high="at_most")
        headline["low"] = headline["high"] = headline.get("value")
        try:
            runs = _RUNS.validate_python(data["runs"])
            headline["low"], headline["high"] = interval_of(Metric(headline["metric"]), runs)
        except (ValidationError, LookupError, ValueError):
            pass


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


_STEPS: Mapping[int, Callable[[dict[str, Any]], None]] = {1: _from_1}
