"""Types, options and the list of exit codes that several commands share."""

import re
from pathlib import Path

import click

from arena.base.durations import parse_duration
from arena.what.overrides import GENERATORS, listed

ROOT = Path(__file__).resolve().parents[3]

EXIT_CODES = (
    "Exit codes: 0 success; 1 a framework failed; 2 bad usage or input; 3 the host cannot do it; "
    "130 interrupted; 141 the output was closed early."
)


_NUMBER = re.compile("[0-9]{1,7}")


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


class Counts(click.ParamType[tuple[int, ...]]):
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
generator = click.option(
    "--generator",
    help=f"The program that makes the load: {listed(GENERATORS, 'or')}. [default: the profile's]",
)
one_connections = click.option(
    "--connections", type=click.IntRange(1, 1_000_000),
    help="Only the load with this connection count.",
)  # fmt: skip
load_generator = click.option("--generator", help="Only the load of this generator.")
wait = click.option("--wait", is_flag=True, help="Wait for a benchmark that is already running.")
