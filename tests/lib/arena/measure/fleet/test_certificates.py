"""The authority is made once; its key and those of the hosts are for their owner only."""

import stat
from pathlib import Path

import pytest
from cryptography import x509

from arena.base.errors import UsageError
from arena.measure.fleet.certificates import make_authority, make_certificate


def test_certificates_are_signed_by_the_authority_and_keys_are_private(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    assert make_authority(own)
    make_certificate(own, other)
    assert {each.name for each in other.iterdir()} == {"ca.crt", "host.crt", "host.key"}
    authority = x509.load_pem_x509_certificate((other / "ca.crt").read_bytes())
    for folder in (own, other):
        certificate = x509.load_pem_x509_certificate((folder / "host.crt").read_bytes())
        certificate.verify_directly_issued_by(authority)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "host.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((own / "ca.key").stat().st_mode) == 0o600


def test_an_authority_is_not_made_again(tmp_path: Path) -> None:
    make_authority(tmp_path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert not make_authority(tmp_path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_without_an_authority_there_are_no_certificates(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no certificate authority here"):
        make_certificate(tmp_path, tmp_path / "other")
