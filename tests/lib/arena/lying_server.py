"""An HTTP/2 server in a thread that answers rightly, or lies as it is told."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from arena.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from arena.grpc_client import frame


class HangupError(Exception):
    """Close the connection now."""


@dataclass
class Talk:
    """One request, and the means to answer it in any way."""

    connection: h2.connection.H2Connection
    transport: socket.socket
    stream: int
    path: str
    body: bytes

    def values(self) -> list[int]:
        """Return the right answer."""
        message = self.body[5:]
        if self.path.endswith("/GetSum"):
            one = SumRequest.FromString(message)
            return [one.a + one.b]
        many = StreamRequest.FromString(message)
        return [many.a + many.b + i for i in range(max(1, many.count))]

    def headers(self, *extra: tuple[str, str], status: str = "200", end: bool = False) -> None:
        fields = [(":status", status), ("content-type", "application/grpc"), *extra]
        self.connection.send_headers(self.stream, fields, end_stream=end)
        self.flush()

    def data(self, payload: bytes, *, end: bool = False) -> None:
        """Send as much as the client's windows allow, and wait for more room for the rest."""
        while payload:
            room = min(
                self.connection.local_flow_control_window(self.stream),
                self.connection.max_outbound_frame_size,
            )
            if room:
                self.connection.send_data(self.stream, payload[:room])
                payload = payload[room:]
                self.flush()
            else:
                self.receive()
        if end:
            self.connection.end_stream(self.stream)
            self.flush()

    def replies(self, values: list[int]) -> None:
        self.data(b"".join(frame(SumReply(result=each).SerializeToString()) for each in values))

    def trailers(self, status: str = "0", message: str = "") -> None:
        fields = [("grpc-status", status), ("grpc-message", message)]
        self.connection.send_headers(self.stream, fields, end_stream=True)
        self.flush()

    def answer(self, values: list[int]) -> None:
        """Answer as a good server does, whatever the values are."""
        self.headers()
        self.replies(values)
        self.trailers()

    def flush(self) -> None:
        self.transport.sendall(self.connection.data_to_send())

    def receive(self) -> list[h2.events.Event]:
        data = self.transport.recv(1 << 16)
        if not data:
            raise HangupError
        events = self.connection.receive_data(data)
        self.flush()
        return events


Manner = Callable[[Talk], None]


def honest(talk: Talk) -> None:
    talk.answer(talk.values())


@contextmanager
def serving(manner: Manner, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve one connection after the other for the block; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, manner, tls))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=10)
            assert not thread.is_alive()


def _accept(listener: socket.socket, manner: Manner, tls: ssl.SSLContext | None) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        plain.settimeout(5)
        # Whatever goes wrong with a connection is for the client to say.
        with suppress(OSError, HangupError, h2.exceptions.H2Error), plain:
            transport = tls.wrap_socket(plain, server_side=True) if tls else plain
            with transport:
                _converse(transport, manner)


def _converse(transport: socket.socket, manner: Manner) -> None:
    configuration = h2.config.H2Configuration(client_side=False)
    connection = h2.connection.H2Connection(configuration)
    connection.initiate_connection()
    talk = Talk(connection, transport, 0, "", b"")
    while True:
        for event in talk.receive():
            if isinstance(event, h2.events.RequestReceived):
                talk.stream = event.stream_id or 0
                talk.path = dict(event.headers or [])[b":path"].decode()
            elif isinstance(event, h2.events.DataReceived):
                talk.body += event.data or b""
            elif isinstance(event, h2.events.StreamEnded):
                manner(talk)
