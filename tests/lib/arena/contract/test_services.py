"""Services beside the sums: that of a profile with its own .proto, and gRPC's standard ones."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arena.contract import Report, Scope, check, offers, scope_of, scopes_of, wait_ready
from arena.contract.messages import frame
from arena.record.record import Offers
from arena.what.profile import Profile, load_profile
from tests.fakes import a_framework
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.lies import CONNECTIONS
from tests.lib.arena.contract.lying_server import Server, serving
from tests.lib.arena.contract.talk import (
    NEWS,
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


Answering = Callable[[Talk], Steps[None]]


def saying(*parts: bytes, status: int | None = 0) -> Answering:
    def answer(talk: Talk) -> Steps[None]:
        talk.headers()
        for part in parts:
            yield from talk.data(part)
        if status is not None:
            talk.trailers(status)
        while status is None and not talk.cancelled:
            yield NEWS

    return answer


@manner
def healthy(talk: Talk, answer: Answering, path: str = HEALTH) -> Steps[None]:
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
    failure = failure_on(healthy(saying(payload, status=status)), profile)
    assert re.fullmatch(f"profile-call: grpc.health.v1.Health/Check: {said}", failure), failure


def test_replies_without_end_are_not_awaited(profile: Profile) -> None:
    def endless(talk: Talk) -> Steps[None]:
        talk.headers()
        while True:
            yield from talk.data(SERVING * 100)

    said = failure_on(healthy(endless), profile)
    assert said.startswith("profile-call: grpc.health.v1.Health/Check: ")
    assert "1 repl" in said or "replies, not 1" in said


V1 = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
V1ALPHA = V1.replace("v1", "v1alpha")
BENCHMARK = "benchmark.BenchmarkService"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.contract.standard._TIMEOUT_S", 0.5)


def listing(*names: str) -> bytes:
    """Return a ServerReflectionResponse that lists these services."""
    each = [b"\x0a" + bytes([len(name)]) + name.encode() for name in names]
    services = b"".join(b"\x0a" + bytes([len(one)]) + one for one in each)
    return frame(b"\x0a\x01x\x32" + bytes([len(services)]) + services)


@manner
def offering(talk: Talk, answers: Mapping[str, Answering]) -> Steps[None]:
    """Answer these paths once a message has come, and all others as an honest server does."""
    if talk.path not in answers:
        yield from honest(talk)
        return
    yield from talk.message()
    yield from answers[talk.path](talk)


def found(one: Manner, scope: Callable[[Scope], Scope] = lambda scope: scope) -> Offers:
    with serving(one) as server:
        return offers(scope(server.scope))


def test_a_server_with_neither_offers_nothing() -> None:
    assert found(honest) == Offers(reflection="none", health="none")


@pytest.mark.parametrize(("path", "version"), [(V1, "v1"), (V1ALPHA, "v1alpha")])
@pytest.mark.parametrize("status", [0, None])
def test_reflection_is_found_in_both_versions_before_its_stream_ends(
    path: str, version: str, status: int | None
) -> None:
    answer = saying(listing("grpc.health.v1.Health", BENCHMARK), status=status)
    it = found(offering({path: answer}))
    assert (it.reflection, it.lists_service) == (version, True)


def test_the_newest_version_is_reported() -> None:
    answer = saying(listing(BENCHMARK))
    assert found(offering({V1: answer, V1ALPHA: answer})).reflection == "v1"


def test_a_list_without_the_service_is_reported() -> None:
    it = found(offering({V1: saying(listing("other.Service"))}))
    assert (it.reflection, it.lists_service) == ("v1", False)
    assert it.words == "reflection v1 (without the service), no health service"


def test_the_service_is_that_of_the_profile() -> None:
    profile = load_profile(PROFILES, "health-grpc")

    def own(scope: Scope) -> Scope:
        found = scope_of(profile.changed(port=scope.port))
        assert isinstance(found, Scope)
        return found

    health = "grpc.health.v1.Health"
    assert found(offering({V1: saying(listing(health))}), own).lists_service
    assert not found(offering({V1: saying(listing(BENCHMARK))}), own).lists_service


@pytest.mark.parametrize(
    ("status", "health"),
    [
        (b"\x08\x01", "serving"),
        (b"\x08\x02", "not-serving"),
        (b"", "unknown"),
        (b"\x08\x03", "unclear"),
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "unclear"),
    ],
)
def test_health_is_the_status_of_the_whole_server(status: bytes, health: str) -> None:
    assert found(offering({HEALTH: saying(frame(status))})).health == health


def flooding(talk: Talk) -> Steps[None]:
    talk.headers()
    while not talk.cancelled:
        yield from talk.data(b"\0\0\x3f\xff\xff" + bytes(10_000))


@pytest.mark.parametrize(
    "answer",
    [
        saying(frame(b"\xff\xff\xff")), saying(frame(b"\x32\x7f")), saying(b""), saying(b"\0\0"),
        saying(b"\x02\0\0\0\0"), saying(b"\0\xff\xff\xff\xff"), saying(status=7),
        saying(frame(b"\x32\x04\x0a\x02\x0a\xff")), lies.hanging_up,
        lies.resetting_now(2), lies.hanging, flooding,
    ],
)  # fmt: skip
def test_a_hostile_answer_is_unclear_and_the_other_service_is_still_asked(
    answer: Answering,
) -> None:
    serving_ = saying(frame(b"\x08\x01"))
    it = found(offering({V1: answer, HEALTH: serving_}))
    assert it == Offers(reflection="unclear", health="serving")
    it = found(offering({V1: saying(listing(BENCHMARK)), HEALTH: answer}))
    assert (it.reflection, it.lists_service) == ("v1", True)
    assert it.health in {"unclear", "unknown"}


def test_http_404_means_that_there_is_no_such_service() -> None:
    it = found(offering(dict.fromkeys([V1, HEALTH], lies.bare("404"))))
    assert it == Offers(reflection="none", health="none")


def test_a_server_that_is_gone_is_no_error() -> None:
    with serving(honest) as server:
        scope = server.scope
    assert offers(scope) == Offers(reflection="unclear", health="unclear")
    assert offers(scope).words == "unclear reflection, unclear health service"
