"""A socket to a server on localhost, with a deadline.

Every failure is a WrongError, but what this host cannot do is a HostError.
"""

import errno
import os
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol

from arena.contract.disguise import Disguise
from arena.contract.messages import WrongError
from arena.machine.blame import judged
from arena.machine.ports import localhost

_READ = 1 << 16
_WHAT = "talk to the server"


class HangError(WrongError):
    """The awaited event did not come in time."""


class LostError(WrongError):
    """The connection is closed or broken."""


class Place(Protocol):
    """A port of a server."""

    @property
    def port(self) -> int:
        """Its number."""

    @property
    def tls(self) -> bool:
        """Whether it speaks TLS."""

    @property
    def disguise(self) -> Disguise | None:
        """What its clients look like; None for any generator."""


class Link:
    """One connection; over TLS, the server must choose `protocol` by ALPN.

    All waiting ends at the deadline, `timeout_s` from now.
    """

    def __init__(
        self, place: Place, timeout_s: float, protocol: str, receive_buffer: int | None = None
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

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._socket.close()

    def send(self, data: bytes) -> None:
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
        """Return the socket's number."""
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
            return LostError("nothing listens there")
        if isinstance(error, ConnectionError):
            return LostError(f"the connection broke ({error.strerror or error})")
        if isinstance(error, ssl.SSLError):
            return LostError(f"TLS failed ({error.reason or error})")
        return LostError(str(error).strip() or type(error).__name__)


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
    problem = problem or _nobody()
    raise judged(problem, "contract", "connect to the server") or problem


def _nobody() -> ConnectionRefusedError:
    return ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


def _connected(
    plain: socket.socket, address: Any, timeout_s: float, receive_buffer: int | None
) -> socket.socket:
    """Connect a socket; close it if that fails."""
    try:
        # The kernel limits the offered window only if the size is set before connect (tcp(7)).
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(timeout_s)
        plain.connect(address)
        # If no server listens, a port of this range can be given to the client, which then
        # has itself at the other end.
        if plain.getsockname() != plain.getpeername():
            return plain
    except BaseException:
        plain.close()
        raise
    plain.close()
    raise _nobody()


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
