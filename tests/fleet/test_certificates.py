"""The authority is made once; its key and those of the hosts are for their owner only."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography import x509

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.cli.verbs import fleet
from arena.run.runtimes.docker import DockerRuntime
from arena_fleet.certificates import (
    folder_of,
    make_authority,
    make_certificate,
    own_folder,
)
from tests.fakes import a_framework


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


@pytest.mark.parametrize("lost", [["host.key", "host.crt"], ["host.crt"]])
def test_what_an_interrupt_has_left_out_is_made(tmp_path: Path, lost: list[str]) -> None:
    make_authority(tmp_path)
    authority = (tmp_path / "ca.crt").read_bytes()
    for name in lost:
        (tmp_path / name).unlink()
    assert make_authority(tmp_path)
    assert (tmp_path / "ca.crt").read_bytes() == authority
    certificate = x509.load_pem_x509_certificate((tmp_path / "host.crt").read_bytes())
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    assert not make_authority(tmp_path)


def test_a_full_disk_leaves_no_half_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def full(path: str, *given: Any, **more: Any) -> int:
        handle = opened(path, *given, **more)
        if "ca.key" not in str(path):
            return handle
        os.close(handle)
        return opened("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(HostError, match=r"ca.key: cannot be written \(No space left on device\)"):
        make_authority(tmp_path)
    monkeypatch.undo()
    assert make_authority(tmp_path)
    assert (tmp_path / "host.crt").exists()


def test_a_hosts_certificate_is_not_made_again_unless_the_authority_is(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    make_authority(own)
    assert make_certificate(own, other)
    key = (other / "host.key").read_bytes()
    assert not make_certificate(own, other)
    assert (other / "host.key").read_bytes() == key
    for name in ("ca.crt", "ca.key"):
        (own / name).unlink()
    make_authority(own)
    assert make_certificate(own, other)
    authority = (own / "ca.crt").read_bytes()
    assert (other / "ca.crt").read_bytes() == authority
    for folder in (own, other):
        certificate = x509.load_pem_x509_certificate((folder / "host.crt").read_bytes())
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))


def test_a_host_with_certificates_of_another_makes_no_authority(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    make_authority(own)
    make_certificate(own, other)
    before = {each.name: each.read_bytes() for each in other.iterdir()}
    with pytest.raises(UsageError, match=r"of an authority on another host: call .* ca there"):
        make_authority(other)
    assert {each.name: each.read_bytes() for each in other.iterdir()} == before


@pytest.mark.parametrize(
    "name", ["", "../evil", "A b", "g1/../../evil.example.org", ".g1", "-", "10.0.0.1"]
)
def test_a_certificate_is_for_what_can_be_a_host(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match=r"--for: .* is not allowed"):
        folder_of(workspace, name)


def test_of_a_name_with_a_domain_the_first_part_counts(workspace: Workspace) -> None:
    assert folder_of(workspace, "G1.Example.org") == folder_of(workspace, "g1")


def test_the_second_certificate_of_a_host_is_the_first(workspace: Workspace) -> None:
    def ca(*words: str) -> str:
        done = CliRunner().invoke(fleet.ca, words, obj=workspace)
        return str(done.exception or done.output)

    ca()
    assert "made before" not in ca("--for", "g1")
    assert "g1: was made before, and is unchanged: copy its files" in ca("--for", "g1")
    assert "--for: '' is not allowed" in ca("--for", "")


def test_no_container_of_a_server_has_the_certificates(workspace: Workspace) -> None:
    _, run = DockerRuntime(workspace).plan(a_framework(), None)
    for folder in (own_folder(workspace), folder_of(workspace, "g1")):
        for each in (folder, *folder.parents):
            assert not any(f'source={each}"' in word for word in run)


def test_without_an_authority_there_are_no_certificates(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no certificate authority here"):
        make_certificate(tmp_path, tmp_path / "other")
