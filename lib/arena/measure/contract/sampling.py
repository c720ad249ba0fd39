"""Replies checked during a load, beside a generator that checks none.

The checker makes calls on connections of its own, in the generator's disguise, spread over the
window. A reply that is wrong shows itself here; a call that fails is only counted.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any

from arena.measure.contract import asks
from arena.measure.contract.asks import Ask
from arena.measure.contract.client import SERVICE, Client
from arena.measure.contract.expected import int32, require, stream_request, sum_request
from arena.measure.contract.link import HangError, LostError
from arena.measure.contract.messages import WrongError, frame
from arena.measure.contract.scope import Scope
from arena.measure.contract.wire import Answer
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


@dataclass(frozen=True)
class _Call:
    """A call that ended: whether its status was OK, and what was wrong with its reply."""

    is_ok: bool
    wrong: str = ""


class Sampler:
    """Checks replies from its start to its stop, in a thread of its own, at most `calls` times."""

    def __init__(
        self, scope: Scope, profile: Profile, runs: int, cpus: Sequence[int] | None
    ) -> None:
        self._scope = scope
        self._asks = _asks_of(profile)
        calls = ceil(CALLS / runs / max(profile.replies, profile.requests_per_call))
        self._due_s = [profile.window_s * _SHARE * i / calls for i in range(calls)]
        self._cpus = cpus
        self._is_over = threading.Event()
        self._seen: list[_Call] = []
        self._cpu_s = 0.0
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
        seen = list(self._seen)
        wrong = [each.wrong for each in seen if each.wrong]
        return Sampled(
            calls=len(seen),
            failed=sum(not each.is_ok for each in seen),
            cpu_s=self._cpu_s,
            wrong=len(wrong),
            sample=wrong[0] if wrong else "",
        )

    def _run(self) -> None:
        if self._cpus:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cpus)
        began = time.monotonic()
        each = ceil(len(self._due_s) / _CONNECTIONS)
        due = iter(self._due_s)
        while not self._is_over.is_set() and self._made_on_one(began, due, each):
            pass
        self._cpu_s = time.thread_time()

    def _made_on_one(self, began: float, due: Iterator[float], calls: int) -> bool:
        """Make so many calls on one connection; return whether there may be more to make."""
        client: Client | None = None
        try:
            for _ in range(calls):
                at_s = next(due, None)
                if at_s is None or self._is_over.wait(max(0.0, began + at_s - time.monotonic())):
                    return False
                if client is None:
                    client = Client(self._scope, _TIMEOUT_S)
                self._seen.append(_made(client, next(self._asks)))
                self._cpu_s = time.thread_time()
        except (WrongError, OSError):
            self._seen.append(_Call(is_ok=False))
        finally:
            if client:
                client.close()
        return True


def _made(client: Client, ask: Ask) -> _Call:
    """Make a call; LostError or HangError if its connection is of no more use."""
    answer = client.ask(ask.path, ask.body)
    try:
        client.wait(lambda: answer.over or len(answer.messages) > ask.replies)
        if answer.reset is not None or _is_refused(answer):
            return _Call(is_ok=False)
        if not answer.over:
            return _Call(is_ok=True, wrong=f"there are more than {ask.replies} replies")
        ask.require(answer)
    except (LostError, HangError):
        raise
    except WrongError as error:
        if client.wire.goaway is not None and not answer.over:
            raise LostError(error.detail) from error
        return _Call(is_ok=True, wrong=error.detail)
    return _Call(is_ok=True)


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
        return asks.sum_of(own if is_own else stream_request(own.count))
    request = SumRequest(**values) if is_own else sum_request()
    if profile.method == "GetSum":
        return asks.sum_of(request)
    requests = [request] * profile.requests_per_call
    sums = [int32(each.a + each.b) for each in requests]
    expected = [int32(sum(sums))] if profile.method == "CollectSum" else sums
    return Ask(
        f"{SERVICE}/{profile.method}",
        b"".join(frame(each.SerializeToString()) for each in requests),
        len(expected),
        lambda answer: require(answer, expected),
    )
