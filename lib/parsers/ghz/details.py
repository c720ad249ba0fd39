"""The single calls in ghz's JSON: its list `details`, which text output does not have.

A detail's `timestamp` is the END of the call, so it began at `timestamp - latency`. The report's
`date` is when the report was made, to the second: no use as the edge of a window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from parsers.common.errors import ParseError
from parsers.common.json_values import INT64_MAX, JsonObject

DETAILS_KEPT = 1_000_000
"""ghz's `maxResult`: it writes down the first this many calls."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One call; the time is since 1970."""

    end_us: int
    latency_ns: int
    error: str
    status: str

    @property
    def begin_us(self) -> int:
        """When the call began, since 1970."""
        return self.end_us - self.latency_ns // 1000


def read_details(
    report: JsonObject, count: int, total_ns: int, statuses: Mapping[str, int]
) -> list[Detail]:
    """Read the calls, none if ghz wrote none; ParseError if they contradict the totals."""
    details = [_detail(item, total_ns) for item in report.children("details")]
    if details and len(details) != min(count, DETAILS_KEPT):
        raise ParseError(
            f"`details` holds {len(details)} calls, `count` says {count}: edited or cut short"
        )
    if len(details) == count and Counter(d.status for d in details) != Counter(statuses):
        raise ParseError(
            "`details` and `statusCodeDistribution` disagree: edited or not from one run"
        )
    return details


def _detail(item: JsonObject, total_ns: int) -> Detail:
    latency_ns = item.whole("latency", INT64_MAX)
    if latency_ns > total_ns:
        raise ParseError(
            f"`{item.where}.latency` is longer than the run: {latency_ns} > {total_ns} ns"
        )
    return Detail(
        end_us=item.time_us("timestamp"),
        latency_ns=latency_ns,
        error=item.string("error"),
        status=item.string("status") or "Unknown",
    )
