"""When to lie: servers that are honest in all their other calls."""

from collections.abc import Callable
from itertools import count
from typing import Any

from arena.measure.contract import flow_control
from arena.measure.contract.client import OPEN_WINDOW
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from tests.lib.arena.measure.contract.honest import honest, is_grpc, parsed, path_of
from tests.lib.arena.measure.contract.talk import Manner, RefusedError, Steps, Talk

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)

About = Callable[[Any], bool]


def is_right(talk: Talk, method: str) -> bool:
    """Tell a call of the service's method."""
    return talk.path == path_of(method) and is_grpc(talk.content_type)


def lying(method: str, lie: Manner, about: About = lambda _: True) -> Manner:
    """Return a server that is honest but in those calls: `about` is asked of the first request."""
    kind = StreamRequest if method == "StreamSum" else SumRequest

    def manner(talk: Talk) -> Steps[None]:
        try:
            meant = is_right(talk, method) and about(parsed(kind, (yield from talk.peek())))
        except RefusedError:
            meant = False
        yield from (lie if meant else honest)(talk)

    return manner


def unary(lie: Manner, a: int | None = None, b: int | None = None) -> Manner:
    """Lie about GetSum, or about that of these operands."""
    return lying("GetSum", lie, lambda asked: a is None or (asked.a, asked.b) == (a, b))


def streaming(lie: Manner, *counts: int) -> Manner:
    """Lie about StreamSum, or about that of these counts."""
    return lying("StreamSum", lie, lambda asked: not counts or asked.count in counts)


def endlessly(lie: Manner, *, narrow: bool) -> Manner:
    """Lie about a StreamSum without end: through a narrow window, or a wide one."""

    def manner(talk: Talk) -> Steps[None]:
        is_narrow = talk.first_window <= OPEN_WINDOW
        yield from (lie if is_narrow == narrow else honest)(talk)

    return streaming(manner, flow_control.ENDLESS, INT32_MAX)


def on_stream(number: int, lie: Manner) -> Manner:
    """Lie on one stream of each connection, counted from 1."""

    def manner(talk: Talk) -> Steps[None]:
        yield from (lie if talk.stream == 2 * number - 1 else honest)(talk)

    return manner


def at_call(number: int, lie: Manner) -> Manner:
    """Lie in one call, counted from 1."""
    calls = count(1)

    def manner(talk: Talk) -> Steps[None]:
        yield from (lie if next(calls) == number else honest)(talk)

    return manner
