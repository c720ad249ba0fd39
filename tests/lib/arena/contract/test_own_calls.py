"""The contract of a profile with a .proto of its own: its call takes the place of GetSum."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.contract import Report, Scope, check, scope_of, scopes_of, wait_ready
from arena.contract.messages import frame
from arena.what.profile import Profile, load_profile
from tests.fakes import a_framework
from tests.lib.arena.contract.liar import CONNECTIONS
from tests.lib.arena.contract.lying_server import Server, serving
from tests.lib.arena.contract.talk import (
    Manner,
    RefusedError,
    Steps,
    Talk,
    honest,
    manner,
)

PROFILES = Path(__file__).resolve().parents[4] / "profiles"
HEALTH = "/grpc.health.v1.Health/Check"
SERVING = frame(b"\x08\x01")

GENERAL = [
    "profile-call", "framing", "four-streams", f"connections-{CONNECTIONS}", "unknown-method",
    "malformed-message", "truncated-message", "oversized-prefix", "content-type",
]  # fmt: skip


@manner
def healthy(talk: Talk, answer: Callable[[Talk], Steps[None]], path: str = HEALTH) -> Steps[None]:
    """Answer one call like this, once its message has come; all other paths are unknown."""
    if talk.content_type != "application/grpc":
        talk.headers(status="415", end=True)
        return
    if talk.path != path:
        talk.trailers_only(12, "unknown method")
        return
    try:
        message = yield from talk.message()
    except RefusedError as error:
        talk.trailers_only(error.status, error.message)
        return
    if message != b"":
        talk.trailers_only(13, "it is not the request of the profile")
        return
    yield from talk.half_close()
    yield from answer(talk)


def saying(payload: bytes, status: int = 0) -> Callable[[Talk], Steps[None]]:
    def answer(talk: Talk) -> Steps[None]:
        talk.headers()
        yield from talk.data(payload)
        talk.trailers(status)

    return answer


@pytest.fixture
def profile() -> Profile:
    return load_profile(PROFILES, "health-grpc")


def scope_at(server: Server, profile: Profile) -> Scope:
    scope = scope_of(profile.changed(port=server.port))
    assert isinstance(scope, Scope)
    return scope


def report_on(one: Manner, profile: Profile) -> Report:
    with serving(one) as server:
        return check(scope_at(server, profile), None)


def test_the_scope_has_its_call_and_not_getsum(profile: Profile) -> None:
    scope = scope_of(profile)
    assert isinstance(scope, Scope)
    assert (scope.calls, scope.own) == (frozenset(), (profile,))


def test_a_framework_of_both_has_all_calls_on_its_port(profile: Profile) -> None:
    unary = load_profile(PROFILES, "unary-grpc")
    (scope,) = scopes_of(a_framework(tests=("unary-grpc", "health-grpc")), [unary, profile])
    assert isinstance(scope, Scope)
    assert (scope.calls, scope.own) == (frozenset({"GetSum"}), (profile,))


def test_a_tls_port_is_light_only_if_the_other_has_its_own_calls(profile: Profile) -> None:
    secure = profile.changed(name="health-tls", tls=True, port=8443)
    both = scopes_of(a_framework(tests=("health-grpc", "health-tls")), [profile, secure])
    assert [scope.light for scope in both] == [False, True]
    (alone,) = scopes_of(a_framework(tests=("health-tls",)), [secure])
    assert not alone.light


def test_a_server_of_that_service_alone_is_ready_and_passes(profile: Profile) -> None:
    with serving(healthy(saying(SERVING))) as server:
        scope = scope_at(server, profile)
        wait_ready(scope, 5, lambda: None)
        report = check(scope, None)
    assert [each.check for each in report.checks] == GENERAL
    assert [str(each) for each in report.checks if each.status != "pass"] == []


def failure_on(one: Manner, profile: Profile) -> str:
    failure = report_on(one, profile).first_failure
    assert failure is not None
    return str(failure)


def test_a_server_without_the_service_is_told_so(profile: Profile) -> None:
    path = "grpc.health.v1.Health/Check"
    assert failure_on(honest, profile) == (
        f"profile-call: {path}: the server does not offer {path} (UNIMPLEMENTED)"
    )


@pytest.mark.parametrize(
    ("payload", "status", "said"),
    [
        (frame(b"\x08\x02"), 0, "reply 0: its status is 2, and the rule is `status = SERVING`"),
        (frame(b""), 0, "reply 0: its status is 0, and the rule is `status = SERVING`"),
        (frame(b"\x08"), 0, "reply 0 is not a HealthCheckResponse"),
        (SERVING * 2, 0, "(2 replies, not 1|there are more than 1 replies)"),
        (b"", 0, "0 replies, not 1"),
        (SERVING, 5, "grpc-status is 5, not 0"),
        (SERVING[:-1], 0, "the last reply is cut off"),
    ],
)
def test_a_wrong_answer_is_named(profile: Profile, payload: bytes, status: int, said: str) -> None:
    failure = failure_on(healthy(saying(payload, status)), profile)
    assert re.fullmatch(f"profile-call: grpc.health.v1.Health/Check: {said}", failure), failure


def test_replies_without_end_are_not_awaited(profile: Profile) -> None:
    def endless(talk: Talk) -> Steps[None]:
        talk.headers()
        while True:
            yield from talk.data(SERVING * 100)

    said = failure_on(healthy(endless), profile)
    assert said.startswith("profile-call: grpc.health.v1.Health/Check: ")
    assert "1 repl" in said or "replies, not 1" in said
