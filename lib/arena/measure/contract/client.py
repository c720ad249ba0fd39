"""The contract's client: a Wire on a socket, and the calls made over it."""

import math
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from google.protobuf.message import Message

from arena.measure.contract.messages import WrongError, frame
from arena.measure.contract.scope import Call, Scope
from arena.measure.contract.wire import Answer, Wire, code_name

SERVICE = "benchmark.BenchmarkService"
OPEN_WINDOW = 1 << 20  # bytes that a stream may send before a WINDOW_UPDATE

_MANY = 10_000  # more replies than any call has whose end is awaited
_READ = 1 << 16
_STEP_S = 0.1


class HangError(WrongError):
    """The awaited event did not come in time."""


class _LostError(WrongError):
    """The connection is closed or broken."""


class Client:
    """One connection to a server on localhost; every failure is a WrongError.

    All waiting ends at the deadline, `timeout_s` from now.
    """

    def __init__(
        self,
        scope: Scope,
        timeout_s: float,
        *,
        window: int = OPEN_WINDOW,
        held: bool = False,
        tight: bool = False,
        receive_buffer: int | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        authority = f"localhost:{scope.port}"
        self.wire = Wire(authority, tls=scope.tls, window=window, held=held, tight=tight)
        try:
            self._socket = connected(scope.port, self._left(), receive_buffer)
            if scope.tls:
                self._socket = tls_over(self._socket, tls_context())
                if self._socket.selected_alpn_protocol() != "h2":
                    self._socket.close()
                    raise WrongError("the server does not choose h2 by ALPN")
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

    def call(self, call: Call, *requests: Message, end: bool = True) -> Answer:
        """Open a call with these requests; `end` closes the client's side."""
        return self.wire.request(f"{SERVICE}/{call}", _framed(requests), end=end)

    def ask(self, path: str, body: bytes) -> Answer:
        """Open a call with all its requests, framed, and close the client's side."""
        return self.wire.request(path, body)

    def send(self, answer: Answer, *requests: Message, end: bool = False) -> None:
        """Send more requests of an open call."""
        self.wire.send(answer, _framed(requests), end=end)

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
        with suppress(_LostError):
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
                self._taken(self._read(min(step, self._left())))
            if meanwhile and time.monotonic() >= due:
                meanwhile()
                due = time.monotonic() + step

    def until_quiet(self, quiet_s: float) -> None:
        """Exchange bytes until none has come for `quiet_s`, or the server has hung up."""
        while True:
            self.flush()
            left = self._left()
            try:
                data = self._read(min(quiet_s, left))
            except TimeoutError:
                if left < quiet_s:
                    raise self._hang() from None
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
            self._socket.settimeout(self._left())
            self._socket.sendall(data)
        except (OSError, ValueError) as error:
            # The server may have sent the reason before it closed the connection.
            with suppress(TimeoutError):
                self._taken(self._read(_STEP_S))
            raise self._failure(error) from error

    def _taken(self, data: bytes) -> None:
        if not data:
            goaway = self.wire.goaway
            said = "" if goaway is None else f", with GOAWAY ({code_name(goaway)})"
            raise _LostError(f"the server closed the connection in the middle of the call{said}")
        self.wire.take(data)

    def _read(self, timeout_s: float) -> bytes:
        try:
            self._socket.settimeout(timeout_s)
            return self._socket.recv(_READ)
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def _left(self) -> float:
        if (left := self._deadline - time.monotonic()) <= 0:
            raise self._hang()
        return left

    def _hang(self) -> HangError:
        return HangError(f"no answer within {self._timeout_s:g} s")

    def _failure(self, error: Exception) -> WrongError:
        if isinstance(error, TimeoutError):
            return self._hang()
        if isinstance(error, ConnectionRefusedError):
            return _LostError("nothing listens there")
        if isinstance(error, ConnectionError):
            return _LostError(f"the connection broke ({error.strerror or error})")
        if isinstance(error, ssl.SSLError):
            return _LostError(f"TLS failed ({error.reason or error})")
        return _LostError(str(error).strip() or type(error).__name__)


def _framed(requests: Sequence[Message]) -> bytes:
    return b"".join(frame(each.SerializeToString()) for each in requests)


def connected(port: int, timeout_s: float, receive_buffer: int | None = None) -> socket.socket:
    """Connect to the first address of localhost that answers."""
    problem: OSError = ConnectionRefusedError()
    found = socket.getaddrinfo("localhost", port, 0, socket.SOCK_STREAM)
    for family, kind, protocol, _, address in found:
        plain = socket.socket(family, kind, protocol)
        try:
            # The kernel limits the offered window only if the size is set before connect (tcp(7)).
            if receive_buffer is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.settimeout(timeout_s)
            plain.connect(address)
        except OSError as error:
            plain.close()
            problem = error
        else:
            return plain
    raise problem


def tls_context(protocols: Sequence[str] = ("h2",)) -> ssl.SSLContext:
    """Return a client context that trusts any certificate: the test's is self-signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(protocols))
    return context


def tls_over(plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Do the TLS handshake over a connected socket; close the socket if that fails."""
    try:
        return context.wrap_socket(plain, server_hostname="localhost")
    except BaseException:
        plain.close()
        raise
