"""The service of items as an ASGI application, which counts what it does."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
Answer = tuple[int, dict[str, str], Any]

items: dict[str, dict[str, Any]] = {}
counts: Counter[str] = Counter()


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer a request."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    status, fields, content = answer(scope, headers, body)
    found = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": found})
    out = b"" if content is None else json.dumps(content).encode()
    await send({"type": "http.response.body", "body": out})


def answer(scope: Message, headers: dict[str, str], body: bytes) -> Answer:
    """Do what is asked; return the status, the header fields and the content."""
    path: str = scope["path"]
    method: str = scope["method"]
    if path == "/counts":
        return 200, {}, {**counts, "live": len(items)}
    counts[f"HTTP/{scope['http_version']}"] += 1
    if (method, path) == ("POST", "/v1/items"):
        counts["created"] += 1
        path = f"/v1/items/{counts['created']}"
        items[path] = {**json.loads(body), "rev": 1}
        return 201, {"location": path, "content-type": "application/json"}, {"item": items[path]}
    if path not in items:
        return 404, {}, None
    if method == "DELETE":
        counts["deleted"] += 1
        del items[path]
        return 204, {}, None
    wanted = (f'"{items[path]["rev"]}"', f"item {items[path]['sku']}")
    if (headers.get("if-match"), body.decode()) != wanted:
        return 412, {}, None
    counts["patched"] += 1
    items[path]["rev"] += 1
    return 204, {}, None
