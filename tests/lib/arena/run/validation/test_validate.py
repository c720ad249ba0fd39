"""Validating, with fakes of everything that has an effect."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from arena import contract
from arena.base.errors import FrameworkError, HostError, UsageError
from arena.contract import AnyScope, ItemScope, Report
from arena.machine import lock, ports
from arena.record.record import Check
from arena.run import validate as validating
from arena.run.beside import Candidate, Validator
from arena.run.verdicts import FrameworkVerdict
from arena.what.environment import Ports
from tests.fakes import FAILED, PASSED, WARNED, FakeRuntime, FakeServer, a_report, add_framework
from tests.lib.arena.run.validation.shop import Shop, Tell


@pytest.mark.parametrize("verbose", [False, True])
def test_a_good_framework_passes_on_every_port_it_subscribes_to(shop: Shop, verbose: bool) -> None:
    assert shop.run("grpc-go", verbose=verbose) == 0
    assert [(scope.port, scope.light) for scope, _ in shop.asked] == [(8080, False), (8443, True)]
    assert [server for _, server in shop.asked] == [shop.runtime.server] * 2
    out, err = shop.printed()
    assert out == ["grpc-go  PASS"]
    passed = ["  ok   unary-sum", "  messages per DATA frame: 1.00"] * verbose
    assert err == [
        "await grpc-go on port 8080 (h2c) …",
        "check grpc-go on port 8080 (h2c) …",
        *passed,
        "  offers: reflection v1, health: serving",
        "await grpc-go on port 8443 (TLS) …",
        "check grpc-go on port 8443 (TLS) …",
        *passed,
        "end grpc-go …",
        *["  ok   sigterm"] * verbose,
    ]
    assert shop.runtime.stopped == 1
    assert shop.logs() == []
    assert list(shop.workspace.results.iterdir()) == []


def test_a_named_profile_is_the_only_one_that_is_checked(shop: Shop) -> None:
    assert shop.run("grpc-go", "stream-grpc-tls") == 0
    ((scope, _),) = shop.asked
    assert (scope.port, scope.light) == (8443, False)
    assert scope.requests == ({"a": 1, "b": 2, "count": 5000},)


def test_a_pattern_checks_each_port_once_for_all_profiles_that_match(shop: Shop) -> None:
    add_framework(shop.workspace, "many", "stream-grpc", "unary-grpc", "stream-grpc-tls")
    assert shop.run("many", "*-grpc*") == 0
    assert [(scope.port, sorted(scope.calls), scope.light) for scope, _ in shop.asked] == [
        (8080, ["GetSum", "StreamSum"], False),
        (8443, ["GetSum", "StreamSum"], True),
    ]


def test_items_are_checked_by_their_own_contract(shop: Shop) -> None:
    add_framework(shop.workspace, "items", "crud-h2c", "crud-tls")
    assert shop.run("items") == 0
    assert [scope for scope, _ in shop.asked] == [
        ItemScope(8080, tls=False, versions=("h2",)),
        ItemScope(8443, tls=True, versions=("h2",), light=True),
    ]
    _, err = shop.printed()
    assert [line for line in err if "await" in line or "offers" in line] == [
        "await items on port 8080 (plaintext) …",
        "await items on port 8443 (TLS) …",
    ]


def test_what_was_wrong_is_named_and_the_servers_log_is_kept(shop: Shop) -> None:
    shop.found[8080] = a_report(PASSED, FAILED)
    shop.found[8443] = a_report(FAILED, packed=None)
    assert shop.run("grpc-go") == 1
    out, err = shop.printed()
    assert out == ["grpc-go  FAIL  stream-10: 9 replies, not 10 (and 1 more)"]
    assert err.count("  FAIL stream-10  9 replies, not 10  bytes: 00 00") == 2
    assert err[-3:-1] == ["  | listening", "  | last words"]
    assert err[-1] == "  log: .tools/validate/grpc-go/server.log"
    log = Path(err[-1].removeprefix("  log: "))
    assert log.read_text() == "listening\nlast words\n"
    assert shop.runtime.stopped == 1


def test_logs_are_those_of_the_last_validation_of_a_framework(shop: Shop) -> None:
    shop.found[8080] = a_report(FAILED)
    (shop.workspace.tools / "validate" / "grpc-go" / "of-another-time").mkdir(parents=True)
    assert shop.run("grpc-go") == 1
    folder = shop.workspace.tools / "validate" / "grpc-go"
    assert [path.name for path in folder.iterdir()] == ["server.log"]
    shop.found.clear()
    assert shop.run("grpc-go") == 0
    assert shop.logs() == []


def test_a_warning_is_no_failure(shop: Shop) -> None:
    shop.found[8080] = a_report(PASSED, WARNED)
    assert shop.run("tonic") == 0
    out, err = shop.printed()
    assert out == ["tonic  WARN  content-type: it is answered with 200, not 415"]
    assert "  WARN content-type  it is answered with 200, not 415" in err
    assert shop.logs() == []


def test_how_a_server_ends_is_the_last_check_of_its_last_port(shop: Shop) -> None:
    shop.ending = Check(check="sigterm", status="warn", detail="the server still runs")
    assert shop.run("grpc-go", as_json=True) == 0
    out, err = shop.printed()
    assert err[-1] == "  WARN sigterm  the server still runs"
    (found,) = json.loads("\n".join(out))["frameworks"]
    assert found["verdict"] == "warn"
    assert found["reason"] == "port 8443: sigterm: the server still runs"
    h2c, tls = found["ports"]
    assert (h2c["verdict"], tls["verdict"]) == ("pass", "warn")
    assert "sigterm" not in [each["check"] for each in h2c["checks"]]
    assert tls["checks"][-1]["check"] == "sigterm"


def test_a_server_that_is_wrong_or_not_ours_is_not_ended(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "ending", lambda *_: pytest.fail("it was ended"))
    shop.found[8080] = a_report(FAILED)
    assert shop.run("grpc-go") == 1
    shop.found.clear()
    assert shop.run("tonic", running=True) == 0


def test_all_goes_on_after_every_kind_of_failure(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a-meta", "b-build", "c-start", "d-wrong"):
        add_framework(shop.workspace, name)
    (shop.workspace.frameworks / "a-meta" / "meta.json").write_text("{")
    add_framework(shop.workspace, "e-retired", enabled=False)
    add_framework(shop.workspace, "f-odd", "of-another-runner")
    add_framework(shop.workspace, "g-tools")

    class Runtime(FakeRuntime):
        at = ""

        def build(self, framework: Any, log: Path) -> Any:
            self.at = framework.name
            if self.at == "b-build":
                log.write_text("syntax error\n")
                raise FrameworkError("build", "`make` failed", log=log)
            return (yield from super().build(framework, log))

    runtime = Runtime(missing={"g-tools": "g-tools needs zig"}, needs=("zig", "g++", "make"))
    monkeypatch.setattr(validating, "choose", lambda *_: runtime)

    def wait_ready(*_: object) -> None:
        if runtime.at == "c-start":
            raise FrameworkError("start", "the server was not ready")

    def check(*_: object) -> Report:
        return a_report(FAILED if runtime.at == "d-wrong" else PASSED)

    monkeypatch.setattr(contract, "wait_ready", wait_ready)
    monkeypatch.setattr(contract, "check", check)
    assert shop.run("all") == 1
    out, err = shop.printed()
    (broken,) = [line for line in out if line.startswith("a-meta")]
    assert broken.startswith("a-meta     FAIL  frameworks/a-meta/meta.json: line 1: ")
    assert [line for line in out if line != broken] == [
        "b-build    FAIL  build: `make` failed",
        "c-start    FAIL  start: the server was not ready",
        "d-wrong    FAIL  stream-10: 9 replies, not 10",
        "e-retired  SKIP  its meta.json says `enabled`: false",
        "f-odd      SKIP  subscribes to no profile of this runner",
        "g-tools    SKIP  g-tools needs zig",
        "grpc-go    PASS",
        "tonic      PASS",
        "2 passed, 0 warned, 4 failed, 3 skipped",
        "install by hand: zig",
        "apt-get install g++ make",
    ]
    assert out[0] == broken
    assert "  | syntax error" in err
    assert "failed b-build: build: `make` failed" in err
    assert "skipped g-tools: g-tools needs zig" in err
    assert runtime.stopped == 4
    assert shop.logs() == ["b-build", "c-start", "d-wrong"]


def test_all_with_a_profile_leaves_out_who_does_not_subscribe(shop: Shop) -> None:
    assert shop.run("all", "unary-grpc") == 0
    out, _ = shop.printed()
    assert out == ["tonic  PASS", "1 passed, 0 warned, 0 failed, 0 skipped"]


def test_what_can_be_skipped_only_is_the_hosts_fault(shop: Shop) -> None:
    shop.runtime.missing = {"grpc-go": "needs go", "tonic": "needs cargo"}
    with pytest.raises(HostError, match=r"^no framework can be checked here$"):
        shop.run("all")
    assert shop.printed()[0] == [
        "grpc-go  SKIP  needs go",
        "tonic    SKIP  needs cargo",
        "0 passed, 0 warned, 0 failed, 2 skipped",
    ]
    with pytest.raises(HostError, match=r"^needs cargo$"):
        shop.run("tonic")
    assert shop.printed()[0] == ["tonic  SKIP  needs cargo"]


@pytest.mark.parametrize("is_part", [False, True])
def test_the_whole_warns_of_a_typing_error_and_its_parts_do_not(shop: Shop, is_part: bool) -> None:
    add_framework(shop.workspace, "tonic", "unary-grpc", "unary-grpd")
    assert shop.run("tonic", is_part=is_part) == 0
    assert any("unary-grpd" in line for line in shop.printed()[1]) is not is_part


def test_several_are_checked_on_ports_that_are_free_and_an_interrupt_leaves_no_server(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[object] = []

    class Interrupted(Validator):
        def run(
            self, parts: Sequence[Candidate]
        ) -> Iterator[tuple[str, Callable[[], FrameworkVerdict]]]:
            happened.append((self.slots, [each.framework for each in parts], self.words))
            try:
                yield "tonic", lambda: FrameworkVerdict(framework="tonic", verdict="pass")
                raise KeyboardInterrupt
            finally:
                happened.append("the parts have ended")

    monkeypatch.setattr(validating, "Validator", Interrupted)
    monkeypatch.setattr(ports, "listeners", lambda: {8081: None})
    monkeypatch.setattr(validating, "remove_leftovers", lambda *_: happened.append("cleaned up"))
    with pytest.raises(KeyboardInterrupt):
        shop.run("all", jobs=2, ready_timeout=90.5)
    words = ["--runtime", "native", "--ready-timeout", "90500ms"]
    assert happened == [
        "cleaned up",
        ([Ports(8080, 8443), Ports(8082, 8445)], ["grpc-go", "tonic"], words),
        "the parts have ended",
        "cleaned up",
    ]


def test_where_the_host_fails_the_others_are_checked_and_it_is_no_success(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = iter([HostError("port 8080 is taken")])

    def require_free_port(_: int) -> None:
        if error := next(taken, None):
            raise error

    monkeypatch.setattr(ports, "require_free_port", require_free_port)
    assert shop.run("all") == 3
    assert shop.printed()[0] == [
        "grpc-go  SKIP  port 8080 is taken",
        "tonic    PASS",
        "1 passed, 0 warned, 0 failed, 1 skipped",
    ]


def test_one_that_was_named_and_the_host_cannot_run_is_an_error(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def require_free_port(_: int) -> None:
        raise HostError("port 8080 is taken")

    monkeypatch.setattr(ports, "require_free_port", require_free_port)
    with pytest.raises(HostError, match="port 8080 is taken"):
        shop.run("grpc-go")
    assert shop.printed()[0] == []


def test_a_start_that_fails_on_a_host_at_fault_is_skipped_and_no_failure(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host was able before the start, and is not any more."""
    asked: list[int] = []

    def require_able(*_: object) -> None:
        asked.append(1)
        if len(asked) > 1:
            raise HostError("this host cannot: find localhost")

    def wait_ready(*_: object) -> None:
        raise FrameworkError("start", "the server was not ready")

    monkeypatch.setattr(ports, "require_able", require_able)
    monkeypatch.setattr(contract, "wait_ready", wait_ready)
    with pytest.raises(HostError, match="this host cannot: find localhost"):
        shop.run("grpc-go")


def test_every_port_of_a_server_must_be_free(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(ports, "require_free_port", asked.append)
    assert shop.run("tonic") == 0
    assert asked == [8080, 8443]


def test_a_server_that_ends_is_asked_no_more(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(scope: AnyScope, server: FakeServer, _: Tell) -> Report:
        shop.asked.append((scope, server))
        server.how = "killed by SIGSEGV"
        return a_report(*shop.found.get(scope.port, a_report()).checks)

    monkeypatch.setattr(contract, "check", check)
    assert shop.run("grpc-go") == 1
    assert len(shop.asked) == 1
    assert shop.printed()[0] == ["grpc-go  FAIL  the server ended (killed by SIGSEGV)"]

    shop.found[8080] = a_report(FAILED)
    assert shop.run("grpc-go") == 1
    assert shop.printed()[0] == ["grpc-go  FAIL  stream-10: 9 replies, not 10"]


def test_a_port_that_is_never_ready_fails_after_the_first_was_good(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_ready(scope: AnyScope, *_: object) -> None:
        if scope.tls:
            raise FrameworkError("start", "nothing listens")

    monkeypatch.setattr(contract, "wait_ready", wait_ready)
    assert shop.run("grpc-go") == 1
    assert shop.printed()[0] == ["grpc-go  FAIL  start: nothing listens"]


@pytest.mark.parametrize(
    ("options", "ready_s"), [({}, 60.0), ({"ready_timeout": 5.0}, 5.0), ({"running": True}, 2.0)]
)
def test_a_port_may_take_its_time_until_it_answers(
    shop: Shop, options: dict[str, Any], ready_s: float
) -> None:
    assert shop.run("grpc-go", **options) == 0
    assert shop.ready == [(8080, ready_s), (8443, ready_s)]


def test_a_server_that_runs_already_is_checked_from_the_outside_only(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validating, "choose", lambda *_: pytest.fail("a runtime was chosen"))
    monkeypatch.setattr(ports, "require_free_port", lambda _: pytest.fail("its port is its own"))
    shop.found[8443] = a_report(FAILED)
    assert shop.run("grpc-go", running=True, runtime="of-another-time") == 1
    assert [server for _, server in shop.asked] == [None, None]
    assert shop.printed()[0] == ["grpc-go  FAIL  port 8443: stream-10: 9 replies, not 10"]


def test_as_json_the_reports_are_the_only_output(shop: Shop) -> None:
    shop.found[8080] = a_report(PASSED, FAILED, packed=4.0)
    assert shop.run("all", as_json=True) == 1
    data = json.loads(shop.capsys.readouterr().out)
    assert [(each["framework"], each["verdict"]) for each in data["frameworks"]] == [
        ("grpc-go", "fail"),
        ("tonic", "fail"),
    ]
    ports = data["frameworks"][0]["ports"]
    assert [each["port"] for each in ports] == [8080, 8443]
    assert ports[0]["checks"][1] == FAILED.model_dump()
    assert ports[0]["messages_per_data_frame"] == 4.0
    assert Path(data["frameworks"][0]["log"]).is_file()


def test_an_interrupt_stops_the_server_and_shows_the_verdicts_so_far(shop: Shop) -> None:
    shop.interrupted_at = 3
    with pytest.raises(KeyboardInterrupt):
        shop.run("all")
    assert shop.printed()[0] == ["grpc-go  PASS", "1 passed, 0 warned, 0 failed, 0 skipped"]
    assert shop.runtime.stopped == 2
    assert shop.logs() == []


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (("grpcgo",), {}, r"no framework `grpcgo` \(did you mean grpc-go"),
        (("tonic", "stream-grpc"), {}, "tonic does not subscribe to stream-grpc"),
        (("tonic", "unary-grp"), {}, r"no profile `unary-grp` \(did you mean unary-grpc"),
        (("all", "unary-grp"), {}, r"no profile `unary-grp` \(did you mean unary-grpc"),
        (("all", "unary-grpc-tls"), {}, "no framework subscribes to `unary-grpc-tls`"),
        (("odd",), {}, "odd subscribes to no profile of this runner"),
        (("tonic",), {"running": True, "server_quota": 1.0}, "--server-quota: with --running"),
        (("all",), {"running": True}, "--running: name the framework that runs"),
        (("tonic",), {"runtime": "podman"}, "there is no runtime `podman`"),
        (("broken",), {}, r"^frameworks/broken/meta\.json: line 1"),
    ],
)
def test_bad_usage_is_refused_before_the_host_is_locked(
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    options: dict[str, Any],
    said: str,
) -> None:
    add_framework(shop.workspace, "odd", "of-another-runner")
    add_framework(shop.workspace, "broken")
    (shop.workspace.frameworks / "broken" / "meta.json").write_text("{")
    if words[0] == "all":
        (shop.workspace.frameworks / "broken" / "meta.json").unlink()
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    with pytest.raises(UsageError, match=said):
        shop.run(*words, **options)


def test_a_benchmark_that_runs_is_not_disturbed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(command: str, *, wait: bool, say: object) -> Any:
        if not wait:
            raise HostError("a benchmark is running")
        return nullcontext()

    monkeypatch.setattr(lock, "only_benchmark", held)
    for running in (False, True):
        with pytest.raises(HostError, match="a benchmark is running"):
            shop.run("tonic", running=running)
    assert shop.printed()[0] == []
    assert shop.run("tonic", wait=True) == 0


def test_an_empty_checkout_has_nothing_to_validate(shop: Shop) -> None:
    for name in ("grpc-go", "tonic"):
        (shop.workspace.frameworks / name / "meta.json").unlink()
    with pytest.raises(UsageError, match=r"^no framework is there$"):
        shop.run("all")
