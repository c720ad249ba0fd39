"""References: what every rack measures before a night, and which racks are off their class.

Racks of one class should measure the same. One that does not is ill, or is of another class, and
its blocks would not be those of its class.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from arena.base.model import Frozen, to_json, validated
from arena.base.reading import read_json
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.judge.derive import derive
from arena.record.record import Record
from arena.record.times import UtcTime
from arena.run.request import Request
from arena_fleet.rack import Offer

# `volley serve`, under the name that it has as a framework.
OWN_SERVER = "volley-serve"

# A framework that most hosts can run.
FRAMEWORK = "grpc-go"

_PROFILE, _CONNECTIONS, _PORT = "unary-grpc", 256, 8080

# Where the figures are kept, below results/host/.
_FILE = "racks.json"

# A rack has so many nights of history, and each is compared with so many.
_KEPT, _COMPARED = 500, 10


class Measured(Frozen):
    """The median rate of a reference on a rack in a night, in its profile's metric."""

    night: UtcTime
    host_class: str
    rack: str
    reference: str
    rate: Annotated[float, Field(gt=0)]

    @property
    def key(self) -> tuple[str, str, str]:
        """What is measured again every night."""
        return self.host_class, self.rack, self.reference


class ReferenceHistory(Frozen):
    """The content of results/host/racks.json, the newest night last."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    measured: tuple[Measured, ...] = ()

    @classmethod
    def of(cls, workspace: Workspace) -> Self:
        """Read the file, which may be missing; UsageError if it is broken."""
        path = workspace.host / _FILE
        if not path.exists():
            return cls()
        return validated(cls, read_json(path), path, list(cls.model_fields))

    def write(self, workspace: Workspace, tonight: Sequence[Measured]) -> None:
        """Add the figures of a night."""
        both = (*self.measured, *tonight)
        write_atomic(workspace.host / _FILE, to_json(ReferenceHistory(measured=both[-_KEPT:])))

    def before(self, it: Measured) -> list[float]:
        """Return what a rack measured in the last nights."""
        return [each.rate for each in self.measured if each.key == it.key][-_COMPARED:]


def sessions(offer: Offer, *, wait: bool) -> Iterator[Request]:
    """Yield the request of each reference that a rack can measure."""
    request = Request(
        frameworks=(OWN_SERVER,),
        profiles=(_PROFILE,),
        connections=(_CONNECTIONS,),
        duration=2.0,
        runs=5,
        wait=wait,
        runtime="native",
    )
    yield request
    if FRAMEWORK in offer.sources and FRAMEWORK not in offer.unavailable:
        yield request.changed(frameworks=(FRAMEWORK,), runtime=offer.runtime)


def rate_of(record: Record) -> float | None:
    """Return the figure of a reference; None if it failed."""
    spread = derive(record).spread
    return spread.median if record.status == "ok" and spread else None


def off_class(
    tonight: Sequence[Measured], history: ReferenceHistory, limit: float
) -> Mapping[str, str]:
    """Return the racks that are off their class by more than `limit`, a share, and why.

    The racks of each reference are compared: two with each other, more with their median, a single
    one with its own history. If all are off, as two racks are that differ, nobody knows from this
    night which of them is ill: then their histories decide. Without these, or if each is as it was,
    all are off.
    """
    off: dict[str, str] = {}
    for reference in dict.fromkeys(each.reference for each in tonight):
        found = _off_reference([it for it in tonight if it.reference == reference], history, limit)
        off = {**found, **off}
    return off


def _off_reference(
    tonight: Sequence[Measured], history: ReferenceHistory, limit: float
) -> Mapping[str, str]:
    """Return the same for the figures of one reference."""
    past = {it: median(rates) for it in tonight if (rates := history.before(it))}
    if len(tonight) == 1:
        return _off(past, limit, "its past")
    off = _off({each: _class_rate(each, tonight) for each in tonight}, limit)
    if len(off) == len(past) == len(tonight):
        return _off(past, limit, "its past") or off
    return off


def _class_rate(it: Measured, tonight: Sequence[Measured]) -> float:
    """Return what a rack is expected to measure: the median of all, or the other one's of two."""
    others = [each.rate for each in tonight if each.rack != it.rack]
    return others[0] if len(others) == 1 else median(each.rate for each in tonight)


def _off(
    expected: Mapping[Measured, float], limit: float, than: str = "its class"
) -> Mapping[str, str]:
    return {
        it.rack: (
            f"{it.reference} is {100 * abs(it.rate / rate - 1):.1f} % "
            f"{'below' if it.rate < rate else 'above'} {than} ({it.rate:,.0f}/s against "
            f"{rate:,.0f}/s; limit {100 * limit:g} %)"
        )
        for it, rate in expected.items()
        if abs(it.rate / rate - 1) > limit
    }


def meta_of(volley: Path) -> dict[str, Any]:
    """Return the meta.json of `volley serve`."""
    return {
        "display_name": "volley serve",
        "language": "Rust",
        "type": "engine",
        "tests": [_PROFILE],
        "native": {"run": f"exec {shlex.quote(str(volley))} serve --listen 0.0.0.0:{_PORT}"},
    }
