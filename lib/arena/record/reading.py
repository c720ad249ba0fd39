"""Reading records, those of an older schema too."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.record.record import Record

# What is added to a record as an option leaves the number as it is: every older record is read
# as before. A runner from before the addition leaves out, and says so, what it does not know.
SCHEMA = 1


def read_record(path: Path) -> Record:
    """Read one record; ValueError with one line if it is broken."""
    try:
        return parse_record(path.read_bytes())
    except OSError as error:
        raise ValueError(str(error)) from error


def parse_record(data: bytes) -> Record:
    """Return the record that a file holds; ValueError with one line if it is broken."""
    try:
        return Record.model_validate_json(data)
    except ValidationError:
        pass  # It may be of an older schema; and else there are better words for what is wrong.
    try:
        return Record.model_validate(upgraded(json.loads(data)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except RecursionError as error:
        raise ValueError(str(error)) from error


def upgraded(data: Any) -> Any:
    """Return a record of an older schema as today's; ValueError if it is from the future."""
    if not isinstance(data, dict) or not isinstance(data.get("schema"), int):
        raise ValueError("is not a record: it has no `schema`")  # noqa: TRY004
    if data["schema"] > SCHEMA:
        raise ValueError(f"schema {data['schema']} is newer than this runner's {SCHEMA}")
    return data
