"""Whether a server refuses what it cannot do, or must not, and goes on.

A client that knows an old revision is refused even by the narrowest of races. Checks return what is
merely odd.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from arena.contract.client import LostConnectionError
from arena.contract.items import calls
from arena.contract.items.http import ItemRequest, Speaker, speaker
from arena.contract.messages import WrongError, named, showing
from arena.contract.scope import ItemScope, Version

LARGEST = 64 << 10

_RACERS = 16
_RACES = 4
_UNPROCESSABLE, _NOT_IMPLEMENTED = 422, 501

# What no reader of JSON takes (RFC 8259), and what some take all the same.
_MALFORMED = (
    b"", b" ", b"{", b'{"sku":}', b'{"sku":"a",}', b'{"sku":"a"}x', b'{"sku":"a"', b"{'sku':'a'}",
    b'{"sku":"\\x"}', b"sku=a&owner=b", b"\xff\xfe\x00", b'{"note":' + b"[" * 30_000,
)  # fmt: skip
_LENIENT = {
    b'{"note":NaN}': "NaN is taken for JSON",
    b'{"sku":"\xff"}': "bytes that are not UTF-8 are taken for JSON",
}
# JSON of another form: a server may ignore what it does not know.
_OTHER = (b"[1]", b"3", b"null", b'"sku"', b'{"sku":7}', b'{"owner":{"name":"ann"}}')


def unknown_id(scope: ItemScope, version: Version) -> None:
    """Ask for items that there are not, and for paths: 404."""
    with speaker(scope, version) as one:
        item = calls.create(one)
        last = "1" if item.name[-1] == "0" else "0"
        for name in (item.name[:-1] + last, item.name + "0", str(uuid.uuid4()), "0", "x" * 200,
                     "%C3%A9"):  # fmt: skip
            calls.require_absent(one, calls.Item(name, {}))
        for path in ("/", "/v1", f"{calls.ITEMS}x", f"{item.path}/more"):
            calls.ask(one, ItemRequest("GET", path), calls.NOT_FOUND)
        calls.read(one, item)


def methods(scope: ItemScope, version: Version) -> str:
    """Use methods that a path does not have: 405. HEAD is answered as GET is, without a body."""
    odd = ""
    with speaker(scope, version) as one:
        item = calls.create(one)
        for method, path in (("PUT", item.path), ("POST", item.path), ("DELETE", calls.ITEMS)):
            request = ItemRequest(method, path, None if method == "DELETE" else b"{}")
            reply = calls.ask(one, request, calls.NOT_ALLOWED, calls.NOT_FOUND, _NOT_IMPLEMENTED)
            if reply.status != calls.NOT_ALLOWED:
                odd = odd or f"{request}: status {reply.status}, not 405"
            elif "allow" not in reply.fields:  # RFC 9110, 15.5.6
                odd = odd or f"{request}: 405 without `allow`"
        head = ItemRequest("HEAD", item.path)
        if (reply := calls.ask(one, head, calls.OK, calls.NOT_ALLOWED)).body:
            raise WrongError(f"{head}: the answer has a body", reply.body)
        if reply.status != calls.OK:
            odd = odd or f"{head}: status {reply.status}, not 200"
        calls.read(one, item)
        calls.ask(
            one,
            ItemRequest("BREW", item.path),
            calls.NOT_ALLOWED,
            calls.NOT_FOUND,
            _NOT_IMPLEMENTED,
            calls.BAD_REQUEST,
        )
    _require_alive(scope, version, item)
    return odd


def malformed_json(scope: ItemScope, version: Version) -> str:
    """Send what is no JSON: 400, and nothing is changed."""
    odd = ""
    with speaker(scope, version) as one:
        item = calls.create(one)
        for body in (*_MALFORMED, *_LENIENT, *_OTHER):
            for method, path, done in (
                ("POST", calls.ITEMS, calls.CREATED), ("PATCH", item.path, calls.NO_CONTENT),
            ):  # fmt: skip
                request = ItemRequest(method, path, body)
                allowed = [calls.BAD_REQUEST] if body in _MALFORMED else [calls.BAD_REQUEST, done]
                if body in _OTHER:
                    allowed.append(_UNPROCESSABLE)
                with showing(body):
                    reply = calls.ask(one, request, *allowed)
                if reply.status == done and body in _LENIENT:
                    odd = odd or _LENIENT[body]
                if reply.status == done and method == "PATCH":
                    item = item.changed({})
        # One that refused a change has not made it; one that took it has left values alone.
        if not odd:
            calls.read(one, item)
    _require_alive(scope, version)
    return odd


def oversized_body(scope: ItemScope, version: Version) -> str:
    """Send bodies of 64 KiB, and longer ones: 413, before all of it has come or after."""
    odd = ""
    with speaker(scope, version) as one:
        item = calls.create(one)
        calls.ask(one, ItemRequest("POST", calls.ITEMS, _body(LARGEST)), calls.CREATED)
        calls.ask(one, ItemRequest("PATCH", item.path, _body(LARGEST)), calls.NO_CONTENT)
    item = item.changed({})
    for method, path in (("POST", calls.ITEMS), ("PATCH", item.path)):
        for size in (LARGEST + 1, 16 * LARGEST):
            for sized in (True, False):
                how = "with" if sized else "without"
                with named(f"{size} bytes {how} content-length"), speaker(scope, version) as one:
                    request = ItemRequest(method, path, _body(size), sized=sized)
                    try:
                        calls.ask(one, request, calls.TOO_LARGE)
                        with named("after it was refused"):
                            calls.read(one, item)
                    except LostConnectionError as error:
                        odd = odd or f"{size} bytes {how} content-length: {error.detail}"
    _require_alive(scope, version, item)
    return odd


def _body(size: int) -> bytes:
    """Return the JSON of an item, in so many bytes."""
    start = b'{"note":"'
    return start + b"n" * (size - len(start) - 2) + b'"}'


def _require_alive(scope: ItemScope, version: Version, item: calls.Item | None = None) -> None:
    """Require that the service works, on another connection."""
    with named("afterwards"), speaker(scope, version) as again:
        if item:
            calls.read(again, item)
        calls.read(again, calls.create(again))


def conflict(scope: ItemScope, version: Version) -> None:
    """Change and delete with `if-match`: only the present revision is right."""
    with speaker(scope, version) as one:
        item = calls.create(one)
        for match in ('"2"', '"0"', '"11"', '"-1"', '"x"', '""'):
            calls.ask(one, calls.change(item, calls.some_values(), match), calls.CHANGED)
            calls.ask(one, calls.removal(item, match), calls.CHANGED)
        calls.ask(
            one,
            calls.change(item, calls.some_values(), "nonsense"),
            calls.CHANGED,
            calls.BAD_REQUEST,
        )
        calls.read(one, item)
        item = calls.patch(one, item, calls.some_values(), '"1"')
        calls.read(one, item)
        calls.ask(one, calls.change(item, calls.some_values(), '"1"'), calls.CHANGED)
        item = calls.patch(one, item, calls.some_values(), "*")
        calls.read(one, item)
        calls.remove(one, item, '"3"')
        # A condition cannot hold for what there is not (RFC 9110, 13.1.1).
        calls.ask(one, calls.change(item, calls.some_values(), "*"), calls.NOT_FOUND, calls.CHANGED)
        calls.ask(one, calls.removal(item, '"3"'), calls.NOT_FOUND, calls.CHANGED)


def race(scope: ItemScope, version: Version) -> None:
    """Change and delete an item from 16 connections at once: each change counts, once."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(speaker(scope, version)) for _ in range(_RACERS)]
        for _ in range(_RACES):
            _race(crowd)


def _race(crowd: Sequence[Speaker]) -> None:
    item = calls.create(crowd[0])
    request = calls.change(item, {"owner": "first"}, f'"{item.rev}"')
    _require_one(f"{request} if-match {item.rev}", _at_once(crowd, request), calls.CHANGED)
    item = item.changed({"owner": "first"})
    request = calls.change(item, {})
    if set(found := _at_once(crowd, request)) != {calls.NO_CONTENT}:
        raise WrongError(f"{request}, {_RACERS} times at once: {_words(found)}")
    item = calls.Item(item.name, item.values, item.rev + _RACERS)
    calls.read(crowd[0], item)
    _require_one(str(calls.removal(item)), _at_once(crowd, calls.removal(item)), calls.NOT_FOUND)


def _at_once(crowd: Sequence[Speaker], request: ItemRequest) -> Counter[int]:
    waits = [one.send(request) for one in crowd]
    return Counter(wait().status for wait in waits)


def _require_one(what: str, found: Counter[int], otherwise: int) -> None:
    """Raise WrongError unless one request was carried out, and all others were refused."""
    if found != {calls.NO_CONTENT: 1, otherwise: _RACERS - 1}:
        expected = f"1 × {calls.NO_CONTENT} and {_RACERS - 1} × {otherwise}"
        raise WrongError(f"{what}, {_RACERS} times at once: {_words(found)}, not {expected}")


def _words(found: Counter[int]) -> str:
    return ", ".join(f"{count} × {status}" for status, count in sorted(found.items()))
