"""Read what h2load writes with `--output-file` (from 1.69 on; seen: 1.70): all its samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn

from parsers.ghz.errors import quoted
from parsers.h2load import latency
from parsers.h2load.counts import Counts
from parsers.h2load.errors import H2loadParseError
from parsers.h2load.latency import Figures
from parsers.h2load.report import H2loadReport
from parsers.h2load.text_report import INT64_MAX, warm_up_ns

START = '{"version":'
_FORMAT = "v1"
_GENERATOR = "h2load "
_LONGEST_S = 1e9


def parse_json(text: str, start: int) -> H2loadReport:
    """Read the JSON report at `start`; the text around it tells the warm-up, if it is there.

    Raises H2loadParseError.
    """
    report, end = _load(text, start)
    if report.get("version") != _FORMAT:
        raise H2loadParseError(
            f"`version` is {quoted(report.get('version'))}: only {_FORMAT} can be read"
        )
    told = _child(report, "measurements")
    requests, codes = _child(told, "requests"), _child(told, "status_codes")
    counts = Counts(
        **{
            name: _whole(requests, name)
            for name in ("total", "started", "done", "succeeded", "failed", "errored", "timeout")
        },
        redirects=_whole(codes, "3xx"),
        client_errors=_whole(codes, "4xx"),
        server_errors=_whole(codes, "5xx"),
    )
    elapsed_ns = _ns(told, "duration") - warm_up_ns(text[:start] + text[end:])
    if elapsed_ns <= 0:
        raise H2loadParseError("the run took no time: no rate can be computed")
    calls = counts.calls()
    timed = _child(_child(told, "performance"), "request")
    samples_ns = _samples(timed)
    if len(samples_ns) > counts.timed:
        raise H2loadParseError("`samples` are more than the calls that ended: edited")
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
        version=_version(_child(report, "metadata")),
        elapsed_s=elapsed_ns / 1e9,
        reported_per_s=_real(told, "request_per_second"),
        counts=counts,
        calls=calls,
        said=said,
        latency=latency.as_sampled(said, samples_ns, counts.timed, calls.ok),
    )


def _load(text: str, start: int) -> tuple[Mapping[str, object], int]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    try:
        loaded, end = decoder.raw_decode(text, start)
    except RecursionError:
        raise H2loadParseError("JSON nested too deeply for a report of h2load") from None
    except ValueError as error:
        raise H2loadParseError(f"broken or incomplete JSON: {error}") from None
    return loaded, end


def _refuse_constant(constant: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads though JSON does not have them."""
    raise ValueError(f"{constant} is not a number of JSON")


def _version(metadata: Mapping[str, object]) -> str | None:
    said = metadata.get("generator")
    if isinstance(said, str) and said.startswith(_GENERATOR):
        return said.removeprefix(_GENERATOR)
    return None


def _samples(timed: Mapping[str, object]) -> list[int]:
    samples = _get(timed, "samples")
    if not isinstance(samples, list):
        raise H2loadParseError(f"`samples` must be a list, is {quoted(samples)}")
    return [round(_checked(sample, "samples") * 1e9) for sample in samples]


def _child(members: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = _get(members, key)
    if not isinstance(value, dict):
        raise H2loadParseError(f"`{key}` must be a JSON object, is {quoted(value)}")
    return value


def _whole(members: Mapping[str, object], key: str) -> int:
    value = _get(members, key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= INT64_MAX:
        raise H2loadParseError(f"`{key}` must be a whole number, is {quoted(value)}")
    return value


def _real(members: Mapping[str, object], key: str) -> float:
    value = _get(members, key)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise H2loadParseError(f"`{key}` must be a number, is {quoted(value)}")
    if not 0 <= value <= INT64_MAX:
        raise H2loadParseError(f"`{key}` is out of range: {quoted(value)}")
    return float(value)


def _ns(members: Mapping[str, object], key: str) -> int:
    return round(_checked(_get(members, key), key) * 1e9)


def _checked(value: object, key: str) -> float:
    """Return seconds; a list of a million of them is read in a blink."""
    if type(value) not in (float, int) or not 0 <= value <= _LONGEST_S:  # type: ignore[operator]
        raise H2loadParseError(f"`{key}` must be in seconds, is {quoted(value)}")
    return value  # type: ignore[return-value]


def _get(members: Mapping[str, object], key: str) -> object:
    try:
        return members[key]
    except KeyError:
        raise H2loadParseError(
            f"key `{key}` is missing: not a report of h2load, or not all of it"
        ) from None
