"""Profiles: one YAML file each, `extends:` for variants (see profiles/)."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from arena.errors import UsageError, nearest
from arena.files import Frozen, read_yaml, shown, validated
from arena.units import parse_duration

# Keys that people write as `5s`, and the fields that hold their seconds.
_DURATIONS = {"duration": "duration_s", "warmup": "warmup_s"}
_METHOD = r"^[A-Za-z_][\w.]*/[A-Za-z_]\w*$"
_RULE = r"^[A-Za-z_]\w* = [ \w()+*-]+$"
_NAME = r"^[a-z0-9][a-z0-9-]*$"

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class Profile(Frozen):
    """One workload. Times are in seconds, `call` is package.Service/Method.

    `expect` says what each reply must hold, like `result = a + b + i`: fields of the reply and
    of the request, and the reply's number i, from 0. Generators that can check it do. A
    `metric` of requests/s is that of calls which one message answers: it counts those messages.
    """

    name: Annotated[str, Field(pattern=_NAME, max_length=64)]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    generator: str
    call: Annotated[str, Field(pattern=_METHOD)]
    request: dict[Literal["a", "b", "count"], Int32]
    messages_per_call: Count
    expect: tuple[Annotated[str, Field(pattern=_RULE, max_length=120)], ...] = ()
    port: Annotated[int, Field(ge=1, le=65535)]
    tls: bool
    connections: Annotated[tuple[Count, ...], Field(min_length=1)]
    streams_per_connection: Count
    duration_s: float
    warmup_s: float
    runs: Annotated[int, Field(ge=1, le=100)]
    pick: Literal["best"]
    metric: Literal["messages/s", "requests/s"]

    @property
    def replies(self) -> int:
        """How many messages answer one call."""
        if not self.call.endswith("/StreamSum"):
            return 1
        return max(self.request.get("count", 1), 1)


# What people may write.
_KEYS = ["extends", *_DURATIONS, *(set(Profile.model_fields) - set(_DURATIONS.values()))]


def load_profile(folder: Path, name: str) -> Profile:
    """Read one profile; UsageError names the file and the key, or the nearest names."""
    known = profile_names(folder)
    if name not in known:
        raise UsageError(f"there is no profile `{name}`{nearest(name, known)}")
    path = folder / f"{name}.yaml"
    data = _resolved(path, ())
    for key, field in _DURATIONS.items():
        if field not in data:
            raise UsageError(f"{shown(path)}: {key}: is missing (write 5s, 500ms or 1m30s)")
    profile = validated(Profile, data, path, _KEYS)
    if profile.messages_per_call != profile.replies:
        raise UsageError(
            f"{shown(path)}: messages_per_call: must be {profile.replies}, "
            f"what the request makes {profile.call} answer with"
        )
    if profile.metric == "requests/s" and profile.messages_per_call != 1:
        raise UsageError(
            f"{shown(path)}: metric: requests/s is for calls that one message answers "
            "(write messages/s)"
        )
    if profile.name != name:
        raise UsageError(f"{shown(path)}: name: must be `{name}`, like the file")
    return profile


def profile_names(folder: Path) -> list[str]:
    """Return the names of all profiles, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _resolved(path: Path, children: tuple[Path, ...]) -> dict[str, Any]:
    """Return the file's keys laid over those of the profile it extends."""
    if path in children:
        raise UsageError(f"{shown(path)}: extends: goes round in a circle")
    data = read_yaml(path)
    parent = data.pop("extends", None)
    for key, field in _DURATIONS.items():
        if field in data:
            raise UsageError(f"{shown(path)}: {field}: unknown key (did you mean {key}?)")
        if key in data:
            try:
                data[field] = parse_duration(data.pop(key))
            except ValueError as error:
                raise UsageError(f"{shown(path)}: {key}: {error}") from error
    if parent is None:
        return data
    base = path.parent / f"{parent}.yaml"
    known = profile_names(path.parent)
    if parent not in known:
        raise UsageError(
            f"{shown(path)}: extends: there is no profile `{parent}`{nearest(str(parent), known)}"
        )
    return {**_resolved(base, (*children, path)), **data}
