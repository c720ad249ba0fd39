"""Blasts: throughput and failures against N, one line per way to spread the calls."""

from collections.abc import Mapping, Sequence

from arena.base.numbers import format_ns, format_rate
from arena.judge.leaderboard import Board, Row
from arena.publish.charts.drawing import BlastDrawing, Way
from arena.publish.charts.picture import Picture, Table, conditions, first_rows
from arena.publish.charts.sustained import is_sustained
from arena.record.measurement import BlastPoint

# Throughput has stopped growing at the first N that comes so close to its highest.
FULL = 0.95

_HEAD = ("Connections", "N", "Requests/s", "Median within", "p50", "p99", "Failed")


def blast_pictures(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return one picture a row, with what the same clients sustain beside it, where it is known."""
    return [
        blast_picture(
            row.display_name, row.display_name, row.points, _sustained(board, row, boards)
        )
        for row in first_rows(board, lambda row: bool(row.points))
    ]


def blast_picture(
    title: str, name: str, points: Sequence[BlastPoint], sustained: Mapping[int, float]
) -> Picture:
    """Return the picture of a blast's points; `sustained` is known by connections (requests/s)."""
    ways = _ways(points, sustained)
    return Picture(
        title=title,
        label=f"{name}: requests per second, and failed calls, against the number of "
        f"requests that leave together. {' '.join(map(_words, ways))}",
        drawing=BlastDrawing(ways),
        words=(
            *map(_words, ways),
            *(() if any(way.fails_at for way in ways) else ("No call failed.",)),
        ),
        table=Table(_HEAD, tuple(_cells(point) for way in ways for point in way.points)),
    )


def _ways(points: Sequence[BlastPoint], sustained: Mapping[int, float]) -> tuple[Way, ...]:
    """Return the points by the way they were spread, the fewest connections first."""
    ways = []
    for connections in sorted({point.connections for point in points}):
        own = tuple(
            sorted(
                (each for each in points if each.connections == connections),
                key=lambda each: each.requests,
            )
        )
        ways.append(
            Way(
                name=_name(connections, own),
                points=own,
                full_at=full_at(own),
                fails_at=next((each.requests for each in own if sum(each.failed.values())), None),
                sustained=sustained.get(connections),
            )
        )
    return tuple(ways)


def full_at(points: Sequence[BlastPoint]) -> int | None:
    """Return the N at which throughput stops growing; None if it still grows at the largest N.

    Or if no call ever succeeded. `points` are those of one way, by N.
    """
    highest = max(point.rate for point in points)
    near = (point.requests for point in points[:-1] if point.rate >= FULL * highest > 0)
    return next(near, None)


def _name(connections: int, points: Sequence[BlastPoint]) -> str:
    if connections == 1:
        return "1 connection"
    # For most points there are as many connections as requests.
    if 2 * sum(point.requests <= connections for point in points) > len(points):
        return f"one per request, up to {connections:,}"
    return f"{connections:,} connections"


def _sustained(board: Board, row: Row, boards: Sequence[Board]) -> dict[int, float]:
    """Return what the framework sustains, by connections: requests/s of a closed load.

    Only a load of the same calls counts, made by the same generator under the same conditions.
    """
    found: dict[int, float] = {}
    for other in boards:
        if other.kind == "closed" and _same_load(other) == _same_load(board):
            for each in other.rows:
                if is_sustained(each.seconds, each.value) and _made(each) == _made(row):
                    found.setdefault(other.connections, each.value or 0.0)
    return found


def _same_load(board: Board) -> tuple[object, ...]:
    return board.call, board.tls, board.generator, board.metric, board.division


def _made(row: Row) -> tuple[object, ...]:
    return row.generator, *conditions(row)


def _words(way: Way) -> str:
    best = max(point.rate for point in way.points)
    if not best:
        return f"{way.name}: no call succeeded."
    full = f"still grows at N = {way.points[-1].requests:,}"
    if way.full_at is not None:
        full = f"stops growing at N = {way.full_at:,}"
    fails = f", first failure at N = {way.fails_at:,}" if way.fails_at else ""
    return f"{way.name}: at best {format_rate(best)} requests/s, {full}{fails}."


def _cells(point: BlastPoint) -> tuple[str, ...]:
    latency = point.latency_ns
    return (
        f"{point.connections:,}",
        f"{point.requests:,}",
        format_rate(point.rate),
        f"{format_rate(point.rate_low)} – {format_rate(point.rate_high)}",
        *("–" if value is None else format_ns(value) for value in (latency.p50, latency.p99)),
        ", ".join(f"{count:,} {status}" for status, count in sorted(point.failed.items())) or "0",
    )
