"""What the programs of a fleet have in common: Dask's settings and the certificates."""

import logging
import warnings
from pathlib import Path

import dask
from distributed.security import Security

from arena.base.errors import HostError
from arena.base.text import printable, shown
from arena_fleet.certificates import AUTHORITY, CERTIFICATE, KEY

# A host that waits for work must not disturb what runs beside it.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.client.heartbeat": "60s",
    # Nothing is ever made twice.
    "distributed.scheduler.allowed-failures": 0,
    # A task whose host has gone fails, and does not wait for it.
    "distributed.scheduler.no-workers-timeout": "2s",
    "distributed.comm.retry.count": 0,
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.require-encryption": True,
}


def apply() -> None:
    """Set Dask up for this process. Its log is silent: errors are ours to report."""
    dask.config.set(_QUIET)
    warnings.filterwarnings("ignore", module="distributed")
    # Dask gives some of its loggers levels of their own.
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"asyncio", "distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def cause(error: BaseException) -> BaseException:
    """Return what broke."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def no_answer(address: str, error: BaseException) -> HostError:
    """Return the error of a coordinator that does not answer."""
    return HostError(
        f"no fleet answers at {address} ({words(error)}): is its coordinator up, and are both "
        "certificates of the same authority?"
    )


def words(error: BaseException) -> str:
    """Return what broke, in one line."""
    error = cause(error)
    return printable(f"{type(error).__name__}: {error}".splitlines()[0])[:200].removesuffix(": ")


def security(folder: Path) -> Security:
    """Return the certificates of this host; HostError if there are none."""
    authority, certificate, key = (folder / name for name in (AUTHORITY, CERTIFICATE, KEY))
    for path in (authority, certificate, key):
        if not path.exists():
            raise HostError(
                f"{shown(path)}: a fleet needs certificates: make them with "
                "./scripts/fleet.sh ca, and copy a folder of them to each host"
            )
    return Security(
        require_encryption=True,
        tls_ca_file=str(authority),
        **{
            f"tls_{role}_{what}": str(path)
            for role in ("scheduler", "worker", "client")
            for what, path in (("cert", certificate), ("key", key))
        },
    )
