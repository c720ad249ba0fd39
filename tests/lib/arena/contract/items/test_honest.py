"""An honest server keeps the contract of items, over both versions of HTTP and over TLS."""

from pathlib import Path

import pytest

from arena.contract import check
from arena.contract.items import connections, http
from tests.lib.arena.contract.items.service import Service, scope_at, serving


@pytest.mark.parametrize("tls", [False, True])
def test_an_honest_server_passes_everything(
    tls: bool, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what hangs is to be given up: on a busy host, 64 handshakes take long.
    monkeypatch.setattr(http, "TIMEOUT_S", 120.0)
    monkeypatch.setattr(connections, "TIMEOUT_S", 120.0)
    with serving(Service(), certificates if tls else None) as port:
        report = check(scope_at(port, tls=tls), None)
    odd = [each for each in report.checks if each.status != "pass"]
    # h2, which serves here, ends a connection that has too many streams.
    assert [(each.check, each.status) for each in odd] == [("h2-stream-limit", "warn")], odd
