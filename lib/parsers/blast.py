"""A sweep of blasts: its points, each some calls over some connections, and their shots.

It is what `volley blast -O json` prints, schema 1. Everything is checked: calls must add up, and
the figures must be those of the shots. `parse_blast` is the front. Standard library only.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from parsers.common.figures import NOTHING_WRONG, Latency, Wrong
from parsers.common.values import INT64_MAX, JsonObject, ParseError, load
from parsers.ghz.counted import (
    ROUNDING,
    read_failed,
    read_latency,
    read_replies_checked,
    read_wrong,
)

_SCHEMA = 1


@dataclass(frozen=True)
class MedianInterval:
    """A median, and the two values of its sample that it lies between."""

    median: float
    at_least: float
    at_most: float


def interval(sample: Sequence[float]) -> MedianInterval:
    """Return the median of a sample that is not empty, and its interval.

    The interval ends at two values of the sample that hold the median with a confidence of at
    least 95 %, whatever its distribution: those of the sign test (Conover, Practical
    Nonparametric Statistics, 3.2); of 10 values the 2nd and the 9th. Fewer than 6 values cannot
    be that sure: there it is the least and the greatest.
    """
    ordered = sorted(sample)
    rank = _rank(len(ordered))
    return MedianInterval(statistics.median(ordered), ordered[rank - 1], ordered[-rank])


def _rank(n: int) -> int:
    """Return the greatest k with P(the median is below the k-th value) <= 2.5 %, at least 1.

    That is P(B < k), B being binomial with n and 1/2: sum of C(n, i) / 2^n over i < k.
    """
    tail, rank = 0, 0
    while 40 * (tail := tail + comb(n, rank)) <= 1 << n:
        rank += 1
    return max(rank, 1)


@dataclass(frozen=True)
class BlastShot:
    """Calls that left together, once; `order` is its place in the sweep, from 0.

    `failed` counts by gRPC code name, and `span_ns` is the time from the first send to the last
    OK response; 0 if no call was OK.
    """

    order: int
    ok: int
    failed: Mapping[str, int]
    span_ns: int

    @property
    def rate(self) -> float:
        """OK calls per second of the span; 0 without OK calls."""
        return self.ok / max(self.span_ns, 1) * 1e9


@dataclass(frozen=True)
class Point:
    """A number of `requests` sent at once over at most a number of `connections`.

    There is at least one shot. The latency is that of the OK calls of all shots.
    """

    connections: int
    requests: int
    shots: tuple[BlastShot, ...]
    latency: Latency

    @property
    def ok(self) -> int:
        """OK calls of all shots."""
        return sum(shot.ok for shot in self.shots)

    @property
    def failed(self) -> dict[str, int]:
        """Failed calls of all shots, by gRPC code name."""
        return _total(shot.failed for shot in self.shots)

    @property
    def rate(self) -> MedianInterval:
        """OK calls per second: the median over the shots, and its interval."""
        return interval([shot.rate for shot in self.shots])


@dataclass(frozen=True)
class BlastReport:
    """A sweep, its points by connections, then by requests, without those that were never fired.

    `replies_checked` counts the replies that were compared with the expected ones; None if none
    was.
    """

    elapsed_s: float
    points: tuple[Point, ...]
    replies_checked: int | None = None
    wrong: Wrong = NOTHING_WRONG

    @property
    def ok(self) -> int:
        """OK calls of the whole sweep."""
        return sum(point.ok for point in self.points)

    @property
    def failed(self) -> dict[str, int]:
        """Failed calls of the whole sweep, by gRPC code name."""
        return _total(point.failed for point in self.points)

    @property
    def fastest(self) -> Point | None:
        """The point with the highest median, the first of several; None if there is no point."""
        return max(self.points, key=lambda point: point.rate.median, default=None)


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add counts up, by name; sorted."""
    added: Counter[str] = Counter()
    for each in counts:
        added.update(each)
    return dict(sorted(added.items()))


def parse_sweep(text: str) -> BlastReport:
    """Read a sweep from its JSON. Raises ParseError, also if it contradicts itself."""
    sweep = load(text)
    if "blast" not in sweep.members:
        raise ParseError("not what `volley blast -O json` prints")
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


def _shot(item: JsonObject, requests: int) -> BlastShot:
    shot = BlastShot(
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


def _check_rate(told: JsonObject, rate: MedianInterval) -> None:
    """Check that the figures are those of the shots."""
    for name, value in zip(("median", "low", "high"), vars(rate).values(), strict=True):
        if abs(told.real(name) - value) > ROUNDING * max(value, 1.0):
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
