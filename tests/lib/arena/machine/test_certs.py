"""The test certificate, made by the real library."""

import os
import ssl
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from arena.base.writing import locked
from arena.machine import certs


def load(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / "server.crt").read_bytes())


def test_the_pair_belongs_together_and_is_for_localhost(tmp_path: Path) -> None:
    certs.ensure_certificate(tmp_path / "certs")
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
        tmp_path / "certs/server.crt", tmp_path / "certs/server.key"
    )
    found = load(tmp_path / "certs")
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    key = found.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert key.curve.name == "secp256r1"


def test_two_that_make_it_at_once_make_one_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, look, make = threading.Event(), certs._is_fresh, certs._make
    made: list[Path] = []

    def noted(folder: Path) -> bool:
        found = look(folder)
        looked.set()
        return found

    monkeypatch.setattr(certs, "_is_fresh", noted)
    monkeypatch.setattr(certs, "_make", made.append)
    other = threading.Thread(target=certs.ensure_certificate, args=[tmp_path])
    with locked(tmp_path):
        other.start()
        assert looked.wait(60)
        make(tmp_path)
    other.join()
    assert made == []


def test_a_container_of_another_user_can_read_both_under_any_umask(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    before = os.umask(0o077)
    try:
        certs.ensure_certificate(folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def another_key(folder: Path) -> None:
    certs.ensure_certificate(folder / "other")
    (folder / "other" / "server.key").replace(folder / "server.key")


def test_a_fresh_pair_is_kept(tmp_path: Path) -> None:
    certs.ensure_certificate(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    certs.ensure_certificate(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "server.key").unlink(),
        lambda folder: (folder / "server.crt").unlink(),
        lambda folder: (folder / "server.crt").write_text("-----BEGIN CERTIFICATE-----\nMIIB"),
        lambda folder: (folder / "server.crt").write_text(""),
        lambda folder: (folder / "server.key").write_text(""),
        another_key,
    ],
    ids=["no key", "no certificate", "cut short", "empty", "empty key", "another's key"],
)
def test_a_half_made_pair_is_made_again(tmp_path: Path, spoil: object) -> None:
    certs.ensure_certificate(tmp_path)
    assert callable(spoil)
    spoil(tmp_path)
    certs.ensure_certificate(tmp_path)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
        tmp_path / "server.crt", tmp_path / "server.key"
    )


@pytest.mark.parametrize(("lifetime_days", "renewed"), [(-1, True), (29, True), (31, False)])
def test_a_certificate_is_renewed_a_month_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lifetime_days: int, renewed: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(certs, "_LIFETIME", timedelta(days=lifetime_days, hours=1))
        certs.ensure_certificate(tmp_path)
    first = load(tmp_path).serial_number
    certs.ensure_certificate(tmp_path)
    assert (load(tmp_path).serial_number != first) is renewed
