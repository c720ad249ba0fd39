"""What volley counted: the member `volley` of its JSON, schema 1, beside ghz's own members.

volley counts each message received inside `total`, also those of cut and failed calls: nothing is
estimated. Some figures stand in ghz's members too; the two must agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields

from parsers.common.figures import (
    NOTHING_WRONG,
    Calls,
    Latency,
    LatencyKind,
    Second,
    Streams,
    Wrong,
)
from parsers.common.hdr import tail_of
from parsers.common.values import INT64_MAX, JsonObject, ParseError, quoted
from parsers.ghz.calls import MOST_SECONDS

_SCHEMA = 1

# A figure that stands in two places may be rounded in one.
ROUNDING = 1e-3

# Letters, so that a code's name can stand in a message and on a page.
_CODE = re.compile(r"[A-Za-z]{1,32}")

_KINDS: Mapping[str, LatencyKind] = {"service": "service", "response": "response"}

_ORDERED = ("p50", "p75", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True)
class Counted:
    """One run as volley counted it."""

    messages: int
    calls: Calls
    latency: Latency
    written: Latency | None
    tail: tuple[tuple[int, int], ...]
    seconds: tuple[Second, ...]
    replies_checked: int | None
    wrong: Wrong
    data_frames: int | None
    warm_up: tuple[int, ...]
    cpu_s: float | None
    streams: Streams | None
    reply_latency: Latency | None


def read_counted(report: JsonObject, total_ns: int, statuses: Mapping[str, int]) -> Counted | None:
    """Read the member; None without one. ParseError if it contradicts itself or ghz's members."""
    if "volley" not in report.members:
        return None
    own = report.child("volley")
    schema = own.whole("schema")
    if schema != _SCHEMA:
        raise ParseError(f"`volley.schema` is {schema}: only {_SCHEMA} can be read")
    messages = own.whole("messages", INT64_MAX)
    _check_time(own, messages, total_ns / 1e9)
    calls = _calls(own.child("calls"), statuses)
    return Counted(
        messages=messages,
        calls=calls,
        latency=read_latency(own.child("latency_ns"), calls.ok),
        written=_written(own, calls.ok),
        tail=_tail(_replies(own) or own.child("latency_ns")),
        seconds=_seconds(own, total_ns),
        replies_checked=read_replies_checked(own.child("checks")),
        wrong=read_wrong(own.child("checks")),
        data_frames=_data_frames(own, messages),
        warm_up=_warm_up(own),
        cpu_s=own.real("cpu_s") if "cpu_s" in own.members else None,
        streams=_streams(own),
        reply_latency=_reply_latency(own),
    )


def _written(own: JsonObject, ok: int) -> Latency | None:
    """Read the latency since requests were written, beside that since they were due."""
    has_both = isinstance(own.members.get("service_latency_ns"), dict)
    return read_latency(own.child("service_latency_ns"), ok) if has_both else None


def _paced(own: JsonObject) -> JsonObject | None:
    return own.child("paced_streams") if "paced_streams" in own.members else None


def _streams(own: JsonObject) -> Streams | None:
    """Read the counts of streams that live; None without any. ParseError if they contradict."""
    if (told := _paced(own)) is None:
        return None
    names = [each.name for each in fields(Streams) if each.name != "connections"]
    counts = {name: told.whole(name, INT64_MAX) for name in names}
    if counts["answered"] + counts["unanswered"] != counts["sent"] or (
        counts["sent"] > counts["due"]
    ):
        raise ParseError(f"the messages of `{told.where}` do not add up: edited or cut short")
    return Streams(connections=own.whole("connections", INT64_MAX), **counts)


def _replies(own: JsonObject) -> JsonObject | None:
    """Return what is known of the latency of their replies; None if no message was sent."""
    told = _paced(own)
    if told is None or told.members.get("reply_latency_ns") is None:
        return None
    return told.child("reply_latency_ns")


def _reply_latency(own: JsonObject) -> Latency | None:
    told, replies = _paced(own), _replies(own)
    return read_latency(replies, told.whole("answered", INT64_MAX)) if told and replies else None


def _tail(told: JsonObject) -> tuple[tuple[int, int], ...]:
    """Read the longest times; none without a histogram, or if calls were still open."""
    if not told.members.get("histogram") or told.members.get("open"):
        return ()
    try:
        return tail_of(told.string("histogram"), told.whole("max", INT64_MAX))
    except ValueError as error:
        raise ParseError(f"`{told.where}.histogram` {error}") from error


def _seconds(own: JsonObject, total_ns: int) -> tuple[Second, ...]:
    """Add the intervals up to seconds; empty if a second is not a multiple of one.

    ParseError if the lists differ in length.
    """
    if "series" not in own.members or "seconds" not in own.members:
        return ()
    series = own.child("series")
    interval_ms = series.whole("interval_ms", INT64_MAX)
    length = -(-total_ns // 10**9)
    if not interval_ms or 1000 % interval_ms or length > MOST_SECONDS:
        return ()
    width = 1000 // interval_ms
    counts = {name: series.wholes(name) for name in ("messages", "ok", "failed", "sent")}
    if len({len(each) for each in counts.values()}) != 1:
        raise ParseError(f"the lists of `{series.where}` are not of one length")
    told = list(own.children("seconds"))

    def added(name: str, place: int) -> int:
        return sum(counts[name][place * width : (place + 1) * width])

    return tuple(
        Second(
            sent=added("sent", place),
            ok=added("ok", place),
            failed=added("failed", place),
            messages=added("messages", place),
            **(_latencies(told[place]) if place < len(told) else {}),
        )
        for place in range(length)
    )


def _latencies(told: JsonObject) -> dict[str, int]:
    if not told.whole("samples"):
        return {}
    return {f"{name}_ns": told.whole(name, INT64_MAX) for name in ("p50", "p99", "max")}


def _data_frames(own: JsonObject, messages: int) -> int | None:
    """Read how many DATA frames brought the messages; None if they were not counted."""
    if "data_frames" not in own.members:
        return None
    frames = own.whole("data_frames", INT64_MAX)
    if messages and not frames:
        raise ParseError(f"`volley.data_frames` is 0, but `volley.messages` {messages}")
    return frames


def _warm_up(own: JsonObject) -> tuple[int, ...]:
    """Read the messages of each second of the warm-up; none without one."""
    if own.members.get("warmup") is None:
        return ()
    told = own.child("warmup")
    seconds, elapsed_s = told.wholes("seconds"), told.real("elapsed_s")
    if not len(seconds) - 1 < elapsed_s <= len(seconds):
        raise ParseError(f"`volley.warmup` has {len(seconds)} seconds, but lasted {elapsed_s} s")
    return tuple(seconds)


def read_replies_checked(checks: JsonObject) -> int | None:
    """Read how many replies were compared with the expected ones; None if none was expected."""
    compared = "compared" in checks.members and checks.flag("compared")
    return checks.whole("replies_checked") if compared else None


def read_wrong(checks: JsonObject) -> Wrong:
    """Read how many calls had a wrong reply, and what was wrong with the first."""
    if "failed" not in checks.members:
        return NOTHING_WRONG
    samples = checks.strings("samples")
    return Wrong(checks.whole("failed", INT64_MAX), samples[0] if samples else "")


def _check_time(own: JsonObject, messages: int, elapsed_s: float) -> None:
    """Check its times: `total` is the window plus the wait for the calls still open."""
    window_s, told, rate = own.real("window_s"), own.real("messages_per_s"), messages / elapsed_s
    if not 0 < window_s <= elapsed_s * (1 + ROUNDING):
        raise ParseError(f"`volley.window_s` is {window_s}, but `total` {elapsed_s} s")
    if abs(told - rate) > ROUNDING * max(rate, 1.0):
        raise ParseError(
            f"`volley.messages_per_s` is {told}, but `volley.messages` \u00f7 `total` {rate:.1f}"
        )


def _calls(told: JsonObject, statuses: Mapping[str, int]) -> Calls:
    ok, cut = told.whole("ok"), told.whole("cut")
    failed = read_failed(told)
    if Counter({"OK": ok, "Canceled": cut}) + Counter(failed) != Counter(statuses):
        raise ParseError(
            f"`{told.where}` and `statusCodeDistribution` disagree: edited or not from one run"
        )
    return Calls(ok=ok, failed=failed, cut=cut)


def read_failed(told: JsonObject) -> dict[str, int]:
    """Read the member `failed`: calls by code, without codes that count 0."""
    failed = {code: n for code, n in sorted(told.counts("failed").items()) if n}
    for code in failed:
        if code == "OK" or not _CODE.fullmatch(code):
            raise ParseError(f"`{told.where}.failed` has {quoted(code)}: not the code of an error")
    return failed


def read_latency(told: JsonObject, ok: int) -> Latency:
    """Read the figures, of ended and of open calls.

    There are none if there are more samples than OK calls (`--count-errors`).
    """
    name, samples = told.string("kind"), told.whole("samples")
    kind = _KINDS.get(name)
    if kind is None:
        raise ParseError(f"`{told.where}.kind` must be {' or '.join(_KINDS)}, is {quoted(name)}")
    still_open = told.whole("open", INT64_MAX) if "open" in told.members else 0
    if samples + still_open == 0 or samples > ok:
        return Latency(kind=kind, samples=0)
    mean_ns = told.whole("mean", INT64_MAX) if samples else None
    ordered_ns = {name: told.whole(name, INT64_MAX) for name in _ORDERED}
    if [*ordered_ns.values()] != sorted(ordered_ns.values()) or (mean_ns or 0) > ordered_ns["max"]:
        raise ParseError(f"the figures of `{told.where}` are not in order")
    bounds = told.strings("at_least") if still_open else ()
    known = _ORDERED if mean_ns is None else ("mean", *_ORDERED)
    at_least = tuple(name for name in bounds if name in known)
    return Latency(kind=kind, samples=samples, mean=mean_ns, at_least=at_least, **ordered_ns)
