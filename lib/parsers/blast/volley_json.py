"""What `volley blast -O json` prints, schema 1: each shot, and the figures they come to.

Everything is checked: calls must add up, and the figures must be those of the shots.
"""

from __future__ import annotations

from parsers.blast.median import Interval
from parsers.blast.report import BlastReport, Point, Shot
from parsers.common.errors import ParseError
from parsers.common.json_values import INT64_MAX, JsonObject, load
from parsers.ghz.counted import read_failed, read_latency, read_replies_checked, read_wrong

_SCHEMA = 1

# A figure that stands in two places may be rounded in one.
_ROUNDING = 1e-3


def read_volley(text: str) -> BlastReport:
    """Read a sweep. Raises ParseError, also if it contradicts itself."""
    sweep = load(text)
    if "blast" not in sweep.members:
        raise ParseError("neither what `volley blast -O json` prints nor lines of ghz's reports")
    schema = sweep.whole("blast")
    if schema != _SCHEMA:
        raise ParseError(f"`blast` is {schema}: only schema {_SCHEMA} can be read")
    elapsed_s = sweep.real("elapsed_s")
    if not elapsed_s:
        raise ParseError("the sweep took 0 s")
    repetitions = sweep.whole("repetitions")
    points = [_point(item, repetitions) for item in sweep.children("points")]
    if not points:
        raise ParseError("`points` is missing or empty: not all of a sweep")
    _check_order(points)
    return BlastReport(
        form="volley",
        elapsed_s=elapsed_s,
        points=tuple(point for point in points if point.shots),
        replies_checked=read_replies_checked(sweep.child("checks")),
        wrong=read_wrong(sweep.child("checks")),
    )


def _point(item: JsonObject, repetitions: int) -> Point:
    requests = item.whole("requests", INT64_MAX)
    shots = tuple(_shot(each, requests) for each in item.children("shots"))
    ok = item.whole("ok")
    point = Point(
        connections=item.whole("connections", INT64_MAX),
        requests=requests,
        shots=shots,
        latency=read_latency(item.child("latency_ns"), ok),
    )
    if not point.connections or not point.requests:
        raise ParseError(f"`{item.where}` has no connections or no requests")
    if len(shots) > repetitions:
        raise ParseError(f"`{item.where}` has {len(shots)} shots of {repetitions}")
    if (point.ok, point.failed) != (ok, read_failed(item)):
        raise ParseError(f"the calls of `{item.where}` are not those of its shots")
    if point.latency.samples != ok:
        raise ParseError(f"`{item.where}.latency_ns.samples` are not its {ok} OK calls")
    if shots:
        _check_rate(item.child("rate"), point.rate)
    return point


def _shot(item: JsonObject, requests: int) -> Shot:
    shot = Shot(
        order=item.whole("order"),
        ok=item.whole("ok"),
        failed=read_failed(item),
        span_ns=item.whole("span_ns", INT64_MAX),
    )
    calls = shot.ok + sum(shot.failed.values())
    if calls != requests:
        raise ParseError(f"`{item.where}` has {calls} calls of {requests}")
    if bool(shot.ok) != bool(shot.span_ns):
        raise ParseError(f"`{item.where}` has {shot.ok} OK calls in {shot.span_ns} ns")
    return shot


def _check_rate(told: JsonObject, rate: Interval) -> None:
    """Check that the figures are those of the shots."""
    for name, value in zip(("median", "low", "high"), vars(rate).values(), strict=True):
        if abs(told.real(name) - value) > _ROUNDING * max(value, 1.0):
            raise ParseError(
                f"`{told.where}.{name}` is {told.real(name)}, but by its shots {value:.1f}"
            )


def _check_order(points: list[Point]) -> None:
    """Check that the points are sorted, and that every shot has its own place in the sweep."""
    keys = [(point.connections, point.requests) for point in points]
    if keys != sorted(set(keys)):
        raise ParseError("`points` are not sorted by connections and requests")
    places = [shot.order for point in points for shot in point.shots]
    if sorted(places) != list(range(len(places))):
        raise ParseError("the shots' `order` does not number them from 0")
    for point in points:
        own = [shot.order for shot in point.shots]
        if own != sorted(own):
            raise ParseError(f"the shots of {point.requests} requests are not in order")
