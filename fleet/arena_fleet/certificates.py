"""The private certificate authority of a fleet, and the certificates of its hosts.

A certificate lets its holder run programs on every host of the fleet: what goes over the wire is
Python's pickle. So the authority is the fleet's own, and its key stays where it was made.
"""

import os
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from arena.base.errors import HostError, UsageError
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.machine.certs import pem_of, signed_certificate
from arena_fleet.facts import host_name

# The files of a host: the authority's certificate, and its own certificate and key.
AUTHORITY, CERTIFICATE, KEY = "ca.crt", "host.crt", "host.key"
_AUTHORITY_KEY = "ca.key"

_NAME = "HttpArena fleet"

_USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
    "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


def own_folder(workspace: Workspace) -> Path:
    """Return the folder of this host's certificates."""
    return workspace.root / ".fleet"


def folder_of(workspace: Workspace, name: str) -> Path:
    """Return the folder of the certificates of another host, to be copied there.

    UsageError if it cannot be the host's name.
    """
    return own_folder(workspace) / "hosts" / host_name("--for", name)


def make_authority(folder: Path) -> bool:
    """Make an authority and this host's own certificate, unless they exist; return whether it did.

    The folder and its keys are readable by their owner only. UsageError on a host whose
    certificates are of an authority elsewhere.
    """
    if (folder / AUTHORITY).exists():
        if not (folder / _AUTHORITY_KEY).exists():
            raise UsageError(
                f"{shown(folder)}: has certificates of an authority on another host: call "
                "./scripts/fleet.sh ca there, or remove this folder for a new authority"
            )
        # A first call that was interrupted has left no certificate of this host.
        return make_certificate(folder, folder)
    _make_folder(folder)
    private = ec.generate_private_key(ec.SECP256R1())
    # The key comes first: a certificate without it is a copy.
    _write_key(folder / _AUTHORITY_KEY, private)
    write_atomic(folder / AUTHORITY, _signed(_NAME, private, private))
    make_certificate(folder, folder)
    return True


def make_certificate(authority: Path, folder: Path) -> bool:
    """Make what a host needs, in a folder, unless it exists: both certificates and its key.

    Return whether it was made. UsageError if there is no authority.
    """
    try:
        own = (authority / AUTHORITY).read_bytes()
        issuer = x509.load_pem_x509_certificate(own)
        issuer_key = load_pem_private_key((authority / _AUTHORITY_KEY).read_bytes(), password=None)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{shown(authority)}: there is no certificate authority here; certificates are made "
            "where the first ./scripts/fleet.sh ca was called"
        ) from error
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        raise UsageError(f"{shown(authority / _AUTHORITY_KEY)}: is not a key of fleet.sh ca")
    if _is_whole(folder, own, issuer):
        return False
    _make_folder(folder)
    private = ec.generate_private_key(ec.SECP256R1())
    _write_key(folder / KEY, private)
    write_atomic(folder / CERTIFICATE, _signed("HttpArena generator host", private, issuer_key))
    if folder != authority:
        write_atomic(folder / AUTHORITY, own.decode())
    return True


def _is_whole(folder: Path, authority: bytes, issuer: x509.Certificate) -> bool:
    """Return whether a host's folder has all that it needs, of this authority.

    An interrupted call has left less.
    """
    files = [folder / name for name in (AUTHORITY, CERTIFICATE, KEY)]
    if not all(each.exists() for each in files) or files[0].read_bytes() != authority:
        return False
    try:
        x509.load_pem_x509_certificate(files[1].read_bytes()).verify_directly_issued_by(issuer)
    except (ValueError, InvalidSignature):
        return False
    return True


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise HostError(f"{shown(folder)}: cannot be made ({error.strerror})") from error


def _signed(name: str, key: ec.EllipticCurvePrivateKey, by: ec.EllipticCurvePrivateKey) -> str:
    """Return a certificate of a key, by the authority's key, which may be the same."""
    is_own = key is by
    uses = {"key_cert_sign", "crl_sign"} if is_own else {"digital_signature"}
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key())
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (issuer, False),
        (x509.BasicConstraints(ca=is_own, path_length=0 if is_own else None), True),
        (x509.KeyUsage(**{each: each in uses for each in _USES}), True),
        *([] if is_own else [(x509.ExtendedKeyUsage(both), False)]),
    ]
    return signed_certificate(name, key, (_NAME, by), extensions)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    try:
        part = path.with_name(f".{path.name}")
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(pem_of(key))
        part.replace(path)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error
