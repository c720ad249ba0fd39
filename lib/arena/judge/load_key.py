"""Loads: what must be exactly equal for records to share a board."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.judge.host_class import host_class_of
from arena.record.record import Record
from arena.what.metrics import Metric
from arena.what.profile import MeasuredProfile

# Fields that name a load or are in its key anyway. All others can change a figure.
_NAMES = {"name", "title", "generator", "connection_count", "like"}


# A profile, a connection count, a generator and a host class; one of their loads is current.
Place = tuple[str, int, str, str]

# The key of a board: its place, the digest of its load, and the generator's own warm-up.
Key = tuple[str, int, str, str, str, str]

# The option by which h2load makes a warm-up of its own before each run.
_WARM_UP = re.compile(r"--warm-up-time=(\d{1,6}(?:ms|s|m)?)")


class LoadKey(NamedTuple):
    """One load as it was run, by one generator on one class of hosts, which is named by its id.

    `size` is the length and number of its runs, as part of a URL: `5s-x-3`. `digest` identifies the
    load; it is the same under every generator, connection count and host class. `generator_warm_up`
    is the warm-up that the generator makes by itself before each run, such as `3s`; empty without
    one. Figures with and without it cannot be compared.
    """

    profile: str
    connections: int
    generator: str
    metric: Metric
    size: str
    digest: str
    host_class: str
    generator_warm_up: str = ""

    @property
    def place(self) -> Place:
        """Return the part of the key that it shares with its profile's other loads."""
        return self.profile, self.connections, self.generator, self.host_class

    @property
    def text(self) -> str:
        """Return it without the host class, as one word: `stream-grpc/64/ghz/0123456789ab`."""
        return _text(self.profile, self.connections, self.generator, self.digest)

    @property
    def key(self) -> "Key":
        """Return the key of its board."""
        return *self.place, self.digest, self.generator_warm_up


def load_of(record: Record) -> LoadKey:
    """Return the load that a record was made with."""
    profile = record.profile
    return LoadKey(
        profile.name,
        profile.connection_count,
        profile.generator,
        profile.metric,
        f"{profile.load.size}-x-{profile.runs}",
        digest_of(profile),
        host_class_of(record).id,
        _warm_up_of(record),
    )


def digest_of(profile: MeasuredProfile) -> str:
    """Return the digest of a profile's load, whatever its generator and connection count."""
    text = json.dumps(_facts(profile), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def text_of(profile: MeasuredProfile) -> str:
    """Return the `text` of the load that a record of this profile will have."""
    digest = digest_of(profile)
    return _text(profile.name, profile.connection_count, profile.generator, digest)


def _text(profile: str, connections: int, generator: str, digest: str) -> str:
    return f"{profile}/{connections}/{generator}/{digest}"


def _warm_up_of(record: Record) -> str:
    maker = record.provenance.generator
    return generator_warm_up(maker.argv if maker else ())


def generator_warm_up(argv: Sequence[str]) -> str:
    """Return the warm-up that a generator's command line asks for; empty without one."""
    return next((found[1] for each in argv if (found := _WARM_UP.fullmatch(each))), "")


def differences(record: Record, other: Record) -> dict[str, tuple[str, str]]:
    """Return the facts in which a record's load differs from another's: here and there, as JSON."""
    here, there = (
        dict(_leaves({**_facts(each.profile), "generator_warm_up": _warm_up_of(each) or None}))
        for each in (record, other)
    )
    return {
        key: (here.get(key, "null"), there.get(key, "null"))
        for key in (here | there)
        if here.get(key, "null") != there.get(key, "null")
    }


def _facts(profile: MeasuredProfile) -> dict[str, Any]:
    # A record of one connection count does not depend on the profile's other counts.
    others = set() if profile.load.joins_connections else {"connections"}
    # Loads without a .proto of their own are those of records that do not know the key.
    own = set() if profile.proto else {"proto"}
    left_out = dict.fromkeys(_NAMES | others | own, True)
    of_row = dict.fromkeys(profile.load.differs, True)
    return profile.model_dump(mode="json", exclude={**left_out, "load": of_row})


def _leaves(data: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield path + key, json.dumps(value)
