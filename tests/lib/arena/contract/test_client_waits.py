"""Waiting on a connection: for calls, for silence, and never past the deadline."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from hyperframe.frame import DataFrame

from arena.contract.client import Client
from arena.contract.expected import stream_request, sum_request
from arena.contract.link import HangError
from arena.contract.messages import WrongError
from arena.contract.wire import Answer
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.clients import (
    LONG_S,
    SOON_S,
    a_client,
    answering,
    get_sum,
    until_end,
)
from tests.lib.arena.contract.peer import wrong
from tests.lib.arena.contract.talk import TURN, Manner, Steps, Talk, changed, reply


def trickling(talk: Talk) -> Steps[None]:
    """Send replies without end, each in time."""
    talk.headers()
    while True:
        talk.raw(DataFrame(talk.stream, reply(7)))
        yield TURN


def given_up() -> AbstractContextManager[object]:
    """Expect the deadline to pass, which on a busy host may be as early as while connecting."""
    return pytest.raises(HangError, match=r"^no answer within 0\.1 s$")


def test_a_server_that_never_answers_is_given_up() -> None:
    with answering(until_end) as scope, given_up(), Client(scope, SOON_S) as client:
        get_sum(client)


def test_a_server_that_never_reads_is_given_up() -> None:
    done = threading.Event()
    with answering(lambda _: done.wait(LONG_S)) as scope:
        with given_up(), Client(scope, SOON_S) as client:
            client.wire.output += bytes(64 << 20)
            client.flush()
        done.set()


@pytest.mark.parametrize(
    ("manner", "wait"),
    [
        (trickling, lambda client, answer: client.wait(lambda: answer.over)),
        (trickling, lambda client, answer: client.until_over(answer)),
        (lies.hanging, lambda client, answer: client.until_over(answer)),
        (lies.hanging, lambda client, _: client.wait(lambda: False, lambda: None)),
        (changed(lies.without_end), lambda client, _: client.until_quiet(LONG_S)),
        # The deadline cuts the silence short.
        (lies.hanging, lambda client, _: client.until_quiet(LONG_S)),
    ],
)
def test_all_waiting_ends_at_one_deadline(
    manner: Manner, wait: Callable[[Client, Answer], None]
) -> None:
    with given_up(), a_client(lies.unary(manner), SOON_S) as client:
        wait(client, client.call("GetSum", sum_request()))


@pytest.mark.parametrize(("manner", "looks"), [(lies.hanging, 2), (lies.unary(trickling), 1)])
def test_a_wait_may_look_around_meanwhile(manner: Manner, looks: int) -> None:
    seen = []

    def look() -> None:
        seen.append(1)
        if len(seen) == looks:
            raise WrongError("enough")

    with a_client(manner) as client:
        client.call("GetSum", sum_request())
        assert wrong(client.wait, lambda: False, look).detail == "enough"
    assert len(seen) == looks


def test_a_wait_does_not_look_around_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.contract.client._STEP_S", LONG_S)
    seen: list[int] = []
    with given_up(), a_client(lies.unary(trickling), SOON_S) as client:
        client.call("GetSum", sum_request())
        client.wait(lambda: False, lambda: seen.append(1))
    assert seen == []


def test_what_holds_already_is_not_waited_for() -> None:
    with a_client(lies.hanging) as client:
        client.wait(lambda: True, lambda: pytest.fail("waited"))


def test_calls_are_finished_together() -> None:
    with a_client() as client:
        answers = [client.call("StreamSum", stream_request(count)) for count in (300, 20, 1)]
        client.finish(*answers)
        assert [len(answer.messages) for answer in answers] == [300, 20, 1]


def test_one_call_of_two_that_is_reset_is_enough() -> None:
    with a_client(lies.streaming(lies.resetting(2))) as client:
        answers = client.call("GetSum", sum_request()), client.call("StreamSum", stream_request(2))
        error = wrong(client.finish, *answers)
    assert error.detail == "the server reset the stream (INTERNAL_ERROR)"


def test_an_answer_without_an_end_is_given_up_before_it_fills_the_memory() -> None:
    with a_client(lies.unary(changed(lies.without_end))) as client:
        answer = client.call("GetSum", sum_request())
        assert wrong(client.finish, answer).detail == "there are more than 10000 replies"
        assert len(answer.messages) < 50_000


def test_an_answer_of_very_many_replies_may_be_finished_once_it_is_over() -> None:
    with a_client() as client:
        answer = client.call("StreamSum", stream_request(10_500))
        client.wait(lambda: answer.over)
        client.finish(answer)
        assert len(answer.messages) == 10_500


def test_an_answer_larger_than_every_window_arrives_whole() -> None:
    with a_client(window=5000) as client:
        answer = client.call("StreamSum", stream_request(3000))
        client.finish(answer)
        assert len(answer.messages) == 3000
        assert answer.received > 3 * 5000


def test_quiet_comes_when_nothing_has_come_for_a_while() -> None:
    with a_client(lies.streaming(lies.hanging_after(lies.at_most(30)))) as client:
        answer = client.call("StreamSum", stream_request(100))
        client.until_quiet(0.2)
        assert len(answer.messages) == 30
        assert not answer.over


def test_a_server_that_hangs_up_is_quiet() -> None:
    with a_client(lies.hanging_up) as client:
        answer = client.call("GetSum", sum_request())
        client.until_quiet(LONG_S)
        assert answer.headers
        assert not answer.over
