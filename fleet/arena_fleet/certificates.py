"""The private certificate authority of a fleet, and the certificates of its hosts.

A certificate lets its holder run programs on every host of the fleet: what goes over the wire is
Python's pickle. So the authority is the fleet's own, and its key stays where it was made.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from arena.base.errors import HostError, UsageError
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena_fleet.facts import host_name

# The files of a host: the authority's certificate, and its own certificate and key.
AUTHORITY, CERTIFICATE, KEY = "ca.crt", "host.crt", "host.key"
_AUTHORITY_KEY = "ca.key"

_LIFETIME = timedelta(days=825)

_Extensions = Sequence[tuple[x509.ExtensionType, bool]]


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
    private, name = ec.generate_private_key(ec.SECP256R1()), _name("fleet")
    extensions: _Extensions = (
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (_usage(signs_certificates=True), True),
    )
    # The key comes first: a certificate without it is a copy.
    _write_key(folder / _AUTHORITY_KEY, private)
    write_atomic(folder / AUTHORITY, _signed(name, private.public_key(), name, private, extensions))
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
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    extensions: _Extensions = (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage(both), False),
    )
    signed = _signed(
        _name("generator host"), private.public_key(), issuer.subject, issuer_key, extensions
    )
    _write_key(folder / KEY, private)
    write_atomic(folder / CERTIFICATE, signed)
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


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"HttpArena {common}")])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _signed(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePrivateKey,
    extensions: _Extensions,
) -> str:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
    )
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        part = path.with_name(f".{path.name}")
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        part.replace(path)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error
