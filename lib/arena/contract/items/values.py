"""Whether items are what their clients made them, and whether a connection carries many requests.

Checks return what is merely odd.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from arena.contract.client import LostConnectionError
from arena.contract.items import calls
from arena.contract.items.http import Http1, Http2, ItemRequest, speaker
from arena.contract.messages import WrongError, named
from arena.contract.scope import ItemScope, Version
from arena.contract.wire import Answer, code_name

CONNECTIONS = 64
STREAMS = 128  # the profiles' streams on a connection

_CROWD = 8  # connections that create items at the same time
_ROUNDS = 32
_EXCHANGES = 16
_MORE = 8  # streams beyond the server's limit
_MOST = 1024  # streams that are tried at once
_PROTOCOL_ERROR, _REFUSED_STREAM = 1, 7

_DIFFICULT = 'Zoë \U0001f600 "\\\n\t\x01 </b> %41 \u2028 &amp; ${x}'
# What clients cannot set, and what the service does not know.
_FOREIGN = {"id": "mine", "rev": 7, "note": "n" * 250, "more": [{"sku": "inner"}, None, 1.5e300]}


def values(scope: ItemScope, version: Version) -> None:
    """Create items, and read each twice: all values are as they were sent."""
    with speaker(scope, version) as one:
        for sent in _values():
            item = calls.create(one, sent)
            calls.read(one, item)
            calls.read(one, item)


def changes(scope: ItemScope, version: Version) -> None:
    """Change an item: the values that are sent are replaced, and its revision rises."""
    with speaker(scope, version) as one:
        item = calls.create(one)
        for sent in (
            {"sku": "other"}, {}, {"state": "paid", "note": "n" * 250}, {"owner": _DIFFICULT},
            {**_FOREIGN, **calls.some_values()},
        ):  # fmt: skip
            item = calls.patch(one, item, sent)
            calls.read(one, item)
        bare = calls.patch(one, calls.create(one, {}), {"owner": ""})
        calls.read(one, bare)


def delete(scope: ItemScope, version: Version) -> None:
    """Delete an item: it is gone, and others are not."""
    with speaker(scope, version) as one:
        item, other = calls.create(one), calls.create(one)
        calls.remove(one, item)
        calls.require_absent(one, item)
        calls.read(one, other)
        calls.remove(one, other)
        calls.require_absent(one, other)


def ids(scope: ItemScope, version: Version) -> None:
    """Create items on eight connections at once: no two have the same id."""
    found: dict[str, calls.Item] = {}
    with ExitStack() as stack:
        speakers = [stack.enter_context(speaker(scope, version)) for _ in range(_CROWD)]
        for _ in range(_ROUNDS):
            for wait in [calls.creating(one) for one in speakers]:
                item = wait()
                if item.name in found:
                    raise WrongError(f"two of {len(found) + 1} items have the id {item.name}")
                found[item.name] = item
        for one, item in zip(speakers, found.values(), strict=False):
            calls.read(one, item)


def isolation(scope: ItemScope, version: Version) -> None:
    """Change and delete items with the same values: the others stay as they are."""
    with speaker(scope, version) as one:
        sent = calls.some_values()
        first, second, third = (calls.create(one, sent) for _ in range(3))
        changed = calls.patch(one, first, {"sku": "other"})
        for item in (second, third, changed):
            calls.read(one, item)
        calls.remove(one, third)
        for item in (second, changed):
            calls.read(one, item)
        with named("after an item with values, one without"):
            calls.read(one, calls.create(one, {}))
        with named("after a change with values, one without"):
            calls.read(one, calls.patch(one, second, {}))


def connections(scope: ItemScope, version: Version) -> None:
    """Read an item on each of 64 connections, all open at once; then it is changed on one."""
    with ExitStack() as stack:
        speakers = [stack.enter_context(speaker(scope, version)) for _ in range(CONNECTIONS)]
        item = calls.create(speakers[0])
        for _ in range(2):
            for number, wait in enumerate([calls.reading(one, item) for one in speakers], 1):
                with named(f"connection {number} of {CONNECTIONS}"):
                    wait()
            item = calls.patch(speakers[-1], item, calls.some_values())


def _values() -> Iterator[dict[str, object]]:
    """Yield the values of items to create."""
    for _ in range(3):
        yield calls.some_values()
    yield {}
    yield {"sku": "only"}
    yield {"owner": "", "sku": ""}
    yield {"owner": _DIFFICULT, "sku": "ü"}
    yield {"owner": "o" * 5000, "sku": "s" * 300}
    yield {**_FOREIGN, **calls.some_values()}


def keep_alive(scope: ItemScope, _: Version = "h1") -> str:
    """Make many requests on a connection of HTTP/1.1: the server keeps it open."""
    with Http1(scope) as one:
        for _round in range(_EXCHANGES):
            item = calls.create(one)
            calls.read(one, item)
            item = calls.patch(one, item, calls.some_values())
            calls.read(one, item)
            calls.remove(one, item)
            if one.closings:
                raise WrongError("the server closes the connection after an answer")
        calls.require_absent(one, item)
        calls.ask(one, ItemRequest("POST", calls.ITEMS, b"{"), calls.BAD_REQUEST)
        if one.closings:
            return "the server closes the connection after it has refused a request"
        last = ItemRequest("GET", item.path, fields=(("connection", "close"),))
        calls.ask(one, last, calls.NOT_FOUND)
        return "" if one.closings else "the server ignores `connection: close`"


def pieces(scope: ItemScope, version: Version) -> None:
    """Send requests a few bytes at a time, and do not say how long they are."""
    with speaker(scope, version) as one:
        for sized in (True, False):
            item = calls.creating(one, sized=sized, in_pieces=True)()
            request = calls.change(item, sent := calls.some_values())
            calls.ask(one, replace(request, sized=sized, in_pieces=True), calls.NO_CONTENT)
            calls.read(one, item.changed(sent))


def streams(scope: ItemScope, _: Version = "h2") -> None:
    """Make 128 requests at once on a connection, one of which comes slowly."""
    with Http2(scope) as one:
        count = min(_limit(one), STREAMS)
        slow_values = calls.some_values()
        slow = calls.creation(slow_values)
        held = one.open(slow)
        one.client.wire.send(held, slow.parts[0][:5])
        items = [wait() for wait in [calls.creating(one) for _ in range(count - 1)]]
        one.client.wire.send(held, slow.parts[0][5:], end=True)
        items.append(calls.created(slow, one.reply(slow, held), slow_values))
        if len({item.name for item in items}) < len(items):
            raise WrongError(f"two of {len(items)} items have the same id")
        for number, wait in enumerate([calls.reading(one, item) for item in items], 1):
            with named(f"stream {number} of {count}"):
                wait()


def stream_limit(scope: ItemScope, _: Version = "h2") -> str:
    """Open more streams than the server allows: those that it refuses can be made again."""
    with Http2(scope) as one:
        limit = _limit(one)
        if limit < STREAMS:
            raise WrongError(f"SETTINGS_MAX_CONCURRENT_STREAMS is {limit}, below {STREAMS}")
        count = min(limit, _MOST) + (_MORE if limit < _MOST else 0)
        try:
            _make(one, [calls.some_values() for _ in range(count)])
        except WrongError as error:
            if one.client.wire.goaway is None and not isinstance(error, LostConnectionError):
                raise
            # An error of the stream is enough (RFC 9113, 5.1.2).
            return f"{count} streams, of which {limit} are allowed: {error.detail}"
        return ""


def _make(one: Http2, sent: Sequence[calls.Values]) -> None:
    """Create items, whose streams are all open before the first has ended."""
    requests = [calls.creation(each) for each in sent]
    answers = [one.open(each) for each in requests]
    for request, answer in zip(requests, answers, strict=True):
        one.client.wire.send(answer, request.body or b"", end=True)
    one.client.wait(lambda: all(answer.over for answer in answers))
    refused = _refused(answers)
    for number, (request, answer) in enumerate(zip(requests, answers, strict=True)):
        with named(f"stream {number + 1} of {len(sent)}"):
            again = number in refused
            reply = one.send(request)() if again else one.reply(request, answer)
            calls.read(one, calls.created(request, reply, sent[number]))


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
    with Http1(scope) as one:
        calls.read(one, calls.create(one))
