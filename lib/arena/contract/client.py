"""The contract's client: a Wire on a socket, and the calls made over it."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from google.protobuf.message import Message

from arena.contract.link import Link, LostError, Place
from arena.contract.messages import WrongError, frame
from arena.contract.scope import Call
from arena.contract.wire import Answer, Wire, code_name

SERVICE = "benchmark.BenchmarkService"

_MANY = 10_000  # more replies than any call has whose end is awaited
_STEP_S = 0.1


class Client:
    """One connection to a server on localhost; every failure is a WrongError.

    It looks like the generator that the place names. All waiting ends at the deadline, `timeout_s`
    from now.
    """

    def __init__(
        self,
        place: Place,
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
        self._link = Link(place, timeout_s, "h2", receive_buffer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

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
        with suppress(LostError):
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
                self._taken(self._link.read(min(step, self._link.left())))
            if meanwhile and time.monotonic() >= due:
                meanwhile()
                due = time.monotonic() + step

    def fileno(self) -> int:
        """Return the socket's number, for select(2)."""
        return self._link.fileno()

    def take_ready(self) -> None:
        """Take what has come, without waiting, and send what that calls for."""
        for data in self._link.ready():
            self._taken(data)
        self.flush()

    def until_quiet(self, quiet_s: float) -> None:
        """Exchange bytes until none has come for `quiet_s`, or the server has hung up."""
        while True:
            self.flush()
            left = self._link.left()
            try:
                data = self._link.read(min(quiet_s, left))
            except TimeoutError:
                if left < quiet_s:
                    raise self._link.hang() from None
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
            self._link.send(data)
        except LostError:
            # The server may have sent the reason before it closed the connection.
            with suppress(TimeoutError):
                self._taken(self._link.read(_STEP_S))
            raise

    def _taken(self, data: bytes) -> None:
        if not data:
            goaway = self.wire.goaway
            said = "" if goaway is None else f", with GOAWAY ({code_name(goaway)})"
            raise LostError(f"the server closed the connection in the middle of the call{said}")
        self.wire.take(data)


def _framed(requests: Sequence[Message]) -> bytes:
    return b"".join(frame(each.SerializeToString()) for each in requests)
