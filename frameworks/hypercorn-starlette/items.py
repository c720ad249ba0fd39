"""The service of items and its store."""

from __future__ import annotations

import json
import uuid
from typing import NoReturn

from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MAX_BODY = 64 << 10  # bytes
KNOWN = ("owner", "sku")

items: dict[str, dict[str, str | int]] = {}


class Endpoint(HTTPEndpoint):
    async def method_not_allowed(self, request: Request) -> Response:
        # Hypercorn closes a connection of HTTP/2 on which a body comes after its answer.
        async for _ in request.stream():
            pass
        return await super().method_not_allowed(request)


class Items(Endpoint):
    async def post(self, request: Request) -> Response:
        values = await values_of(request)
        name = uuid.uuid4().hex
        items[name] = {"id": name, **values, "rev": 1}
        location = {"location": f"/v1/items/{name}"}
        return JSONResponse({"item": items[name]}, 201, location)


class Item(Endpoint):
    async def get(self, request: Request) -> Response:
        return JSONResponse({"item": find(request)})

    async def patch(self, request: Request) -> Response:
        values = await values_of(request)
        # Nothing is awaited from here on, so no other request comes between.
        item = find(request)
        item.update(values, rev=int(item["rev"]) + 1)
        return Response(status_code=204)

    async def delete(self, request: Request) -> Response:
        del items[str(find(request)["id"])]
        return Response(status_code=204)


def find(request: Request) -> dict[str, str | int]:
    """Returns the item of a request; HTTPException if it has not the revision asked for."""
    item = items.get(request.path_params["id"])
    if item is None:
        raise HTTPException(404, "there is no such item")
    match = request.headers.get("if-match")
    if request.method != "GET" and match not in {None, "*", f'"{item["rev"]}"'}:
        raise HTTPException(412, "the item has another revision")
    return item


async def values_of(request: Request) -> dict[str, str]:
    """Reads what a client sets; HTTPException if it is too long, or no JSON of an item."""
    body, size = bytearray(), 0
    # A body that is too long is read to its end, too.
    async for part in request.stream():
        size += len(part)
        if size <= MAX_BODY:
            body += part
    if size > MAX_BODY:
        raise HTTPException(413, f"a body may have {MAX_BODY} bytes")
    try:
        sent = json.loads(body.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the body is no JSON") from error
    values = {name: sent[name] for name in KNOWN if name in sent} if isinstance(sent, dict) else {}
    if not isinstance(sent, dict) or not all(isinstance(each, str) for each in values.values()):
        raise HTTPException(422, "the body is no item")
    return values


def refuse(constant: str) -> NoReturn:
    """Refuses NaN and the like, which are no JSON."""
    raise ValueError(constant)


app = Starlette(routes=[Route("/v1/items", Items), Route("/v1/items/{id}", Item)])
