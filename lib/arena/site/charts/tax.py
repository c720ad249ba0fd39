"""The generator tax: the CPU time of servers under several generators, and the generators'."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.base.numbers import cost_words, in_unit
from arena.judge.beside import CPU, GENERATOR_CPU
from arena.judge.leaderboard import Board, Row
from arena.site.charts.axes import Axis, linear, top
from arena.site.charts.picture import Picture, Table
from arena.site.charts.svg import ACCENT, INK, QUIET, Plot, svg

# The number of a load's servers that have a picture; all are in its table.
MOST_SERVERS = 24
# The width of bar names, the height per bar with the room around it, and the bar's own, in px.
# The widths of bar names, and the height of each bar with the room around it, in px.
_NAMES = 118
_BAR = 20
_THICK = 15

# Characters that a generator's name may have in a drawing.
_NAME = re.compile(r"[a-z0-9-]{1,16}")
# The axis leaves room for the figure after the longest bar.
_ROOM = 1.35

HEAD = ("Generator", "Server CPU s", "Its own CPU s", "Its own ÷ the server's")


@dataclass(frozen=True)
class Toll:
    """CPU seconds per million messages under one generator: the lower and upper bound of each side.

    The upper bound is absent if no call finished.
    """

    generator: str
    server: tuple[float, float | None]
    own: tuple[float, float | None]


@dataclass(frozen=True)
class TaxedServer:
    """One server under several generators, sorted by the generators' names.

    `rows` are its rows on their boards, on the same base image, and `tolls` the cost of each.
    """

    rows: tuple[Row, ...]
    tolls: tuple[Toll, ...]

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The numbers, one line per generator, in HEAD's columns."""
        return tuple(_cells(toll) for toll in self.tolls)


@dataclass(frozen=True)
class TaxedLoad:
    """One load on one class of hosts, and its servers measured under several generators.

    `size` is empty for the profile's current full load, `host` for the home class.
    """

    profile: str
    title: str
    connections: int
    size: str
    host: str
    unit: str
    servers: tuple[TaxedServer, ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """A picture for each of the first servers, each with its own scale.

        A slow server costs a thousand times as much as a fast one, so a picture compares only one
        server's cost with its generators'.
        """
        return tuple(_picture(self, server) for server in self.servers[:MOST_SERVERS])


def taxed_loads(boards: Sequence[Board]) -> list[TaxedLoad]:
    """Return every load that some server ran under several generators, by profile.

    Boards come with the current one first. So of a generator with several boards of a load, with
    its own warm-up and without, the first one counts.
    """
    found: dict[tuple[str, int, str, str], dict[str, Board]] = defaultdict(dict)
    for board in boards:
        if _NAME.fullmatch(board.generator):
            load = board.profile, board.connections, board.load_digest, board.host_class.id
            found[load].setdefault(board.generator, board)
    every = [
        TaxedLoad(
            profile=profile,
            title=group[0].title,
            connections=connections,
            size="" if _is_plain(group) else group[0].load,
            host="" if group[0].is_home else group[0].host_class.words,
            unit=group[0].metric.unit,
            servers=_servers(group),
        )
        for (profile, connections, _, _), own in found.items()
        for group in [list(own.values())]
    ]
    return [load for load in every if load.servers]


def _is_plain(boards: Sequence[Board]) -> bool:
    return all(board.is_current and not board.is_trial for board in boards)


def _servers(boards: Sequence[Board]) -> tuple[TaxedServer, ...]:
    """Return the servers that are on several of the boards, in the order of the first board."""
    found: dict[tuple[str, str | None], list[tuple[Row, Toll]]] = defaultdict(list)
    for board in boards:
        for row in board.rows:
            if row.result and (toll := _toll(board, row)):
                found[row.framework, row.result.standin].append((row, toll))
    return tuple(
        TaxedServer(rows=tuple(row for row, _ in under), tolls=tuple(toll for _, toll in under))
        for under in found.values()
        if len(under) > 1
    )


def _toll(board: Board, row: Row) -> Toll | None:
    """Return the cost that a board shows of a row; None if no call was even begun."""
    beside = board.beside(row)
    server, own = beside.get(CPU), beside.get(GENERATOR_CPU)
    if server is None or own is None:
        return None
    return Toll(
        generator=board.generator,
        server=(server.at_least, server.at_most),
        own=(own.at_least, own.at_most),
    )


def _picture(load: TaxedLoad, server: TaxedServer) -> Picture:
    name = server.rows[0].display_name
    most = max(
        end
        for toll in server.tolls
        for low, high in (toll.server, toll.own)
        for end in (low, high or low)
    )
    return Picture(
        title=name,
        label=f"{name}: CPU seconds per million {load.unit} of the server and of the generator, "
        f"under {', '.join(toll.generator for toll in server.tolls)}",
        svg=_drawn(server.tolls, load.unit, top(_ROOM * most)),
        words=(),
        table=Table(HEAD, server.cells),
    )


def _cells(toll: Toll) -> tuple[str, ...]:
    (server, _), (own, _) = toll.server, toll.own
    share = f"{in_unit(own / server)} ×" if server else "–"
    return toll.generator, cost_words(*toll.server), cost_words(*toll.own), share


def _drawn(tolls: Sequence[Toll], unit: str, end: float) -> Markup:
    """Draw each cost as a bar to its lower bound, paler to its upper bound, with its figure."""
    bars = [
        bar
        for toll in tolls
        for bar in (
            (f"server under {toll.generator}", QUIET, toll.server),
            (f"{toll.generator} itself", ACCENT, toll.own),
        )
    ]
    y = Axis(
        lambda number: 1 - (number + 0.5) / len(bars),
        [(number, name) for number, (name, _, _) in enumerate(bars)],
    )
    x = linear(end, "{:g}".format, 6, f"CPU seconds per million {unit}", has_grid=True)
    plot = Plot("", x, y, _BAR * len(bars), left=_NAMES)
    for number, (_, colour, (low, high)) in enumerate(bars):
        middle, known = plot.down(number), plot.across(low)
        most = plot.across(min(high, end)) if high is not None else known
        edge = middle - _THICK / 2
        plot.boxes("known", [((0, edge), known, _THICK)], colour, 1)
        plot.boxes("possible", [((known, edge), most - known, _THICK)], colour, 0.4)
        plot.text((most + 4, middle), cost_words(low, high), INK)
    return svg([plot])
