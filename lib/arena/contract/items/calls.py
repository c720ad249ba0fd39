"""The service's requests, and the check of their replies (requests/crud.openapi.yaml)."""

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.contract.items.http import ItemRequest, Reply, Speaker
from arena.contract.messages import WrongError

ITEMS = "/v1/items"
OK, CREATED, NO_CONTENT = 200, 201, 204
BAD_REQUEST, NOT_FOUND, NOT_ALLOWED, CHANGED, TOO_LARGE = 400, 404, 405, 412, 413

_ID = re.compile(r"[A-Za-z0-9._~-]{1,64}")
_KNOWN = ("owner", "sku")

Values = Mapping[str, object]


@dataclass(frozen=True)
class Item:
    """An item as its client knows it: `values` are its owner and its sku, if it has them."""

    name: str
    values: Values
    rev: int = 1

    @property
    def path(self) -> str:
        """Where it is."""
        return f"{ITEMS}/{self.name}"

    def changed(self, values: Values) -> "Item":
        """Return what it is after a change to these values."""
        return Item(self.name, {**self.values, **_known(values)}, self.rev + 1)


def some_values() -> dict[str, object]:
    """Return a random owner and a random sku, so that no answer can be prepared in advance."""
    owner, sku = random.getrandbits(32), random.randrange(10**8)  # noqa: S311
    return {"owner": f"ann-{owner:08x}", "sku": f"{sku:08}"}


def creation(values: Values) -> ItemRequest:
    """Return the request that creates an item."""
    return ItemRequest("POST", ITEMS, encoded(values))


def change(item: Item, values: Values, match: str | None = None) -> ItemRequest:
    """Return the request that changes an item."""
    return ItemRequest("PATCH", item.path, encoded(values), _if_match(match))


def removal(item: Item, match: str | None = None) -> ItemRequest:
    """Return the request that deletes an item."""
    return ItemRequest("DELETE", item.path, fields=_if_match(match))


def ask(speaker: Speaker, request: ItemRequest, *statuses: int) -> Reply:
    """Make a request; WrongError if the reply has another status."""
    return require_status(request, speaker.send(request)(), *statuses)


def creating(speaker: Speaker, values: Values | None = None, **how: Any) -> Callable[[], Item]:
    """Send the request for an item, of random values by default; return what waits until it is."""
    values = some_values() if values is None else values
    request = replace(creation(values), **how)
    wait = speaker.send(request)
    return lambda: created(request, wait(), values)


def create(speaker: Speaker, values: Values | None = None) -> Item:
    """Create an item, of random values by default; the reply must be right."""
    return creating(speaker, values)()


def created(request: ItemRequest, reply: Reply, values: Values) -> Item:
    """Return the item that a reply says was created; WrongError if anything in it is wrong."""
    require_status(request, reply, CREATED)
    shown = _shown(request, reply)
    name = shown.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise WrongError(f"{request}: the id is {name!r:.80}", reply.body)
    if name == values.get("id"):
        raise WrongError(f"{request}: the id is {name!r}, the client's", reply.body)
    item = Item(name, _known(values))
    if (location := reply.fields.get("location")) != item.path:
        raise WrongError(f"{request}: location is {location!r:.80}, and the id is {name}")
    _require_item(request, reply, item)
    return item


def reading(speaker: Speaker, item: Item) -> Callable[[], None]:
    """Ask for an item; return what waits for it, and requires that it is as it should be."""
    request = ItemRequest("GET", item.path)
    wait = speaker.send(request)
    return lambda: _require_item(request, require_status(request, wait(), OK), item)


def read(speaker: Speaker, item: Item) -> None:
    """Require that an item is as it should be."""
    reading(speaker, item)()


def patch(speaker: Speaker, item: Item, values: Values, match: str | None = None) -> Item:
    """Change an item; return what it must be now."""
    require_done(ask(speaker, change(item, values, match), NO_CONTENT))
    return item.changed(values)


def remove(speaker: Speaker, item: Item, match: str | None = None) -> None:
    """Delete an item."""
    require_done(ask(speaker, removal(item, match), NO_CONTENT))


def require_absent(speaker: Speaker, item: Item) -> None:
    """Raise WrongError unless there is no such item, whatever is done with it."""
    for request in (ItemRequest("GET", item.path), change(item, {}), removal(item)):
        ask(speaker, request, NOT_FOUND)


def require_status(request: ItemRequest, reply: Reply, *statuses: int) -> Reply:
    """Raise WrongError if a reply has none of these statuses."""
    if reply.status not in statuses:
        wanted = " or ".join(map(str, statuses))
        raise WrongError(f"{request}: status {reply.status}, not {wanted}", reply.body)
    return reply


def require_done(reply: Reply) -> None:
    """Raise WrongError if an answer of 204 has a body, which it cannot have (RFC 9110, 15.3.5)."""
    if reply.body:
        raise WrongError("an answer of 204 has a body", reply.body)


def encoded(values: Values) -> bytes:
    """Return the JSON of values."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _if_match(match: str | None) -> tuple[tuple[str, str], ...]:
    return () if match is None else (("if-match", match),)


def _known(values: Values) -> dict[str, object]:
    return {name: values[name] for name in _KNOWN if name in values}


def _shown(request: ItemRequest, reply: Reply) -> dict[str, Any]:
    """Return the item in a reply."""
    kind = reply.fields.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise WrongError(f"{request}: the content-type is {kind!r:.60}", reply.body)
    try:
        shown = json.loads(reply.body.decode())
    except ValueError as error:
        raise WrongError(f"{request}: the answer is no JSON", reply.body) from error
    item = shown.get("item") if isinstance(shown, dict) else None
    if not isinstance(item, dict):
        raise WrongError(f"{request}: the answer has no item", reply.body)
    return item


def _require_item(request: ItemRequest, reply: Reply, item: Item) -> None:
    shown = _shown(request, reply)
    expected = {"id": item.name, "rev": item.rev, **item.values}
    for name in ("id", "rev", *_KNOWN):
        # As text, which also tells 1 from 1.0 and from true.
        value, wanted = (repr(e[name]) if name in e else "absent" for e in (shown, expected))
        if value != wanted:
            raise WrongError(f"{request}: {name} is {value:.80}, not {wanted:.80}", reply.body)
