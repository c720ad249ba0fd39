"""Profiles: one YAML file each, `extends:` for variants (see profiles/ and docs/profiles.md)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import pydantic
from pydantic import Field

from arena.base.errors import HostError, UsageError
from arena.base.model import Frozen, JsonObject, Listed, validated
from arena.base.reading import read_input, read_yaml
from arena.base.text import nearest, shown
from arena.base.units import parse_duration
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.what import protos
from arena.what.loads import KEYS, KINDS, Closed, Count, Load, LoadShape, Share
from arena.what.metrics import Metric
from arena.what.protos import MethodType, Proto, ProtoError
from arena.what.scenarios import scenario_of
from arena.what.schedule import DAY_S
from parsers.common.figures import Bounds

# Keys that are written as `5s`, and the fields that hold their seconds.
_DURATIONS = {"duration": "duration_s", "warmup": "warmup_s", "limit": "limit_s"}
_SCHEDULE_DURATIONS = {"step_duration": "step_duration_s", "max_duration": "max_duration_s"}
_WRITTEN = {field: key for key, field in (_DURATIONS | _SCHEDULE_DURATIONS).items()}
# In a file, the load's keys are at the top level.
_SPELLED = {**_WRITTEN, "load": "", **dict.fromkeys(KINDS, "")}

_METHOD = r"^([A-Za-z_][\w.]*/[A-Za-z_]\w*)?$"
_RULE = r"^[A-Za-z_]\w* = [ \w()+*-]+$"
_NAME = r"^[a-z0-9][a-z0-9-]*$"

_Load = TypeVar("_Load", bound=LoadShape)


class Profile(Frozen):
    """One workload. Times are in seconds, `call` is package.Service/Method.

    `proto` is where the call is defined; None is requests/benchmark.proto. `request` is the JSON
    of its request message.

    `load` is its shape over time: arena.what.loads has the kinds. Each count of `connections` makes
    a record, unless the load joins them in one.

    A call sends `requests_per_call` messages and counts as `messages_per_call`: its replies, the
    messages that its reply acknowledges, or both (see `counted_per_call`).

    `expect` is what each reply must contain, such as `result = a + b + i`: fields of the reply and
    of the request, and the reply's index i, from 0. Generators check it if they can. The `metric`
    requests/s is for calls with a single reply; it counts the replies.

    A load without calls has requests of its own: then `call` and `request` are empty.

    An entry that subscribes to the profile `like` subscribes to this one, too.
    """

    name: Annotated[str, Field(pattern=_NAME, max_length=64)]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    generator: Annotated[str, Field(max_length=64)]
    call: Annotated[str, Field(pattern=_METHOD, max_length=300)]
    proto: Proto | None = None
    request: JsonObject
    requests_per_call: Count = 1
    messages_per_call: Count
    expect: Annotated[tuple[Annotated[str, Field(pattern=_RULE, max_length=120)], ...], Listed] = ()
    port: Annotated[int, Field(ge=1, le=65535)]
    tls: bool
    connections: Annotated[tuple[Count, ...], Field(min_length=1, max_length=100), Listed]
    load: Load
    warmup_s: Annotated[float, Bounds(ge=0, le=DAY_S)]
    runs: Annotated[int, Field(ge=1, le=100)]
    pick: Literal["best"]
    metric: Metric
    like: Annotated[str, Field(pattern=_NAME, max_length=64)] | None = None

    def is_of(self, tests: Collection[str]) -> bool:
        """Return whether an entry with these subscriptions has it."""
        return self.name in tests or self.like in tests

    @property
    def method(self) -> str:
        """The call without its service, such as GetSum."""
        return self.call.rpartition("/")[2]

    @property
    def service(self) -> str:
        """The full name of the call's service."""
        return self.call.rpartition("/")[0]

    @property
    def call_words(self) -> str:
        """The call in short: GetSum; with its service if that is not the benchmark's.

        Without a call, the file that has the requests.
        """
        if not self.load.makes_calls:
            return self.load.source
        return f"{self.service.rpartition('.')[2]}/{self.method}" if self.proto else self.method

    @property
    def proto_file(self) -> str:
        """The path of its .proto, below the project's root."""
        return self.proto.file if self.proto else protos.BENCHMARK

    @property
    def method_type(self) -> MethodType:
        """Which sides of a call stream."""
        return protos.type_of(self.proto, self.call)

    @property
    def is_unary(self) -> bool:
        """Whether a call has one request and one reply."""
        return self.method_type == "unary"

    @property
    def streams_up(self) -> bool:
        """Whether the client sends a stream of messages."""
        return self.method_type in {"client-streaming", "bidirectional-streaming"}

    @property
    def replies(self) -> int:
        """The number of replies to one call.

        The benchmark's .proto says what it is; a profile with a .proto of its own does, by
        `messages_per_call`.
        """
        match self.method_type:
            case "server-streaming" if self.proto:
                return self.messages_per_call
            case "server-streaming":
                count = self.request.get("count", 1)
                return max(count, 1) if isinstance(count, int) else 1
            case "bidirectional-streaming" if self.proto:
                return max(self.messages_per_call - self.requests_per_call, 1)
            case "bidirectional-streaming":
                return self.requests_per_call
        return 1

    @property
    def counted_per_call(self) -> int:
        """The number of messages that a finished call counts as.

        Bidirectional streams count both directions. Client streams count the messages sent: their
        one reply acknowledges that all have arrived. All other calls count replies.
        """
        match self.method_type:
            case "client-streaming":
                return self.requests_per_call
            case "bidirectional-streaming":
                return self.requests_per_call + self.replies
        return self.replies

    @property
    def window_s(self) -> float:
        """The seconds of load in one run; the maximum if a run may end early."""
        return self.load.window_s

    def load_as(self, kind: type[_Load]) -> _Load:
        """Return the load as one of `kind`; TypeError if it is of another kind."""
        if not isinstance(self.load, kind):
            raise TypeError(f"{self.name}: is a {self.load.kind} load, not a {kind.name()} one")
        return self.load

    @property
    def record_connections(self) -> tuple[int, ...]:
        """The connection counts that have a record each."""
        return self.load.record_connections(self.connections)

    def overridden(
        self,
        *,
        runs: int | None = None,
        duration_s: float | None = None,
        requests: int | None = None,
    ) -> "Profile":
        """Return the profile with the overrides that its load accepts; None changes nothing.

        A start has one run, whatever is asked for. UsageError if the resulting load is invalid.
        """
        load = self.load.overridden(duration_s, requests)
        for key, problem in load.problems(self.connections):
            raise UsageError(f"{self.name} with {requests} requests: {key}: {problem}")
        return self.changed(load=load, runs=self.runs if load.is_start else runs or self.runs)

    def with_connections(self, counts: Sequence[int]) -> "Profile":
        """Return the profile with these counts; UsageError if they do not fit the load."""
        changed = self.changed(connections=tuple(counts))
        for key, problem in _problems_of_load(changed):
            words = ", ".join(map(str, counts))
            raise UsageError(f"{self.name} with {words} connections: {key}: {problem}")
        return changed


# The keys that say which call is made, for the loads that make one; the others have these values.
_OF_CALLS: dict[str, Any] = {
    "call": "", "proto": None, "request": {}, "requests_per_call": 1, "messages_per_call": 1,
    "expect": (),
}  # fmt: skip

_ONE_RUN = "must be 1: a start has one run"

# The keys that a profile may have.
_KEYS = sorted(
    {"extends", "kind", *(_WRITTEN.get(key, key) for key in Profile.model_fields.keys() | KEYS)}
    - {"load"}
)


# Folders of results/ that are no profile's.
_TAKEN = ("host", "nights", "rounds")


def load_profile(folder: Path, name: str) -> Profile:
    """Read one profile; UsageError names the file and the key, or the nearest names."""
    known = profile_names(folder)
    if name not in known:
        raise UsageError(f"there is no profile `{name}`{nearest(name, known)}")
    path = folder / f"{name}.yaml"
    data = _nested(_resolved(path, ()), path, folder.parent)
    file = data.pop("proto", None)
    profile = validated(Profile, data, path, _KEYS, _SPELLED)
    if file is not None:
        try:
            profile = profile.changed(proto=protos.proto_of(folder.parent, file, profile.call))
        except ProtoError as error:
            raise UsageError(f"{shown(path)}: {error}") from error
    for key, problem in _problems(profile):
        raise UsageError(f"{shown(path)}: {key}: {problem}")
    if name in _TAKEN:
        raise UsageError(f"{shown(path)}: name: results/{name}/ is no profile's: take another name")
    if profile.name != name:
        raise UsageError(f"{shown(path)}: name: must be `{name}`, like the file")
    of = profile.load.of if isinstance(profile.load, Share) else None
    for key, other in (("like", profile.like), ("of", of)):
        if other and other not in known:
            raise UsageError(
                f"{shown(path)}: {key}: there is no profile `{other}`{nearest(other, known)}"
            )
    if of and _resolved(folder / f"{of}.yaml", ()).get("metric") != Metric.REQUESTS:
        raise UsageError(f"{shown(path)}: of: {of} does not count requests/s")
    return profile


def likes(folder: Path, names: Iterable[str]) -> dict[str, str | None]:
    """Return what each profile is `like`; one that cannot be read is like none."""
    found: dict[str, str | None] = {}
    for name in names:
        with suppress(UsageError):
            like = _resolved(folder / f"{name}.yaml", ()).get("like")
            found[name] = like if isinstance(like, str) else None
    return found


def _nested(data: dict[str, Any], path: Path, root: Path) -> dict[str, Any]:
    """Return a file's data in the shape of Profile: the load's keys nested in `load`.

    UsageError names a key that this kind of load does not have, or that is missing.
    """
    kind = data.get("kind", Closed.name())
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"{shown(path)}: kind: must be {' or '.join(KINDS)}, not {kind!r:.60}")
    if "load" in data:
        raise UsageError(f"{shown(path)}: load: unknown key (write the load's keys without it)")
    # A key without a value removes the inherited one.
    own = {key: data[key] for key in sorted(KEYS & data.keys()) if data[key] not in (None, [])}
    rest = {key: value for key, value in data.items() if key not in {"kind", *KEYS}}
    # Nothing warms up a server whose start is measured.
    rest = dict.fromkeys(["warmup_s"] * KINDS[kind].is_start, 0.0) | rest
    of_kind = KINDS[kind].model_fields
    if not KINDS[kind].makes_calls:
        for key in sorted(_OF_CALLS.keys() & data.keys()):
            raise UsageError(f"{shown(path)}: {key}: is not for a {kind} load")
        rest |= _OF_CALLS
    for key in sorted(own.keys() - of_kind.keys()):
        raise UsageError(f"{shown(path)}: {_WRITTEN.get(key, key)}: is not for a {kind} load")
    # An unknown key is often a misspelt required one: report it before a missing one.
    if rest.keys() <= Profile.model_fields.keys():
        needed = [key for key, field in of_kind.items() if field.is_required()]
        for key in (each for each in ("warmup_s", *needed) if each not in {*own, *rest}):
            example = " (write 5s, 500ms or 1m30s)" if key in _WRITTEN else ""
            why = f": a {kind} load needs it" if key in needed else ""
            raise UsageError(f"{shown(path)}: {_WRITTEN.get(key, key)}: is missing{example}{why}")
    if "scenario" in own:
        try:
            own["scenario"] = scenario_of(root, own["scenario"])
        except ValueError as error:
            raise UsageError(f"{shown(path)}: scenario: {error}") from error
    return {**rest, "load": {**own, "kind": kind}}


def _problems(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each key that conflicts with others, and why."""
    if profile.load.makes_calls:
        yield from _problems_of_call(profile)
    yield from _problems_of_load(profile)
    if profile.load.is_start and profile.warmup_s:
        yield "warmup", "leave it out: a start is cold"
    if profile.load.is_start and profile.runs != 1:
        yield "runs", _ONE_RUN
    if profile.requests_per_call != 1 and not profile.streams_up:
        yield "requests_per_call", f"must be 1: {profile.call} sends one message a call"
    if profile.messages_per_call != profile.counted_per_call:
        counted = profile.counted_per_call
        yield "messages_per_call", f"must be {counted}, what one {profile.method} moves here"
    if profile.metric is Metric.REQUESTS and profile.messages_per_call != 1:
        yield "metric", "requests/s is for calls that one message answers (write messages/s)"


def _problems_of_call(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each key that does not fit the call's .proto, and why."""
    try:
        method = protos.method_of(profile.proto, profile.call)
        protos.request_of(method, profile.request)
    except ProtoError as error:
        yield error.key, error.problem
        return
    for rule in profile.expect:
        for problem in protos.problems_of(rule, method):
            yield "expect", problem


def _problems_of_load(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each key that is wrong in the load or conflicts with it, and why."""
    load, most = profile.load, max(profile.connections)
    if load.is_unary_only and not profile.is_unary:
        yield "call", f"a {load.kind} load has unary calls only, and {profile.method} streams"
    if len(set(profile.connections)) < len(profile.connections):
        yield "connections", "names a count twice"
    if load.answers_messages and profile.method_type != "bidirectional-streaming":
        yield (
            "call",
            f"a {load.kind} load has messages that are each answered, {profile.method} not",
        )
    yield from load.problems(profile.connections)
    if most > (calls := load.in_flight(most)):
        yield "connections", f"{most} is more than the {calls} calls at a time"
    if profile.metric not in load.metrics:
        known = " or ".join(sorted(load.metrics))
        yield "metric", f"{profile.metric} is not for a {load.kind} load (write {known})"


def profile_names(folder: Path) -> list[str]:
    """Return the names of all profiles, sorted; hidden files are none."""
    return sorted(path.stem for path in folder.glob("*.yaml") if not path.name.startswith("."))


def _resolved(path: Path, children: tuple[Path, ...]) -> dict[str, Any]:
    """Return the file's keys merged over those of the profile that it extends."""
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
    """Replace durations such as `5s` by seconds, in place; UsageError for an invalid one."""
    for key, field in durations.items():
        if field in data:
            raise UsageError(f"{where}{field}: unknown key (did you mean {key}?)")
        if key in data:
            try:
                data[field] = parse_duration(data.pop(key))
            except ValueError as error:
                raise UsageError(f"{where}{key}: {error}") from error


class MeasuredProfile(Profile):
    """The profile as it was run: overrides applied, one connection count."""

    connection_count: Count

    @pydantic.model_validator(mode="after")
    def _can_be_run(self) -> Self:
        """Refuse a load that never ends or takes days: a record may have any."""
        for key, problem in self.load.problems(self.connections):
            raise ValueError(f"{key}: {problem}")
        return self

    @property
    def label(self) -> str:
        """Its name, with the connection count if several counts have records."""
        count = self.connection_count
        several = len(self.record_connections) > 1 or count not in self.record_connections
        return f"{self.name} at {count} connection{'s' * (count != 1)}" if several else self.name

    @property
    def in_flight(self) -> int:
        """The maximum number of open calls."""
        return self.load.in_flight(self.connection_count)

    def warm_up(self) -> "MeasuredProfile":
        """Return the closed load that warms a server up for this one, without a warm-up itself."""
        load = self.load.warm_up(self.connection_count, self.warmup_s)
        count = min(self.connection_count, load.in_flight(self.connection_count))
        return self.changed(load=load, connection_count=count, warmup_s=0.0)


def measured_profile(profile: Profile, connections: int) -> MeasuredProfile:
    """Return the profile for one of its connection counts."""
    return MeasuredProfile(**dict(profile), connection_count=connections)


_BEGIN = "<!-- The table is made by ./scripts/arena.sh profiles --write -->"
_END = "<!-- The end of the table -->"

_HEAD = ("profile", "kind", "call", "load", "connections", "runs", "metric", "generator")


def table(profiles: Sequence[Profile]) -> str:
    """Return a Markdown table with a row for each profile."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *map(_row, profiles)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def all_profiles(workspace: Workspace) -> list[Profile]:
    """Return the profiles of the checkout, sorted by kind, then by name."""
    found = [load_profile(workspace.profiles, name) for name in profile_names(workspace.profiles)]
    return sorted(found, key=lambda each: (list(KINDS).index(each.load.kind), each.name))


def write_table(workspace: Workspace) -> Path:
    """Put the table into docs/profiles.md; HostError if its place is not marked there."""
    path = workspace.root / "docs" / "profiles.md"
    text = read_input(path)
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise HostError(f"{shown(path)}: the place of the table is not marked")
    made = f"{before}{begin}\n\n{table(all_profiles(workspace))}\n{end}{after}"
    write_atomic(path, made)
    return path


def _row(profile: Profile) -> tuple[str, ...]:
    load, each_call = profile.load, profile.messages_per_call
    messages = f", {each_call:,} messages a call" if each_call > 1 else ""
    return (
        f"`{profile.name}`",
        load.kind,
        f"{profile.call_words}{', TLS' if profile.tls else ''}",
        f"{load.words}{messages}",
        ", ".join(f"{each:,}" for each in profile.connections),
        f"{profile.runs} × {load.each_run}" if load.each_run else str(profile.runs),
        profile.metric,
        profile.generator,
    )
