"""What the bench prints."""

import json
import re
from dataclasses import replace

from arena.record.measurement import Disturbance
from tests.tools.bench.shots import a_round
from tools.bench.report import to_json, to_text


def test_json_has_a_row_for_each_generator_under_each_workload() -> None:
    told = json.loads(to_json([*a_round(), *a_round()]))
    assert list(told) == ["rows"]
    assert [(row["workload"], row["generator"]) for row in told["rows"]] == [
        ("stream", "ghz"),
        ("stream", "volley"),
        ("stream-tls", "ghz"),
        ("stream-tls", "volley"),
        ("unary", "ghz"),
        ("unary", "h2load"),
        ("unary", "volley"),
        ("unary-template", "ghz"),
        ("unary-template", "volley"),
        ("unary-1024", "volley"),
        ("paced", "volley"),
        ("paced-10ms", "h2load"),
        ("paced-10ms", "volley"),
    ]
    row = told["rows"][5]
    assert row.pop("cpu_ns_per_unit") == 5000.0
    assert row == {
        "workload": "unary",
        "generator": "h2load",
        "version": "1.0",
        "rate": 80_000.0,
        "peak_bytes": 10_000_000,
        "counted": 400_000,
        "server_counted": 400_400,
        "failed_calls": 0,
        "elapsed_s": 5.0,
        "delay_p99_ns": None,
        "waited_s": 0.0,
        "disturbed": [],
    }


def test_the_table_can_be_read() -> None:
    text = to_text(a_round(), 3, 5.0)
    assert text.startswith("medians of 3 interleaved rounds of 5s; ")
    rows = [re.split(r"  +", line) for line in text.splitlines()]
    assert rows[3] == [
        "workload", "generator", "CPU", "rate", "memory", "counted - server's", "failed calls"
    ]  # fmt: skip
    assert rows[4] == [
        "stream", "ghz 1.0", "2.10 µs a message", "1.00 M messages/s", "10.0 MB", "0", "0"
    ]  # fmt: skip
    assert rows[9] == [
        "unary", "h2load 1.0", "5.00 µs a call", "80.0 k calls/s", "10.0 MB", "-400", "0"
    ]  # fmt: skip
    assert rows[18] == ["CPU per message, stream", "1/70.0 of ghz's", "(at most 1/70)", "met"]


def test_one_round_is_called_one() -> None:
    assert to_text(a_round(), 1, 5.0).startswith("median of 1 round of 5s; ")


def test_a_bar_that_is_missed_stands_out() -> None:
    text = to_text(a_round(off=3), 1, 1.0)
    last = text.splitlines()[-1]
    assert re.split(r"  +", last) == ["counted - server's own, every run", "+3", "(0)", "MISSED"]


def test_what_the_host_did_is_told() -> None:
    stolen = (Disturbance(signal="steal", value=0.3, limit=0.01),)
    shots = [replace(shot, waited_s=2.0) for shot in a_round()]
    shots[1] = replace(shots[1], disturbed=stolen)
    assert to_text(shots, 1, 5.0).splitlines()[1] == (
        "waited 26 s in all for a quiet host; 1 of 13 runs were disturbed (steal 1)"
    )
