"""The contract's client: a socket to a server on localhost with a deadline, and a Wire on it.

Every failure is a WrongError, but what this host cannot do is a HostError.
"""

import errno
import math
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

from google.protobuf.message import Message

from arena.contract.messages import WrongError, frame
from arena.contract.scope import AnyScope, Call
from arena.contract.wire import Answer, Wire, code_name
from arena.machine.blame import judged
from arena.machine.ports import localhost

SERVICE = "benchmark.BenchmarkService"

_MANY = 10_000  # more replies than any call has whose end is awaited
_STEP_S = 0.1
_READ = 1 << 16
_WHAT = "talk to the server"
_NOBODY = (errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


class HangError(WrongError):
    """The awaited event did not come in time."""


class LostConnectionError(WrongError):
    """The connection is closed or broken."""


class ClientConnection:
    """One connection; over TLS, the server must choose `protocol` by ALPN.

    All waiting ends at the deadline, `timeout_s` from now.
    """

    def __init__(
        self, place: AnyScope, timeout_s: float, protocol: str, receive_buffer: int | None = None
    ) -> None:
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        try:
            self._socket = connected(place.port, self.left(), receive_buffer)
            if place.tls:
                self._socket = tls_over(self._socket, tls_context((protocol,)))
                if self._socket.selected_alpn_protocol() != protocol:
                    self._socket.close()
                    raise WrongError(f"the server does not choose {protocol} by ALPN")
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._socket.close()

    def write(self, data: bytes) -> None:
        """Send all of it."""
        try:
            self._socket.settimeout(self.left())
            self._socket.sendall(data)
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def read(self, timeout_s: float) -> bytes:
        """Return the next bytes, none at the end; TimeoutError if there are none in time."""
        try:
            self._socket.settimeout(timeout_s)
            return self._socket.recv(_READ)
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def fileno(self) -> int:
        """Return the socket's number, for select(2)."""
        return self._socket.fileno()

    def ready(self) -> Iterator[bytes]:
        """Yield what can be read without waiting; no bytes at the end of the connection."""
        data = b"x"
        while data:
            try:
                self._socket.settimeout(0)
                data = self._socket.recv(_READ)
            except (BlockingIOError, ssl.SSLWantReadError):
                return
            except (OSError, ValueError) as error:
                raise self._failure(error) from error
            yield data

    def left(self) -> float:
        """Return the seconds until the deadline; HangError if it has passed."""
        if (left := self._deadline - time.monotonic()) <= 0:
            raise self.hang()
        return left

    def hang(self) -> HangError:
        """Return the error of a server that lets the deadline pass."""
        return HangError(f"no answer within {self._timeout_s:g} s")

    def _failure(self, error: OSError | ValueError) -> Exception:
        if isinstance(error, OSError) and (other := judged(error, "contract", _WHAT)):
            return other
        if isinstance(error, TimeoutError):
            return self.hang()
        if isinstance(error, ConnectionRefusedError):
            return LostConnectionError("nothing listens there")
        if isinstance(error, ConnectionError):
            return LostConnectionError(f"the connection broke ({error.strerror or error})")
        if isinstance(error, ssl.SSLError):
            return LostConnectionError(f"TLS failed ({error.reason or error})")
        return LostConnectionError(str(error).strip() or type(error).__name__)


def connected(port: int, timeout_s: float, receive_buffer: int | None = None) -> socket.socket:
    """Connect to the first address of localhost that answers.

    OSError if that is the server's fault, else HostError: what an address that was reached says
    of the server weighs more than that another one cannot be used here.
    """
    problem: OSError | None = None
    try:
        found = localhost(port)
    except OSError as error:
        found, problem = [], error
    for family, kind, protocol, _, address in found:
        try:
            plain = socket.socket(family, kind, protocol)
            return _connected(plain, address, timeout_s, receive_buffer)
        except OSError as error:
            if problem is None or judged(problem, "contract", _WHAT):
                problem = error
    problem = problem or ConnectionRefusedError(*_NOBODY)
    raise judged(problem, "contract", "connect to the server") or problem


def _connected(
    plain: socket.socket, address: Any, timeout_s: float, receive_buffer: int | None
) -> socket.socket:
    """Connect a socket; close it if that fails."""
    with _closed_on_error(plain):
        # The kernel limits the offered window only if the size is set before connect (tcp(7)).
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(timeout_s)
        plain.connect(address)
        # If no server listens, a port of this range can be given to the client, which then
        # has itself at the other end.
        if plain.getsockname() == plain.getpeername():
            raise ConnectionRefusedError(*_NOBODY)
        return plain


def tls_context(protocols: Sequence[str] = ("h2",)) -> ssl.SSLContext:
    """Return a client context that trusts any certificate: the test's is self-signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(protocols))
    return context


def tls_over(plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Do the TLS handshake over a connected socket; close the socket if that fails."""
    with _closed_on_error(plain):
        return context.wrap_socket(plain, server_hostname="localhost")


@contextmanager
def _closed_on_error(plain: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        plain.close()
        raise


class Client(ClientConnection):
    """One connection to a server on localhost; every failure is a WrongError.

    It looks like the generator that the place names. All waiting ends at the deadline, `timeout_s`
    from now.
    """

    def __init__(
        self,
        place: AnyScope,
        timeout_s: float,
        *,
        window: int | None = None,
        held: bool = False,
        tight: bool = False,
        receive_buffer: int | None = None,
    ) -> None:
        self.wire = Wire(
            f"localhost:{place.port}",
            tls=place.tls,
            disguise=place.disguise,
            window=window,
            held=held,
            tight=tight,
            timeout_s=timeout_s,
        )
        super().__init__(place, timeout_s, "h2", receive_buffer)

    def call(self, call: Call, *requests: Message, end: bool = True) -> Answer:
        """Open a call with these requests; `end` closes the client's side."""
        return self.wire.request(f"{SERVICE}/{call}", framed(*requests), end=end)

    def ask(self, path: str, body: bytes) -> Answer:
        """Open a call with all its requests, framed, and close the client's side."""
        return self.wire.request(path, body)

    def send(self, answer: Answer, *requests: Message, end: bool = False) -> None:
        """Send more requests of an open call."""
        self.wire.send(answer, framed(*requests), end=end)

    def finish(self, *answers: Answer) -> None:
        """Wait until these calls are over; WrongError if one is reset or never seems to end."""

        def endless() -> bool:
            return any(len(each.messages) > _MANY and not each.over for each in answers)

        self.wait(lambda: all(answer.over for answer in answers) or endless())
        if endless():
            raise WrongError(f"there are more than {_MANY} replies")
        for answer in answers:
            if answer.reset is not None:
                raise WrongError(f"the server reset the stream ({code_name(answer.reset)})")

    def until_over(self, answer: Answer) -> None:
        """Wait until a call is over or the server has hung up; HangError if neither happens."""
        with suppress(LostConnectionError):
            self.wait(lambda: answer.over)

    def wait(
        self, condition: Callable[[], object], meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Exchange bytes until the condition holds; `meanwhile` is called ten times a second."""
        step = _STEP_S if meanwhile else math.inf
        due = time.monotonic() + step
        while True:
            self.flush()
            if condition():
                return
            with suppress(TimeoutError):
                self._taken(self.read(min(step, self.left())))
            if meanwhile and time.monotonic() >= due:
                meanwhile()
                due = time.monotonic() + step

    def take_ready(self) -> None:
        """Take what has come, without waiting, and send what that calls for."""
        for data in self.ready():
            self._taken(data)
        self.flush()

    def until_quiet(self, quiet_s: float) -> None:
        """Exchange bytes until none has come for `quiet_s`, or the server has hung up."""
        while True:
            self.flush()
            left = self.left()
            try:
                data = self.read(min(quiet_s, left))
            except TimeoutError:
                if left < quiet_s:
                    raise self.hang() from None
                return
            if not data:
                return
            self.wire.take(data)

    def flush(self) -> None:
        """Send the pending bytes."""
        if not self.wire.output:
            return
        data, self.wire.output = bytes(self.wire.output), bytearray()
        try:
            self.write(data)
        except LostConnectionError:
            # The server may have sent the reason before it closed the connection.
            with suppress(TimeoutError):
                self._taken(self.read(_STEP_S))
            raise

    def _taken(self, data: bytes) -> None:
        if not data:
            goaway = self.wire.goaway
            said = "" if goaway is None else f", with GOAWAY ({code_name(goaway)})"
            raise LostConnectionError(
                f"the server closed the connection in the middle of the call{said}"
            )
        self.wire.take(data)


def framed(*requests: Message) -> bytes:
    """Return requests as they are sent, one after the other."""
    return b"".join(frame(each.SerializeToString()) for each in requests)
