"""What is checked of a framework, and where."""

import pytest

from arena.measure.contract import Call, Scope, scope_of, scopes_of
from arena.what.profile import Profile
from tests.fakes import a_framework, a_profile

REQUEST = {"a": 1, "b": 2, "count": 5000}


def calls(*names: Call) -> frozenset[Call]:
    return frozenset(names)


def profile(name: str, call: str = "StreamSum", *, tls: bool = False) -> Profile:
    streams = call == "StreamSum"
    return a_profile(
        name=name,
        call=f"benchmark.BenchmarkService/{call}",
        request=REQUEST if streams else {"a": 1, "b": 2},
        messages_per_call=5000 if streams else 1,
        port=8443 if tls else 8080,
        tls=tls,
    )


CALLS = {
    "unary-grpc": "GetSum",
    "stream-grpc": "StreamSum",
    "client-stream-grpc": "CollectSum",
    "bidi-grpc": "EchoSum",
}
KNOWN = tuple(
    profile(f"{name}{'-tls' if tls else ''}", call, tls=tls)
    for name, call in CALLS.items()
    for tls in (False, True)
)


def scopes(*tests: str, profiles: tuple[Profile, ...] = KNOWN) -> list[Scope]:
    return scopes_of(a_framework(tests=tests), profiles)


# One profile.


def test_a_streaming_profile_asks_its_own_request() -> None:
    found = scope_of(profile("stream-grpc"))
    assert found == Scope(8080, tls=False, calls=calls("GetSum", "StreamSum"), requests=(REQUEST,))


@pytest.mark.parametrize("call", ["CollectSum", "EchoSum"])
def test_a_profile_of_another_call_has_no_such_request(call: Call) -> None:
    found = scope_of(profile("x", call))
    assert found == Scope(8080, tls=False, calls=calls("GetSum", call))


def test_a_unary_profile_is_only_about_get_sum() -> None:
    assert scope_of(profile("unary-grpc", "GetSum")).calls == {"GetSum"}


def test_a_call_that_is_not_known_is_not_checked() -> None:
    assert scope_of(profile("x", "MultiplySum")).calls == {"GetSum"}


def test_a_profile_has_its_port_and_its_tls_and_is_checked_in_full() -> None:
    found = scope_of(profile("stream-grpc-tls", tls=True))
    assert (found.port, found.tls, found.light) == (8443, True, False)


# All that a framework subscribes to.


def test_a_framework_that_subscribes_to_nothing_known_has_no_scope() -> None:
    assert scopes() == []
    assert scopes("json", "baseline-h2") == []


def test_a_port_has_the_calls_of_all_its_tests() -> None:
    assert scopes("unary-grpc", "stream-grpc", "client-stream-grpc", "bidi-grpc") == [
        Scope(
            8080,
            tls=False,
            calls=calls("GetSum", "StreamSum", "CollectSum", "EchoSum"),
            requests=(REQUEST,),
        )
    ]


def test_the_port_without_tls_comes_first_and_the_other_needs_only_the_values() -> None:
    assert scopes("stream-grpc-tls", "unary-grpc-tls", "stream-grpc") == [
        Scope(8080, tls=False, calls=calls("GetSum", "StreamSum"), requests=(REQUEST,)),
        Scope(8443, tls=True, calls=calls("GetSum", "StreamSum"), requests=(REQUEST,), light=True),
    ]


def test_a_port_is_checked_in_full_if_the_other_did_not_have_all_its_calls() -> None:
    assert scopes("unary-grpc", "bidi-grpc-tls") == [
        Scope(8080, tls=False, calls=calls("GetSum")),
        Scope(8443, tls=True, calls=calls("GetSum", "EchoSum")),
    ]


def test_tls_alone_is_checked_in_full() -> None:
    assert scopes("unary-grpc-tls") == [Scope(8443, tls=True, calls=calls("GetSum"))]


def test_a_profile_is_known_by_its_name_and_brings_its_request() -> None:
    known = (profile("stream-grpc"), profile("mine", "EchoSum"))
    assert scopes("mine", "stream-grpc", "not-mine", profiles=known) == [
        Scope(8080, tls=False, calls=calls("GetSum", "StreamSum", "EchoSum"), requests=(REQUEST,))
    ]


def test_every_request_of_a_port_is_asked_once() -> None:
    other = profile("two").model_copy(update={"request": {"count": 7}})
    (found,) = scopes("one", "two", "same", profiles=(profile("one"), other, profile("same")))
    assert found.requests == (REQUEST, {"count": 7})


def test_a_profile_that_is_not_subscribed_to_is_not_checked() -> None:
    known = (profile("stream-grpc"), profile("stream-grpc-tls", tls=True))
    assert [each.port for each in scopes("stream-grpc-tls", profiles=known)] == [8443]
