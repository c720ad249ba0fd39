"""Read ghz's output: `python lib/parse_ghz.py FILE --messages-per-call 5000`.

Reads what `ghz -O json`, `-O pretty` and the default text summary print (seen: v0.93.0 and
v0.121.0) and tells them apart by itself. The text summary has no samples, no clock and two
decimals: prefer JSON wherever there is a choice.

What ghz's own lines mean (its runner/reporter.go and printer/template.go):

- `Requests/sec` counts every call that ended, however it ended; `Average` includes failed and
  cut calls.
- Percentiles, histogram, fastest and slowest are of OK calls only, unless `--count-errors` was
  given.
- `details` holds the first 1,000,000 calls. A detail's `timestamp` is the END of the call, so it
  began at `timestamp - latency`. `date` is when the report was made, to the second: no use as the
  edge of a window.

Percentiles here are nearest-rank: the smallest sample with at least p % of the samples at or
below it, sorted[ceil(p/100 * n) - 1] (Hyndman & Fan 1996, definition 1; ghz's `latencies` picks
the same element). They come from the OK calls in `details`, never from other percentiles. Without
details only what ghz printed is given.

Which calls are cut
-------------------
With `--duration-stop=close`, the default, ghz stops handing out calls when the window closes, then
closes its connections one after another; calls still open end with an error of grpc-go's own
making. Those are neither OK nor failed. A call is cut when all of these hold:

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
3. No ordinary call (one with any other outcome) was begun more than 0.1 s after it ended: after
   the stop ghz begins none. This unmasks a server that died, or a proxy that hands on such words,
   in mid-window. `-z` cannot serve as the edge: its timer starts before the connections are
   opened, 1.4 s before with 1024 TLS connections on two cores.
4. At most `concurrency` calls are cut, the last ones to end: a worker has one call open (unless
   `--async`).

Text has only rule 1, with EOF and reset counted only beside an unmistakable cut. JSON without
complete details has rules 1 and 2. With `--duration-stop=wait` nothing is cut; with `ignore` ghz
hides the cut calls, and `high` is then too low.

Raises GhzParseError, a ValueError of one line, for anything that is not a complete ghz report.
Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Literal, NoReturn

SCHEMA = 1
MAX_BYTES = 512 * 2**20
"""A million details with their errors stay well below this."""

DETAILS_KEPT = 1_000_000
"""ghz's `maxResult`."""
CLOSING_SLACK_US = 100_000
_INT64_MAX = 2**63 - 1
_UINT64_MAX = 2**64 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_QUOTED_MAX = 40
_DURATION_MAX_CHARS = 80


class GhzParseError(ValueError):
    """The input is not a complete, sane ghz report. One line that says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


@dataclass(frozen=True)
class Calls:
    """Every call that ended, each in exactly one place."""

    ok: int
    failed: Mapping[str, int]
    """gRPC code name, as ghz spells it -> calls."""
    cut: int


@dataclass(frozen=True)
class Latency:
    """Closed-loop ("service") latencies of OK calls, in ns. None: ghz's output does not tell."""

    samples: int = 0
    mean_ns: int | None = None
    p50_ns: int | None = None
    p75_ns: int | None = None
    p90_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None
    max_ns: int | None = None
    kind: Literal["service"] = "service"

    def as_dict(self) -> dict[str, str | int | None]:
        """Give the shape of a record's `latency_ns`."""
        return {
            "kind": self.kind,
            "mean": self.mean_ns,
            "p50": self.p50_ns,
            "p75": self.p75_ns,
            "p90": self.p90_ns,
            "p95": self.p95_ns,
            "p99": self.p99_ns,
            "p999": self.p999_ns,
            "max": self.max_ns,
            "samples": self.samples,
        }


@dataclass(frozen=True)
class Bucket:
    """One histogram bar: calls up to `mark_ns`, above the mark before."""

    mark_ns: int
    count: int


@dataclass(frozen=True)
class Rate:
    """What the leaderboard prints; the server's own messages/s lie between `low` and `high`."""

    calls_per_s: float
    messages_per_call: int
    messages_per_s: float
    low: float
    high: float


@dataclass(frozen=True)
class GhzReport:
    """One run as ghz reported it, and what its calls were."""

    form: Literal["json", "text"]
    name: str
    count: int
    total_ns: int
    """Actual wall time, the wait for the last calls included; in text as ghz rounded it."""
    reported_calls_per_s: float
    average_ns: int
    fastest_ns: int
    slowest_ns: int
    percentiles_ns: Mapping[int, int]
    """The percentiles ghz printed itself."""
    histogram: tuple[Bucket, ...]
    statuses: Mapping[str, int]
    errors: Mapping[str, int]
    calls: Calls
    latency: Latency

    @property
    def elapsed_s(self) -> float:
        """Actual wall time in seconds, never 0."""
        return self.total_ns / 1e9

    def rate(self, messages_per_call: int) -> Rate:
        """OK calls / elapsed; times messages_per_call; and the same with the cut calls as `high`.

        Raises ValueError for a messages_per_call below 1.
        """
        if messages_per_call < 1:
            raise ValueError(f"messages_per_call must be 1 or more, is {messages_per_call}")
        low = self.calls.ok / self.elapsed_s
        high = (self.calls.ok + self.calls.cut) / self.elapsed_s
        return Rate(
            calls_per_s=low,
            messages_per_call=messages_per_call,
            messages_per_s=low * messages_per_call,
            low=low * messages_per_call,
            high=high * messages_per_call,
        )


def parse(text: str) -> GhzReport:
    """Read one ghz report, JSON or text summary. Raises GhzParseError."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip()
    if not start:
        raise GhzParseError("empty input: ghz printed no report, its reason is on its stderr")
    if start[0] in "{[":
        return _parse_json(start)
    if start.startswith("Summary:"):
        return _parse_summary(start.replace("\r\n", "\n"))
    raise GhzParseError(
        "neither a ghz JSON report nor a ghz text summary: run ghz with `-O json` or no -O"
    )


def parse_file(path: str | Path) -> GhzReport:
    """Read a saved report; `-` is stdin. Raises GhzParseError, also for an unreadable file."""
    where = "stdin" if str(path) == "-" else str(path)
    try:
        if where == "stdin":
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise GhzParseError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise GhzParseError(f"{where!r}: {error}") from None
    if len(raw) > MAX_BYTES:
        raise GhzParseError(f"{where}: larger than {MAX_BYTES} bytes, no ghz report is")
    try:
        # An error message is the server's bytes, which need not be UTF-8.
        return parse(raw.decode("utf-8", errors="replace"))
    except GhzParseError as error:
        raise GhzParseError(f"{where}: {error}") from None


# --- which calls are cut --------------------------------------------------------------------------

_RPC = r"rpc error: code = "
_READING = r"error reading from server: "
_CUT_CANCELED = re.compile(_RPC + r"Canceled desc = grpc: the client connection is closing")
_CUT_UNAVAILABLE = re.compile(
    _RPC + rf"Unavailable desc = {_READING}[^\n]*use of closed (network )?connection"
)
_MAYBE_CLOSING = re.compile(_RPC + r"Unavailable desc = transport is closing")
_MAYBE_HUNG_UP = re.compile(
    _RPC + rf"Unavailable desc = {_READING}((unexpected )?EOF|[^\n]*connection reset by peer)"
)
_UNAVAILABLE = re.compile(_RPC + r"Unavailable desc = ")


def _closing_code(error: str, *, trust_maybe: bool) -> str | None:
    """Tell the status code of an error that closing can make (rule 1); None for any other."""
    if _CUT_CANCELED.fullmatch(error):
        return "Canceled"
    if _CUT_UNAVAILABLE.fullmatch(error):
        return "Unavailable"
    if trust_maybe and (_MAYBE_CLOSING.fullmatch(error) or _MAYBE_HUNG_UP.fullmatch(error)):
        return "Unavailable"
    return None


def _server_stayed(errors: Iterable[str]) -> bool:
    """Tell whether every Unavailable is of a kind that closing can make: no sign of a crash."""
    return all(
        _closing_code(error, trust_maybe=True) for error in errors if _UNAVAILABLE.match(error)
    )


def _cut_by_text(errors: Mapping[str, int], statuses: Mapping[str, int]) -> dict[str, int]:
    """Cut calls by code, from error texts alone; never more than the status counts allow."""
    stayed = _server_stayed(errors)
    certain = any(_closing_code(error, trust_maybe=False) for error in errors)
    cut: Counter[str] = Counter()
    for error, count in errors.items():
        if _MAYBE_HUNG_UP.fullmatch(error) and not certain:
            continue
        code = _closing_code(error, trust_maybe=stayed)
        if code is not None:
            cut[code] += count
    return {code: min(count, statuses.get(code, 0)) for code, count in cut.items()}


def _cut_by_time(
    details: Sequence[_Detail], errors: Iterable[str], most_open: int | None
) -> dict[str, int]:
    """Cut calls by code, from each call's error and clock (rules 1, 3 and 4)."""
    stayed = _server_stayed(errors)
    closing: list[tuple[int, str]] = []
    last_begin_us: int | None = None
    codes: dict[str, str | None] = {}
    for place, detail in enumerate(details):
        if detail.error not in codes:
            codes[detail.error] = _closing_code(detail.error, trust_maybe=stayed)
        code = codes[detail.error]
        end_us = _timestamp_us(detail.timestamp, f"details[{place}].timestamp")
        if code is not None and code == detail.status:
            closing.append((end_us, code))
        else:
            begin_us = end_us - detail.latency_ns // 1000
            last_begin_us = begin_us if last_begin_us is None else max(last_begin_us, begin_us)
    if last_begin_us is not None:
        edge_us = last_begin_us - CLOSING_SLACK_US
        closing = [(end_us, code) for end_us, code in closing if end_us >= edge_us]
    closing.sort(reverse=True)
    return dict(Counter(code for _, code in closing[:most_open]))


def _calls(statuses: Mapping[str, int], cut: Mapping[str, int]) -> Calls:
    failed = {
        code: count - cut.get(code, 0)
        for code, count in sorted(statuses.items())
        if code != "OK" and count > cut.get(code, 0)
    }
    return Calls(ok=statuses.get("OK", 0), failed=failed, cut=sum(cut.values()))


# --- latency --------------------------------------------------------------------------------------


def _latency_of(samples_ns: list[int]) -> Latency:
    """Exact figures from samples."""
    n = len(samples_ns)
    if n == 0:
        return Latency()
    samples_ns.sort()

    def nearest_rank(per_mille: int) -> int:
        return samples_ns[(per_mille * n + 999) // 1000 - 1]

    return Latency(
        samples=n,
        mean_ns=round(sum(samples_ns) / n),
        p50_ns=nearest_rank(500),
        p75_ns=nearest_rank(750),
        p90_ns=nearest_rank(900),
        p95_ns=nearest_rank(950),
        p99_ns=nearest_rank(990),
        p999_ns=nearest_rank(999),
        max_ns=samples_ns[-1],
    )


def _latency_as_printed(
    percentiles_ns: Mapping[int, int], histogram: Iterable[Bucket], slowest_ns: int, ok: int
) -> Latency:
    """Take what ghz printed; nothing if it has more samples than OK calls (`--count-errors`)."""
    samples = sum(bucket.count for bucket in histogram)
    if samples == 0 or samples > ok:
        return Latency()
    return Latency(
        samples=samples,
        p50_ns=percentiles_ns.get(50),
        p75_ns=percentiles_ns.get(75),
        p90_ns=percentiles_ns.get(90),
        p95_ns=percentiles_ns.get(95),
        p99_ns=percentiles_ns.get(99),
        max_ns=slowest_ns,
    )


# --- JSON -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Detail:
    timestamp: str
    latency_ns: int
    error: str
    status: str


def _parse_json(text: str) -> GhzReport:
    try:
        loaded: object = json.loads(text, parse_constant=_no_constant)
    except GhzParseError:
        raise
    except RecursionError:
        raise GhzParseError("JSON nested too deeply for a ghz report") from None
    except ValueError as error:
        raise GhzParseError(f"broken or incomplete JSON: {error}") from None
    report = _object(loaded, "the report")

    count = _whole(report, "count", _UINT64_MAX)
    total_ns = _elapsed(_whole(report, "total", _INT64_MAX))
    statuses = _counts(report, "statusCodeDistribution", code_names=True)
    _check_statuses(statuses, count)
    errors = _counts(report, "errorDistribution")
    percentiles_ns = _percentiles(report)
    histogram = tuple(
        Bucket(
            round(_real(bucket, "mark", where) * 1e9), _whole(bucket, "count", _UINT64_MAX, where)
        )
        for bucket, where in _objects(report, "histogram")
    )
    slowest_ns = _whole(report, "slowest", _INT64_MAX)
    details = _details(report, count, total_ns, statuses)
    options = _object(report.get("options", {}), "`options`")

    cut: Mapping[str, int]
    if report.get("endReason") == "normal":
        cut = {}
    elif len(details) == count:
        cut = _cut_by_time(details, errors, _most_open(options))
    else:
        cut = _cut_by_text(errors, statuses)
    calls = _calls(statuses, cut)
    if details:
        latency = _latency_of([d.latency_ns for d in details if d.status == "OK"])
    else:
        latency = _latency_as_printed(percentiles_ns, histogram, slowest_ns, calls.ok)

    name = report.get("name", "")
    if not isinstance(name, str):
        raise GhzParseError(f"`name` must be a string, is {_short(name)}")
    return GhzReport(
        form="json",
        name=name,
        count=count,
        total_ns=total_ns,
        reported_calls_per_s=_real(report, "rps"),
        average_ns=_whole(report, "average", _INT64_MAX),
        fastest_ns=_whole(report, "fastest", _INT64_MAX),
        slowest_ns=slowest_ns,
        percentiles_ns=percentiles_ns,
        histogram=histogram,
        statuses=statuses,
        errors=errors,
        calls=calls,
        latency=latency,
    )


def _details(
    report: Mapping[str, object], count: int, total_ns: int, statuses: Mapping[str, int]
) -> list[_Detail]:
    details: list[_Detail] = []
    for item, where in _objects(report, "details"):
        latency_ns = _whole(item, "latency", _INT64_MAX, where)
        if latency_ns > total_ns:
            raise GhzParseError(
                f"`{where}.latency` is longer than the run: {latency_ns} > {total_ns} ns"
            )
        details.append(
            _Detail(
                timestamp=_string(item, "timestamp", where),
                latency_ns=latency_ns,
                error=_string(item, "error", where),
                status=_string(item, "status", where) or "Unknown",
            )
        )
    if details and len(details) != min(count, DETAILS_KEPT):
        raise GhzParseError(
            f"`details` holds {len(details)} calls, `count` says {count}: edited or cut short"
        )
    if len(details) == count and Counter(d.status for d in details) != Counter(statuses):
        raise GhzParseError(
            "`details` and `statusCodeDistribution` disagree: edited or not from one run"
        )
    return details


def _percentiles(report: Mapping[str, object]) -> dict[int, int]:
    found = {
        _whole(item, "percentage", 100, where): _whole(item, "latency", _INT64_MAX, where)
        for item, where in _objects(report, "latencyDistribution")
    }
    found.pop(0, None)  # ghz leaves an all-zero entry where a percentile is 0 ns
    return found


def _most_open(options: Mapping[str, object]) -> int | None:
    """How many calls can be open at once; None if no bound is known."""
    if options.get("async") is True:
        return None
    keys = ["concurrency"]
    if options.get("concurrency-schedule", "const") != "const":
        keys += ["concurrency-start", "concurrency-end"]
    return (
        max(_whole(options, key, _UINT64_MAX, "options") if key in options else 0 for key in keys)
        or None
    )


def _no_constant(constant: str) -> NoReturn:
    raise GhzParseError(f"{constant} is not a number ghz writes")


def _short(value: object) -> str:
    text = (
        ascii(value)
        if isinstance(value, (str, int, float, bool, type(None)))
        else type(value).__name__
    )
    return text if len(text) <= _QUOTED_MAX else text[: _QUOTED_MAX - 3] + "..."


def _object(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise GhzParseError(f"{what} must be a JSON object, is {_short(value)}")
    return value


def _objects(report: Mapping[str, object], key: str) -> Iterable[tuple[dict[str, object], str]]:
    """Walk the objects, each with its place, of a list that ghz writes as null when empty."""
    value = report.get(key)
    if value is None:
        return
    if not isinstance(value, list):
        raise GhzParseError(f"`{key}` must be a list, is {_short(value)}")
    for place, item in enumerate(value):
        yield _object(item, f"`{key}[{place}]`"), f"{key}[{place}]"


def _get(holder: Mapping[str, object], key: str, where: str) -> tuple[object, str]:
    label = f"{where}.{key}" if where else key
    if key not in holder:
        raise GhzParseError(f"key `{label}` is missing: not a ghz report, or not all of it")
    return holder[key], label


def _whole(holder: Mapping[str, object], key: str, most: int, where: str = "") -> int:
    value, label = _get(holder, key, where)
    if not isinstance(value, int) or isinstance(value, bool):
        raise GhzParseError(f"`{label}` must be a whole number, is {_short(value)}")
    if not 0 <= value <= most:
        raise GhzParseError(f"`{label}` is out of range: {_short(value)}")
    return value


def _real(holder: Mapping[str, object], key: str, where: str = "") -> float:
    value, label = _get(holder, key, where)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise GhzParseError(f"`{label}` must be a number, is {_short(value)}")
    if not 0 <= value <= _UINT64_MAX:
        raise GhzParseError(f"`{label}` is out of range")
    return float(value)


def _string(holder: Mapping[str, object], key: str, where: str) -> str:
    value, label = _get(holder, key, where)
    if not isinstance(value, str):
        raise GhzParseError(f"`{label}` must be a string, is {_short(value)}")
    return value


def _counts(report: Mapping[str, object], key: str, *, code_names: bool = False) -> dict[str, int]:
    value, _ = _get(report, key, "")
    counted = _object({} if value is None else value, f"`{key}`")
    return {
        (name or "Unknown") if code_names else name: _whole(counted, name, _UINT64_MAX, key)
        for name in counted
    }


def _timestamp_us(text: str, where: str) -> int:
    """RFC 3339 with Go's up to nine decimals -> microseconds since 1970."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment - _EPOCH) // _MICROSECOND
    except (ValueError, TypeError, OverflowError):
        raise GhzParseError(f"`{where}` is not an RFC 3339 time: {_short(text)}") from None


# --- text summary ---------------------------------------------------------------------------------

_HEAD = re.compile(
    r"\ASummary:\n"
    r"(?:  Name:[ \t]*(?P<name>.*?)\n)?"
    r"  Count:[ \t]+(?P<count>[^\n]*)\n"
    r"  Total:[ \t]+(?P<total>[^\n]*)\n"
    r"  Slowest:[ \t]+(?P<slowest>[^\n]*)\n"
    r"  Fastest:[ \t]+(?P<fastest>[^\n]*)\n"
    r"  Average:[ \t]+(?P<average>[^\n]*)\n"
    r"  Requests/sec:[ \t]+(?P<rps>[^\n]*)\n\n"
    r"Response time histogram:\n",
    re.DOTALL,
)
_BAR = re.compile(r"  (\d{1,20}\.\d{1,9}) +\[(\d{1,19})\][ \t]*\|[^\n]*")
_PERCENTILE = re.compile(r"  (\d{1,3}) % in (.*)")
_STATUS = re.compile(r"  \[([^\]]*)\] +(\d{1,19}) responses *")
_ERROR = re.compile(r"  \[(\d{1,19})\] +(.*)")
_DURATION_PART = r"(\d{1,20}(?:\.\d{1,20})?) ?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
_DURATION = re.compile(rf"(?:{_DURATION_PART} ?)+")
_NS_PER = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}


def _parse_summary(text: str) -> GhzReport:
    """Read section by section. Only the last, errors, holds words of the server to be wary of."""
    head = _HEAD.match(text)
    if head is None:
        raise GhzParseError("text summary is broken or cut short before its histogram")
    bars, found, rest = text[head.end() :].partition("Latency distribution:")
    if not found:
        raise GhzParseError("text summary is cut short before `Latency distribution`")
    percents, _, rest = rest.partition("\nStatus code distribution:\n")
    codes, _, messages = rest.partition("\nError distribution:\n")

    count = _digits(head["count"], "Count")
    histogram = tuple(
        Bucket(int(Decimal(mark) * 10**6), int(calls))
        for mark, calls in _rows(_BAR, bars, "histogram")
    )
    percentiles_ns = {
        int(percent): _duration_ns(latency, f"{percent} %")
        for percent, latency in _rows(_PERCENTILE, percents, "latency distribution")
        if int(percent) > 0
    }
    statuses = {
        code or "Unknown": int(n) for code, n in _rows(_STATUS, codes, "status code distribution")
    }
    _check_statuses(statuses, count)
    errors = _errors(messages)
    if sum(errors.values()) < count - statuses.get("OK", 0):
        raise GhzParseError(
            "text summary is cut short: its errors are fewer than the calls that failed"
        )
    calls = _calls(statuses, _cut_by_text(errors, statuses))
    slowest_ns = _duration_ns(head["slowest"], "Slowest")
    return GhzReport(
        form="text",
        name=head["name"] or "",
        count=count,
        total_ns=_elapsed(_duration_ns(head["total"], "Total")),
        reported_calls_per_s=_decimal(head["rps"], "Requests/sec"),
        average_ns=_duration_ns(head["average"], "Average"),
        fastest_ns=_duration_ns(head["fastest"], "Fastest"),
        slowest_ns=slowest_ns,
        percentiles_ns=percentiles_ns,
        histogram=histogram,
        statuses=statuses,
        errors=errors,
        calls=calls,
        latency=_latency_as_printed(percentiles_ns, histogram, slowest_ns, calls.ok),
    )


def _rows(row: re.Pattern[str], section: str, what: str) -> list[tuple[str, str]]:
    rows = []
    for line in section.split("\n"):
        if not line.strip():
            continue
        found = row.fullmatch(line)
        if found is None:
            raise GhzParseError(f"unreadable line in the {what}: {_short(line)}")
        rows.append((found[1], found[2]))
    return rows


def _errors(section: str) -> dict[str, int]:
    """Error -> count. A message may hold newlines, even a line that looks like an entry."""
    entries: list[tuple[int, list[str]]] = []
    for line in section.rstrip().split("\n"):
        found = _ERROR.fullmatch(line)
        if found is not None:
            entries.append((int(found[1]), [found[2].rstrip()]))
        elif entries:
            entries[-1][1].append(line.rstrip())
        elif line.strip():
            raise GhzParseError(f"unreadable line in the error distribution: {_short(line)}")
    errors: Counter[str] = Counter()
    for count, lines in entries:
        errors["\n".join(lines)] += count
    return dict(errors)


def _digits(text: str, label: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text.strip()):
        raise GhzParseError(f"`{label}` must be a whole number, is {_short(text)}")
    return int(text)


def _decimal(text: str, label: str) -> float:
    if not re.fullmatch(r"[0-9]{1,19}(\.[0-9]{1,9})?", text.strip()):
        raise GhzParseError(f"`{label}` must be a number, is {_short(text)}")
    return float(text)


def _duration_ns(text: str, label: str) -> int:
    """`139.48 ms`, `1.24 s`, `8350 ns`, `12µs`, `1m2.5s`, `1h0m3s` -> ns."""
    text = text.strip()
    if len(text) > _DURATION_MAX_CHARS or not _DURATION.fullmatch(text):
        raise GhzParseError(f"`{label}` must be a duration such as `1.24 s`, is {_short(text)}")
    parts = re.findall(_DURATION_PART, text)
    ns = int(sum(Decimal(number) * _NS_PER[unit] for number, unit in parts))
    if ns > _INT64_MAX:
        raise GhzParseError(f"`{label}` is out of range: {_short(text)}")
    return ns


# --- both -----------------------------------------------------------------------------------------


def _elapsed(total_ns: int) -> int:
    if total_ns == 0:
        raise GhzParseError("the run took 0 ns: no rate can be computed")
    return total_ns


def _check_statuses(statuses: Mapping[str, int], count: int) -> None:
    counted = sum(statuses.values())
    if counted != count:
        raise GhzParseError(
            f"the status codes add up to {counted} calls, the count is {count}: cut short or edited"
        )


# --- command line ---------------------------------------------------------------------------------


def as_dict(report: GhzReport, messages_per_call: int) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data."""
    rate = report.rate(messages_per_call)
    return {
        "schema": SCHEMA,
        "form": report.form,
        "name": report.name,
        "elapsed_s": report.elapsed_s,
        "count": report.count,
        "calls": {
            "ok": report.calls.ok,
            "failed": dict(report.calls.failed),
            "cut": report.calls.cut,
        },
        "calls_per_s": rate.calls_per_s,
        "messages_per_call": rate.messages_per_call,
        "messages_per_s": rate.messages_per_s,
        "low": rate.low,
        "high": rate.high,
        "reported_calls_per_s": report.reported_calls_per_s,
        "latency_ns": report.latency.as_dict(),
    }


def _messages_per_call(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError("must be a whole number from 1 on")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = argparse.ArgumentParser(
        description="Print the numbers of a saved ghz report (JSON or text summary) as JSON.",
        epilog="exit status: 0 done, 2 bad usage or not a ghz report",
    )
    parser.add_argument("file", metavar="FILE", help="what ghz printed; - reads stdin")
    parser.add_argument(
        "--messages-per-call",
        metavar="N",
        type=_messages_per_call,
        default=1,
        help="messages the server sends in one call (default 1)",
    )
    arguments = parser.parse_args(argv)
    try:
        report = parse_file(arguments.file)
        print(json.dumps(as_dict(report, arguments.messages_per_call), indent=2), flush=True)
    except GhzParseError as error:
        print(f"parse_ghz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Nobody reads on. Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
