"""The contract of items, CRUD over HTTP (requests/crud.openapi.yaml); docs/rules.md lists it."""

from collections.abc import Callable, Iterator
from functools import partial

from arena.contract import connections
from arena.contract.items import refusals, values
from arena.contract.items.calls import ITEMS
from arena.contract.items.http import ItemRequest, speaker
from arena.contract.messages import WrongError
from arena.contract.scope import ItemScope, Version

# What a server is asked to find out whether it answers at all.
PROBE = ItemRequest("GET", f"{ITEMS}/0")

_Check = Callable[[ItemScope, Version], str | None]

_LIGHT: dict[str, _Check] = {
    "values": values.values,
    "change": values.changes,
    "delete": values.delete,
}
_FULL: dict[str, _Check] = {
    **_LIGHT,
    "ids": values.ids,
    "isolation": values.isolation,
    "conflict": refusals.conflict,
    "race": refusals.race,
    "unknown-id": refusals.unknown_id,
    "methods": refusals.methods,
    "malformed-json": refusals.malformed_json,
    "oversized-body": refusals.oversized_body,
    "pieces": values.pieces,
}
_OF_VERSION: dict[Version, dict[str, _Check]] = {
    "h1": {"keep-alive": values.keep_alive},
    "h2": {"streams": values.streams, "stream-limit": values.stream_limit},
}


def checks(scope: ItemScope) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Yield the checks of a scope in their order; the name begins with the version of HTTP."""
    for version in scope.versions:
        made = _LIGHT if scope.light else {**_FULL, **_OF_VERSION[version]}
        for name, run in made.items():
            yield f"{version}-{name}", partial(run, scope, version)
        if not scope.light:
            many = f"{version}-connections-{values.CONNECTIONS}"
            yield many, partial(values.connections, scope, version)
    if scope.tls:
        yield "tls-alpn", partial(connections.alpn, scope)
        yield "tls-http1", partial(values.http1_over_tls, scope)
        yield "tls-version", partial(connections.version, scope)
        yield "tls-downgrade", partial(connections.downgrade, scope)


def probe(scope: ItemScope, timeout_s: float) -> str | None:
    """Return why a request is not answered; None if any answer comes, right or wrong."""
    try:
        with speaker(scope, scope.versions[0], timeout_s) as one:
            one.send(PROBE)()
    except WrongError as error:
        return error.detail
    return None
