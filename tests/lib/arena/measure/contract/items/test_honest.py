"""An honest server keeps the contract of items, over both versions of HTTP and over TLS."""

from pathlib import Path

import pytest

from arena.measure.contract import check
from tests.lib.arena.measure.contract.items.service import Service, scope_at, serving


@pytest.mark.parametrize("tls", [False, True])
def test_an_honest_server_passes_everything(tls: bool, certificates: Path) -> None:
    with serving(Service(), certificates if tls else None) as port:
        report = check(scope_at(port, tls=tls), None)
    odd = [each for each in report.checks if each.status != "pass"]
    # h2, which serves here, ends a connection that has too many streams.
    assert [(each.check, each.status) for each in odd] == [("h2-stream-limit", "warn")], odd
