"""Read what h2load writes with `--output-file` (from 1.69 on; seen: 1.70): all its samples."""

from __future__ import annotations

from parsers.common.errors import ParseError, quoted
from parsers.common.json_values import INT64_MAX, JsonObject, load_at
from parsers.h2load.counts import Counts
from parsers.h2load.report import Figures, H2loadReport, as_sampled
from parsers.h2load.text_report import phases_ns

START = '{"version":'
_FORMAT = "v1"
_GENERATOR = "h2load "
_LONGEST_S = 1e9


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
