"""Servers of items that are wrong in one way each, and what the contract must report of them."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from arena.contract.items.http import PIECE
from tests.lib.arena.contract.items.service import Asked, Said, Service


@dataclass(frozen=True)
class Liar:
    """A server whose `lie` is found by `check`, which reports `words` (a pattern)."""

    check: str
    lie: str
    kind: type[Service]
    words: str
    status: Literal["fail", "warn"] = "fail"
    versions: tuple[str, ...] = ("h1", "h2")
    config: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 20.0

    def __str__(self) -> str:
        return f"{self.check}: {self.lie}"


def service(**parts: Any) -> type[Service]:
    """Return a service with these methods."""
    return type("Liar", (Service,), parts)


def saying(change: Callable[[Said], Said], method: str, *statuses: int) -> type[Service]:
    """Return a service that changes its answers to a method, or those of some statuses."""

    def answer(self: Service, asked: Asked) -> Said:
        said = Service.answer(self, asked)
        is_meant = asked.method == method and (not statuses or said.status in statuses)
        return change(said) if is_meant else said

    return service(answer=answer)


def showing(change: Callable[[dict[str, Any]], object]) -> type[Service]:
    """Return a service that changes the items that it shows."""

    def shown(self: Service, status: int, item: dict[str, Any], **fields: str) -> Said:
        changed = dict(item)
        change(changed)
        return Service.shown(self, status, changed, **fields)

    return service(shown=shown)


def with_status(status: int) -> Callable[[Said], Said]:
    return lambda said: said.but(status=status)


def located(path: Callable[[str], str]) -> Callable[[Said], Said]:
    """Return what changes the location of an answer."""
    return lambda said: said.but(fields={**said.fields, "location": path(said.fields["location"])})


def only_ascii(item: dict[str, Any]) -> None:
    if "owner" in item:
        item["owner"] = item["owner"].encode("ascii", "replace").decode()


def cut_long(item: dict[str, Any]) -> None:
    if "owner" in item:
        item["owner"] = item["owner"][:4096]


def drop_empty(item: dict[str, Any]) -> None:
    for name in [name for name, value in item.items() if value == ""]:
        del item[name]


def prepared(self: Service, asked: Asked) -> Said:
    """Answer each GET as the first was answered."""
    if asked.method != "GET":
        return Service.answer(self, asked)
    self.first = self.first or Service.answer(self, asked)
    return self.first


def believing(self: Service, asked: Asked) -> Said:
    """Take the client's id."""
    said = Service.create(self, asked)
    if said.status == 201 and (mine := json.loads(asked.body).get("id")):
        item = {**json.loads(said.body)["item"], "id": mine}
        self.items[mine] = item
        return self.shown(201, item, location=f"/v1/items/{mine}")
    return said


VALUES = [
    Liar("values", "200 for a new item", saying(with_status(200), "POST", 201),
         "POST /v1/items: status 200, not 201"),
    Liar("values", "no location", saying(lambda said: said.without("location"), "POST", 201),
         "POST /v1/items: location is None, and the id is [0-9a-f]{32}"),
    Liar("values", "another's location", saying(located(lambda path: path + "0"), "POST", 201),
         "POST /v1/items: location is '/v1/items/[0-9a-f]{32}0', and the id is [0-9a-f]{32}"),
    Liar("values", "an id with a slash", service(new_id=lambda _: "a/b"),
         "POST /v1/items: the id is 'a/b'"),
    Liar("values", "an id that is a number", service(new_id=lambda _: 7),
         "POST /v1/items: the id is 7"),
    Liar("values", "text", saying(lambda said: said.but(fields={
         **said.fields, "content-type": "text/plain"}), "GET"),
         "GET /v1/items/[0-9a-f]{32}: the content-type is 'text/plain'"),
    Liar("values", "broken JSON", saying(lambda said: said.but(body=said.body[:-1]), "GET"),
         "GET /v1/items/[0-9a-f]{32}: the answer is no JSON"),
    Liar("values", "an item without its envelope", saying(lambda said: said.but(body=b"{}"), "GET"),
         "GET /v1/items/[0-9a-f]{32}: the answer has no item"),
    Liar("values", "a revision that is text", showing(lambda item: item.update(rev="1")),
         "POST /v1/items: rev is '1', not 1"),
    Liar("values", "a revision with a fraction", showing(lambda item: item.update(rev=1.0)),
         "POST /v1/items: rev is 1.0, not 1"),
    Liar("values", "a first revision of 0", showing(lambda item: item.update(rev=0)),
         "POST /v1/items: rev is 0, not 1"),
    Liar("values", "null for what was not sent",
         showing(lambda item: item.setdefault("owner", None)),
         "POST /v1/items: owner is None, not absent"),
    Liar("values", "no sku", showing(lambda item: item.pop("sku", None)),
         r"POST /v1/items: sku is absent, not '\d{8}'"),
    Liar("values", "only ASCII", showing(only_ascii), "POST /v1/items: owner is .* not 'Zoë.*"),
    Liar("values", "long values are cut", showing(cut_long), "POST /v1/items: owner is 'o+, .*"),
    Liar("values", "empty values are left out", showing(drop_empty),
         "POST /v1/items: owner is absent, not ''"),
    Liar("values", "the answer to an earlier request", service(answer=prepared),
         "GET /v1/items/[0-9a-f]{32}: id is '[0-9a-f]{32}', not '[0-9a-f]{32}'"),
    Liar("values", "the client's id", service(create=believing),
         "POST /v1/items: the id is 'mine', the client's"),
]  # fmt: skip


def forget(self: Service, item: dict[str, Any], sent: dict[str, Any]) -> None:
    """Replace the whole item, as PUT does."""
    kept = {"id": item["id"], "rev": item["rev"] + 1}
    item.clear()
    item.update(kept, **sent)


def only_rev(_: Service, item: dict[str, Any], __: object) -> None:
    item["rev"] += 1


def only_news(self: Service, item: dict[str, Any], sent: dict[str, Any]) -> None:
    """Count a change only if there is one."""
    item.update(sent, rev=item["rev"] + any(item.get(name) != sent[name] for name in sent))


def softly(self: Service, asked: Asked) -> Said:
    """Mark an item as deleted, and delete nothing."""
    return Said(204 if self.find(asked) else 404)


def wholly(self: Service, asked: Asked) -> Said:
    """Delete all items."""
    if (said := Service.delete(self, asked)).status == 204:
        self.items.clear()
    return said


def anyway(self: Service, asked: Asked) -> Said:
    """Delete what is not there, too."""
    said = Service.delete(self, asked)
    return Said(204) if said.status == 404 else said


def upsert(self: Service, asked: Asked) -> Said:
    """Create what is to be changed."""
    self.items.setdefault(asked.name, {"id": asked.name, "rev": 0})
    return Service.change(self, asked)


CHANGES = [
    Liar("change", "200 for a change", saying(with_status(200), "PATCH", 204),
         "PATCH /v1/items/[0-9a-f]{32}: status 200, not 204"),
    Liar("change", "values stay as they are", service(merge=only_rev),
         r"GET .*: sku is '\d{8}', not 'other'"),
    Liar("change", "values that are not sent are lost", service(merge=forget),
         "GET .*: owner is absent, not 'ann-[0-9a-f]{8}'"),
    Liar("change", "a revision that does not rise", service(merge=only_news),
         "GET .*: rev is 2, not 3"),
    Liar("delete", "it is still there", service(delete=softly),
         "GET /v1/items/[0-9a-f]{32}: status 200, not 404"),
    Liar("delete", "all are gone", service(delete=wholly),
         "GET /v1/items/[0-9a-f]{32}: status 404, not 200"),
    Liar("delete", "it can be deleted again", service(delete=anyway),
         "DELETE /v1/items/[0-9a-f]{32}: status 204, not 404"),
    Liar("delete", "a change brings it back", service(change=upsert),
         "PATCH /v1/items/[0-9a-f]{32}: status 204, not 404"),
]  # fmt: skip


def few_ids(self: Service) -> str:
    """Return one of a hundred ids."""
    self.made = getattr(self, "made", 0) + 1  # type: ignore[attr-defined]
    return f"item-{self.made % 100}"  # type: ignore[attr-defined]


def of_equals(self: Service, item: dict[str, Any], sent: dict[str, Any]) -> None:
    """Change all items with the same values."""
    before = self.known(item)
    for other in self.items.values():
        if self.known(other) == before:
            other.update(sent)
    item["rev"] += 1


def left_over(self: Service, sent: Any) -> dict[str, Any]:
    """Read a request into the memory of the one before."""
    self.last = {**getattr(self, "last", {}), **Service.known(self, sent)}  # type: ignore[attr-defined]
    return self.last  # type: ignore[attr-defined,no-any-return]


def of_client(self: Service, asked: Asked) -> Said:
    """Show items only to the connection that made them."""
    said = Service.answer(self, asked)
    if said.status == 201:
        self.items[json.loads(said.body)["item"]["id"]]["client"] = asked.client
    item = self.find(asked)
    return Said(404) if item and item["client"] != asked.client else said


STORES = [
    Liar("ids", "a hundred ids for all items", service(new_id=few_ids),
         r"two of 101 items have the id item-\d+"),
    Liar("isolation", "equal items are one", service(merge=of_equals),
         r"GET .*: sku is 'other', not '\d{8}'"),
    Liar("isolation", "values of the request before", service(known=left_over),
         "after an item with values, one without: .* not absent"),
    Liar("connections-8", "a store for each connection", service(answer=of_client),
         "connection 2 of 8: GET /v1/items/[0-9a-f]{32}: status 404, not 200"),
]  # fmt: skip


def together(about: Callable[[Asked], bool], size: int = 16) -> type[Service]:
    """Return a service that looks at its items, and acts only when 16 requests have looked."""

    async def reply(self: Service, asked: Asked) -> Said:
        item = self.find(asked)
        if item is None or not about(asked):
            return self.answer(asked)
        seen = dict(item)
        self.barrier = getattr(self, "barrier", None) or asyncio.Barrier(size)  # type: ignore[attr-defined]
        await self.barrier.wait()  # type: ignore[attr-defined]
        if not self.allows(asked.match, seen):
            return Said(412)
        if asked.method == "DELETE":
            self.items.pop(asked.name, None)
        else:
            self.merge(seen, self.known(json.loads(asked.body)))
            self.items[asked.name] = seen
        return Said(204)

    return service(reply=reply)


CONDITIONS = [
    Liar("conflict", "no condition is read", service(allows=lambda *_: True),
         "PATCH .*: status 204, not 412"),
    Liar("conflict", "newer ones are right as well",
         service(allows=lambda _, match, item: match in {None, "*"} or
                 (match.strip('"').isdecimal() and int(match.strip('"')) >= item["rev"])),
         "PATCH .*: status 204, not 412"),
    Liar("conflict", "a star is no revision",
         service(allows=lambda _, match, item: match in {None, f'"{item["rev"]}"'}),
         "PATCH .*: status 412, not 204"),
    Liar("conflict", "DELETE has no condition", service(delete=lambda self, asked:
         Said(204 if self.items.pop(asked.name, None) else 404)),
         "DELETE .*: status 204, not 412"),
    Liar("conflict", "412 as 409", saying(with_status(409), "PATCH", 412),
         "PATCH .*: status 409, not 412"),
    Liar("race", "all have the revision", together(lambda asked: asked.match is not None),
         "PATCH .* if-match 1, 16 times at once: 16 × 204, not 1 × 204 and 15 × 412"),
    Liar("race", "changes are lost",
         together(lambda asked: asked.method == "PATCH" and asked.match is None),
         "GET .*: rev is 3, not 18"),
    Liar("race", "all delete it", together(lambda asked: asked.method == "DELETE"),
         "DELETE .*, 16 times at once: 16 × 204, not 1 × 204 and 15 × 404"),
    Liar("race", "some are told to try again", service(
         allows=lambda _, match, item: match == '"1"' or item["rev"] not in {2, 3}),
         "PATCH .*, 16 times at once: .* × 412"),
]  # fmt: skip


def by_start(self: Service, asked: Asked) -> dict[str, Any] | None:
    """Find an item by the start of its id."""
    found = (name for name in self.items if name.startswith(asked.name[:31] or "-"))
    return next((self.items[name] for name in found), None)


def not_an_id(self: Service, asked: Asked) -> Said:
    """Refuse ids of another form with 400."""
    is_id = not asked.name or len(asked.name) == 32
    return Service.answer(self, asked) if is_id else Said(400)


def welcoming(self: Service, asked: Asked) -> Said:
    return Said(200) if asked.path == "/" else Service.answer(self, asked)


def breaking(self: Service, asked: Asked) -> Said:
    return Said(500) if "%" in asked.path else Service.answer(self, asked)


def no_json_is_fine(self: Service, body: bytes) -> Any:
    try:
        return Service.parsed(self, body)
    except ValueError:
        return {}


def counted(self: Service, asked: Asked) -> Said:
    """Count a change, though it is refused."""
    said = Service.change(self, asked)
    if said.status in {400, 413} and (item := self.find(asked)):
        item["rev"] += 1
    return said


def limited(size: int) -> type[Service]:
    """Return a service with another limit."""

    def answer(self: Service, asked: Asked) -> Said:
        return Said(413) if len(asked.body) > size else Service.answer(self, asked)

    return service(answer=answer)


def endless(self: Service, asked: Asked) -> Any:
    """Cut a body off where its limit is."""
    body = asked.body if len(asked.body) <= 64 << 10 else b"{}"
    return json.loads(body) if body else Said(400)


REFUSALS = [
    Liar("unknown-id", "the start of an id is enough", service(find=by_start),
         "GET .*: status 200, not 404"),
    Liar("unknown-id", "400 for what is no id", service(answer=not_an_id),
         "GET .*: status 400, not 404"),
    Liar("unknown-id", "a page at another path", service(answer=welcoming),
         "GET /: status 200, not 404"),
    Liar("unknown-id", "an escape in a path breaks it", service(answer=breaking),
         "GET /v1/items/%C3%A9: status 500, not 404"),
    Liar("methods", "PUT works", saying(with_status(204), "PUT"),
         "PUT .*: status 204, not 405 or 404 or 501"),
    Liar("methods", "HEAD breaks", saying(with_status(500), "HEAD"),
         "HEAD .*: status 500, not 200 or 405"),
    Liar("methods", "404 for a method", saying(with_status(404), "PUT"),
         "PUT .*: status 404, not 405", status="warn"),
    Liar("methods", "405 without allow", saying(lambda said: said.but(fields={}), "PUT"),
         "PUT .*: 405 without `allow`", status="warn"),
    Liar("methods", "no HEAD", saying(with_status(405), "HEAD"),
         "HEAD .*: status 405, not 200", status="warn"),
    Liar("malformed-json", "anything is an item", service(parsed=no_json_is_fine),
         "POST /v1/items: status 201, not 400"),
    Liar("malformed-json", "500", saying(with_status(500), "POST", 400),
         "POST /v1/items: status 500, not 400"),
    Liar("malformed-json", "a change is refused and made", service(change=counted),
         "GET .*: rev is .*"),
    Liar("malformed-json", "NaN", service(parsed=lambda _, body: json.loads(body.decode())),
         "NaN is taken for JSON", status="warn"),
    Liar("malformed-json", "bytes that are not UTF-8", service(parsed=lambda self, body:
         Service.parsed(self, body.replace(b'"\xff"', b'"\xef\xbf\xbd"'))),
         "bytes that are not UTF-8 are taken for JSON", status="warn"),
    Liar("oversized-body", "no limit", service(sent=lambda _, asked: json.loads(asked.body)),
         "65537 bytes with content-length: POST /v1/items: status 201, not 413"),
    Liar("oversized-body", "a smaller limit", limited(1 << 15),
         "POST /v1/items: status 413, not 201"),
    Liar("oversized-body", "400", saying(with_status(400), "POST", 413),
         "65537 bytes with content-length: POST /v1/items: status 400, not 413"),
    Liar("oversized-body", "the rest is ignored", service(sent=endless),
         "65537 bytes with content-length: POST /v1/items: status 201, not 413"),
    Liar("oversized-body", "a change is refused and made", service(change=counted),
         "65537 bytes with content-length: after it was refused: GET .*: rev is 3, not 2"),
]  # fmt: skip


async def first_part(self: Service, receive: Callable[[], Any]) -> bytes:
    """Take the first piece of a body for all of it, however many come together."""
    return (await Service.body(self, receive))[:PIECE]


async def of_the_next(self: Service, asked: Asked) -> Said:
    """Answer every other request with the item of the one that comes next."""
    said = self.answer(asked)
    if asked.method == "POST":
        waiting: asyncio.Future[Said] | None = getattr(self, "waiting", None)
        if waiting is None:
            self.waiting = waiting = asyncio.get_running_loop().create_future()  # type: ignore[attr-defined]
            return await waiting
        waiting.set_result(said)
        self.waiting = None  # type: ignore[attr-defined]
    return said


async def one_at_a_time(self: Service, receive: Callable[[], Any]) -> bytes:
    """Read one body at a time, however slowly it comes."""
    self.lock = getattr(self, "lock", None) or asyncio.Lock()  # type: ignore[attr-defined]
    async with self.lock:  # type: ignore[attr-defined]
        return await Service.body(self, receive)


def closing(self: Service, asked: Asked) -> Said:
    said = Service.answer(self, asked)
    return said.but(fields={**said.fields, "connection": "close"})


CONNECTIONS = [
    Liar("pieces", "the first piece is all", service(body=first_part), "POST .*: status 400, .*"),
    Liar("keep-alive", "a connection for each request", service(answer=closing),
         "the server closes the connection after an answer", versions=("h1",)),
    Liar("keep-alive", "a connection for few requests", Service,
         "the server closes the connection after an answer", versions=("h1",),
         config={"keep_alive_max_requests": 20}),
    Liar("keep-alive", "a refusal closes it", saying(lambda said: said.but(
         fields={"connection": "close"}), "POST", 400),
         "the server closes the connection after it has refused a request", "warn", ("h1",)),
    Liar("streams", "an answer to another stream", service(reply=of_the_next),
         "POST /v1/items: owner is .*",
         versions=("h2",)),
    Liar("streams", "a slow request holds the others", service(body=one_at_a_time),
         "no answer within 0.5 s", versions=("h2",), timeout_s=0.5),
    Liar("stream-limit", "a hundred streams", Service,
         "SETTINGS_MAX_CONCURRENT_STREAMS is 100, below 128", versions=("h2",),
         config={"h2_max_concurrent_streams": 100}),
    Liar("stream-limit", "one too many ends all", Service,
         r"136 streams, of which 128 are allowed: .*GOAWAY \(PROTOCOL_ERROR\)", "warn", ("h2",),
         config={"h2_max_concurrent_streams": 128}),
]  # fmt: skip

LIARS = [*VALUES, *CHANGES, *STORES, *CONDITIONS, *REFUSALS, *CONNECTIONS]
