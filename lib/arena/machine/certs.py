"""The test certificate that servers use on the TLS port, made on first use."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena.base.writing import locked, write_atomic

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
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    addresses = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")]
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), *(x509.IPAddress(each) for each in addresses)]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private, hashes.SHA256())
    )
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The certificate is written last: a pair that was cut short is made again.
    certificate, key = _pair(folder)
    certificate.unlink(missing_ok=True)
    write_atomic(key, pem.decode())
    folder.chmod(0o755)
    write_atomic(certificate, signed.public_bytes(serialization.Encoding.PEM).decode())


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
