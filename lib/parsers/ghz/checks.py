"""What must hold of a report in either form."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.ghz.errors import GhzParseError

INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1


def check_elapsed(total_ns: int) -> None:
    """Raise GhzParseError for a run without a length."""
    if total_ns == 0:
        raise GhzParseError("the run took 0 ns: no rate can be computed")


def check_statuses(statuses: Mapping[str, int], count: int) -> None:
    """Raise GhzParseError unless every call has exactly one status."""
    counted = sum(statuses.values())
    if counted != count:
        raise GhzParseError(
            f"the status codes add up to {counted} calls, the count is {count}: cut short or edited"
        )
