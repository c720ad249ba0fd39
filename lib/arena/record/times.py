"""Timestamps of records: sortable, and valid in file names."""

from datetime import UTC, datetime
from typing import Annotated

import pydantic
from pydantic import Field


def parse_utc(text: str) -> datetime:
    """Return the time of a timestamp that utc_now wrote."""
    # This takes a twentieth of strptime's time; there are a hundred thousand records.
    day, _, time = text.partition("T")
    return datetime.fromisoformat(f"{day}T{time.replace('-', ':')}")


def _moment(text: str) -> str:
    parse_utc(text)
    return text


# A timestamp as `utc_now` writes it.
UtcTime = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}Z$"),
    pydantic.AfterValidator(_moment),
]


def utc_now() -> str:
    """Return the current time as a timestamp: sortable, and valid in file names."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
