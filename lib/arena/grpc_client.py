"""A small gRPC client on a sans-io HTTP/2 library, so that what is on the wire is seen.

It exists to check servers, never to load them. Sources: the gRPC over HTTP2 protocol
(length-prefixed messages, grpc-status in trailers) and RFC 9113.
"""

import socket
import ssl
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

# One flag byte, then the message's length (gRPC over HTTP2: Length-Prefixed-Message).
_PREFIX = struct.Struct(">BI")
_LARGEST_MESSAGE = 4 << 20
_WINDOW = 1 << 20


class CallError(Exception):
    """The call did not end as a gRPC call; its text is one line."""


@dataclass
class Reply:
    """What came back: the messages in order, and how the call ended."""

    messages: list[bytes] = field(default_factory=list)
    status: str | None = None
    status_message: str = ""


def frame(message: bytes) -> bytes:
    """Return a message with its gRPC prefix, uncompressed."""
    return _PREFIX.pack(0, len(message)) + message


def split(data: bytearray) -> list[bytes]:
    """Take the complete messages off the front of `data`; CallError on what cannot be one."""
    messages = []
    while len(data) >= _PREFIX.size:
        compressed, length = _PREFIX.unpack_from(data)
        if compressed:
            raise CallError("a reply is compressed, unasked")
        if length > _LARGEST_MESSAGE:
            raise CallError(f"a reply announces {length} bytes")
        end = _PREFIX.size + length
        if len(data) < end:
            break
        messages.append(bytes(data[_PREFIX.size : end]))
        del data[:end]
    return messages


def call(
    port: int,
    path: str,
    requests: Iterable[bytes],
    *,
    tls: bool,
    timeout_s: float,
    most_replies: int,
) -> Reply:
    """Make one call to localhost on a connection of its own; CallError if it fails.

    A server that answers with an error status is a Reply with that status. One that does not
    stop after `most_replies` fails the call.
    """
    deadline = time.monotonic() + timeout_s
    try:
        with _connect(port, tls=tls, deadline=deadline) as transport:
            connection, stream = _opened(port, path, requests, tls=tls)
            return _exchange(transport, connection, _Answer(stream, most_replies), deadline)
    except ConnectionRefusedError as error:
        raise CallError("nothing listens there") from error
    except TimeoutError as error:
        raise CallError(f"no answer within {timeout_s:g} s") from error
    except (OSError, ValueError, h2.exceptions.H2Error) as error:
        raise CallError(str(error).strip() or type(error).__name__) from error


def _connect(port: int, *, tls: bool, deadline: float) -> socket.socket:
    transport = socket.create_connection(("localhost", port), timeout=_left(deadline))
    if not tls:
        return transport
    # The certificate is our own and was made for tests; what matters is ALPN.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    try:
        secure = context.wrap_socket(transport, server_hostname="localhost")
    except BaseException:
        transport.close()
        raise
    if secure.selected_alpn_protocol() != "h2":
        secure.close()
        raise CallError("the server does not choose h2 by ALPN")
    return secure


def _opened(
    port: int, path: str, requests: Iterable[bytes], *, tls: bool
) -> tuple[h2.connection.H2Connection, int]:
    """Return a connection with the whole request waiting to be sent, and its stream."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding=None))
    connection.initiate_connection()
    connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW})
    connection.increment_flow_control_window(_WINDOW)
    stream = connection.get_next_available_stream_id()
    headers = [
        (":method", "POST"),
        (":scheme", "https" if tls else "http"),
        (":path", f"/{path}"),
        (":authority", f"localhost:{port}"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", "httparena-contract"),
    ]
    connection.send_headers(stream, headers)
    connection.send_data(stream, b"".join(frame(each) for each in requests), end_stream=True)
    return connection, stream


def _exchange(
    transport: socket.socket,
    connection: h2.connection.H2Connection,
    answer: "_Answer",
    deadline: float,
) -> Reply:
    while not answer.ended:
        transport.settimeout(_left(deadline))
        transport.sendall(connection.data_to_send())
        data = transport.recv(1 << 16)
        if not data:
            raise CallError("the server closed the connection in the middle of the call")
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            answer.take(event)
    return answer.reply


class _Answer:
    """Collects the events of one stream into a reply."""

    def __init__(self, stream: int, most_replies: int) -> None:
        self.reply = Reply()
        self.ended = False
        self._stream = stream
        self._most_replies = most_replies
        self._pending = bytearray()

    def take(self, event: h2.events.Event) -> None:
        if self.ended:
            return  # Whatever follows a whole answer is none of its business.
        if isinstance(event, h2.events.ConnectionTerminated) and event.error_code:
            raise CallError(f"the server sent GOAWAY ({_code(event.error_code)})")
        if getattr(event, "stream_id", None) != self._stream:
            return
        if isinstance(event, h2.events.StreamReset):
            raise CallError(f"the server reset the stream ({_code(event.error_code)})")
        if isinstance(event, h2.events.DataReceived):
            self._pending += event.data or b""
            self.reply.messages += split(self._pending)
            if len(self.reply.messages) > self._most_replies:
                raise CallError(f"there are more than {self._most_replies} replies")
        elif isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
            headers = {_text(name): _text(value) for name, value in event.headers or []}
            self._note_status(headers, last=event.stream_ended is not None)
        elif isinstance(event, h2.events.StreamEnded):
            self._end()

    def _note_status(self, headers: dict[str, str], *, last: bool) -> None:
        http = headers.get(":status")
        if http not in {None, "200"}:
            raise CallError(f"the server answered with HTTP status {http}")
        if http and not headers.get("content-type", "").startswith("application/grpc"):
            raise CallError(f"the content-type is {headers.get('content-type')!r:.60}")
        # The status comes with the end of the stream, or it is not one (Trailers, Trailers-Only).
        if last and "grpc-status" in headers:
            self.reply.status = headers["grpc-status"]
            self.reply.status_message = headers.get("grpc-message", "")

    def _end(self) -> None:
        if self._pending:
            raise CallError("the last reply is cut off")
        if self.reply.status is None:
            raise CallError("the call ended without grpc-status")
        self.ended = True


def _code(number: object) -> object:
    """Return the name of an HTTP/2 error code; one that has none stays a number."""
    return getattr(number, "name", number)


def _text(field: bytes | str) -> str:
    return field if isinstance(field, str) else field.decode(errors="replace")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
