"""volley's JSON, made by hand as the program writes it: 3 calls succeeded, 1 failed, 2 were cut."""

from typing import Any

from tests.lib.parsers.changes import put


def a_report(**changes: Any) -> dict[str, Any]:
    """Return a whole report; `changes` go over it by dotted path, None takes a member away."""
    report: dict[str, Any] = {
        "date": "2026-01-01T00:00:05Z",
        "endReason": "timeout",
        "options": {"call": "benchmark.BenchmarkService.StreamSum", "concurrency": 256},
        "count": 6,
        "total": 5_000_000_000,
        "average": 1_500_000_000,
        "fastest": 1_000_000_000,
        "slowest": 2_000_000_000,
        "rps": 0.8,
        "errorDistribution": {
            "rpc error: code = Canceled desc = grpc: the client connection is closing": 2,
            "rpc error: code = Internal desc = oh no": 1,
        },
        "statusCodeDistribution": {"OK": 3, "Internal": 1, "Canceled": 2},
        "latencyDistribution": [],
        "histogram": [],
        "details": [],
        "volley": {
            "schema": 1,
            "version": "0.1.0",
            "messages": 21_000,
            "data_frames": 20_000,
            "messages_per_s": 4200.0,
            "window_s": 5.0,
            "calls": {"ok": 3, "failed": {"Internal": 1}, "cut": 2},
            "sent": 6,
            "missed": 0,
            "late": 0,
            "retried": 0,
            "latency_ns": {
                "kind": "service",
                "mean": 1_500_000_000,
                "p50": 1_500_000_000,
                "p75": 1_600_000_000,
                "p90": 1_700_000_000,
                "p95": 1_800_000_000,
                "p99": 1_900_000_000,
                "p999": 1_950_000_000,
                "p9999": 1_960_000_000,
                "max": 2_000_000_000,
                "samples": 3,
                "histogram": "",
            },
            "warmup": {"elapsed_s": 1.5, "seconds": [3_000, 2_000]},
            "cpu_s": 0.1,
            "peak_bytes": 10_000_000,
            "threads": 1,
            "checks": {"replies_checked": 21_000, "failed": 0, "samples": []},
            "warnings": [],
        },
    }
    for path, value in changes.items():
        put(report, path.split("."), value)
    return report
