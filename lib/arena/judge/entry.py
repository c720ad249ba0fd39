"""Entries: summaries of records, so small that a hundred thousand fit in memory.

They are enough to pick the rows of a board and to show a history, without the records.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from arena.judge.flags import UNRANKED
from arena.judge.load_key import Key, LoadKey, load_of
from arena.record.record import Record
from arena.what.metrics import Metric


@dataclass(frozen=True, slots=True)
class Entry:
    """The summary of one record. `value`, `low` and `high` are in its metric, None if it is not ok.

    `low` to `high` is the interval that ranks it. `made_by` is the load generator and its version.
    `failure` is the reason that the record states.
    """

    path: str
    sha256: str
    status: Literal["ok", "failed", "invalid"]
    started_at: str
    framework: str
    type: str
    load: LoadKey
    is_trial: bool
    is_ranked: bool
    value: float | None
    low: float | None
    high: float | None
    source_sha256: str
    made_by: str | None
    machine: str
    commit: str | None
    failure: str | None
    flags: tuple[str, ...]

    def values(self) -> tuple[Any, ...]:
        """Return the values from which `entry_from` makes the same entry."""
        return tuple(getattr(self, each.name) for each in fields(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it so that entries of other processes share their texts, too."""
        return entry_from, self.values()


def entry_from(*values: Any) -> Entry:
    """Return the entry with these values, which come from another process or a file.

    Entries share equal texts and loads. TypeError, ValueError or LookupError if the values are not
    those of an entry.
    """
    texts: list[Any] = [sys.intern(each) if isinstance(each, str) else each for each in values]
    texts[_LOAD] = _load(*values[_LOAD])
    texts[_FLAGS] = tuple(map(sys.intern, values[_FLAGS]))
    return Entry(*texts)


@cache
def _load(*values: Any) -> LoadKey:
    profile, connections, generator, metric, *rest = values
    return LoadKey(profile, connections, generator, Metric(metric), *rest)


_NAMES = [each.name for each in fields(Entry)]
_LOAD, _FLAGS = _NAMES.index("load"), _NAMES.index("flags")


def entry_of(record: Record, sha256: str = "") -> Entry:
    """Return a record's entry; `sha256` is that of its file."""
    headline = record.headline if record.status == "ok" else None
    maker, git = record.provenance.generator, record.provenance.git
    return Entry(
        path=record.path,
        sha256=sha256,
        status=record.status,
        started_at=record.started_at,
        framework=record.framework.name,
        type=record.framework.type,
        load=load_of(record),
        is_trial=record.is_trial,
        is_ranked=bool(headline and headline.value) and UNRANKED.isdisjoint(record.flags),
        value=headline.value if headline else None,
        low=headline.low if headline else None,
        high=headline.high if headline else None,
        source_sha256=record.framework.source_sha256,
        made_by=f"{maker.name} {maker.version}" if maker else None,
        machine=record.provenance.host.words,
        commit=git.commit + ("-dirty" if git.dirty else "") if git else None,
        failure=record.failure.reason if record.failure else None,
        flags=record.flags,
    )


def by_load(entries: Iterable[Entry]) -> dict[Key, list[Entry]]:
    """Return entries by load; the entries of each load keep their order."""
    found: dict[Key, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.load.key].append(entry)
    return dict(found)
