"""Which standard services a server offers; whatever it answers is reported, and nothing fails."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arena.contract import Scope, offers, scope_of
from arena.contract.messages import frame
from arena.record.record import Offers
from arena.what.profile import load_profile
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.talk import NEWS, Manner, Steps, Talk, honest, manner

PROFILES = Path(__file__).resolve().parents[4] / "profiles"
V1 = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
V1ALPHA = V1.replace("v1", "v1alpha")
HEALTH = "/grpc.health.v1.Health/Check"
BENCHMARK = "benchmark.BenchmarkService"

Answer = Callable[[Talk], Steps[None]]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.contract.standard._TIMEOUT_S", 0.5)


def listing(*names: str) -> bytes:
    """Return a ServerReflectionResponse that lists these services."""
    each = [b"\x0a" + bytes([len(name)]) + name.encode() for name in names]
    services = b"".join(b"\x0a" + bytes([len(one)]) + one for one in each)
    return frame(b"\x0a\x01x\x32" + bytes([len(services)]) + services)


def saying(*parts: bytes, status: int | None = 0) -> Answer:
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
def offering(talk: Talk, answers: Mapping[str, Answer]) -> Steps[None]:
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


def hanging_up(talk: Talk) -> Steps[None]:
    yield from talk.hang_up()


def resetting(talk: Talk) -> Steps[None]:
    talk.reset(2)
    yield from ()


def silent(talk: Talk) -> Steps[None]:
    while not talk.cancelled:
        yield NEWS


def flooding(talk: Talk) -> Steps[None]:
    talk.headers()
    while not talk.cancelled:
        yield from talk.data(b"\0\0\x3f\xff\xff" + bytes(10_000))


def not_found(talk: Talk) -> Steps[None]:
    talk.headers(status="404", content_type="text/plain", end=True)
    yield from ()


@pytest.mark.parametrize(
    "answer",
    [
        saying(frame(b"\xff\xff\xff")), saying(frame(b"\x32\x7f")), saying(b""), saying(b"\0\0"),
        saying(b"\x02\0\0\0\0"), saying(b"\0\xff\xff\xff\xff"), saying(status=7),
        saying(frame(b"\x32\x04\x0a\x02\x0a\xff")), hanging_up, resetting, silent, flooding,
    ],
)  # fmt: skip
def test_a_hostile_answer_is_unclear_and_the_other_service_is_still_asked(answer: Answer) -> None:
    serving_ = saying(frame(b"\x08\x01"))
    it = found(offering({V1: answer, HEALTH: serving_}))
    assert it == Offers(reflection="unclear", health="serving")
    it = found(offering({V1: saying(listing(BENCHMARK)), HEALTH: answer}))
    assert (it.reflection, it.lists_service) == ("v1", True)
    assert it.health in {"unclear", "unknown"}


def test_http_404_means_that_there_is_no_such_service() -> None:
    it = found(offering({V1: not_found, HEALTH: not_found}))
    assert it == Offers(reflection="none", health="none")


def test_a_server_that_is_gone_is_no_error() -> None:
    with serving(honest) as server:
        scope = server.scope
    assert offers(scope) == Offers(reflection="unclear", health="unclear")
    assert offers(scope).words == "unclear reflection, unclear health service"
