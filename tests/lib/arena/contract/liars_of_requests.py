"""Those that answer streams of requests wrongly: CollectSum and EchoSum."""

from collections.abc import Callable

from tests.lib.arena.contract import lies
from tests.lib.arena.contract.liar import NUMBER, SOON_S, Liar
from tests.lib.arena.contract.lies import choosing
from tests.lib.arena.contract.talk import (
    Manner,
    Steps,
    Talk,
    answer,
    changed,
    echoed,
    echoes,
    honest,
    manner,
    replies,
    reply,
)

_COLLECT = "collect-sum"
_ECHO = "echo-sum"
_HALF = "half-close"
_WRONG = f"is {NUMBER}, not {NUMBER}"
# For what has to be seen before the contract goes on.
_QUIET = {"streams._QUIET_S": SOON_S}
_SHORT = {"streams.TIMEOUT_S": SOON_S}


@manner
def _either(talk: Talk, method: str, lie: Manner, *, some: bool) -> Steps[None]:
    if talk.method != method:
        yield from honest(talk)
        return
    has_some = (yield from talk.peek()) is not None
    yield from (lie if has_some == some else honest)(talk)


def collecting(lie: Manner, *, some: bool = True) -> Manner:
    """Lie about CollectSum with some requests, or about that with none."""
    return _either("CollectSum", lie, some=some)


def echoing(lie: Manner, *, some: bool = True) -> Manner:
    """Lie about EchoSum with some requests, or about that with none."""
    return _either("EchoSum", lie, some=some)


def one_by_one(lie: Manner) -> Manner:
    """Lie about EchoSum if its requests come one after the other."""
    return echoing(choosing(lambda talk: not talk.half_closed, lie))


def all_at_once(lie: Manner) -> Manner:
    """Lie about EchoSum if all its requests have come at once."""
    return echoing(choosing(lambda talk: talk.half_closed, lie))


def early(talk: Talk) -> Steps[None]:
    """Answer the first request, before there are all."""
    yield from answer(talk, [7])


def early_reply(talk: Talk) -> Steps[None]:
    """Send one reply before there are all requests, and end with them."""
    talk.headers()
    yield from talk.data(reply(7))
    yield from talk.half_close()
    talk.trailers()


@manner
def at_the_end(talk: Talk, change: Callable[[list[int]], list[int]]) -> Steps[None]:
    """Answer all requests once there are no more."""
    values = []
    while (value := (yield from echoed(talk))) is not None:
        values.append(value)
    yield from answer(talk, change(values))


def first_at_last(values: list[int]) -> list[int]:
    """Move the first value to the end."""
    return values[1:] + values[:1]


@manner
def the_first(talk: Talk, count: int, error: int = 0) -> Steps[None]:
    """Answer so many requests, each with this error."""
    talk.headers()
    for _ in range(count):
        value = yield from echoed(talk)
        assert value is not None
        yield from replies(talk, [value + error])


def a_few(talk: Talk) -> Steps[None]:
    """Answer three requests, and end the call."""
    yield from the_first(3)(talk)
    talk.trailers()


def wrong_once(talk: Talk) -> Steps[None]:
    """Answer the first request wrongly, and no other."""
    yield from the_first(1, error=1)(talk)
    yield from lies.hanging(talk)


def twice(talk: Talk) -> Steps[None]:
    """Answer each request twice."""
    yield from echoes(talk, lambda value: [value, value])


def one_behind(talk: Talk) -> Steps[None]:
    """Answer each request once the next has come."""
    talk.headers()
    before: list[int] = []
    while (value := (yield from echoed(talk))) is not None:
        yield from replies(talk, before)
        before = [value]
    yield from replies(talk, before)
    talk.trailers()


def one_more_at_the_end(talk: Talk) -> Steps[None]:
    """Answer the end of the requests as well."""
    yield from echoes(talk, lambda value: [value], [7])


def without_an_end(talk: Talk) -> Steps[None]:
    """Answer every request, and wait for more."""
    yield from echoes(talk, lambda value: [value], ends=lambda _: None)
    yield from lies.hanging(talk)


REQUESTS = [
    Liar(_COLLECT, "an answer to the first request", collecting(early),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "a reply to the first request", collecting(early_reply),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "a wrong sum", collecting(changed(lies.off_by_one)), f"reply 0 {_WRONG}"),
    Liar(_COLLECT, "the sum, and one more", collecting(changed(lies.with_one_more)),
         "2 replies, not 1"),
    Liar(_COLLECT, "OK with an empty body", collecting(changed(lies.nothing)), "0 replies, not 1"),
    Liar(_COLLECT, "a stub", collecting(lies.only_trailers(12)), "grpc-status is 12, not 0"),
    Liar(_COLLECT, "no CollectSum", collecting(lies.refusing(12, "unknown method")),
         r"grpc-status is 12, not 0 \(unknown method\)", short=_QUIET),
    Liar(_COLLECT, "OK at once", collecting(lies.refusing(0)),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "no answer after the last", collecting(lies.hanging), "no answer within 0.3 s",
         short=_SHORT),
    Liar(_ECHO, "no EchoSum", one_by_one(lies.refusing(12, "unknown method")),
         r"grpc-status is 12, not 0 \(unknown method\)"),
    Liar(_ECHO, "OK at once", one_by_one(lies.refusing(0)), "the call ends after 0 of 10 requests"),
    Liar(_ECHO, "no answer before the last", one_by_one(at_the_end(list)),
         "request 0 is not answered before the next: no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "one behind", one_by_one(one_behind),
         "request 0 is not answered before the next: no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "a wrong value", one_by_one(changed(lies.off_by_one)), f"reply 0 {_WRONG}"),
    Liar(_ECHO, "a wrong value, and no other", one_by_one(wrong_once), f"reply 0 {_WRONG}",
         short=_SHORT),
    Liar(_ECHO, "each is answered twice", one_by_one(twice), f"reply 1 {_WRONG}"),
    Liar(_ECHO, "an end after three", one_by_one(a_few), "the call ends after 3 of 10 requests"),
    Liar(_ECHO, "no end", one_by_one(without_an_end), "no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "one reply more, at the end", one_by_one(one_more_at_the_end),
         "11 replies, not 10"),
    Liar(_HALF, "a sum of nothing is no reply", collecting(changed(lies.nothing), some=False),
         "0 replies, not 1"),
    Liar(_HALF, "a sum of nothing is one", collecting(lies.constant(1), some=False),
         "reply 0 is 1, not 0"),
    Liar(_HALF, "CollectSum without a request is not ended", collecting(lies.hanging, some=False),
         "no answer within 0.3 s", short=_SHORT),
    Liar(_HALF, "EchoSum without a request is not ended", echoing(lies.hanging, some=False),
         "no answer within 0.3 s", short=_SHORT),
    Liar(_HALF, "EchoSum without a request has a reply", echoing(one_more_at_the_end, some=False),
         "1 reply, not 0"),
    Liar(_HALF, "EchoSum without a request is an error", echoing(lies.only_trailers(3), some=False),
         "grpc-status is 3, not 0"),
    Liar(_HALF, "EchoSum is not ended", all_at_once(without_an_end), "no answer within 0.3 s",
         short=_SHORT),
    Liar(_HALF, "EchoSum out of order", all_at_once(at_the_end(first_at_last)),
         f"reply 0 {_WRONG}"),
    Liar(_HALF, "EchoSum backwards", all_at_once(at_the_end(lambda values: values[::-1])),
         f"reply 0 {_WRONG}"),
    Liar(_HALF, "EchoSum drops the rest", all_at_once(a_few), "3 replies, not 100"),
]  # fmt: skip
