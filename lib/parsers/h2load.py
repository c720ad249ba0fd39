"""What one run of h2load amounts to, and its latency as far as h2load knows it.

Its two forms are the text that it prints on its stdout (seen: 1.43, 1.52, 1.64, and 1.70 with
percentiles) and the JSON that it writes with `--output-file` (from 1.69 on; seen: 1.70), with all
its samples. `parse_h2load` is the front. Standard library only.

How h2load counts its calls (its src/h2load.cc, 1.52 and 1.70), and what that says of each.

- `2xx` and its like count responses whose HEADERS came, `succeeded` counts streams that ended
  without an error after a 2xx or 3xx. A stream that was reset after its headers is a `2xx`, and
  no success: so OK calls are those that `succeeded`, less all that had a 3xx.
- `failed` includes `errored`: what is not in it ended properly, with a 4xx or 5xx, or no status.
- `errored` are the streams that were reset. With `-n` also the calls that were lost with their
  connection, or never sent; `timeout` calls (`-T`, `-N`) are some of these.
- With `-D` h2load reports nothing about a call that was open at the end, or when its connection
  was lost: the call was `started` and is not `done`. Both are called cut here, since they look the
  same. So a server that dies, or closes its connections, causes no failure, only a lower rate.
- After `--warm-up-time`, all counts are of the main duration alone: `done` are the calls that ended
  in it, also those that began before, and `started` those that began in it. Nothing is reported
  about the calls that are open at its start or at its end.
- h2load does not read the trailers, where the gRPC status is.

Its clock starts when a call's HEADERS are written to the send buffer, not when the previous call
ended: no latency includes the wait inside h2load. It times every stream that ends properly, even
with a 4xx, and keeps 1,000,000 samples, shared among its threads. Beyond that it replaces some at
random, but early ones too rarely, since it counts each call twice there. So
percentiles and maximum are given only if it kept all samples, and nothing if a timed call was not
OK.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from parsers.common.figures import Calls, Latency
from parsers.common.values import (
    INT64_MAX,
    JsonObject,
    ParseError,
    duration_ns,
    load_at,
    quoted,
    whole,
)

START = '{"version":'
_FORMAT = "v1"
_GENERATOR = "h2load "
_LONGEST_S = 1e9

_MOST_SAMPLES = 1_000_000
_LEAST_SAMPLES_OF_A_THREAD = 256

_TIME = r"([0-9]{1,19}(?:\.[0-9]{1,9})?(?:us|ms|s))"
_REAL = r"([0-9]{1,19}(?:\.[0-9]{1,9})?)"
_COUNT = r"([0-9]{1,20})"

_FINISHED = re.compile(r"^finished in ", re.MULTILINE)
_HEAD = re.compile(
    rf"finished in {_TIME}, {_REAL} req/s, [^\n]*\n"
    rf"requests: {_COUNT} total, {_COUNT} started, {_COUNT} done, {_COUNT} succeeded, "
    rf"{_COUNT} failed, {_COUNT} errored, {_COUNT} timeout\n"
    rf"status codes: {_COUNT} 2xx, {_COUNT} 3xx, {_COUNT} 4xx, {_COUNT} 5xx\n"
    r"traffic: [^\n]*\n"
    r"(?:UDP datagram: [^\n]*\n)?"
)
_TABLE = re.compile(
    r" +min +max +mean +sd +\+/- sd\n"
    rf"time for request: +{_TIME} +{_TIME} +{_TIME} +{_TIME} +[0-9.]+%\n"
)
_TABLE_WITH_PERCENTILES = re.compile(
    r" +min +max +median +p95 +p99 +mean +sd +\+/- sd\n"
    rf"request +: +{_TIME} +{_TIME} +{_TIME} +{_TIME} +{_TIME} +{_TIME} +{_TIME} +[0-9.]+%\n"
)
_LAST_ROW = re.compile(r"^req/s +:(?: +[0-9.]+){5,8}%$", re.MULTILINE)

_PHASES = re.compile(
    rf"^spawning thread #[0-9]+: .* with {_REAL}s of warm-up time and {_REAL}s of main duration",
    re.MULTILINE,
)
_THREAD = re.compile(r"^spawning thread #[0-9]+: ", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """The counts of one run, in h2load's words."""

    total: int
    started: int
    done: int
    succeeded: int
    failed: int
    errored: int
    timeout: int
    redirects: int
    """HTTP 3xx, as the following two."""
    client_errors: int
    server_errors: int

    @property
    def timed(self) -> int:
        """Streams that ended properly, whatever their status: those whose time was taken."""
        return self.succeeded + self.failed - self.errored

    def calls(self) -> Calls:
        """Sort the calls out. Raises ParseError for counts that contradict one another."""
        reset = self.done - self.timed
        lost = self.errored - reset
        if (
            self.errored > self.failed
            or self.succeeded + self.failed != self.total
            or min(reset, lost) < 0
        ):
            raise ParseError(
                "the counts of `requests` do not add up: edited, or h2load lost count of them"
            )
        redirected = min(self.redirects, self.succeeded)
        refused = self.failed - self.errored
        client_errors = min(self.client_errors, refused)
        server_errors = min(self.server_errors, refused - client_errors)
        timed_out_inside = self.timeout if self.timeout <= lost else 0
        failed = {
            "HTTP 3xx": redirected,
            "HTTP 4xx": client_errors,
            "HTTP 5xx": server_errors,
            "failed": refused - client_errors - server_errors,
            "errored": self.errored - timed_out_inside,
            "timeout": self.timeout,
        }
        untold = self.started - self.done - lost - (self.timeout - timed_out_inside)
        return Calls(
            ok=self.succeeded - redirected,
            failed={kind: calls for kind, calls in failed.items() if calls},
            cut=max(untold, 0),
        )


@dataclass(frozen=True)
class Figures:
    """h2load's own figures of the calls it timed, in ns; percentiles only from 1.69 on."""

    min_ns: int
    max_ns: int
    mean_ns: int
    p50_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None


@dataclass(frozen=True)
class H2loadReport:
    """One run as h2load reported it, and what its calls were."""

    form: Literal["json", "text"]
    version: str | None
    """h2load's own; None for text, which does not hold it."""
    warm_up_s: float
    """Its `--warm-up-time`; 0 without one."""
    elapsed_s: float
    """The time in which it counted; never 0.

    After a warm-up that is the requested duration. Without one it is the time from the start to the
    end of its threads: with `-D` a little more than requested, with the opening of the connections.
    In text it is rounded by h2load.
    """
    reported_per_s: float
    """Its `req/s`: streams that ended properly, with any status, by the duration of `-D`."""
    counts: Counts
    calls: Calls
    said: Figures
    latency: Latency

    @property
    def calls_per_s(self) -> float:
        """OK calls / elapsed."""
        return self.calls.ok / self.elapsed_s

    @property
    def at_most_per_s(self) -> float:
        """The same, as if every cut call had been answered in time."""
        return (self.calls.ok + self.calls.cut) / self.elapsed_s


def as_printed(said: Figures, timed: int, ok: int, threads: int) -> Latency:
    """Take the figures of text; `threads` is 0 if their number is unknown."""
    if not ok or timed != ok:
        return Latency(kind="service", samples=None)
    kept = max(_MOST_SAMPLES // threads, _LEAST_SAMPLES_OF_A_THREAD) if threads else 0
    if timed > kept:
        return Latency(kind="service", samples=None, mean=said.mean_ns)
    return Latency(
        kind="service",
        mean=said.mean_ns,
        p50=said.p50_ns,
        p95=said.p95_ns,
        p99=said.p99_ns,
        max=said.max_ns,
        samples=timed,
    )


def as_sampled(said: Figures, samples_ns: Sequence[int], timed: int, ok: int) -> Latency:
    """Take the figures of JSON's samples."""
    if not ok or timed != ok:
        return Latency(kind="service", samples=None)
    if len(samples_ns) < timed:
        return Latency(kind="service", samples=len(samples_ns), mean=said.mean_ns)
    return Latency.from_samples(samples_ns)


def parse_text(text: str) -> H2loadReport:
    """Read one report with the lines above it. Raises ParseError."""
    found = list(_FINISHED.finditer(text))
    if not found:
        raise ParseError("text is cut short before `finished in`: no report of h2load")
    if len(found) > 1:
        raise ParseError("text holds more than one report of h2load")
    head = _HEAD.match(text, found[0].start())
    if head is None:
        raise ParseError("text is broken or cut short between `finished in` and its table")
    table = _TABLE.match(text, head.end()) or _TABLE_WITH_PERCENTILES.match(text, head.end())
    if table is None or not _LAST_ROW.search(text, table.end()):
        raise ParseError("text is broken or cut short in the table at its end")
    finished_in, per_s, *numbers = head.groups()
    warm_up_ns, elapsed_ns = phases_ns(text, duration_ns(finished_in, "finished in"))
    total, started, done, succeeded, failed, errored, timeout, _, *statuses = (
        whole(number, "requests") for number in numbers
    )
    counts = Counts(total, started, done, succeeded, failed, errored, timeout, *statuses)
    calls = counts.calls()
    said = _figures(table)
    threads = len(_THREAD.findall(text))
    return H2loadReport(
        form="text",
        version=None,
        warm_up_s=warm_up_ns / 1e9,
        elapsed_s=elapsed_ns / 1e9,
        reported_per_s=float(per_s),
        counts=counts,
        calls=calls,
        said=said,
        latency=as_printed(said, counts.timed, calls.ok, threads),
    )


def phases_ns(text: str, finished_ns: int) -> tuple[int, int]:
    """Return the lengths of the warm-up and of the run, by the first thread's line.

    After a warm-up, h2load counts what ends in its main duration, which its timer ends: that is the
    run. Without one, the run is all of the time until it finished. Raises ParseError.
    """
    told = _PHASES.search(text)
    warm_up_ns, main_ns = (
        duration_ns(f"{seconds}s", "warm-up") for seconds in (told.groups() if told else ("0", "0"))
    )
    elapsed_ns = main_ns if warm_up_ns else finished_ns
    if elapsed_ns <= 0 or finished_ns <= warm_up_ns:
        raise ParseError("the run took no time: no rate can be computed")
    return warm_up_ns, elapsed_ns


def _figures(table: re.Match[str]) -> Figures:
    times_ns = [duration_ns(printed, "time for request") for printed in table.groups()]
    if table.re is _TABLE:
        least, most, mean, _ = times_ns
        return Figures(min_ns=least, max_ns=most, mean_ns=mean)
    least, most, median, p95, p99, mean, _ = times_ns
    return Figures(min_ns=least, max_ns=most, mean_ns=mean, p50_ns=median, p95_ns=p95, p99_ns=p99)


def parse_json(text: str, start: int) -> H2loadReport:
    """Read the JSON report at `start`; the text around it may hold the warm-up.

    Raises ParseError.
    """
    report, end = load_at(text, start)
    if report.members.get("version") != _FORMAT:
        raise ParseError(
            f"`version` is {quoted(report.members.get('version'))}: only {_FORMAT} can be read"
        )
    told = report.child("measurements")
    requests, codes = told.child("requests"), told.child("status_codes")
    counts = Counts(
        **{
            name: requests.whole(name, INT64_MAX)
            for name in ("total", "started", "done", "succeeded", "failed", "errored", "timeout")
        },
        redirects=codes.whole("3xx", INT64_MAX),
        client_errors=codes.whole("4xx", INT64_MAX),
        server_errors=codes.whole("5xx", INT64_MAX),
    )
    warm_up_ns, elapsed_ns = phases_ns(text[:start] + text[end:], _ns(told, "duration"))
    calls = counts.calls()
    timed = told.child("performance").child("request")
    samples_ns = [round(sample * 1e9) for sample in timed.reals("samples", _LONGEST_S)]
    if len(samples_ns) > counts.timed:
        raise ParseError("`samples` are more than the calls that ended: edited")
    said = Figures(
        min_ns=_ns(timed, "min"),
        max_ns=_ns(timed, "max"),
        mean_ns=_ns(timed, "mean"),
        p50_ns=_ns(timed, "median"),
        p95_ns=_ns(timed, "p95"),
        p99_ns=_ns(timed, "p99"),
    )
    return H2loadReport(
        form="json",
        version=_version(report.child("metadata")),
        warm_up_s=warm_up_ns / 1e9,
        elapsed_s=elapsed_ns / 1e9,
        reported_per_s=told.real("request_per_second", INT64_MAX),
        counts=counts,
        calls=calls,
        said=said,
        latency=as_sampled(said, samples_ns, counts.timed, calls.ok),
    )


def _version(metadata: JsonObject) -> str | None:
    said = metadata.members.get("generator")
    if isinstance(said, str) and said.startswith(_GENERATOR):
        return said.removeprefix(_GENERATOR)
    return None


def _ns(told: JsonObject, key: str) -> int:
    return round(told.real(key, _LONGEST_S) * 1e9)
