"""Whether a connection carries many requests. Checks return what is merely odd."""

from collections.abc import Sequence
from dataclasses import replace

from arena.contract.items.calls import (
    BAD_REQUEST,
    ITEMS,
    NO_CONTENT,
    NOT_FOUND,
    Values,
    ask,
    change,
    create,
    created,
    creation,
    patch,
    read,
    reading,
    remove,
    require_absent,
    require_read,
    some_values,
)
from arena.contract.items.http import TIMEOUT_S, Http1, Http2, Request, speaker
from arena.contract.link import LostError
from arena.contract.messages import WrongError, named
from arena.contract.scope import ItemScope, Version
from arena.contract.wire import Answer, code_name

STREAMS = 128  # the profiles' streams on a connection

_ROUNDS = 16
_MORE = 8  # streams beyond the server's limit
_MOST = 1024  # streams that are tried at once
_PROTOCOL_ERROR, _REFUSED_STREAM = 1, 7


def keep_alive(scope: ItemScope, _: Version = "h1") -> str:
    """Make many requests on a connection of HTTP/1.1: the server keeps it open."""
    with Http1(scope, TIMEOUT_S) as one:
        for _round in range(_ROUNDS):
            item = create(one)
            read(one, item)
            item = patch(one, item, some_values())
            read(one, item)
            remove(one, item)
            if one.closings:
                raise WrongError("the server closes the connection after an answer")
        require_absent(one, item)
        ask(one, Request("POST", ITEMS, b"{"), BAD_REQUEST)
        if one.closings:
            return "the server closes the connection after it has refused a request"
        ask(one, Request("GET", item.path, fields=(("connection", "close"),)), NOT_FOUND)
        return "" if one.closings else "the server ignores `connection: close`"


def pieces(scope: ItemScope, version: Version) -> None:
    """Send requests a few bytes at a time, and do not say how long they are."""
    with speaker(scope, version) as one:
        for sized in (True, False):
            sent = some_values()
            request = replace(creation(sent), sized=sized, in_pieces=True)
            item = created(request, one.send(request)(), sent)
            sent = some_values()
            ask(one, replace(change(item, sent), sized=sized, in_pieces=True), NO_CONTENT)
            read(one, item.changed(sent))


def streams(scope: ItemScope, _: Version = "h2") -> None:
    """Make 128 requests at once on a connection, one of which comes slowly."""
    with Http2(scope, TIMEOUT_S) as one:
        count = min(_limit(one), STREAMS)
        slow_values = some_values()
        slow = creation(slow_values)
        held = one.open(slow)
        one.client.wire.send(held, slow.parts[0][:5])
        sent = [some_values() for _ in range(count - 1)]
        waits = [one.send(creation(each)) for each in sent]
        items = [
            created(creation(each), wait(), each) for wait, each in zip(waits, sent, strict=True)
        ]
        one.client.wire.send(held, slow.parts[0][5:], end=True)
        items.append(created(slow, one.reply(slow, held), slow_values))
        if len({item.name for item in items}) < len(items):
            raise WrongError(f"two of {len(items)} items have the same id")
        waits = [one.send(reading(item)) for item in items]
        for number, (wait, item) in enumerate(zip(waits, items, strict=True), 1):
            with named(f"stream {number} of {count}"):
                require_read(reading(item), wait(), item)


def stream_limit(scope: ItemScope, _: Version = "h2") -> str:
    """Open more streams than the server allows: those that it refuses can be made again."""
    with Http2(scope, TIMEOUT_S) as one:
        limit = _limit(one)
        if limit < STREAMS:
            raise WrongError(f"SETTINGS_MAX_CONCURRENT_STREAMS is {limit}, below {STREAMS}")
        count = min(limit, _MOST) + (_MORE if limit < _MOST else 0)
        try:
            _make(one, [some_values() for _ in range(count)])
        except WrongError as error:
            if one.client.wire.goaway is None and not isinstance(error, LostError):
                raise
            # An error of the stream is enough (RFC 9113, 5.1.2).
            return f"{count} streams, of which {limit} are allowed: {error.detail}"
        return ""


def _make(one: Http2, sent: Sequence[Values]) -> None:
    """Create items, whose streams are all open before the first has ended."""
    answers = [one.open(creation(each)) for each in sent]
    for answer, each in zip(answers, sent, strict=True):
        one.client.wire.send(answer, creation(each).body or b"", end=True)
    one.client.wait(lambda: all(answer.over for answer in answers))
    refused = _refused(answers)
    for number, (answer, each) in enumerate(zip(answers, sent, strict=True)):
        with named(f"stream {number + 1} of {len(sent)}"):
            request = creation(each)
            again = number in refused
            reply = one.send(request)() if again else one.reply(request, answer)
            read(one, created(request, reply, each))


def _refused(answers: Sequence[Answer]) -> set[int]:
    """Return which streams were refused (RFC 9113, 5.1.2); WrongError if the reset means more."""
    found = set()
    for number, answer in enumerate(answers):
        if answer.reset in {_PROTOCOL_ERROR, _REFUSED_STREAM}:
            found.add(number)
        elif answer.reset is not None:
            raise WrongError(f"a stream beyond the limit ends with {code_name(answer.reset)}")
    return found


def _limit(one: Http2) -> int:
    """Return how many streams the server allows at once."""
    one.client.wait(lambda: one.client.wire.greeted)
    most = one.client.wire.most_streams
    return _MOST if most is None else most


def http1_over_tls(scope: ItemScope) -> None:
    """Offer only HTTP/1.1 by ALPN: the server chooses it, and speaks it."""
    with Http1(scope, TIMEOUT_S) as one:
        read(one, create(one))
