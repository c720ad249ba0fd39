"""The twins of all nights of a load, and when somebody last looked at them.

Two nights in a row whose twins differ suspend the ranks of their load. They come back when somebody
has looked: results/host/reviewed.json has the times.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.base.model import Frozen, to_json, validated
from arena.base.reading import read_json
from arena.base.writing import write_atomic
from arena.judge.load_key import Key, LoadKey
from arena.judge.nights import Night, Twin, TwinHistory, history_of, twins_of
from arena.record.times import UtcTime
from arena.what.loads import Count

FILE = "reviewed.json"


class Look(Frozen):
    """Somebody has looked at the twins of a profile; None stands for every count or generator."""

    profile: str
    connections: Count | None = None
    generator: str | None = None
    looked_at: UtcTime

    def covers(self, load: LoadKey) -> bool:
        """Return whether it is about a load."""
        return (
            self.profile == load.profile
            and self.connections in (None, load.connections)
            and self.generator in (None, load.generator)
        )


class Reviewed(Frozen):
    """The content of results/host/reviewed.json."""

    looks: tuple[Look, ...] = ()


def load_name(key: Key) -> str:
    """Return the name of a load in files: the parts of its key, with slashes between them."""
    return "/".join(map(str, key))


@dataclass(frozen=True)
class TwinBook:
    """What is known of twins besides the records.

    `looks` lift suspensions. A set of records may have only some of the nights: a round those that
    its boards show, the current one what is in no round. `known` has the histories of all nights,
    by the loads' names.
    """

    looks: Sequence[Look] = ()
    known: Mapping[str, TwinHistory] | None = None

    def looked_at(self, load: LoadKey) -> str:
        """Return when somebody last looked at a load; empty if never."""
        return max((each.looked_at for each in self.looks if each.covers(load)), default="")

    def history_of(
        self, load: LoadKey, nights: Iterable[Night], groups: Iterable[Collection[str]]
    ) -> TwinHistory | None:
        """Return the history of a load's twins; each group of frameworks is ranked apart."""
        if self.known is not None:
            return self.known.get(load_name(load.key))
        groups = list(groups)
        found: dict[str, list[Twin]] = {each.id: twins_of(each, groups) for each in nights}
        return history_of(found, self.looked_at(load))


NO_LOOKS = TwinBook()


def read_book(host: Path) -> TwinBook:
    """Return what a host's file says; UsageError if it is broken."""
    path = host / FILE
    if not path.exists():
        return NO_LOOKS
    found = validated(Reviewed, read_json(path), path, list(Reviewed.model_fields))
    return TwinBook(found.looks)


def write_look(host: Path, look: Look) -> None:
    """Add a look to a host's file, in place of an older one about the same."""
    about = {"profile", "connections", "generator"}
    others = (
        each
        for each in read_book(host).looks
        if each.model_dump(include=about) != look.model_dump(include=about)
    )
    write_atomic(host / FILE, to_json(Reviewed(looks=(*others, look))))
