"""Reading records, including those of older schemas."""

import json
from pathlib import Path

from pydantic import ValidationError

from arena.record.record import Record
from arena.record.upgrade import upgraded


def read_record(path: Path) -> Record:
    """Read one record; ValueError with a one-line message if it is broken."""
    try:
        return parse_record(path.read_bytes())
    except OSError as error:
        raise ValueError(str(error)) from error


def parse_record(data: bytes) -> Record:
    """Return the record that a file holds; ValueError with a one-line message if it is broken."""
    try:
        return Record.model_validate(upgraded(json.loads(data.decode())))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except RecursionError as error:
        raise ValueError(str(error)) from error
