"""Whether a server refuses what it cannot do, and goes on. Checks return what is merely odd."""

import uuid
from collections.abc import Callable

from arena.contract.items.calls import (
    BAD_REQUEST,
    CREATED,
    ITEMS,
    NO_CONTENT,
    NOT_ALLOWED,
    NOT_FOUND,
    OK,
    TOO_LARGE,
    Item,
    ask,
    create,
    read,
    require_absent,
    some_values,
)
from arena.contract.items.http import Reply, Request, speaker
from arena.contract.link import LostError
from arena.contract.messages import WrongError, hexadecimal, named
from arena.contract.scope import ItemScope, Version

LARGEST = 64 << 10

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
        item = create(one)
        last = "1" if item.name[-1] == "0" else "0"
        for name in (item.name[:-1] + last, item.name + "0", str(uuid.uuid4()), "0", "x" * 200,
                     "%C3%A9"):  # fmt: skip
            require_absent(one, Item(name, {}))
        for path in ("/", "/v1", f"{ITEMS}x", f"{item.path}/more"):
            ask(one, Request("GET", path), NOT_FOUND)
        read(one, item)


def methods(scope: ItemScope, version: Version) -> str:
    """Use methods that a path does not have: 405. HEAD is answered as GET is, without a body."""
    odd = ""
    with speaker(scope, version) as one:
        item = create(one)
        for method, path in (("PUT", item.path), ("POST", item.path), ("DELETE", ITEMS)):
            request = Request(method, path, None if method == "DELETE" else b"{}")
            reply = ask(one, request, NOT_ALLOWED, NOT_FOUND, _NOT_IMPLEMENTED)
            if reply.status != NOT_ALLOWED:
                odd = odd or f"{request}: status {reply.status}, not 405"
            elif "allow" not in reply.fields:  # RFC 9110, 15.5.6
                odd = odd or f"{request}: 405 without `allow`"
        head = Request("HEAD", item.path)
        if (reply := ask(one, head, OK, NOT_ALLOWED)).body:
            raise WrongError(f"{head}: the answer has a body", reply.body)
        if reply.status != OK:
            odd = odd or f"{head}: status {reply.status}, not 200"
        read(one, item)
        ask(one, Request("BREW", item.path), NOT_ALLOWED, NOT_FOUND, _NOT_IMPLEMENTED, BAD_REQUEST)
    _require_alive(scope, version, item)
    return odd


def malformed_json(scope: ItemScope, version: Version) -> str:
    """Send what is no JSON: 400, and nothing is changed."""
    odd = ""
    with speaker(scope, version) as one:
        item = create(one)
        for body in (*_MALFORMED, *_LENIENT, *_OTHER):
            for method, path, done in (
                ("POST", ITEMS, CREATED), ("PATCH", item.path, NO_CONTENT),
            ):  # fmt: skip
                request = Request(method, path, body)
                allowed = [BAD_REQUEST] if body in _MALFORMED else [BAD_REQUEST, done]
                if body in _OTHER:
                    allowed.append(_UNPROCESSABLE)
                reply = _sent(request, lambda: ask(one, request, *allowed))  # noqa: B023
                if reply.status == done and body in _LENIENT:
                    odd = odd or _LENIENT[body]
                if reply.status == done and method == "PATCH":
                    item = Item(item.name, item.values, item.rev + 1)
        # One that refused a change has not made it; one that took it has left values alone.
        if not odd:
            read(one, item)
    _require_alive(scope, version)
    return odd


def oversized_body(scope: ItemScope, version: Version) -> str:
    """Send bodies of 64 KiB, and longer ones: 413, before all of it has come or after."""
    odd = ""
    with speaker(scope, version) as one:
        item = create(one)
        ask(one, Request("POST", ITEMS, _body(LARGEST)), CREATED)
        ask(one, Request("PATCH", item.path, _body(LARGEST)), NO_CONTENT)
    item = Item(item.name, item.values, item.rev + 1)
    for method, path in (("POST", ITEMS), ("PATCH", item.path)):
        for size in (LARGEST + 1, 16 * LARGEST):
            for sized in (True, False):
                how = "with" if sized else "without"
                with named(f"{size} bytes {how} content-length"), speaker(scope, version) as one:
                    request = Request(method, path, _body(size), sized=sized)
                    try:
                        ask(one, request, TOO_LARGE)
                        with named("after it was refused"):
                            read(one, item)
                    except LostError as error:
                        odd = odd or f"{size} bytes {how} content-length: {error.detail}"
    _require_alive(scope, version, item)
    return odd


def _body(size: int) -> bytes:
    """Return the JSON of an item, in so many bytes."""
    start = b'{"note":"'
    return start + b"n" * (size - len(start) - 2) + b'"}'


def _sent(request: Request, make: Callable[[], Reply]) -> Reply:
    """Make a request; an error shows its body, if nothing came back."""
    try:
        return make()
    except WrongError as error:
        error.wire = error.wire or hexadecimal(request.body or b"")
        raise


def _require_alive(scope: ItemScope, version: Version, item: Item | None = None) -> None:
    """Require that the service works, on another connection."""
    with named("afterwards"), speaker(scope, version) as again:
        if item:
            read(again, item)
        read(again, create(again, some_values()))
