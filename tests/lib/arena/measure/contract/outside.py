"""How a lying server looks from the outside, its TLS, and a clock that nobody waits for."""

import ssl
from pathlib import Path

from arena.record.measurement import Cost
from tests.lib.arena.measure.contract.liar import Tls
from tests.lib.arena.measure.contract.lying_server import Server


class Clock:
    """Stands in for the module `time`: it passes when somebody sleeps, or reads it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Outside:
    """A Watched: the server's process as its manners want it to be seen."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._seen = clock.now
        self._cpu_s = 1.5
        self._peak_bytes = 50 << 20

    def ended(self) -> str | None:
        return self._server.how_ended

    def cost(self) -> Cost:
        """Return one CPU's time for as long as it was busy, and more memory at each look."""
        if self._server.how_ended:
            raise ProcessLookupError("there is no such process")
        passed, self._seen = self._clock.now - self._seen, self._clock.now
        self._cpu_s += passed if self._server.busy else 0.0
        self._peak_bytes += self._server.growth
        return Cost(cpu_s=self._cpu_s, peak_bytes=self._peak_bytes)


def context_of(tls: Tls, certificates: Path) -> ssl.SSLContext:
    """Return a server's context; versions that are deprecated are those a liar is found by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    if tls.least < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = tls.least
    context.maximum_version = tls.most
    if tls.protocols:
        context.set_alpn_protocols(list(tls.protocols))
    return context
