"""The generator tax: the CPU time of servers under several generators, and the generators'."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from arena.base.units import cost_words, in_unit
from arena.judge.beside import CPU, GENERATOR_CPU, Beside
from arena.judge.leaderboard import Board
from arena.judge.row import Result, Row
from arena.site.charts.axes import Axis, linear, top
from arena.site.charts.picture import Picture, Table
from arena.site.charts.svg import ACCENT, INK, QUIET, Plot, svg

# The number of a load's servers that have a picture; all are in its table.
MOST_SERVERS = 24
# The widths of bar names, and the height of each bar with the room around it, and the bar's own.
_NAMES, _BAR, _THICK = 118, 20, 15

# Characters that a generator's name may have in a drawing.
_NAME = re.compile(r"[a-z0-9-]{1,16}")
# The axis leaves room for the figure after the longest bar.
_ROOM = 1.35

_HEAD = ("Generator", "Server CPU s", "Its own CPU s", "Its own ÷ the server's")


@dataclass(frozen=True)
class Toll:
    """A server's row under one generator, and the CPU seconds per million messages of each side."""

    row: Row
    result: Result
    generator: str
    server: Beside
    own: Beside

    @property
    def cells(self) -> tuple[str, ...]:
        """The numbers as text, in the columns of a table."""
        server, own = self.server.at_least, self.own.at_least
        costs = (cost_words(it.at_least, it.at_most) for it in (self.server, self.own))
        return (self.generator, *costs, f"{in_unit(own / server)} ×" if server else "–")


@dataclass(frozen=True)
class TaxedLoad:
    """One load on one class of hosts, and its servers: what each cost under several generators.

    `size` is empty for the profile's current full load, `host` for the home class.
    """

    profile: str
    title: str
    connections: int
    size: str
    host: str
    unit: str
    servers: tuple[tuple[Toll, ...], ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """A picture for each of the first servers, each with its own scale.

        A slow server costs a thousand times as much as a fast one, so a picture compares only one
        server's cost with its generators'.
        """
        return tuple(_picture(self.unit, tolls) for tolls in self.servers[:MOST_SERVERS])


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
            size="" if all(each.is_current and not each.is_trial for each in group) else size,
            host="" if group[0].is_home else group[0].host_class.words,
            unit=group[0].metric.unit,
            servers=_servers(group),
        )
        for (profile, connections, _, _), own in found.items()
        for group, size in [([*own.values()], next(iter(own.values())).load)]
    ]
    return [load for load in every if load.servers]


def _servers(boards: Sequence[Board]) -> tuple[tuple[Toll, ...], ...]:
    """Return the servers that are on several of the boards, in the order of the first board.

    A server counts on one base image; not at all if no call was even begun.
    """
    found: dict[tuple[str, str | None], list[Toll]] = defaultdict(list)
    for board in boards:
        for row in board.rows:
            costs = board.beside(row)
            if (it := row.result) and CPU in costs and GENERATOR_CPU in costs:
                toll = Toll(row, it, board.generator, costs[CPU], costs[GENERATOR_CPU])
                found[row.framework, it.standin].append(toll)
    return tuple(tuple(tolls) for tolls in found.values() if len(tolls) > 1)


def _picture(unit: str, tolls: Sequence[Toll]) -> Picture:
    """Draw each cost as a bar to its lower bound, paler to its upper bound, with its figure."""
    bars = [
        bar
        for toll in tolls
        for bar in (
            (f"server under {toll.generator}", QUIET, toll.server),
            (f"{toll.generator} itself", ACCENT, toll.own),
        )
    ]
    end = top(_ROOM * max(it.at_most or it.at_least for *_, it in bars))
    y = Axis(
        lambda number: 1 - (number + 0.5) / len(bars),
        [(number, name) for number, (name, _, _) in enumerate(bars)],
    )
    x = linear(end, "{:g}".format, 6, f"CPU seconds per million {unit}", has_grid=True)
    plot = Plot("", x, y, _BAR * len(bars), left=_NAMES)
    for number, (_, colour, it) in enumerate(bars):
        middle, known = plot.down(number), plot.across(it.at_least)
        most = known if it.at_most is None else plot.across(min(it.at_most, end))
        edge = middle - _THICK / 2
        plot.boxes("known", [((0, edge), known, _THICK)], colour, 1)
        plot.boxes("possible", [((known, edge), most - known, _THICK)], colour, 0.4)
        plot.text((most + 4, middle), cost_words(it.at_least, it.at_most), INK)
    name = tolls[0].row.display_name
    label = (
        f"{name}: CPU seconds per million {unit} of the server and of the generator, "
        f"under {', '.join(toll.generator for toll in tolls)}"
    )
    return Picture(name, label, svg([plot]), (), Table(_HEAD, tuple(it.cells for it in tolls)))
