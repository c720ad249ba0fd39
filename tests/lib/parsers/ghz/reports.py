"""The captured reports (see fixtures/ghz/README.md), and small made-up ones."""

from pathlib import Path
from typing import Any

from parse_ghz import GhzReport, parse_file

FIXTURES = Path(__file__).parents[3] / "fixtures" / "ghz"

CLOSING = "rpc error: code = Canceled desc = grpc: the client connection is closing"
TRANSPORT_CLOSING = "rpc error: code = Unavailable desc = transport is closing"
READ_CLOSED = (
    "rpc error: code = Unavailable desc = error reading from server: "
    "read tcp 127.0.0.1:4->127.0.0.1:8: use of closed network connection"
)
EOF = "rpc error: code = Unavailable desc = error reading from server: EOF"
RESET = (
    "rpc error: code = Unavailable desc = error reading from server: "
    "read tcp 127.0.0.1:4->127.0.0.1:8: read: connection reset by peer"
)
REFUSED = (
    'rpc error: code = Unavailable desc = connection error: desc = "transport: '
    'Error while dialing: dial tcp 127.0.0.1:8: connect: connection refused"'
)

REPORTS = sorted(
    path.name
    for path in FIXTURES.glob("ghz-*")
    if path.suffix in {".json", ".txt"} and path.name != "servers.json"
)


def report_of(name: str) -> GhzReport:
    return parse_file(FIXTURES / name)


def small_json(*calls: tuple[float, float, str], **changes: Any) -> dict[str, Any]:
    """A report of calls (end in s, latency in s, error), its totals consistent with them."""
    details = []
    statuses: dict[str, int] = {}
    errors: dict[str, int] = {}
    for end_s, latency_s, error in calls:
        status = error.split(" ")[4] if error else "OK"
        statuses[status] = statuses.get(status, 0) + 1
        if error:
            errors[error] = errors.get(error, 0) + 1
        details.append(
            {
                "timestamp": f"2026-01-02T03:04:{end_s:012.9f}+01:00",
                "latency": round(latency_s * 1e9),
                "error": error,
                "status": status,
            }
        )
    report: dict[str, Any] = {
        "endReason": "timeout",
        "options": {"concurrency": 4, "concurrency-schedule": "const"},
        "count": len(calls),
        "total": 10_000_000_000,
        "average": 5,
        "fastest": 4,
        "slowest": 6,
        "rps": len(calls) / 10,
        "errorDistribution": errors,
        "statusCodeDistribution": statuses,
        "latencyDistribution": None,
        "histogram": None,
        "details": details,
    }
    return report | changes


def small_text(
    *errors: tuple[int, str], ok: int = 10, total: str = "2.00 s", fastest: str = "0 ns"
) -> str:
    """A text summary whose failed calls have these errors."""
    statuses: dict[str, int] = {"OK": ok}
    for count, error in errors:
        code = error.split(" ")[4]
        statuses[code] = statuses.get(code, 0) + count
    codes = "\n".join(f"  [{code}]   {count} responses   " for code, count in statuses.items())
    entries = "\n".join(f"  [{count}]   {error}   " for count, error in errors)
    return f"""
Summary:
  Count:\t{sum(statuses.values())}
  Total:\t{total}
  Slowest:\t0 ns
  Fastest:\t{fastest}
  Average:\t0 ns
  Requests/sec:\t5.00

Response time histogram:

Latency distribution:

Status code distribution:
{codes}

Error distribution:
{entries}
"""
