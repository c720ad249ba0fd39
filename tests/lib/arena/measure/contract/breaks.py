"""Answers that break off, and streams that do not flow."""

from itertools import islice

from hyperframe.frame import DataFrame

from arena.what.benchmark_pb2 import StreamRequest
from tests.lib.arena.measure.contract.honest import (
    Change,
    honest,
    parsed,
    replies,
    reply,
    sums,
    values_of,
)
from tests.lib.arena.measure.contract.lies import nothing
from tests.lib.arena.measure.contract.talk import NEWS, TURN, HangupError, Manner, Steps, Talk

# Answers that break off.


def hanging(_: Talk) -> Steps[None]:
    """Never answer."""
    while True:
        yield NEWS


def hanging_after(values: Change) -> Manner:
    """Send some replies, and nothing more."""

    def manner(talk: Talk) -> Steps[None]:
        found = yield from values_of(talk)
        talk.headers()
        yield from replies(talk, values(found))
        yield from hanging(talk)

    return manner


def resetting(code: int, values: Change = nothing) -> Manner:
    """Send some replies, then RST_STREAM."""

    def manner(talk: Talk) -> Steps[None]:
        found = yield from values_of(talk)
        talk.headers()
        yield from replies(talk, values(found))
        talk.reset(code)

    return manner


def resetting_now(code: int) -> Manner:
    """Send RST_STREAM, whatever was sent before."""

    def manner(talk: Talk) -> Steps[None]:
        yield TURN
        talk.reset(code)

    return manner


def going_away(code: int) -> Manner:
    """Send GOAWAY, and close the connection."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.goaway(code)
        yield from talk.hang_up()

    return manner


def hanging_up(talk: Talk) -> Steps[None]:
    """Close the connection in the middle of the call."""
    yield from talk.half_close()
    talk.headers()
    yield from talk.hang_up()


def dropping(talk: Talk) -> Steps[None]:
    """Close the connection at once."""
    yield from talk.half_close()
    raise HangupError


def dying(talk: Talk) -> Steps[None]:
    """End the whole server."""
    yield from talk.half_close()
    talk.server.die("signal 11")


def talking(*data: bytes) -> Manner:
    """Send bytes that are no answer."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.raw(*data)
        yield from hanging(talk)

    return manner


# Streams that do not flow.


def ignoring_the_window(talk: Talk) -> Steps[None]:
    """Send all, whatever the client allows."""
    request = parsed(StreamRequest, (yield from talk.message()))
    talk.headers()
    yield TURN
    values = iter(sums(request))
    while some := list(map(reply, islice(values, 500))):
        talk.raw(DataFrame(talk.stream, b"".join(some)))
        yield TURN
    talk.trailers()


def until_closed(lie: Manner) -> Manner:
    """Answer a stream rightly until its window is closed."""

    def manner(talk: Talk) -> Steps[None]:
        request = parsed(StreamRequest, (yield from talk.message()))
        talk.headers()
        for pause in replies(talk, sums(request)):
            if pause is NEWS:
                break
            yield pause
        yield from lie(talk)

    return manner


def failing(status: int, message: str = "") -> Manner:
    """Say that it went wrong, after the headers."""

    def manner(talk: Talk) -> Steps[None]:
        yield TURN
        talk.trailers(status, message)

    return manner


# Say that all went well.
ending = failing(0)


def buffering(growth: int) -> Manner:
    """Make all replies before the first is sent: memory grows, and the client waits."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.server.growth = growth
        try:
            yield from hanging(talk)
        finally:
            talk.server.growth = 0

    return manner


def working(manner: Manner, growth: int = 0) -> Manner:
    """Make replies all the time that nobody takes, beside what is seen on the wire."""

    def working_manner(talk: Talk) -> Steps[None]:
        talk.server.busy, talk.server.growth = True, growth
        try:
            yield from manner(talk)
        finally:
            talk.server.busy, talk.server.growth = False, 0

    return working_manner


def after_cancel(lie: Manner) -> Manner:
    """Answer rightly until the call is cancelled."""

    def manner(talk: Talk) -> Steps[None]:
        talk.deaf = True
        steps = honest(talk)
        while not talk.cancelled:
            yield next(steps)
        yield from lie(talk)

    return manner


def sending_on(talk: Talk) -> Steps[None]:
    """Send what nobody wants, for ever."""
    while True:
        talk.raw(DataFrame(talk.stream, reply(7) * 500))
        yield TURN


def losing_the_connection(_: Talk) -> Steps[None]:
    """Close the connection."""
    yield TURN
    raise HangupError
