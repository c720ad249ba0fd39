"""The figures of the gate, and the command line that makes the load of each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_PROTO = _ROOT / "requests" / "benchmark.proto"
_SERVICE = "benchmark.BenchmarkService"
_BURST = 5000
# Calls or users that are open at a time, on one connection.
_OPEN = 100


@dataclass(frozen=True)
class Figure:
    """One figure: the instructions of one `unit` of a load.

    The load is that of `flags`, or of a scenario's one step. Its two runs have `lengths` calls or
    iterations, each of `units`.
    """

    name: str
    lengths: tuple[int, int]
    flags: tuple[str, ...] = ()
    step: Mapping[str, Any] | None = None
    units: int = 1
    tls: bool = False

    def argv(self, volley: str, port: int, length: int, folder: Path) -> list[str]:
        """Return the command line of a run; it writes its files to `folder`."""
        if self.step:
            return self._scenario(volley, self.step, port, length, folder)
        return [
            volley, "--skipTLS" if self.tls else "--insecure", "--proto", str(_PROTO), *self.flags,
            "-c", str(_OPEN), "-n", str(length), *_ends(folder), f"127.0.0.1:{port}",
        ]  # fmt: skip

    def _scenario(
        self, volley: str, step: Mapping[str, Any], port: int, length: int, folder: Path
    ) -> list[str]:
        here = f"{'https' if self.tls else 'http'}://127.0.0.1:{port}"
        plan = {
            "targets": {"to": {"hosts": here, **({"tls": {"insecure": True}} if self.tls else {})}},
            "http": {"version": 2, "connections": 1, "streams": _OPEN},
            "protos": [str(_PROTO)],
            "data": {"sku": {"range": [0, 100_000_000], "width": 8, "order": "circular"}},
            "scenarios": {"one": {"steps": [{"name": "step", **step}]}},
            "load": [{"users": _OPEN, "iterations": length}],
        }
        file = folder / "scenario.json"
        file.write_text(json.dumps(plan))
        return [volley, "run", str(file), *_ends(folder)]


def _ends(folder: Path) -> list[str]:
    """Return the flags of every run: one in which anything fails does not count."""
    report = ["-O", "summary", "-o", str(folder / "report")]
    return ["--threads", "1", "--quiet", "--fail-if", "failed > 0", *report]


def _call(method: str, data: str, rule: str) -> tuple[str, ...]:
    return ("--call", f"{_SERVICE}/{method}", "-d", data, "--expect", rule)


_IN_PLAINTEXT = (
    Figure(
        "burst message",
        (100, 400),
        flags=(
            *_call("StreamSum", f'{{"a": 1, "b": 2, "count": {_BURST}}}', "result = a + b + i"),
            *("--expect-replies", str(_BURST)),
        ),
        units=_BURST,
    ),
    Figure(
        "unary call",
        (5_000, 45_000),
        flags=_call("GetSum", '{"a": 1, "b": 2}', "result = a + b"),
    ),
    Figure(
        "templated call",
        (2_500, 17_500),
        flags=_call(
            "GetSum",
            '{"a": {{randomInt 1 100}}, "b": {{mod .RequestNumber 100}}}',
            "result = a + b",
        ),
    ),
    Figure(
        "scripted gRPC request",
        (2_500, 22_500),
        step={
            "grpc": f"${{to}}/{_SERVICE}/GetSum",
            "message": {"a": 20, "b": 22},
            "expect": {"status": "OK", "each": "result = a + b"},
        },
    ),
    Figure(
        "scripted HTTP request",
        (2_500, 12_500),
        step={
            "post": "${to}/v1/items",
            "json": {"owner": "ann", "sku": "${sku}"},
            "expect": {"status": 201, "json": {"/item/sku": "${sku}"}},
        },
    ),
)
FIGURES = (
    *_IN_PLAINTEXT,
    *(replace(each, name=f"{each.name}, TLS", tls=True) for each in _IN_PLAINTEXT),
)
