"""Requests and replies, over HTTP/1.1 or HTTP/2; every failure is a WrongError.

Sources: RFC 9110, RFC 9112, RFC 9113.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import h11

from arena.contract.client import Client, ClientConnection, LostConnectionError
from arena.contract.messages import WrongError
from arena.contract.scope import AnyScope, Version, disguise_of
from arena.contract.wire import Answer

TIMEOUT_S = 20.0

PIECE = 7  # bytes
# HTTP/2 has no such fields (RFC 9113, 8.2.2).
_OF_HTTP1 = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}


@dataclass(frozen=True)
class ItemRequest:
    """A request; one that is not `sized` does not say how long its body is.

    One `in_pieces` is sent a few bytes at a time.
    """

    method: str
    path: str
    body: bytes | None = None
    fields: tuple[tuple[str, str], ...] = ()
    sized: bool = True
    in_pieces: bool = False

    def __str__(self) -> str:
        return f"{self.method} {self.path:.60}"

    @property
    def all_fields(self) -> list[tuple[str, str]]:
        """Its fields, with those that describe its body."""
        if self.body is None:
            return list(self.fields)
        size = [("content-length", str(len(self.body)))] if self.sized else []
        return [("content-type", "application/json"), *size, *self.fields]

    @property
    def parts(self) -> list[bytes]:
        """Its body, as it is sent."""
        body = self.body or b""
        step = PIECE if self.in_pieces else max(len(body), 1)
        return [body[at : at + step] for at in range(0, len(body), step)]


@dataclass(frozen=True)
class Reply:
    """A whole answer; names of fields are in lower case."""

    status: int
    fields: Mapping[str, str]
    body: bytes


# Waits for the reply to a request that was sent.
Wait = Callable[[], Reply]


class Speaker(ABC):
    """A connection that is closed when the block is left."""

    link: ClientConnection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    @abstractmethod
    def send(self, request: ItemRequest) -> Wait:
        """Send a request, and return what waits for its reply."""


def speaker(place: AnyScope, version: Version, timeout_s: float | None = None) -> Speaker:
    """Connect to a server."""
    return (Http2 if version == "h2" else Http1)(place, timeout_s)


class Http2(Speaker):
    """An HTTP/2 connection: requests that are sent before a reply is awaited are concurrent."""

    def __init__(self, place: AnyScope, timeout_s: float | None = None) -> None:
        self.link = self.client = Client(place, timeout_s or TIMEOUT_S)

    def send(self, request: ItemRequest) -> Wait:
        """Send a request, as far as the server's windows allow."""
        answer = self.open(request, end=request.body is None)
        for part in request.parts if request.in_pieces else ():
            self.client.wire.send(answer, part)
            self.client.flush()
        if request.body is not None:
            rest = b"" if request.in_pieces else request.body
            self.client.wire.send(answer, rest, end=True)
        self.client.flush()
        return lambda: self.reply(request, answer)

    def open(self, request: ItemRequest, *, end: bool = False) -> Answer:
        """Send the head of a request."""
        return self.client.wire.open(request.method, request.path, request.all_fields, end=end)

    def reply(self, request: ItemRequest, answer: Answer) -> Reply:
        """Wait for a reply; WrongError if it is not as HTTP/2 wants it."""
        self.client.finish(answer)
        fields = answer.headers or {}
        for name in fields:
            if name in _OF_HTTP1 or name != name.lower():
                raise WrongError(f"{request}: HTTP/2 has no field {name!r:.30}")
        size, body = fields.get("content-length"), bytes(answer.body)
        if size not in {None, str(len(body))} and request.method != "HEAD":
            raise WrongError(f"{request}: {len(body)} bytes come, and content-length is {size:.20}")
        status = fields.get(":status", "")
        if not status.isdecimal():
            raise WrongError(f"{request}: the status is {status!r:.20}")
        return Reply(int(status), fields, body)


class Http1(Speaker):
    """HTTP/1.1, with another connection after one that the server has closed.

    `closings` counts the replies after which the server closed it, or said that it would.
    """

    def __init__(self, place: AnyScope, timeout_s: float | None = None) -> None:
        self._place = place
        self._timeout_s = timeout_s or TIMEOUT_S
        self._connect()
        self.closings = 0

    def send(self, request: ItemRequest) -> Wait:
        """Send a request; the reply to the one before must have come."""
        if self._h11.our_state is not h11.IDLE:
            self.link.close()
            self._connect()
        head = [
            ("host", f"localhost:{self._place.port}"),
            ("user-agent", (self._place.disguise or disguise_of()).agent),
            *request.all_fields,
        ]
        if request.body is not None and not request.sized:
            head.append(("transfer-encoding", "chunked"))
        out = self._h11.send(h11.Request(method=request.method, target=request.path, headers=head))
        pieces = [out or b""]
        pieces += [self._h11.send(h11.Data(data=part)) or b"" for part in request.parts]
        pieces.append(self._h11.send(h11.EndOfMessage()) or b"")
        # A server may refuse a body, and hang up, before all of it was sent.
        with suppress(LostConnectionError):
            for piece in pieces if request.in_pieces else [b"".join(pieces)]:
                self.link.write(piece)
        return lambda: self._reply(request)

    def _connect(self) -> None:
        self.link = ClientConnection(self._place, self._timeout_s, "http/1.1")
        self._h11 = h11.Connection(h11.CLIENT)

    def _reply(self, request: ItemRequest) -> Reply:
        head, body = None, b""
        while not isinstance(event := self._event(request), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
        if head is None or head.http_version != b"1.1":
            raise WrongError(f"{request}: the answer is not HTTP/1.1")
        if self._h11.our_state is h11.DONE and self._h11.their_state is h11.DONE:
            self._h11.start_next_cycle()
        else:
            self.closings += 1
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        return Reply(head.status_code, fields, body)

    def _event(self, request: ItemRequest) -> Any:
        try:
            while (event := self._h11.next_event()) is h11.NEED_DATA:
                try:
                    data = self.link.read(self.link.left())
                except TimeoutError:
                    raise self.link.hang() from None
                if not data and self._h11.their_state is h11.SEND_RESPONSE:
                    raise LostConnectionError(
                        f"{request}: the server closed the connection unanswered"
                    )
                self._h11.receive_data(data)
        except h11.RemoteProtocolError as error:
            raise WrongError(f"{request}: the answer is not HTTP/1.1 ({error})") from error
        return event
