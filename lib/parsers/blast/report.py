"""A sweep of blasts: its points, each some calls over some connections, and their shots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from parsers.blast.median import Interval, interval
from parsers.common.figures import NOTHING_WRONG, Latency, Wrong


@dataclass(frozen=True)
class Shot:
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
    shots: tuple[Shot, ...]
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
    def rate(self) -> Interval:
        """OK calls per second: the median over the shots, and its interval."""
        return interval([shot.rate for shot in self.shots])


@dataclass(frozen=True)
class BlastReport:
    """A sweep, its points by connections, then by requests, without those that were never fired.

    `replies_checked` counts the replies that were compared with the expected ones; None if none
    was.
    """

    form: Literal["volley", "ghz"]
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
