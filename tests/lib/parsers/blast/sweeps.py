"""The captured sweeps (see the README.md of the fixtures), and small made-up ones."""

import json
from pathlib import Path
from typing import Any

from tests.lib.parsers.changes import put
from tests.lib.parsers.ghz.reports import small_json

FIXTURES = Path(__file__).parents[3] / "fixtures"
VOLLEY = FIXTURES / "volley" / "blast"
GHZ = FIXTURES / "ghz"

SWEEPS = sorted([*VOLLEY.glob("*.json"), *GHZ.glob("*.jsonl.gz")])

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


def small_lines(*changes: Change) -> list[dict[str, Any]]:
    """What three starts of ghz leave: one call, then two over two connections, then one again."""
    internal = "rpc error: code = Internal desc = oh no"
    lines = [
        _line(1, 1, 1, (1.0, 0.001, "")),
        _line(2, 2, 1, (2.001, 0.001, ""), (2.004, 0.002, internal)),
        _line(1, 1, 2, (3.0, 0.004, "")),
    ]
    for order, line in enumerate(lines):
        line["order"] = order
    for place, value in changes:
        put(lines, place, value)
    return lines


def _line(
    connections: int, requests: int, repetition: int, *calls: tuple[float, float, str]
) -> dict[str, Any]:
    return {
        "connections": connections,
        "requests": requests,
        "repetition": repetition,
        "order": 0,
        "report": small_json(*calls, endReason="normal"),
    }


def as_text(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)
