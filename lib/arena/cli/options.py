"""Types, options and the list of exit codes that several commands share."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.base.errors import UsageError
from arena.base.progress import progress
from arena.base.units import parse_duration
from arena.base.workspace import Workspace
from arena.what.environment import CPUS, GENERATORS, listed

if TYPE_CHECKING:
    from arena.judge.archive import Archive
    from arena.night.hosts import LoadHosts
    from arena.run.request import Request

ROOT = Path(__file__).resolve().parents[3]

EXIT_CODES = (
    "Exit codes: 0 success; 1 a framework failed; 2 bad usage or input; 3 the host cannot do it; "
    "130 interrupted; 141 the output was closed early."
)


_NUMBER = re.compile("[0-9]{1,7}")


class Integer(click.IntRange):
    """A whole number in a range; errors call it by its name in the help."""

    name = "integer"


class Number(click.FloatRange):
    """A number in a range, likewise."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):  # No comparison with a range refuses it.
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


class Duration(click.ParamType[float]):
    """An option like 5s, 500ms or 1m30s; its value is seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        if isinstance(value, float):
            return value
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class DurationOrNone(Duration):
    """A duration, or 0."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        return 0.0 if value in ("0", "0s") else super().convert(value, param, ctx)


class CountList(click.ParamType[tuple[int, ...]]):
    """An option like 64 or 256,1024; its value is the distinct numbers, sorted."""

    name = "counts"
    _largest = 1_000_000

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(_NUMBER.fullmatch(word) for word in words):
            self.fail(f"{value!r} is not a number or a list like 256,1024", param, ctx)
        counts = sorted({int(word) for word in words})
        if not 1 <= counts[0] <= counts[-1] <= self._largest:
            self.fail(f"{value!r}: each must be from 1 to {self._largest:,}", param, ctx)
        return tuple(counts)


root = click.option("--root", hidden=True, type=click.Path(path_type=Path), default=ROOT)
runtime = click.option(
    "--runtime", envvar="RUNTIME", show_envvar=True, default="auto",
    help="docker, native, or auto: docker if a daemon answers. [default: auto]",
)  # fmt: skip
server_quota = click.option(
    "--server-quota", type=Number(0.01, 10_000), metavar="CPUS",
    help="Let a server use the time of so many CPUs at most, like 1 or 0.5: docker's --cpus, or a "
    "control group. Such figures have boards of their own. [default: no limit]",
)  # fmt: skip
generator = click.option(
    "--generator",
    help=f"The program that makes the load: {listed(GENERATORS, 'or')}. [default: the profile's]",
)
fleet = click.option(
    "--fleet", envvar="FLEET", show_envvar=True, metavar="ADDRESS",
    help="Let the generator hosts of this fleet make the load: the address of its coordinator, "
    "like tls://coordinator:8786 (docs/fleet.md).",
)  # fmt: skip


def request_of(**given: object) -> "Request":
    """Return the request of a verb's options; UsageError says which is none, and why."""
    import pydantic

    from arena.run.request import Request

    try:
        return Request.model_validate(given)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        why = "is not UTF-8 text" if first["type"] == "string_unicode" else first["msg"]
        raise UsageError(f"{first['loc'][0]}: {why}") from error


def fleet_of(workspace: Workspace, request: "Request") -> "LoadHosts | None":
    """Return the fleet that makes the load, if one is to; go on in the interpreter that has Dask.

    UsageError for a choice that a fleet does not leave.
    """
    if request.fleet is None:
        return None
    if request.server_quota is not None:
        raise UsageError("--server-quota: with --fleet, the server has all CPUs of its host")
    if request.generator not in {None, "volley"}:
        raise UsageError(f"--generator: a fleet runs volley, not {request.generator}")
    for name in filter(os.environ.get, CPUS):
        raise UsageError(f"{name}: with --fleet, the server has all CPUs of its host")
    from arena_fleet.fleet import require_dask

    require_dask(ROOT, request.fleet)
    from arena_fleet.racks import RequestedFleet

    return RequestedFleet(workspace, request, os.environ, progress())


def archive_of(workspace: Workspace) -> "Archive":
    """Return the records of a checkout, most of them from the cache."""
    from arena.judge.archive import open_archive
    from arena.judge.cache import Cache

    return open_archive(workspace.results, Cache(workspace.cache), progress())


one_connections = click.option(
    "--connections", type=Integer(1, 1_000_000),
    help="Only the load with this connection count.",
)  # fmt: skip
load_generator = click.option("--generator", help="Only the load of this generator.")
Verb = Callable[..., int]

_BLOCKS = (
    click.option(
        "--blocks", type=Integer(1, 1000), metavar="R",
        help="Measure in R blocks. In each, every framework is started, warmed up and measured "
        "once, in a shuffled order. 8 or more give ranks with a known error; fewer than 6 give "
        "none. Loads without blocks (schedules and blasts) are measured once, after the blocks.",
    ),
    click.option(
        "--seed", metavar="TEXT",
        help="What the order of the visits is made from: 64 hex digits, or any text. "
        "[default: the time of the start]",
    ),
    click.option(
        "--twin", metavar="FRAMEWORKS",
        help="The frameworks that enter every block twice, to see whether the ranks invent "
        "differences; `none` for none. [default: one for each load, chosen by the seed]",
    ),
    click.option(
        "--quiet-wait", type=DurationOrNone(),
        help="How long a visit's warm-up may go on until the host is quiet; 0 does not wait. "
        "[default: 120s]",
    ),
)  # fmt: skip
_WARM_UP = click.option(
    "--block-warm-up", type=Duration(),
    help="The warm-up of each visit, for trials only. "
    "[default: 10s, or what results/host/warm-ups.json says]",
)  # fmt: skip


def blocks(*, trials: bool) -> Callable[[Verb], Verb]:
    """Return a decorator that adds the options of blocks."""

    def decorate(verb: Verb) -> Verb:
        for option in reversed((*_BLOCKS, *((_WARM_UP,) if trials else ()))):
            verb = option(verb)
        return verb

    return decorate


wait = click.option("--wait", is_flag=True, help="Wait for a benchmark that is already running.")
