"""Profiles: one YAML file each, `extends:` for variants (see profiles/ and docs/profiles.md)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from arena.base.durations import parse_duration
from arena.base.errors import UsageError
from arena.base.model import Frozen, validated
from arena.base.reading import read_yaml
from arena.base.text import nearest, shown
from arena.what.schedule import SECOND_NS, Schedule

Kind = Literal["closed", "scheduled", "blast"]
Metric = Literal["messages/s", "requests/s", "p99 latency"]

# Metrics by which the lowest figure is the best one.
LOWER_IS_BETTER: frozenset[Metric] = frozenset({"p99 latency"})

# The keys that only some kinds of load have, and which of these they must have.
_KEYS_OF: dict[Kind, dict[str, bool]] = {
    "closed": {"duration": True, "streams_per_connection": False, "concurrency": False},
    "scheduled": {"schedule": True, "requests": True, "concurrency": True},
    "blast": {"sweep": True, "repetitions": True, "seed": False, "duration": True},
}

# Keys that people write as `5s`, and the fields that hold their seconds.
_DURATIONS = {"duration": "duration_s", "warmup": "warmup_s"}
_SCHEDULE_DURATIONS = {"step_duration": "step_duration_s", "max_duration": "max_duration_s"}

# No load lasts longer.
_LONGEST_S = 24 * 3600
_METHOD = r"^[A-Za-z_][\w.]*/[A-Za-z_]\w*$"
_RULE = r"^[A-Za-z_]\w* = [ \w()+*-]+$"
_NAME_IN_RULE = re.compile(r"[A-Za-z_]\w*")
_NAME = r"^[a-z0-9][a-z0-9-]*$"

# The calls of requests/benchmark.proto, and the fields of their requests.
_FIELDS = {
    "GetSum": {"a", "b"},
    "StreamSum": {"a", "b", "count"},
    "CollectSum": {"a", "b"},
    "EchoSum": {"a", "b"},
}
_SERVICE = "benchmark.BenchmarkService"

# What may stand in a rule beside the fields of the request.
_WORDS = {"i", "sum"}

# One may be written where a list is meant.
_Listed = BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value])

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class Profile(Frozen):
    """One workload. Times are in seconds, `call` is package.Service/Method.

    Its `kind` is the shape of the load. A *closed* one keeps so many calls in flight for
    `duration_s`: `streams_per_connection` on each connection, or `concurrency` over all of them;
    every one of `connections` makes a record. A *scheduled* one sends `requests` calls when they
    are due by `schedule`, whatever is still open. A *blast* sends N calls at once, for every N
    of `sweep` and `repetitions` times, over at most so many connections as each of
    `connections` says, in an order that comes from `seed`; `duration_s` is the most it may take.

    A call sends `requests_per_call` messages and counts for `messages_per_call`: those that
    answer it, or were acknowledged by its answer, or both (see `counted_per_call`).

    `expect` says what each reply must hold, like `result = a + b + i`: fields of the reply and
    of the request, and the reply's number i, from 0. Generators that can check it do. A
    `metric` of requests/s is that of calls which one message answers: it counts those messages.
    """

    name: Annotated[str, Field(pattern=_NAME, max_length=64)]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    kind: Kind = "closed"
    generator: str
    call: Annotated[str, Field(pattern=_METHOD)]
    request: dict[Literal["a", "b", "count"], Int32]
    requests_per_call: Count = 1
    messages_per_call: Count
    expect: Annotated[
        tuple[Annotated[str, Field(pattern=_RULE, max_length=120)], ...], _Listed
    ] = ()
    port: Annotated[int, Field(ge=1, le=65535)]
    tls: bool
    connections: Annotated[tuple[Count, ...], Field(min_length=1), _Listed]
    streams_per_connection: Count | None = None
    concurrency: Count | None = None
    schedule: Schedule | None = None
    requests: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    sweep: Annotated[tuple[Count, ...], _Listed] = ()
    repetitions: Annotated[int, Field(ge=1, le=1000)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 1
    duration_s: float | None = None
    warmup_s: float
    runs: Annotated[int, Field(ge=1, le=100)]
    pick: Literal["best"]
    metric: Metric

    @property
    def method(self) -> str:
        """The call without its service, such as GetSum."""
        return self.call.rpartition("/")[2]

    @property
    def is_unary(self) -> bool:
        """Whether one message asks and one answers."""
        return self.method == "GetSum"

    @property
    def streams_up(self) -> bool:
        """Whether the client sends a stream of messages."""
        return self.method in {"CollectSum", "EchoSum"}

    @property
    def replies(self) -> int:
        """How many messages answer one call."""
        if self.method == "EchoSum":
            return self.requests_per_call
        return max(self.request.get("count", 1), 1) if self.method == "StreamSum" else 1

    @property
    def counted_per_call(self) -> int:
        """How many messages a finished call has moved.

        Both directions of EchoSum. Of CollectSum those that were sent: its one reply, the sum,
        says that all of them have arrived. Else the replies.
        """
        if self.method == "CollectSum":
            return self.requests_per_call
        return 2 * self.replies if self.method == "EchoSum" else self.replies

    @property
    def window_s(self) -> float:
        """How long one run puts the load on: at most, if it is a blast."""
        if self.schedule and self.requests:
            return (self.schedule.length_ns(self.requests) or 0) / SECOND_NS
        return self.duration_s or 0.0

    @property
    def record_connections(self) -> tuple[int, ...]:
        """The connection counts that make a record each; a blast is one, of its most."""
        return (max(self.connections),) if self.kind == "blast" else self.connections


# What people may write.
_KEYS = ["extends", *_DURATIONS, *(set(Profile.model_fields) - set(_DURATIONS.values()))]


def unit_of(metric: Metric) -> str:
    """Return what a load that ranks by a metric is counted in: messages, or requests."""
    return "messages" if metric == "messages/s" else "requests"


def load_profile(folder: Path, name: str) -> Profile:
    """Read one profile; UsageError names the file and the key, or the nearest names."""
    known = profile_names(folder)
    if name not in known:
        raise UsageError(f"there is no profile `{name}`{nearest(name, known)}")
    path = folder / f"{name}.yaml"
    data = _resolved(path, ())
    if "warmup_s" not in data:
        raise UsageError(f"{shown(path)}: warmup: is missing (write 5s, 500ms or 1m30s)")
    profile = validated(Profile, data, path, _KEYS)
    for key, problem in _problems(profile):
        raise UsageError(f"{shown(path)}: {key}: {problem}")
    if profile.name != name:
        raise UsageError(f"{shown(path)}: name: must be `{name}`, like the file")
    return profile


def with_requests(profile: Profile, requests: int) -> Profile:
    """Return a profile of so many requests; of a blast, of so many at most that leave together.

    UsageError if that is no load any more.
    """
    if profile.kind == "blast":
        fewer = tuple(n for n in profile.sweep if n <= requests) or (requests,)
        return profile.model_copy(update={"sweep": fewer})
    changed = profile.model_copy(update={"requests": requests})
    for key, problem in _problems(changed):
        raise UsageError(f"{profile.name} with {requests} requests: {key}: {problem}")
    return changed


def _problems(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each key that does not go with the others, and why."""
    yield from _problems_of_call(profile)
    yield from _problems_of_kind(profile)
    if profile.requests_per_call != 1 and not profile.streams_up:
        yield "requests_per_call", f"must be 1: {profile.call} sends one message a call"
    if profile.messages_per_call != profile.counted_per_call:
        counted = profile.counted_per_call
        yield "messages_per_call", f"must be {counted}, what one {profile.method} moves here"
    if profile.metric == "requests/s" and profile.messages_per_call != 1:
        yield "metric", "requests/s is for calls that one message answers (write messages/s)"
    if (profile.metric == "p99 latency") != (profile.kind == "scheduled"):
        yield "metric", "p99 latency is that of a scheduled load, and the only one it has"


def _problems_of_call(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield what requests/benchmark.proto does not have."""
    known = [f"{_SERVICE}/{method}" for method in _FIELDS]
    if profile.call not in known:
        yield "call", f"there is no {profile.call}{nearest(profile.call, known)}"
        return
    fields = _FIELDS[profile.method]
    for name in sorted(set(profile.request) - fields):
        yield f"request.{name}", f"the request of {profile.method} has only {_and(fields)}"
    for rule in profile.expect:
        reply, _, expression = rule.partition(" = ")
        if reply != "result":
            yield "expect", f"the reply has no `{reply}`: write `result = …`"
        for name in sorted(set(_NAME_IN_RULE.findall(expression)) - fields - _WORDS):
            yield "expect", f"there is no `{name}`: the request has {_and(fields)}"


def _and(names: set[str]) -> str:
    return " and ".join(sorted(names))


def _problems_of_kind(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield what is missing, or too much, for the kind of load it is."""
    own = _KEYS_OF[profile.kind]
    given = {
        name.removesuffix("_s")
        for name in profile.model_fields_set
        if getattr(profile, name) not in (None, ())
    }
    of_kinds = {key for keys in _KEYS_OF.values() for key in keys}
    for key in sorted((of_kinds & given) - own.keys()):
        yield key, f"is not for a {profile.kind} load"
    for key, needed in own.items():
        if needed and key not in given:
            example = " (write 5s, 500ms or 1m30s)" if key in _DURATIONS else ""
            yield key, f"is missing{example}: a {profile.kind} load needs it"
    if profile.kind == "closed" and len(given & {"streams_per_connection", "concurrency"}) != 1:
        yield "streams_per_connection", "write either this or concurrency, for all connections"
    if profile.kind == "blast" and not profile.is_unary:
        yield "call", "a blast is of unary calls (write benchmark.BenchmarkService/GetSum)"
    yield from _problems_of_numbers(profile)
    yield from _problems_of_schedule(profile)


def _problems_of_numbers(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield the numbers that do not go together."""
    connections = max(profile.connections)
    if len(set(profile.connections)) < len(profile.connections):
        yield "connections", "names a count twice"
    if list(profile.sweep) != sorted(set(profile.sweep)):
        yield "sweep", "must rise from each number to the next"
    elif (most := max(profile.sweep, default=profile.concurrency)) and connections > most:
        yield "connections", f"{connections} is more than the {most} calls at a time"
    if profile.requests and connections > profile.requests:
        yield "connections", f"{connections} is more than the {profile.requests} requests"


def _problems_of_schedule(profile: Profile) -> Iterator[tuple[str, str]]:
    schedule, requests = profile.schedule, profile.requests
    if schedule is None or requests is None:
        return
    if problem := schedule.problem():
        yield f"schedule.{problem[0]}", problem[1]
        return
    length_ns = schedule.length_ns(requests)
    if length_ns is None:
        yield "schedule", f"never ends: its rate falls to 0 before {requests} requests are due"
    elif length_ns > _LONGEST_S * SECOND_NS:
        yield "schedule", f"takes longer than a day to send {requests} requests"


def profile_names(folder: Path) -> list[str]:
    """Return the names of all profiles, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _resolved(path: Path, children: tuple[Path, ...]) -> dict[str, Any]:
    """Return the file's keys laid over those of the profile it extends."""
    if path in children:
        raise UsageError(f"{shown(path)}: extends: goes round in a circle")
    data = read_yaml(path)
    parent = data.pop("extends", None)
    _to_seconds(data, _DURATIONS, f"{shown(path)}: ")
    if isinstance(schedule := data.get("schedule"), dict):
        _to_seconds(schedule, _SCHEDULE_DURATIONS, f"{shown(path)}: schedule.")
    if parent is None:
        return data
    base = path.parent / f"{parent}.yaml"
    known = profile_names(path.parent)
    if parent not in known:
        raise UsageError(
            f"{shown(path)}: extends: there is no profile `{parent}`{nearest(str(parent), known)}"
        )
    return {**_resolved(base, (*children, path)), **data}


def _to_seconds(data: dict[str, Any], durations: dict[str, str], where: str) -> None:
    """Put the seconds of what people write as `5s` in its place; UsageError if it is none."""
    for key, field in durations.items():
        if field in data:
            raise UsageError(f"{where}{field}: unknown key (did you mean {key}?)")
        if key in data:
            try:
                data[field] = parse_duration(data.pop(key))
            except ValueError as error:
                raise UsageError(f"{where}{key}: {error}") from error
