"""Loads: what must be equal, to the letter, for records to stand on one board."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.what.measured import MeasuredProfile
from arena.what.metrics import Metric

# What names a load, or stands beside it in a key. All the rest can change a figure.
_NAMES = {"name", "title", "generator", "connection_count"}


# A profile, its connections and the generator: of their loads, one is current.
Place = tuple[str, int, str]

# What a board is of: that, and the digest of the load.
Key = tuple[str, int, str, str]


class LoadKey(NamedTuple):
    """One load as it was run, by one generator.

    `size` says how much of it there is, as a part of an address: `5s-x-3`. `digest` tells it
    from every other load; it is the same under every generator and connection count.
    """

    profile: str
    connections: int
    generator: str
    metric: Metric
    size: str
    digest: str

    @property
    def place(self) -> Place:
        """Return the part of the key that its profile's other loads have too."""
        return self.profile, self.connections, self.generator

    @property
    def key(self) -> "Key":
        """Return what a board has of it."""
        return *self.place, self.digest


def load_of(profile: MeasuredProfile) -> LoadKey:
    """Return the load of a profile as it was run."""
    text = json.dumps(_facts(profile), sort_keys=True)
    return LoadKey(
        profile.name,
        profile.connection_count,
        profile.generator,
        profile.metric,
        f"{profile.load.size}-x-{profile.runs}",
        hashlib.sha256(text.encode()).hexdigest()[:12],
    )


def differences(profile: MeasuredProfile, other: MeasuredProfile) -> dict[str, tuple[str, str]]:
    """Return the facts of a load that are not those of another one: here, and there, as JSON."""
    here, there = (dict(_leaves(_facts(each))) for each in (profile, other))
    return {
        key: (here.get(key, "null"), there.get(key, "null"))
        for key in (here | there)
        if here.get(key, "null") != there.get(key, "null")
    }


def _facts(profile: MeasuredProfile) -> dict[str, Any]:
    # The other counts that a profile names do not matter to the record of one of them.
    others = set() if profile.load.joins_connections else {"connections"}
    return profile.model_dump(mode="json", exclude=_NAMES | others)


def _leaves(data: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield path + key, json.dumps(value)
