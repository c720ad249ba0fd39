"""Drawings over time: what happened in each second of a scheduled load, or of a closed one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import altair as alt

from arena.judge.flags import missed
from arena.publish.charts.drawing import ScheduledDrawing, SustainedDrawing
from arena.publish.charts.marks import (
    ACCENT,
    BAD,
    FAINT,
    QUIET,
    SOLID,
    cross,
    from_zero,
    latencies,
    of,
    plot,
    series,
    stack,
)
from arena.publish.charts.scales import top
from arena.publish.charts.sheet import Rows
from arena.record.measurement import Second

_HEIGHT = 90

# A last second shorter than this is left out of the lines: of so little, a call more or less
# would make any rate. Any other part of a second is scaled up to calls per second. A mark that
# it missed the schedule is there all the same, and its numbers are in the table.
_SHORTEST_S = 0.5

_EACH, _WHOLE = "each second", "whole run"


@dataclass(frozen=True)
class _ScheduledSheet:
    """Two plots over `end_s` seconds; only one without `ticks` of a latency."""

    end_s: float
    top: float
    ticks: tuple[float, ...]

    def chart(self) -> alt.VConcatChart:
        plots = [self._rates(has_time=not self.ticks)]
        if self.ticks:
            plots.append(self._latencies())
        return stack(plots)

    def _rates(self, *, has_time: bool) -> alt.LayerChart:
        layer = (
            of("calls")
            .mark_line(interpolate="step-after")
            .encode(
                x=_time(self.end_s, has_labels=has_time),
                y=from_zero("rate", self.top),
                **series("series", ["due", "sent"], [FAINT, ACCENT], [SOLID, SOLID], [5, 1.5]),
            )
        )
        return plot(self._marked([layer], has_labels=has_time), _HEIGHT, "calls per second")

    def _latencies(self) -> alt.LayerChart:
        channels = series("series", ["p99", "p50"], [ACCENT, QUIET], [SOLID, (4, 2)], [1.5, 1.5])
        place: dict[str, Any] = {"x": _time(self.end_s), "y": latencies("ns", self.ticks)}
        dots = of("alone").mark_point(filled=True, size=12, opacity=1)
        layers = [
            of("latencies").mark_line().encode(**place, **channels),
            dots.encode(**place, color=alt.Color("colour:N", scale=None)),
        ]
        return plot(self._marked(layers), _HEIGHT, "latency, on a log scale")

    def _marked(self, layers: Sequence[alt.Chart], *, has_labels: bool = True) -> list[alt.Chart]:
        """Return the layers with a band below each second that missed its schedule, and a cross."""
        bands = of("missed").mark_rect(color=BAD, opacity=0.18)
        middle = _time(self.end_s, "middle", has_labels=has_labels)
        return [
            bands.encode(x=_time(self.end_s, has_labels=has_labels), x2="to:Q"),
            *layers,
            cross(of("missed").encode(x=middle, y=alt.value(5)), 30, "missed"),
        ]


@dataclass(frozen=True)
class _SustainedSheet:
    """One plot over `end_s` seconds."""

    end_s: float
    top: float
    metric: str

    def chart(self) -> alt.VConcatChart:
        layer = (
            of("rates")
            .mark_line(interpolate="step-after")
            .encode(
                x=_time(self.end_s),
                y=from_zero("rate", self.top),
                **series("series", [_EACH, _WHOLE], [ACCENT, QUIET], [SOLID, (4, 2)], [1.5, 1.5]),
            )
        )
        return stack([plot([layer], _HEIGHT, f"{self.metric}, by second")])


def scheduled(drawing: ScheduledDrawing) -> tuple[_ScheduledSheet, Rows]:
    """Return the calls per second that were due and sent, and below them their latency."""
    shown = _timeline(drawing.seconds)
    due = _stairs("due", [(at, each.intended, each.length_s) for at, each in shown])
    sent = _stairs("sent", [(at, each.sent, each.length_s) for at, each in shown])
    # With room for a few calls more than were due, so that the rows of a board share an axis.
    highest = max(
        [*(1.05 * (row["rate"] or 0) for row in due), *(row["rate"] or 0 for row in sent)]
    )
    lines = [
        [{"series": name, "at": at + each.length_s / 2, "ns": ns or None} for at, each, ns in line]
        for name, line in (
            ("p99", [(at, each, each.p99_ns) for at, each in shown]),
            ("p50", [(at, each, each.p50_ns) for at, each in shown]),
        )
    ]
    missing = [
        {"at": at, "to": at + each.length_s, "middle": at + each.length_s / 2}
        for at, each in _starts(drawing.seconds)
        if missed(each)
    ]
    rows = {
        "calls": [*due, *sent],
        "latencies": [row for line in lines for row in line],
        "alone": [
            {**row, "colour": colour}
            for line, colour in zip(lines, (ACCENT, QUIET), strict=True)
            for row in _alone(line)
        ],
        "missed": missing,
    }
    return _ScheduledSheet(_end_s(drawing.seconds), top(highest), drawing.ticks), rows


def sustained(drawing: SustainedDrawing) -> tuple[_SustainedSheet, Rows]:
    """Return the throughput of each second, and that of the whole run as a dashed line."""
    steps = _stairs(
        _EACH, [(at, each.messages, each.length_s) for at, each in _timeline(drawing.seconds)]
    )
    length_s = sum(second.length_s for second in drawing.seconds)
    whole = [{"series": _WHOLE, "at": at, "rate": drawing.whole} for at in (0.0, length_s)]
    highest = max(row["rate"] for row in (*steps, *whole))
    sheet = _SustainedSheet(_end_s(drawing.seconds), top(highest), drawing.metric)
    return sheet, {"rates": [*steps, *whole]}


def _alone(line: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the points of a line between two gaps: they need a dot to be seen."""
    values = [None, *(row["ns"] for row in line), None]
    return [
        row
        for row, before, value, after in zip(line, values, values[1:], values[2:], strict=False)
        if value and not before and not after
    ]


def _time(end_s: float, field: str = "at", *, has_labels: bool = True) -> alt.X:
    axis = alt.Axis(
        title="seconds" if has_labels else None,
        labels=has_labels,
        ticks=has_labels,
        grid=False,
        tickCount=6,
    )
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end_s], nice=False), axis=axis)


def _end_s(seconds: Sequence[Second]) -> float:
    """Return where the axis ends: after all seconds, at a half or a whole one."""
    length_s = sum(second.length_s for second in seconds)
    return max(math.ceil(2 * length_s - 1e-6) / 2, 1.0)


def _starts(seconds: Sequence[Second]) -> list[tuple[float, Second]]:
    starts = accumulate((second.length_s for second in seconds), initial=0.0)
    return list(zip(starts, seconds, strict=False))


def _timeline(seconds: Sequence[Second]) -> list[tuple[float, Second]]:
    """Return the seconds that lines show, each with its start; all, if none is long enough."""
    starts = _starts(seconds)
    return [each for each in starts if each[1].length_s >= _SHORTEST_S] or starts


def _stairs(name: str, counts: Sequence[tuple[float, int | None, float]]) -> list[dict[str, Any]]:
    """Return the points of a step line from (start, count, length): a rate, until its end."""
    rows: list[dict[str, Any]] = [
        {"series": name, "at": at, "rate": None if count is None else count / length_s}
        for at, count, length_s in counts
    ]
    if rows:
        at, _, length_s = counts[-1]
        rows.append({**rows[-1], "at": at + length_s})
    return rows
