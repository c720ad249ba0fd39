"""What the tools read: scenarios for volley, a configuration for h2loadrunner."""

import json
from pathlib import Path
from typing import Any

import yaml

from tools.bench_scenarios.workloads import (
    CHANGE_NOTE,
    ITEM_NOTE,
    REQUESTS_PER_ITERATION,
    Workload,
)

HERE = Path(__file__).resolve().parent
PROTO = HERE.parents[1] / "requests" / "benchmark.proto"
# Long enough that no key comes twice, in any run.
_KEYS = 10_000_000
_TIMEOUT_MS = 2000
# A thread of volley wakes so often at most under a rate; h2loadrunner begins requests every 10 ms.
COALESCE = "2ms"


def scenario(workload: Workload, port: int, duration_s: float) -> str:
    """Return the workload's scenario for a server on `port`, as JSON."""
    plan = _file(workload)
    here = f"{'https' if workload.tls else 'http'}://127.0.0.1:{port}"
    tls = {"tls": {"insecure": True}} if workload.tls else {}
    plan["targets"] = {name: {"hosts": here, **tls} for name in plan["targets"]}
    plan["http"] = {
        "version": workload.http,
        "connections": workload.connections,
        "streams": workload.streams,
        "timeout": f"{_TIMEOUT_MS}ms",
    }
    length = f"{duration_s:g}s"
    if workload.rate:
        plan["load"] = [{"rate": f"{workload.rate // REQUESTS_PER_ITERATION}/s", "for": length}]
        plan["limits"] = {"iterations_open": workload.in_flight, "coalesce": COALESCE}
        # Some requests get no answer, and that is as it should be.
        plan["thresholds"] = ["failed < 20%"]
    else:
        plan["load"] = [{"users": workload.in_flight, "for": length}]
    if "protos" in plan:
        plan["protos"] = [str((HERE / each).resolve()) for each in plan["protos"]]
    return json.dumps(plan, indent=2)


def _file(workload: Workload) -> dict[str, Any]:
    plan: dict[str, Any] = yaml.safe_load((HERE / f"{workload.scenario}.yaml").read_text())
    return plan


def h2loadrunner(workload: Workload, port: int, duration_s: float) -> str:
    """Return h2loadrunner's configuration of the same load, as JSON."""
    item = {"owner": "ann", "sku": "${sku}", "note": ITEM_NOTE}
    change = {"state": "paid", "note": CHANGE_NOTE}
    requests = [
        _request("POST", "input", "/v1/items", 201, item),
        _request("PATCH", "fromResponseHeader", "location", 204, change),
        _request("DELETE", "sameWithLastOne", "", 204, None),
    ]
    for request, step in zip(requests, _file(workload)["scenarios"]["crud"]["steps"], strict=True):
        if script := step.get("lua"):
            request["uri"] = {"typeOfAction": "fromLuaScript", "input": "/"}
            request["luaScript"] = script
    return json.dumps(
        {
            "schema": "https" if workload.tls else "http",
            "host": "127.0.0.1",
            "port": port,
            "threads": 1,
            "clients": workload.connections,
            "max-concurrent-streams": workload.streams,
            "duration": int(duration_s),
            # Its rate is that of one connection.
            "request-per-second": workload.rate // workload.connections,
            "stream-timeout": _TIMEOUT_MS,
            "no-tls-proto": "http/1.1" if workload.http == 1 else "h2c",
            "Scenarios": [
                {
                    "name": "crud",
                    "weight": 100,
                    "range-based-variables": [
                        {
                            "variable-name": "sku",
                            "variable-range-start": 0,
                            "variable-range-end": _KEYS,
                        }
                    ],
                    "Requests": requests,
                }
            ],
        },
        indent=2,
    )


def _request(
    method: str, action: str, uri: str, status: int, body: dict[str, str] | None
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "uri": {"typeOfAction": action, "input": uri},
        "method": method,
        "expected-status-code": status,
    }
    if body:
        request["payload"] = json.dumps(body, separators=(",", ":"))
        request["additonalHeaders"] = ["content-type: application/json"]
    return request
