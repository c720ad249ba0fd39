"""Lies that fit any call: wrong values, and wrong forms."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, islice
from typing import Any, cast

from hyperframe.frame import DataFrame, Frame, HeadersFrame

from arena.measure.contract.messages import PREFIX
from tests.lib.arena.measure.contract.honest import Change, answer, changed, reply, values_of
from tests.lib.arena.measure.contract.talk import TURN, Manner, Steps, Talk

# Wrong values.


def off_by_one(values: Iterable[int]) -> Iterator[int]:
    return (value + 1 for value in values)


def last_off_by_one(values: Iterable[int]) -> Iterable[int]:
    *most, last = values
    return [*most, last + 1]


def swapped(values: Iterable[int]) -> Iterable[int]:
    """Change the places of the fourth and the fifth."""
    listed = list(values)
    return [*listed[:3], *listed[3:5][::-1], *listed[5:]]


def without_last(values: Iterable[int]) -> Iterable[int]:
    return list(values)[:-1]


def first_only(values: Iterable[int]) -> Iterable[int]:
    return list(values)[:1]


def nothing(values: Iterable[int]) -> Iterable[int]:
    return []


def with_one_more(values: Iterable[int]) -> Iterable[int]:
    return chain(values, [7])


def without_end(values: Iterable[int]) -> Iterable[int]:
    return chain(values, (7 for _ in count()))


def only_so_many(most: int) -> Change:
    return lambda values: islice(values, most)


def constant(*values: int) -> Manner:
    """Answer with these, whatever is asked."""
    return changed(lambda _: values)


def prepared() -> Manner:
    """Answer every call of a method as the first was answered rightly."""
    first: dict[str, list[int]] = {}

    def manner(talk: Talk) -> Steps[None]:
        values = list((yield from values_of(talk)))
        yield from answer(talk, first.setdefault(talk.method, values))

    return manner


# Wrong forms: the values are right.


def formed(form: Callable[[Talk, list[bytes]], Steps[None]]) -> Manner:
    """Answer with messages that are right, in any form."""

    def manner(talk: Talk) -> Steps[None]:
        values = yield from values_of(talk)
        yield from form(talk, [reply(value) for value in values])

    return manner


def payload(change: Callable[[bytes], bytes]) -> Manner:
    """Change the bytes of the DATA."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers()
        yield from talk.data(change(b"".join(messages)))
        talk.trailers()

    return formed(form)


def in_frames(cut: Callable[[list[bytes]], Iterable[bytes]]) -> Manner:
    """Send DATA frames that are cut in any way."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers()
        for each in cut(messages):
            yield from talk.data(each)
        talk.trailers()

    return formed(form)


def headers_with(*extra: tuple[str, str], **changes: str) -> Manner:
    """Send headers that say more, or something else."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers(*extra, **cast("Any", changes))
        yield from talk.data(b"".join(messages))
        talk.trailers()

    return formed(form)


def trailers_with(status: int, message: str = "", *extra: tuple[str, str]) -> Manner:
    """Send other trailers."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers()
        yield from talk.data(b"".join(messages))
        talk.trailers(status, message, *extra)

    return formed(form)


def intruding(make: Callable[[Talk], Frame]) -> Manner:
    """Send a frame that has no business there, between headers and replies."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers()
        talk.raw(make(talk))
        yield from talk.data(b"".join(messages))
        talk.trailers()

    return formed(form)


def data_before_headers(talk: Talk, messages: list[bytes]) -> Steps[None]:
    """Send the first reply twice: before the headers, too."""
    talk.raw(DataFrame(talk.stream, messages[0]))
    talk.headers()
    yield from talk.data(b"".join(messages))
    talk.trailers()


def data_after_trailers(talk: Talk, messages: list[bytes]) -> Steps[None]:
    """Send one reply more, when all is over."""
    talk.headers()
    yield from talk.data(b"".join(messages))
    block = talk.block([("grpc-status", "0")])
    trailers = HeadersFrame(talk.stream, block, flags=["END_HEADERS", "END_STREAM"])
    talk.raw(trailers, DataFrame(talk.stream, reply(7)))


def ended_by_data(*headers: tuple[str, str]) -> Manner:
    """Send no trailers at all."""

    def form(talk: Talk, messages: list[bytes]) -> Steps[None]:
        talk.headers(*headers)
        yield from talk.data(b"".join(messages))
        talk.end()

    return formed(form)


def only_trailers(status: int, message: str = "") -> Manner:
    """Send no replies at all."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.trailers_only(status, message)

    return manner


def refusing(status: int, message: str = "") -> Manner:
    """Send an error, whatever the client has still to say."""

    def manner(talk: Talk) -> Steps[None]:
        yield TURN
        talk.trailers_only(status, message)

    return manner


def bare(status: str, *extra: tuple[str, str]) -> Manner:
    """Answer with an HTTP status, and nothing of gRPC's but what is told."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.headers(*extra, status=status, content_type="text/html", end=True)

    return manner


def page(status: str) -> Manner:
    """Answer with a page that says in words what is wrong."""

    def manner(talk: Talk) -> Steps[None]:
        yield from talk.half_close()
        talk.headers(status=status, content_type="text/html")
        yield from talk.data(b"<!doctype html><h1>Something is wrong</h1>")
        talk.end()

    return manner


def glued(messages: list[bytes]) -> list[bytes]:
    """Put four messages into one: to protobuf, the last of them counts."""
    inner = b"".join(each[PREFIX.size :] * 4 for each in messages)
    return [PREFIX.pack(0, len(inner)) + inner]
