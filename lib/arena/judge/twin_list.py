"""The twins of every night, load by load."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.base.text import columns
from arena.judge.archive import Archive
from arena.judge.entry import by_load
from arena.judge.load_key import LoadKey
from arena.judge.nights import by_division, nights_of
from arena.judge.twins import Twin, TwinBook, TwinHistory, history_of, twins_of


@dataclass(frozen=True)
class TwinNights:
    """The twins of a load by the night, the oldest first, and what they come to."""

    load: LoadKey
    nights: Mapping[str, Sequence[Twin]]
    history: TwinHistory
    looked_at: str

    @property
    def lines(self) -> list[str]:
        """The load, each twin that the headline judged or a figure did not tie, and each figure."""
        load = self.load
        name = f"{load.profile}, {load.connections} connections, {load.generator}, {load.size}"
        looked = f"; looked at {self.looked_at}" if self.looked_at else ""
        rows = [
            (
                f"  {night}",
                ", ".join(filter(None, (twin.framework, twin.figure))),
                "tied" if twin.is_tied else "NOT TIED",
                f"twin ÷ original {twin.ratio:.4f} ({twin.low:.4f} to {twin.high:.4f})",
            )
            for night, twins in self.nights.items()
            for twin in twins
            if not (twin.figure and twin.is_tied)
        ]
        return [
            f"{name}, {load.host_class}: {_share(self.history)}{looked}",
            *columns(rows),
            *(f"  {figure}: {_share(it)}" for figure, it in sorted(self.history.figures.items())),
        ]


def _share(it: TwinHistory) -> str:
    """Return on how many pairs a history rests, and what it comes to."""
    pairs = f"{it.tied} of {it.of} pair{'s' * (it.of != 1)} not told apart by their own test"
    interval = f"95 % interval {100 * it.low:.0f} % to {100 * it.high:.0f} %"
    return f"{pairs} ({interval})" + "; RANKS ARE SUSPENDED" * it.is_suspended


def list_twins(archive: Archive, book: TwinBook) -> Iterator[TwinNights]:
    """Yield the twins of every load whose nights have any."""
    visits = [each for each in archive.entries.values() if each.turn]
    for own in sorted(by_load(visits).values(), key=lambda each: each[0].load.key):
        load = own[0].load
        groups = by_division(own).values()
        nights = sorted(nights_of(own), key=lambda each: each.id)
        found = {it.id: twins for it in nights if (twins := twins_of(it, groups))}
        looked_at = book.looked_at(load)
        if history := history_of(found, looked_at):
            yield TwinNights(load, found, history, looked_at)
