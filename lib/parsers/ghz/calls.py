"""The single calls in ghz's JSON, which of them were cut, and what each second was like.

Its list `details`, which text output does not have, holds them. A detail's `timestamp` is the END
of the call, so it began at `timestamp - latency`. The report's `date` is when the report was made,
to the second: no use as the edge of a window. ghz does not record a run's start: that is `total`
before the end of its last call.

Cut calls were open when the window closed: neither OK nor failed.
With `--duration-stop=close`, the default, ghz stops handing out calls when the window closes, then
closes its connections one after another; calls still open end with an error of grpc-go's own
making. A call is cut when all of these hold:

1. Its error, the whole of it, is one that closing makes:

   - Canceled, "grpc: the client connection is closing": streams, and calls that wait for a
     connection.
   - Unavailable, "error reading from server: ... use of closed network connection": v0.121 read
     a socket it had closed itself.
   - Unavailable, "transport is closing": v0.93's wording of the same; v0.121 in a race.
   - Unavailable, "error reading from server: EOF" or "... connection reset by peer": v0.121 over
     TLS, where the server may answer close_notify before the socket is closed.

   The last two are also what a dying server looks like. They count only if nothing else in the
   report says that the server went away: any other Unavailable (connection refused, draining)
   rules them out.
2. The run was stopped (`endReason` timeout or cancel). A run that used up its `-n` closed nothing
   early.
3. No ordinary call (one with any other outcome) was begun long after it ended: after the stop
   ghz begins none, but on a starved host a worker may be late to begin the one it already had,
   0.71 s late once. The words that only ghz can cause have 2 s, the doubtful ones 0.1 s. This
   unmasks a server that died, or a proxy that hands on such words, in mid-window. `-z` cannot
   serve as the edge: its timer starts before the connections are opened, 1.4 s before with 1024
   TLS connections on two cores.
4. At most `concurrency` calls are cut, the last ones to end: a worker has one call open (unless
   `--async`).

Text has only rule 1, with EOF and reset counted only beside an unmistakable cut. JSON without
complete details has rules 1 and 2; rule 2 is applied by `json_report`. With `--duration-stop=wait`
nothing is cut; with `ignore` ghz hides the cut calls, and `at_most` is then too low.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parsers.common.figures import Latency, Second
from parsers.common.values import INT64_MAX, JsonObject, ParseError

DETAILS_KEPT = 1_000_000
"""ghz's `maxResult`: it writes down the first this many calls."""

MOST_SECONDS = 86_400
"""A day: longer runs have no seconds."""

_CERTAIN_SLACK_US = 2_000_000
_DOUBTFUL_SLACK_US = 100_000

_UNAVAILABLE = "rpc error: code = Unavailable desc = "
_READING = _UNAVAILABLE + "error reading from server: "
_CERTAIN = re.compile(
    r"rpc error: code = Canceled desc = grpc: the client connection is closing"
    rf"|{_READING}[^\n]*use of closed (network )?connection"
)
_TRANSPORT_CLOSING = _UNAVAILABLE + "transport is closing"
_HUNG_UP = re.compile(rf"{_READING}((unexpected )?EOF|[^\n]*connection reset by peer)")
_SECOND_US = 1_000_000


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


def cut_by_text(errors: Mapping[str, int], statuses: Mapping[str, int]) -> dict[str, int]:
    """Cut calls by code, from error texts alone; never more than the status counts allow."""
    certain = any(_CERTAIN.fullmatch(error) for error in errors)
    cut: Counter[str] = Counter()
    for error, code in _closing_codes(errors).items():
        if certain or not _HUNG_UP.fullmatch(error):
            cut[code] += errors[error]
    return {code: min(count, statuses.get(code, 0)) for code, count in cut.items()}


def cut_by_time(details: Sequence[Detail], most_open: int | None) -> list[Detail]:
    """Cut calls, from each call's error and clock (rules 1, 3 and 4)."""
    codes = _closing_codes({detail.error for detail in details})
    closing = [detail for detail in details if codes.get(detail.error) == detail.status]
    last_us = max(
        (detail.begin_us for detail in details if codes.get(detail.error) != detail.status),
        default=None,
    )
    if last_us is not None:
        closing = [detail for detail in closing if detail.end_us >= last_us - _slack_us(detail)]
    closing.sort(key=lambda detail: detail.end_us, reverse=True)
    return closing[:most_open]


def _slack_us(detail: Detail) -> int:
    return _CERTAIN_SLACK_US if _CERTAIN.fullmatch(detail.error) else _DOUBTFUL_SLACK_US


def _closing_codes(errors: Iterable[str]) -> dict[str, str]:
    """Pick the errors that closing made (rule 1), each with its status code."""
    closing: dict[str, str] = {}
    doubtful: dict[str, str] = {}
    server_left = False
    for error in errors:
        code = "Unavailable" if error.startswith(_UNAVAILABLE) else "Canceled"
        if _CERTAIN.fullmatch(error):
            closing[error] = code
        elif error == _TRANSPORT_CLOSING or _HUNG_UP.fullmatch(error):
            doubtful[error] = code
        elif code == "Unavailable":
            server_left = True
    return closing if server_left else closing | doubtful


def seconds_of(
    details: Sequence[Detail], cut: Sequence[Detail], total_ns: int
) -> tuple[Second, ...]:
    """Sort every call of a run into its seconds; empty if the run was longer than a day.

    A `cut` call was sent, but neither succeeded nor failed. ghz counts calls, so an OK call stands
    for one message here.
    """
    length = -(-total_ns // 10**9)
    if not details or length > MOST_SECONDS:
        return ()
    start_us = max(detail.end_us for detail in details) - total_ns // 1000
    begun, failed = [0] * length, [0] * length
    ok_ns: list[list[int]] = [[] for _ in range(length)]

    def second(moment_us: int) -> int:
        return min(max((moment_us - start_us) // _SECOND_US, 0), length - 1)

    for detail in details:
        begun[second(detail.begin_us)] += 1
        if detail.status == "OK":
            ok_ns[second(detail.end_us)].append(detail.latency_ns)
        else:
            failed[second(detail.end_us)] += 1
    for detail in cut:
        failed[second(detail.end_us)] -= 1
    found = []
    for place, latencies in enumerate(ok_ns):
        told = Latency.from_samples(latencies)
        found.append(
            Second(
                sent=begun[place],
                ok=len(latencies),
                failed=failed[place],
                messages=len(latencies),
                p50_ns=told.p50,
                p99_ns=told.p99,
                max_ns=told.max,
            )
        )
    return tuple(found)
