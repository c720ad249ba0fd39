"""Verdicts become proofs, and what is proven need not be checked again."""

import json
from typing import Any

import pytest

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.judge.proofs import FILE
from arena.machine import builds, docker
from tests.fakes import FAILED, PASSED, WARNED, a_report, add_framework
from tests.lib.arena.run.validation.shop import Shop


def proofs(shop: Shop) -> Any:
    return json.loads((shop.workspace.frameworks / FILE).read_bytes())["frameworks"]


def test_verdicts_become_proofs_and_what_is_proven_need_not_be_checked(shop: Shop) -> None:
    shop.found[8443] = a_report(PASSED, WARNED)
    assert shop.run("all", record=True) == 0
    found = proofs(shop)
    assert {name: each["verdict"] for name, each in found.items()} == {
        "grpc-go": "warn",
        "tonic": "pass",
    }
    assert [port["tls"] for port in found["grpc-go"]["ports"]] == [False, True]
    assert found["grpc-go"]["runtime"] == shop.runtime.name
    shop.asked.clear()
    assert shop.run("all", stale=True) == 0
    assert shop.asked == []
    (shop.workspace.framework("tonic") / "main.rs").write_text("changed")
    assert shop.run("all", stale=True, record=True) == 0
    assert len(shop.asked) == 1
    after = proofs(shop)
    assert after["grpc-go"] == found["grpc-go"]
    assert after["tonic"]["source"] != found["tonic"]["source"]


@pytest.mark.parametrize("options", [{"record": True}, {"stale": True}])
def test_broken_proofs_are_refused_before_any_start(shop: Shop, options: dict[str, bool]) -> None:
    (shop.workspace.frameworks / FILE).write_text("{")
    with pytest.raises(UsageError, match=FILE):
        shop.run("all", **options)
    assert shop.ready == []


def test_a_failure_is_recorded_and_checked_again(shop: Shop) -> None:
    shop.found[8080] = a_report(PASSED, FAILED)
    assert shop.run("tonic", record=True) == 1
    assert proofs(shop)["tonic"]["verdict"] == "fail"
    shop.found.clear()
    shop.asked.clear()
    assert shop.run("tonic", stale=True, record=True) == 0
    assert len(shop.asked) == 1
    assert proofs(shop)["tonic"]["verdict"] == "pass"


def test_a_proof_is_of_one_runtime(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker, "remove_leftovers", list)  # It would ask a daemon.
    shop.runtime.name = "docker"
    assert shop.run("tonic", record=True) == 0
    shop.asked.clear()
    assert shop.run("tonic", stale=True) == 0
    assert shop.asked == []
    shop.runtime.name = "native"
    assert shop.run("tonic", stale=True) == 0
    assert len(shop.asked) == 1


def test_a_need_without_a_version_is_noted(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    add_framework(shop.workspace, "tonic", "unary-grpc", native={"needs": ["cargo"], "run": "x"})
    monkeypatch.setattr(builds, "version", {}.get)
    assert shop.run("tonic", record=True) == 0
    assert "note: cargo states no version, so the proof names none" in shop.printed()[1]


def test_a_native_proof_is_of_one_toolchain(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    add_framework(shop.workspace, "tonic", "unary-grpc", native={"needs": ["cargo"], "run": "x"})
    versions = {"cargo": "1.90"}
    monkeypatch.setattr(builds, "version", versions.get)
    assert shop.run("tonic", record=True) == 0
    assert proofs(shop)["tonic"]["toolchain"] == versions
    shop.asked.clear()
    assert shop.run("tonic", stale=True) == 0
    assert shop.asked == []
    versions["cargo"] = "1.91"
    assert shop.run("tonic", stale=True) == 0
    assert len(shop.asked) == 1


def test_a_librarys_maintenance_releases_are_one_toolchain(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = "pkg-config:openssl"
    add_framework(shop.workspace, "tonic", "unary-grpc", native={"needs": [need], "run": "x"})
    versions = {need: "3.0.19"}
    monkeypatch.setattr(builds, "version", versions.get)
    assert shop.run("tonic", record=True) == 0
    shop.asked.clear()
    for version, asked in (("3.0.22", 0), ("3.1.0", 1)):
        versions[need] = version
        assert shop.run("tonic", stale=True) == 0
        assert len(shop.asked) == asked


def test_a_server_that_was_never_asked_leaves_its_proof_as_it_is(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shop.run("tonic", record=True) == 0
    before = proofs(shop)

    def build(*_: object) -> None:
        raise FrameworkError("build", "the registry cannot be reached")

    monkeypatch.setattr(shop.runtime, "build", build)
    assert shop.run("all", record=True) == 1
    assert proofs(shop) == before


def test_each_proof_is_saved_at_once_beside_what_was_saved_meanwhile(shop: Shop) -> None:
    shop.interrupted_at = 3
    with pytest.raises(KeyboardInterrupt):
        shop.run("all", record=True)
    assert list(proofs(shop)) == ["grpc-go"]
    assert shop.run("tonic", record=True) == 0
    assert list(proofs(shop)) == ["grpc-go", "tonic"]


def test_where_nothing_was_found_no_proof_is_written(shop: Shop) -> None:
    shop.runtime.missing = {"tonic": "needs cargo"}
    with pytest.raises(HostError):
        shop.run("tonic", record=True)
    assert not (shop.workspace.frameworks / FILE).exists()


def test_what_is_left_may_be_skipped_if_the_others_are_proven(shop: Shop) -> None:
    assert shop.run("grpc-go", record=True) == 0
    shop.runtime.missing = {"tonic": "needs cargo"}
    assert shop.run("all", stale=True) == 0
    out, err = shop.printed()
    assert out[-2:] == ["tonic  SKIP  needs cargo", "0 passed, 0 warned, 0 failed, 1 skipped"]
    assert "frameworks with a proof, left out: 1 of 2" in err


def test_if_all_is_proven_json_has_no_framework(shop: Shop) -> None:
    assert shop.run("all", record=True) == 0
    shop.printed()
    assert shop.run("all", stale=True, as_json=True) == 0
    assert json.loads(shop.capsys.readouterr().out) == {"schema": 1, "frameworks": []}


def test_if_nothing_is_proven_nothing_is_said_of_it(shop: Shop) -> None:
    assert shop.run("all", stale=True) == 0
    assert not any("with a proof" in line for line in shop.printed()[1])


@pytest.mark.parametrize("option", ["record", "stale"])
def test_a_proof_is_of_all_profiles(shop: Shop, option: str) -> None:
    with pytest.raises(UsageError, match=f"^--{option}: a proof is of all profiles"):
        shop.run("all", "stream-grpc", **{option: True})
