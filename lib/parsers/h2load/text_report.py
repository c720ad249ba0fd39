"""Read the text h2load prints on its stdout (seen: 1.43, 1.52, 1.64, and 1.70 with percentiles)."""

from __future__ import annotations

import re

from parsers.common.errors import ParseError
from parsers.common.numbers import duration_ns, whole
from parsers.h2load.counts import Counts
from parsers.h2load.report import Figures, H2loadReport, as_printed

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
