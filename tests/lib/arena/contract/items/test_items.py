"""A liar for every check of items, caught by name; an honest server passes all of them."""

import re
from pathlib import Path

import pytest

from arena.contract import ItemScope, check, items
from arena.contract.items import http, values
from arena.contract.messages import WrongError
from tests.lib.arena.contract.items.liars import LIARS, Liar
from tests.lib.arena.contract.items.service import Service, scope_at, serving


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "CONNECTIONS", 8)


def found(scope: ItemScope, check: str) -> tuple[str, str]:
    """Return what a check finds: its status, and its words."""
    try:
        odd = dict(items.checks(scope))[check]()
    except WrongError as error:
        return "fail", error.detail
    return ("warn", odd) if odd else ("pass", "")


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("liar", LIARS, ids=str)
def test_a_liar_is_caught_by_name(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT_S", liar.timeout_s)
    for version in liar.versions:
        with serving(liar.kind(), **liar.config) as port:
            status, words = found(scope_at(port), f"{version}-{liar.check}")
        assert status == liar.status, words
        assert re.fullmatch(liar.words, words), words


@pytest.mark.parametrize(
    ("check", "protocols", "words"),
    [
        ("tls-alpn", ["http/1.1"], "offered h2, the server chooses nothing"),
        ("tls-http1", ["h2"], "the server does not choose http/1.1 by ALPN"),
    ],
)
def test_a_liar_about_its_protocols_is_caught(
    check: str, protocols: list[str], words: str, certificates: Path
) -> None:
    with serving(Service(), certificates, alpn_protocols=protocols) as port:
        assert found(scope_at(port, tls=True), check) == ("fail", words)


@pytest.mark.usefixtures("_few")
def test_every_check_has_a_liar() -> None:
    made = {name for name, _ in items.checks(scope_at(0, tls=True))}
    lied = {f"{version}-{liar.check}" for liar in LIARS for version in liar.versions}
    # What is about TLS alone is that of gRPC, and has its liars there.
    assert made - lied == {"tls-alpn", "tls-http1", "tls-version", "tls-downgrade"}
    assert lied <= made


def test_no_two_liars_are_the_same() -> None:
    assert len({str(liar) for liar in LIARS}) == len(LIARS)


@pytest.mark.parametrize("tls", [False, True])
def test_an_honest_server_passes_everything(
    tls: bool, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what hangs is to be given up: on a busy host, 64 handshakes take long.
    monkeypatch.setattr(http, "TIMEOUT_S", 120.0)
    with serving(Service(), certificates if tls else None) as port:
        report = check(scope_at(port, tls=tls), None)
    odd = [each for each in report.checks if each.status != "pass"]
    # h2, which serves here, ends a connection that has too many streams.
    assert [(each.check, each.status) for each in odd] == [("h2-stream-limit", "warn")], odd
