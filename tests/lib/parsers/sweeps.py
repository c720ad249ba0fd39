"""The captured sweeps (see the README.md of the fixtures), and small made-up ones."""

from pathlib import Path
from typing import Any

from tests.lib.parsers.changes import put

VOLLEY = Path(__file__).parents[2] / "fixtures" / "volley" / "blast"
SWEEPS = sorted(VOLLEY.glob("*.json"))

Change = tuple[tuple[str | int, ...], Any]


def small_sweep(*changes: Change) -> dict[str, Any]:
    """Two points of two calls, over one connection and over two, each fired twice.

    Three of the second one's calls failed. `changes` are places and what to put there; None takes
    a member away.
    """
    sweep: dict[str, Any] = {
        "blast": 1,
        "version": "0.1.0",
        "seed": 1,
        "repetitions": 2,
        "elapsed_s": 0.5,
        "checks": {"compared": True, "replies_checked": 5, "failed": 0, "samples": []},
        "points": [
            _point(
                1,
                (1500.0, 1000.0, 2000.0),
                {"order": 0, "span_ns": 1_000_000, "ok": 2, "failed": {}},
                {"order": 3, "span_ns": 2_000_000, "ok": 2, "failed": {}},
            ),
            _point(
                2,
                (500.0, 0.0, 1000.0),
                {"order": 1, "span_ns": 1_000_000, "ok": 1, "failed": {"Internal": 1}},
                {"order": 2, "span_ns": 0, "ok": 0, "failed": {"Unavailable": 2}},
            ),
        ],
        "warnings": [],
    }
    for place, value in changes:
        put(sweep, place, value)
    return sweep


def _point(connections: int, rate: tuple[float, ...], *shots: dict[str, Any]) -> dict[str, Any]:
    ok = sum(shot["ok"] for shot in shots)
    names = ("mean", "min", "p50", "p75", "p90", "p95", "p99", "p999", "max")
    return {
        "connections": connections,
        "requests": 2,
        "rate": dict(zip(("median", "low", "high"), rate, strict=True)),
        "ok": ok,
        "failed": {code: n for shot in shots for code, n in shot["failed"].items()},
        "latency_ns": {"kind": "response", **dict.fromkeys(names, 1_000_000), "samples": ok},
        "shots": [*shots],
    }
