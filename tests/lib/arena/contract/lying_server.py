"""An HTTP/2 server, in threads, that answers its calls as it is told: rightly, or not."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from arena.contract.scope import Scope
from arena.record.measurement import Cost
from tests.lib.arena.contract.talk import TURN, HangupError, Manner, Pause, Steps, Talk

_PATIENCE_S = 60.0


class Connection:
    """One client, and the calls that it has open."""

    def __init__(self, server: "Server", transport: socket.socket) -> None:
        self.server = server
        self.transport = transport
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(
                client_side=False,
                header_encoding="utf-8",
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self._open: dict[int, tuple[Talk, Steps[None]]] = {}

    def serve(self) -> None:
        """Answer calls until one of both sides hangs up."""
        self.h2.initiate_connection()
        self.flush()
        try:
            while True:
                paused = [self._advance(*each) for each in list(self._open.values())]
                self.flush()
                if TURN not in paused or self._has_news():
                    self._listen()
        finally:
            for _, steps in self._open.values():
                steps.close()

    def send(self, data: bytes) -> None:
        self.transport.sendall(data)

    def flush(self) -> None:
        if data := self.h2.data_to_send():
            self.send(data)

    def _advance(self, talk: Talk, steps: Steps[None]) -> Pause | None:
        try:
            return next(steps)
        except StopIteration:
            self._open.pop(talk.stream, None)
            return None

    def _has_news(self) -> bool:
        if isinstance(self.transport, ssl.SSLSocket) and self.transport.pending():
            return True
        return bool(select.select([self.transport], [], [], 0)[0])

    def _listen(self) -> None:
        data = self.transport.recv(1 << 16)
        if not data:
            raise HangupError
        for event in self.h2.receive_data(data):
            self._take(event)
        self.flush()

    def _take(self, event: h2.events.Event) -> None:
        stream = getattr(event, "stream_id", None) or 0
        if isinstance(event, h2.events.RequestReceived):
            fields = {str(name): str(value) for name, value in event.headers}
            talk = Talk(self, stream, fields)
            self._open[stream] = talk, self.server.manner(talk)
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            if stream in self._open:
                self._open[stream][0].inbox += event.data
        elif isinstance(event, h2.events.StreamEnded) and stream in self._open:
            self._open[stream][0].half_closed = True
        elif isinstance(event, h2.events.StreamReset) and stream in self._open:
            talk, steps = self._open[stream]
            talk.cancelled = True
            if not talk.deaf:
                del self._open[stream]
                steps.close()


@dataclass(frozen=True)
class Tls:
    """The TLS of a server: what it chooses by ALPN, and the versions it speaks.

    A liar's is right for its first `honest` connections.
    """

    protocols: tuple[str, ...] = ("h2",)
    least: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    most: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED
    honest: int = 0


def context_of(tls: Tls, certificates: Path) -> ssl.SSLContext:
    """Return a server's context; versions that are deprecated are those a liar is found by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    if tls.least < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = tls.least
    context.maximum_version = tls.most
    if tls.protocols:
        context.set_alpn_protocols(list(tls.protocols))
    return context


class Server:
    """The listener and its connections, and what its manners want to be seen from the outside.

    `tls` may be changed meanwhile; the next connections may have one each, `next_tls`. `busy` is
    whether it uses its CPU, `growth` how many bytes it takes between two looks at it.
    """

    def __init__(self, manner: Manner, tls: ssl.SSLContext | None) -> None:
        self.manner = manner
        self.tls = tls
        self.next_tls: list[ssl.SSLContext] = []
        self.busy = False
        self.growth = 0
        self.how_ended: str | None = None
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._transports: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def scope(self) -> Scope:
        """The scope of GetSum alone."""
        return Scope(self.port, tls=self.tls is not None)

    def die(self, how: str) -> None:
        """Close everything at once, as the system does for a process that ended."""
        self.how_ended = how
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for transport in list(self._transports):
            with suppress(OSError):
                transport.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        """Wait until every thread has ended."""
        # The first accepts, and may have added one more.
        for thread in self._threads:
            thread.join(timeout=_PATIENCE_S)
            assert not thread.is_alive()
        self._listener.close()

    def _accept(self) -> None:
        while self.how_ended is None:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            plain.settimeout(_PATIENCE_S)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            tls = self.next_tls.pop(0) if self.next_tls else self.tls
            thread = threading.Thread(target=self._converse, args=(plain, tls))
            self._threads.append(thread)
            thread.start()

    def _converse(self, plain: socket.socket, tls: ssl.SSLContext | None) -> None:
        # Whatever goes wrong with a connection is for the client to say.
        with suppress(OSError, HangupError, h2.exceptions.ProtocolError), plain:
            transport = tls.wrap_socket(plain, server_side=True) if tls else plain
            self._transports.add(transport)
            try:
                with transport:
                    if self.how_ended is None:
                        Connection(self, transport).serve()
            finally:
                self._transports.discard(transport)


@contextmanager
def serving(manner: Manner, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve on a free port of 127.0.0.1 for the block."""
    server = Server(manner, tls)
    try:
        yield server
    finally:
        server.die("the test is over")
        server.join()


# How it looks from the outside.


class Clock:
    """Stands in for the module `time`: it passes when somebody sleeps, or reads it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Outside:
    """A Watched: the server's process as its manners want it to be seen."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._seen = clock.now
        self._cpu_s = 1.5
        self._peak_bytes = 50 << 20

    def ended(self) -> str | None:
        return self._server.how_ended

    def cost(self) -> Cost:
        """Return one CPU's time for as long as it was busy, and more memory at each look."""
        if self._server.how_ended:
            raise ProcessLookupError("there is no such process")
        passed, self._seen = self._clock.now - self._seen, self._clock.now
        self._cpu_s += passed if self._server.busy else 0.0
        self._peak_bytes += self._server.growth
        return Cost(cpu_s=self._cpu_s, peak_bytes=self._peak_bytes)
