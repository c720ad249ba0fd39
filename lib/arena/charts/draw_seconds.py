"""Drawings over time: what happened in each second of a scheduled load, or of a closed one."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import altair as alt

from arena.charts.drawing import ScheduledDrawing, SustainedDrawing
from arena.charts.marks import (
    ACCENT,
    BAD,
    FAINT,
    NS,
    QUIET,
    SOLID,
    cross,
    data,
    from_zero,
    plot,
    series,
    stack,
    y_axis,
)
from arena.charts.scales import few
from arena.figures import missed
from arena.measurement import Second

_HEIGHT = 90

# A last second shorter than this is left out of the lines: of so little, a call more or less
# would make any rate. Any other part of a second is scaled up to calls per second. A mark that
# it missed the schedule is there all the same, and its numbers are in the table.
_SHORTEST_S = 0.5


def scheduled(drawing: ScheduledDrawing) -> alt.VConcatChart:
    """Return the calls per second that were due and sent, and below them their latency."""
    seconds = drawing.seconds
    plots = [_rates(seconds, has_time=not drawing.ticks)]
    if drawing.ticks:
        plots.append(_latencies(seconds, drawing.ticks))
    return stack(plots)


def sustained(drawing: SustainedDrawing) -> alt.VConcatChart:
    """Return the throughput of each second, and that of the whole run as a dashed line."""
    names = ["each second", "whole run"]
    steps = _stairs(
        names[0], [(at, each.messages, each.length_s) for at, each in _timeline(drawing.seconds)]
    )
    end = sum(second.length_s for second in drawing.seconds)
    whole = [{"series": names[1], "at": at, "rate": drawing.whole} for at in (0.0, end)]
    highest = max(row["rate"] for row in (*steps, *whole))
    lines = data([*steps, *whole]).mark_line(interpolate="step-after")
    layer = lines.encode(
        x=_time(drawing.seconds),
        y=from_zero("rate", highest),
        **series("series", names, [ACCENT, QUIET], [SOLID, (4, 2)], [1.5, 1.5]),
    )
    return stack([plot([layer], _HEIGHT, f"{drawing.metric}, by second")])


def _rates(seconds: Sequence[Second], *, has_time: bool) -> alt.LayerChart:
    shown = _timeline(seconds)
    due = _stairs("due", [(at, each.intended, each.length_s) for at, each in shown])
    sent = _stairs("sent", [(at, each.sent, each.length_s) for at, each in shown])
    # With room for a few calls more than were due, so that the rows of a board share an axis.
    highest = max(
        [*(1.05 * (row["rate"] or 0) for row in due), *(row["rate"] or 0 for row in sent)]
    )
    lines = data([*due, *sent]).mark_line(interpolate="step-after")
    layer = lines.encode(
        x=_time(seconds, has_labels=has_time),
        y=from_zero("rate", highest),
        **series("series", ["due", "sent"], [FAINT, ACCENT], [SOLID, SOLID], [5, 1.5]),
    )
    return plot(_marked(seconds, [layer], has_labels=has_time), _HEIGHT, "calls per second")


def _latencies(seconds: Sequence[Second], ticks: Sequence[float]) -> alt.LayerChart:
    shown = _timeline(seconds)
    lines = [
        [{"series": name, "at": at + each.length_s / 2, "ns": ns or None} for at, each, ns in line]
        for name, line in (
            ("p99", [(at, each, each.p99_ns) for at, each in shown]),
            ("p50", [(at, each, each.p50_ns) for at, each in shown]),
        )
    ]
    channels = series("series", ["p99", "p50"], [ACCENT, QUIET], [SOLID, (4, 2)], [1.5, 1.5])
    place: dict[str, Any] = {
        "x": _time(seconds),
        "y": alt.Y(
            "ns:Q",
            scale=alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False),
            axis=y_axis(values=list(few(ticks)), labelExpr=NS),
        ),
    }
    layers = [data(row for line in lines for row in line).mark_line().encode(**place, **channels)]
    if alone := [row for line in lines for row in _alone(line)]:
        dots = data(alone).mark_point(filled=True, size=12, opacity=1)
        layers.append(dots.encode(**place, color=channels["color"]))
    return plot(_marked(seconds, layers), _HEIGHT, "latency, on a log scale")


def _alone(line: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the points of a line between two gaps: they need a dot to be seen."""
    values = [None, *(row["ns"] for row in line), None]
    return [
        row
        for row, before, value, after in zip(line, values, values[1:], values[2:], strict=False)
        if value and not before and not after
    ]


def _marked(
    seconds: Sequence[Second], layers: Sequence[alt.Chart], *, has_labels: bool = True
) -> list[alt.Chart]:
    """Return the layers with a band below each second that missed its schedule, and a cross."""
    rows = [
        {"at": at, "to": at + each.length_s, "middle": at + each.length_s / 2}
        for at, each in _starts(seconds)
        if missed(each)
    ]
    if not rows:
        return list(layers)
    bands = data(rows).mark_rect(color=BAD, opacity=0.18)
    crosses = data(rows).encode(x=_time(seconds, "middle", has_labels=has_labels), y=alt.value(5))
    return [
        bands.encode(x=_time(seconds, has_labels=has_labels), x2="to:Q"),
        *layers,
        cross(crosses, 30, "missed"),
    ]


def _time(seconds: Sequence[Second], field: str = "at", *, has_labels: bool = True) -> alt.X:
    axis = alt.Axis(
        title="seconds" if has_labels else None,
        labels=has_labels,
        ticks=has_labels,
        grid=False,
        tickCount=6,
    )
    end = max(sum(second.length_s for second in seconds), 1.0)
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


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
