"""When to lie: servers that are honest in all their other calls."""

from collections.abc import Callable
from itertools import count
from typing import Any

from arena.measure.contract import flow_control
from arena.measure.contract.client import OPEN_WINDOW
from arena.measure.contract.expected import INT32_MAX
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from tests.lib.arena.measure.contract.honest import honest, is_right, parsed
from tests.lib.arena.measure.contract.talk import Manner, RefusedError, Steps, Talk, manner


@manner
def lying(
    talk: Talk, method: str, lie: Manner, about: Callable[[Any], bool] = lambda _: True
) -> Steps[None]:
    """Lie about a method: `about` is asked of the first request."""
    kind = StreamRequest if method == "StreamSum" else SumRequest
    try:
        meant = is_right(talk, method) and about(parsed(kind, (yield from talk.peek())))
    except RefusedError:
        meant = False
    yield from (lie if meant else honest)(talk)


@manner
def choosing(talk: Talk, about: Callable[[Talk], bool], lie: Manner) -> Steps[None]:
    """Lie in some calls."""
    yield from (lie if about(talk) else honest)(talk)


def unary(lie: Manner, a: int | None = None, b: int | None = None) -> Manner:
    """Lie about GetSum, or about that of these operands."""
    return lying("GetSum", lie, lambda asked: a is None or (asked.a, asked.b) == (a, b))


def streaming(lie: Manner, *counts: int) -> Manner:
    """Lie about StreamSum, or about that of these counts."""
    return lying("StreamSum", lie, lambda asked: not counts or asked.count in counts)


def endlessly(lie: Manner, *, narrow: bool) -> Manner:
    """Lie about a StreamSum without end: through a narrow window, or a wide one."""
    lie = choosing(lambda talk: (talk.first_window <= OPEN_WINDOW) == narrow, lie)
    return streaming(lie, flow_control.ENDLESS, INT32_MAX)


def on_stream(number: int, lie: Manner) -> Manner:
    """Lie on one stream of each connection, counted from 1."""
    return choosing(lambda talk: talk.stream == 2 * number - 1, lie)


def at_call(number: int, lie: Manner) -> Manner:
    """Lie in one call, counted from 1."""
    calls = count(1)
    return choosing(lambda _: next(calls) == number, lie)


def at(path: str, lie: Manner) -> Manner:
    """Lie only at that path."""
    return choosing(lambda talk: talk.path == path, lie)
