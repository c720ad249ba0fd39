"""Moments as records name them: sortable, and fit for a file name."""

from datetime import UTC, datetime
from typing import Annotated

import pydantic
from pydantic import Field


def parse_utc(text: str) -> datetime:
    """Return the moment that utc_now wrote."""
    # A twentieth of what strptime takes, and there are a hundred thousand records.
    day, _, time = text.partition("T")
    return datetime.fromisoformat(f"{day}T{time.replace('-', ':')}")


def _moment(text: str) -> str:
    parse_utc(text)
    return text


# As `utc_now` writes a moment.
UtcTime = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}Z$"),
    pydantic.AfterValidator(_moment),
]


def utc_now() -> str:
    """Return this moment as records name it: sortable, and fit for a file name."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
