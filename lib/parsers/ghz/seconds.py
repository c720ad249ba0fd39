"""What each second of a run was like: from ghz's single calls, or as volley counted it.

Seconds count from the run's start; the last one may be shorter. ghz does not record its start:
that is `total` before the end of its last call.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.common.errors import ParseError
from parsers.common.figures import Latency, Second
from parsers.common.json_values import INT64_MAX, JsonObject
from parsers.ghz.details import Detail

_SECOND_US = 1_000_000

# A day: longer runs have no seconds.
_MOST = 86_400


def from_details(
    details: Sequence[Detail], cut: Sequence[Detail], total_ns: int
) -> tuple[Second, ...]:
    """Sort every call of a run into its seconds; empty if the run was longer than a day.

    A `cut` call was sent, but neither succeeded nor failed. ghz counts calls, so an OK call stands
    for one message here.
    """
    length = -(-total_ns // 10**9)
    if not details or length > _MOST:
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


def as_counted(own: JsonObject, total_ns: int) -> tuple[Second, ...]:
    """Add volley's intervals up to seconds; empty if a second is not a multiple of one.

    ParseError if the lists differ in length.
    """
    if "series" not in own.members or "seconds" not in own.members:
        return ()
    series = own.child("series")
    interval_ms = series.whole("interval_ms", INT64_MAX)
    length = -(-total_ns // 10**9)
    if not interval_ms or 1000 % interval_ms or length > _MOST:
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
