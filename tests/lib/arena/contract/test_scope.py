"""What is checked of a framework, and where."""

from typing import Any

import pytest

from arena.contract import AnyScope, Call, ItemScope, Scope, scope_of, scopes_of
from arena.what.profile import Profile
from tests.fakes import ITEMS, a_framework, a_profile

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


CALLS: dict[str, Call] = {
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


def items(name: str, file: str = "requests/crud.yaml") -> Profile:
    tls = name == "crud-tls"
    scenario = {"file": file, "sha256": "0" * 64}
    more: dict[str, Any] = {"http_version": 2, "port": 8443 if tls else 8080}
    if name == "crud-h1":
        more |= {"http_version": 1, "streams_per_connection": 1}
    return a_profile(**ITEMS | more | {"name": name, "tls": tls, "scenario": scenario})


CRUD = tuple(items(name) for name in ("crud-h2c", "crud-tls", "crud-h1", "crud-x"))
OTHER = items("shop", "requests/shop.yaml")
STREAM = calls("GetSum", "StreamSum")
PLAIN, SECURE = profile("stream-grpc"), profile("stream-grpc-tls", tls=True)


# One profile.


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        # A streaming profile asks its own request; a port with TLS alone is checked in full.
        (PLAIN, Scope(8080, tls=False, calls=STREAM, requests=(REQUEST,))),
        (SECURE, Scope(8443, tls=True, calls=STREAM, requests=(REQUEST,), light=False)),
        (profile("x", "CollectSum"), Scope(8080, tls=False, calls=calls("GetSum", "CollectSum"))),
        (profile("x", "EchoSum"), Scope(8080, tls=False, calls=calls("GetSum", "EchoSum"))),
        (profile("unary-grpc", "GetSum"), Scope(8080, tls=False)),
        # A call that is not known is not checked.
        (profile("x", "MultiplySum"), Scope(8080, tls=False)),
        # Items are known by their scenario. Of another one's service, nothing is known.
        (items("crud-h2c"), ItemScope(8080, tls=False, versions=("h2",))),
        (items("crud-h1"), ItemScope(8080, tls=False, versions=("h1",))),
        (items("crud-tls"), ItemScope(8443, tls=True, versions=("h2",))),
        (OTHER, ItemScope(8080, tls=False, versions=("h2",), is_known=False)),
    ],
)
def test_a_profile_has_a_scope(one: Profile, expected: AnyScope) -> None:
    assert scope_of(one) == expected


# All that a framework subscribes to.


@pytest.mark.parametrize(
    ("tests", "profiles", "expected"),
    [
        ("", KNOWN, []),
        ("json baseline-h2", KNOWN, []),
        # A port has the calls of all its tests.
        ("unary-grpc stream-grpc client-stream-grpc bidi-grpc", KNOWN,
         [Scope(8080, tls=False, calls=calls(*CALLS.values()), requests=(REQUEST,))]),
        # The port without TLS comes first, and the other needs only the values ...
        ("stream-grpc-tls unary-grpc-tls stream-grpc", KNOWN,
         [Scope(8080, tls=False, calls=STREAM, requests=(REQUEST,)),
          Scope(8443, tls=True, calls=STREAM, requests=(REQUEST,), light=True)]),
        # ... unless the first did not have all its calls, or there is none.
        ("unary-grpc bidi-grpc-tls", KNOWN,
         [Scope(8080, tls=False), Scope(8443, tls=True, calls=calls("GetSum", "EchoSum"))]),
        ("unary-grpc-tls", KNOWN, [Scope(8443, tls=True)]),
        # A profile is known by its name, and brings its request.
        ("mine stream-grpc not-mine", (PLAIN, profile("mine", "EchoSum")),
         [Scope(8080, tls=False, calls=STREAM | {"EchoSum"}, requests=(REQUEST,))]),
        # A profile that is not subscribed to is not checked.
        ("stream-grpc-tls", (PLAIN, SECURE),
         [Scope(8443, tls=True, calls=STREAM, requests=(REQUEST,))]),
        # Items have both versions of HTTP that their profiles use; TLS then needs only the values.
        ("crud-h2c crud-tls crud-h1 crud-x", CRUD,
         [ItemScope(8080, tls=False, versions=("h1", "h2")),
          ItemScope(8443, tls=True, versions=("h2",), light=True)]),
        ("crud-tls crud-h1", CRUD,
         [ItemScope(8080, tls=False, versions=("h1",)),
          ItemScope(8443, tls=True, versions=("h2",))]),
        # A port with calls and items is checked twice.
        ("crud-h2c unary-grpc unary-grpc-tls", KNOWN + CRUD,
         [Scope(8080, tls=False), ItemScope(8080, tls=False, versions=("h2",)),
          Scope(8443, tls=True, light=True)]),
        # A port where something is known needs no more.
        ("shop unary-grpc", (OTHER, *KNOWN), [Scope(8080, tls=False)]),
        ("shop", (OTHER,), [ItemScope(8080, tls=False, versions=("h2",), is_known=False)]),
    ],
)  # fmt: skip
def test_a_framework_has_a_scope_for_each_port(
    tests: str, profiles: tuple[Profile, ...], expected: list[AnyScope]
) -> None:
    assert scopes_of(a_framework(tests=tuple(tests.split())), profiles) == expected


def test_every_request_of_a_port_is_asked_once() -> None:
    other = profile("two").model_copy(update={"request": {"count": 7}})
    profiles = (profile("one"), other, profile("same"))
    (found,) = scopes_of(a_framework(tests=("one", "two", "same")), profiles)
    assert isinstance(found, Scope)
    assert found.requests == (REQUEST, {"count": 7})
