"""Those whose TLS is not that of today, or leads elsewhere than to HTTP/2."""

import ssl

from tests.lib.arena.measure.contract.honest import honest
from tests.lib.arena.measure.contract.liar import Liar
from tests.lib.arena.measure.contract.lying_server import Tls

_NO_ALPN = (
    r"the server does not choose h2 by ALPN; "
    r"then GetSum is not answered \(the server does not choose h2 by ALPN\)"
)

TLS = [
    Liar("unary-sum", "no ALPN", honest, _NO_ALPN, tls=Tls(()), alone=False),
    Liar("unary-sum", "HTTP/1.1 by ALPN", honest, _NO_ALPN, tls=Tls(("http/1.1",)), alone=False),
    Liar("tls-alpn", "no ALPN of the second server behind the port", honest,
         r"offered h2, the server chooses nothing; "
         r"then GetSum is not answered \(the server does not choose h2 by ALPN\)", tls=Tls(())),
    Liar("tls-alpn", "HTTP/1.1 rather than h2", honest,
         "offered h2 and http/1.1, the server chooses http/1.1", status="warn",
         tls=Tls(("http/1.1", "h2"))),
    Liar("tls-alpn", "HTTP/1.1 where the client names it first", honest,
         "offered http/1.1 and h2, the server chooses http/1.1", status="warn",
         tls=Tls(("http/1.1", "h2"), honest=2)),
    Liar("tls-version", "TLS 1.1 is spoken", honest, "the server speaks TLSv1.1",
         tls=Tls(least=ssl.TLSVersion.TLSv1_1)),
    Liar("tls-version", "TLS 1.0 is spoken", honest, "the server speaks TLSv1",
         tls=Tls(least=ssl.TLSVersion.TLSv1)),
    Liar("tls-downgrade", "nothing newer than TLS 1.2", honest,
         "the server chooses TLSv1.2, though TLSv1.3 is offered", status="warn",
         tls=Tls(most=ssl.TLSVersion.TLSv1_2)),
]  # fmt: skip
