"""The test certificate that servers use on the TLS port, made on first use."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from arena.base.writing import locked, write_atomic

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    Extensions = Sequence[tuple[x509.ExtensionType, bool]]

_LIFETIME = timedelta(days=825)
_RENEW_BEFORE = timedelta(days=30)


def ensure_certificate(folder: Path) -> None:
    """Make server.crt and server.key (PEM, P-256, for localhost) unless a fresh pair exists.

    The key is readable by everybody: containers run as other users, and it protects nothing.
    """
    if _is_fresh(folder):
        return
    with locked(folder):
        if not _is_fresh(folder):
            _make(folder)


def _make(folder: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    private = ec.generate_private_key(ec.SECP256R1())
    addresses = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")]
    names = [x509.DNSName("localhost"), *(x509.IPAddress(each) for each in addresses)]
    extensions: Extensions = [
        (x509.SubjectAlternativeName(names), False),
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
    ]
    signed = signed_certificate("localhost", private, ("localhost", private), extensions)
    # The certificate is written last: a pair that was cut short is made again.
    certificate, key = _pair(folder)
    certificate.unlink(missing_ok=True)
    write_atomic(key, pem_of(private))
    folder.chmod(0o755)
    write_atomic(certificate, signed)


def signed_certificate(
    name: str,
    key: "ec.EllipticCurvePrivateKey",
    issuer: tuple[str, "ec.EllipticCurvePrivateKey"],
    extensions: "Extensions",
) -> str:
    """Return a certificate in PEM; extensions may be critical, and the issuer has a name and a key.

    It is valid from yesterday on: clocks differ.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.x509.oid import NameOID

    def named(common: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])

    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer[0]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
    )
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    signed = builder.sign(issuer[1], hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def pem_of(key: "ec.EllipticCurvePrivateKey") -> str:
    """Return a private key in PEM."""
    from cryptography.hazmat.primitives import serialization

    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem.decode()


def _pair(folder: Path) -> tuple[Path, Path]:
    return folder / "server.crt", folder / "server.key"


def _is_fresh(folder: Path) -> bool:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    certificate, key = _pair(folder)
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        private = load_pem_private_key(key.read_bytes(), password=None)
    except (OSError, ValueError):
        return False
    if private.public_key() != found.public_key():
        return False
    return found.not_valid_after_utc - _RENEW_BEFORE > datetime.now(UTC)
