"""A service of items for hypercorn: honest, unless a part of it is replaced by a lie."""

import asyncio
import json
import re
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

from arena.contract.scope import ItemScope

LARGEST = 64 << 10
_PATIENCE_S = 60.0
_PATH = re.compile(r"/v1/items/([^/]+)")
_KNOWN = ("owner", "sku")


@dataclass
class Asked:
    """A whole request; `client` is its connection."""

    method: str
    path: str
    fields: dict[str, str]
    body: bytes
    client: object

    @property
    def match(self) -> str | None:
        return self.fields.get("if-match")

    @property
    def name(self) -> str:
        found = _PATH.fullmatch(self.path)
        return found[1] if found else ""


@dataclass
class Said:
    """An answer."""

    status: int
    fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def but(self, **changes: Any) -> "Said":
        return replace(self, **changes)

    def without(self, name: str) -> "Said":
        return self.but(fields={key: self.fields[key] for key in self.fields if key != name})


@dataclass
class Service:
    """The service; a liar replaces some of its methods."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    first: Said | None = None

    async def reply(self, asked: Asked) -> Said:
        """Answer a request; whoever lies about the order of things may wait."""
        return self.answer(asked)

    def answer(self, asked: Asked) -> Said:
        if asked.path == "/v1/items":
            return self.create(asked) if asked.method == "POST" else self.not_allowed("POST")
        if not _PATH.fullmatch(asked.path):
            return Said(404)
        if asked.method in {"GET", "HEAD"}:
            return self.read(asked)
        if asked.method in {"PATCH", "DELETE"}:
            return self.change(asked) if asked.method == "PATCH" else self.delete(asked)
        return self.not_allowed("DELETE, GET, HEAD, PATCH")

    def not_allowed(self, known: str) -> Said:
        return Said(405, {"allow": known})

    def create(self, asked: Asked) -> Said:
        if isinstance(sent := self.sent(asked), Said):
            return sent
        item = {"id": self.new_id(), **self.known(sent), "rev": 1}
        self.items[item["id"]] = item
        return self.shown(201, item, location=f"/v1/items/{item['id']}")

    def read(self, asked: Asked) -> Said:
        item = self.find(asked)
        if item is None:
            return Said(404)
        said = self.shown(200, item)
        return said.but(body=b"") if asked.method == "HEAD" else said

    def change(self, asked: Asked) -> Said:
        if isinstance(sent := self.sent(asked), Said):
            return sent
        item = self.find(asked)
        if item is None:
            return Said(404)
        if not self.allows(asked.match, item):
            return Said(412)
        self.merge(item, self.known(sent))
        return Said(204)

    def delete(self, asked: Asked) -> Said:
        item = self.find(asked)
        if item is None:
            return Said(404)
        if not self.allows(asked.match, item):
            return Said(412)
        del self.items[item["id"]]
        return Said(204)

    # What is left to lie about.

    def new_id(self) -> str:
        return uuid.uuid4().hex

    def find(self, asked: Asked) -> dict[str, Any] | None:
        return self.items.get(asked.name)

    def allows(self, match: str | None, item: dict[str, Any]) -> bool:
        return match in {None, "*", f'"{item["rev"]}"'}

    def merge(self, item: dict[str, Any], sent: dict[str, Any]) -> None:
        item.update(sent, rev=item["rev"] + 1)

    def known(self, sent: Any) -> dict[str, Any]:
        return {name: sent[name] for name in _KNOWN if name in sent}

    def shown(self, status: int, item: dict[str, Any], **fields: str) -> Said:
        body = json.dumps({"item": item}).encode()
        return Said(status, {"content-type": "application/json", **fields}, body)

    def sent(self, asked: Asked) -> Any:
        """Return the JSON of a request, or what refuses it."""
        if len(asked.body) > LARGEST:
            return Said(413)
        try:
            sent = self.parsed(asked.body)
        except (ValueError, RecursionError):
            return Said(400)
        is_right = isinstance(sent, dict)
        is_right = is_right and all(isinstance(sent.get(name, ""), str) for name in _KNOWN)
        return sent if is_right else Said(422)

    def parsed(self, body: bytes) -> Any:
        def refuse(_: str) -> None:
            raise ValueError

        return json.loads(body.decode(), parse_constant=refuse)

    # What hypercorn wants.

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        body = await self.body(receive)
        path = scope["raw_path"].decode()
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        said = await self.reply(Asked(scope["method"], path, fields, body, scope["client"]))
        await send(
            {
                "type": "http.response.start",
                "status": said.status,
                "headers": [
                    *((key.encode(), value.encode()) for key, value in said.fields.items()),
                    *([] if said.status == 204 else [(b"content-length", b"%d" % len(said.body))]),
                ],
            }
        )
        await send({"type": "http.response.body", "body": said.body})

    async def body(self, receive: Callable[[], Any]) -> bytes:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return body


@contextmanager
def serving(service: Service, certificates: Path | None = None, **more: Any) -> Iterator[int]:
    """Serve on a free port of 127.0.0.1 for the block; return it."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    port: int = listener.getsockname()[1]
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.errorlog = None
    config.graceful_timeout = 5
    config.h2_max_concurrent_streams = 256
    if certificates:
        config.certfile = str(certificates / "server.crt")
        config.keyfile = str(certificates / "server.key")
    for name, value in more.items():
        assert hasattr(config, name)
        setattr(config, name, value)
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve(service, config, shutdown_trigger=over.wait))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(_PATIENCE_S)
        assert not thread.is_alive()


def scope_at(port: int, *, tls: bool = False, light: bool = False) -> ItemScope:
    return ItemScope(port, tls, ("h1", "h2"), light)
