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
        """The load and each twin, as lines of text."""
        load, it = self.load, self.history
        name = f"{load.profile}, {load.connections} connections, {load.generator}, {load.size}"
        interval = f"95 % interval {100 * it.low:.0f} % to {100 * it.high:.0f} %"
        share = f"{it.tied} of {it.of} twins tied ({interval})"
        state = "; RANKS ARE SUSPENDED" if it.is_suspended else ""
        looked = f"; looked at {self.looked_at}" if self.looked_at else ""
        rows = [
            (
                f"  {night}",
                twin.framework,
                "tied" if twin.is_tied else "NOT TIED",
                f"twin ÷ original {twin.ratio:.4f} ({twin.low:.4f} to {twin.high:.4f})",
            )
            for night, twins in self.nights.items()
            for twin in twins
        ]
        return [f"{name}, {load.host_class}: {share}{state}{looked}", *columns(rows)]


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
