"""The data besides the pages: the content of framework.json and compare.json, and JSON Schemas.

Paths in them are relative to their edition's folder, the one that its home page is in.
"""

from typing import Annotated, Any, Literal

import pydantic
from pydantic import Field

from arena.base.model import Frozen
from arena.judge.leaderboard import Board, Leaderboard
from arena.judge.nights import BlockEstimate
from arena.record.record import FlagName, MeasuredFramework, Record
from arena.what.metrics import Metric

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Result(Frozen):
    """The result of one record; `value`, `low` and `high`, its interval, are absent if it failed.

    They are absent too if it was altered, and `failure` says how. A trial's load differs from the
    profile's. `record` is the record's page, or its JSON if it has none.
    """

    started_at: str
    status: Literal["ok", "failed", "invalid"]
    value: float | None
    low: float | None
    high: float | None
    is_trial: bool
    flags: tuple[FlagName, ...]
    failure: str | None
    made_by: str | None
    machine: str
    commit: str | None
    source_sha256: str
    record: str


class History(Frozen):
    """A framework's results under one load, the oldest first; `board` is where it is ranked.

    `rank` is the classic one. `estimate` and `rank_set` are those of the board's night of blocks.
    """

    profile: str
    connections: int
    generator: str
    host_class: str
    metric: Metric
    load: str
    rank: int | None
    rank_set: tuple[int, int] | None = None
    estimate: BlockEstimate | None = None
    board: str
    results: tuple[Result, ...]


class FrameworkData(Frozen):
    """A framework as described by its newest record, and all its results."""

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    framework: MeasuredFramework
    histories: tuple[History, ...]


# The verdict on B against A (faster, slower, not told apart, or not comparable and why), how many
# times as fast B is, with the ends of the 95 % interval, and the number of blocks. None: they are
# not comparable.
Pair = tuple[str, float | None, float | None, float | None, int]


class ComparedProfile(Frozen):
    """A profile x connections x generator x host class, of the current load: it is comparable.

    The id has these four. `host` names a class that is not the home class in words. `pairs` has the
    verdicts of the load's nights of blocks that boards show, by the names of A and B, A before B in
    the alphabet; it is absent without such a night. `note` is what must be known of these nights,
    in sentences.
    """

    id: str
    title: str
    host_class: str
    host: str = ""
    metric: Metric
    lower_is_better: bool
    href: str
    pairs: dict[str, dict[str, Pair]] | None = None
    note: str = ""


# A value with the ends of its interval, its flags separated by commas, and its record's page;
# then the value and the interval as text, with no finer digits than the interval justifies. The
# last is whether it can be compared at all: several runs made its interval, which has a width,
# and no flag takes its rank.
Figure = tuple[float, float, float, str, str, str, str, bool]


class ComparedFramework(Frozen):
    """A framework's figures, by the number of their profile in the list, from 0.

    `figures` are classic; `estimates` are those of a night of blocks, with their intervals, in
    words.
    """

    name: str
    display_name: str
    language: str
    type: str
    href: str
    figures: dict[str, Figure]
    estimates: dict[str, tuple[str, str]] | None = None


class Comparison(Frozen):
    """All figures of all frameworks, for the page that compares them.

    Two frameworks with blocks in common have a verdict of their own. Of all others, B is r times as
    fast as A with r between B's low / A's high and B's high / A's low; if their intervals overlap,
    they are not told apart.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    profiles: tuple[ComparedProfile, ...]
    frameworks: tuple[ComparedFramework, ...]


MODELS: dict[str, type[pydantic.BaseModel]] = {
    "record": Record,
    "leaderboard": Leaderboard,
    "board": Board,
    "framework": FrameworkData,
    "compare": Comparison,
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one of the models, as text."""
    return {"$schema": _DIALECT, **MODELS[name].model_json_schema(mode="serialization")}
