"""Replies checked during a load, beside a generator that checks none.

The checker makes calls on connections of its own, in the generator's disguise, spread over the
window. A reply that is wrong shows itself here; a call that fails is only counted.
"""

import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from math import ceil
from typing import Any

from arena.base.errors import HostError
from arena.contract import asks
from arena.contract.asks import Ask, stream_request, sum_request
from arena.contract.client import Client, HangError, LostConnectionError
from arena.contract.messages import WrongError
from arena.contract.scope import Scope
from arena.contract.wire import Answer
from arena.record.measurement import Sampled
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from arena.what.profile import Profile

# In a session; a wrong reply in a hundred escapes so many with a probability of 9 %.
CALLS = 240
_CONNECTIONS = 10
# The window's end is not waited for.
_SHARE = 0.95
_TIMEOUT_S = 20.0
# A call that is open at the end is not waited for any longer.
_END_S = 1.0
_LOOK_S = 0.1


@dataclass
class _Line:
    """A connection, and the calls that are open on it. A `lost` one is of no more use."""

    client: Client
    began_s: float = field(default_factory=time.monotonic)
    open: list[tuple[Ask, Answer]] = field(default_factory=list)
    lost: bool = False

    @property
    def is_old(self) -> bool:
        """Whether its calls would soon be late: a client's time is that of all its calls."""
        return time.monotonic() - self.began_s > _TIMEOUT_S / 2


class Sampler:
    """Checks replies from its start to its stop, in a thread of its own: its share of CALLS."""

    def __init__(
        self, scope: Scope, profile: Profile, runs: int, cpus: Sequence[int] | None
    ) -> None:
        self._scope = scope
        self._asks = _asks_of(profile)
        calls = ceil(CALLS / runs / max(profile.replies, profile.requests_per_call))
        self._due_s = deque(profile.window_s * _SHARE * i / calls for i in range(calls))
        self._cpus = cpus
        self._is_over = threading.Event()
        self._lines: list[_Line | None] = [None] * _CONNECTIONS
        self._ended = self._failed = 0
        self._wrong: list[str] = []
        self._cpu_s = 0.0
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Begin: the window has opened."""
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether calls are still to be made, or not over."""
        return self._thread.is_alive()

    def stop(self) -> Sampled:
        """End, and return what was seen; calls that are still open are not in it."""
        self._is_over.set()
        self._thread.join(_END_S)
        if self._problem:
            raise self._problem
        return Sampled(
            calls=self._ended,
            failed=self._failed,
            cpu_s=self._cpu_s,
            wrong=len(self._wrong),
            sample=self._wrong[0] if self._wrong else "",
        )

    def _run(self) -> None:
        if self._cpus:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cpus)
        began = time.monotonic()
        try:
            while not self._is_over.is_set() and (self._due_s or self._busy()):
                now_s = time.monotonic() - began
                while self._due_s and self._due_s[0] <= now_s:
                    self._begin(len(self._due_s) % _CONNECTIONS)
                    self._due_s.popleft()
                self._look(max(0.0, self._due_s[0] - now_s) if self._due_s else _LOOK_S)
                self._cpu_s = time.thread_time()
        except BaseException as problem:  # noqa: BLE001 - `stop` raises it
            self._problem = problem
        finally:
            for line in filter(None, self._lines):
                line.client.close()

    def _busy(self) -> list[_Line]:
        return [line for line in self._lines if line and line.open]

    def _begin(self, number: int) -> None:
        """Begin a call on a connection, without waiting for those before it."""
        line = self._lines[number]
        try:
            if line is None or line.lost or (line.is_old and not line.open):
                if line:
                    line.client.close()
                line = self._lines[number] = _Line(Client(self._scope, _TIMEOUT_S))
            ask = next(self._asks)
            line.open.append((ask, line.client.ask(ask.path, ask.body)))
            line.client.flush()
        except (WrongError, HostError):
            if line is None or line.lost or not line.open:
                self._fail()
            self._lose(line)

    def _look(self, at_most_s: float) -> None:
        """Wait for news of the open calls, and judge those that are over."""
        busy = self._busy()
        if not busy:
            self._is_over.wait(at_most_s)
            return
        ready, _, _ = select.select([each.client for each in busy], [], [], min(at_most_s, _LOOK_S))
        for line in busy:
            if line.client in ready:
                self._read(line)

    def _read(self, line: _Line) -> None:
        problem: WrongError | HostError | None = None
        try:
            line.client.take_ready()
        except (WrongError, HostError) as error:
            problem = error
        still: list[tuple[Ask, Answer]] = []
        for ask, answer in line.open:
            if answer.over or len(answer.messages) > ask.replies:
                self._judge(ask, answer)
            else:
                still.append((ask, answer))
        line.open = still
        if problem:
            # A connection that ends, or is refused, loses calls. Other bytes are wrong ones.
            is_lost = isinstance(problem, (LostConnectionError, HangError, HostError))
            if not is_lost and line.client.wire.goaway is None:
                self._wrong.append(str(problem))
            self._lose(line)

    def _judge(self, ask: Ask, answer: Answer) -> None:
        if answer.reset is not None or _is_refused(answer):
            self._fail()
            return
        self._ended += 1
        if not answer.over:
            self._wrong.append(f"there are more than {ask.replies} replies")
            return
        try:
            ask.require(answer)
        except WrongError as error:
            self._wrong.append(error.detail)

    def _fail(self) -> None:
        self._ended += 1
        self._failed += 1

    def _lose(self, line: _Line | None) -> None:
        """Give a connection up: the calls that were open on it have failed."""
        if line is None:
            return
        line.lost = True
        line.client.close()
        for _ in line.open:
            self._fail()
        line.open = []


def _is_refused(answer: Answer) -> bool:
    """Return whether the call failed by its status, gRPC's or HTTP's."""
    http = (answer.headers or {}).get(":status")
    return answer.status not in {None, "0"} or http not in {None, "200"}


def _asks_of(profile: Profile) -> Iterator[Ask]:
    """Yield the load's own call and the same call with random operands, in turn."""
    if profile.proto:
        own = asks.own(profile)
        return (own for _ in count())
    return (_sum_of(profile, is_own=number % 2 == 0) for number in count())


def _sum_of(profile: Profile, *, is_own: bool) -> Ask:
    values: dict[str, Any] = dict(profile.request)
    if profile.method == "StreamSum":
        own = StreamRequest(**values)
        return asks.sum_of("StreamSum", own if is_own else stream_request(own.count))
    request = SumRequest(**values) if is_own else sum_request()
    return asks.sum_of(profile.method, *[request] * profile.requests_per_call)
