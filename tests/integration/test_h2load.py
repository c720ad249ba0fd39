"""The main job with h2load, the classic generator of unary calls."""

import hashlib
import shutil
from typing import Any

import pytest

import parse_h2load
from tests.integration.plumbing import (
    ROOT,
    Arena,
    derived_of,
)

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not shutil.which("h2load"), reason="no h2load (Debian: nghttp2-client)"),
    pytest.mark.skipif(not shutil.which("go"), reason="grpc-go needs Go"),
]


def check_unchecked(arena: Arena, record: dict[str, Any]) -> None:
    """Check that every run's figures are those of h2load's saved output, and none is made up."""
    assert record["status"] == "ok"
    assert "status-unchecked" in derived_of(record).flags
    for run in record["runs"]:
        raw = arena.results / run["raw"]["path"]
        assert raw.suffix == ".txt"
        assert hashlib.sha256(raw.read_bytes()).hexdigest() == run["raw"]["sha256"]
        told = parse_h2load.parse_file(raw)
        calls, latency = run["calls"], run["latency_ns"]
        open_calls = 2 * record["profile"]["connection_count"]
        open_calls += told.counts.started - told.counts.done
        assert calls == {"ok": told.calls.ok, "failed": {}, "cut": open_calls}
        assert told.warm_up_s == 3
        assert run["elapsed_s"] == record["profile"]["load"]["duration_s"]
        assert run["messages"] == calls["ok"] > 0
        assert run["rate"] == run["rate_at_least"] == run["rate_at_most"]
        assert run["rate"] == calls["ok"] / run["elapsed_s"]
        # The cost is that of the window, not of the three seconds before it.
        assert run["server"]["cpu_s"] < (run["watch"]["elapsed_s"] + 1) * run["watch"]["cpus"]
        assert run["unchecked"] == {"status": calls["ok"], "replies": calls["ok"]}
        assert latency["kind"] == "service"
        if told.form == "text":
            assert latency["p90"] is latency["p999"] is None


@pytest.mark.parametrize("profile", ["unary-grpc", "unary-grpc-tls"])
def test_both_connection_counts_give_a_good_record_that_says_what_nobody_looked_at(
    bare: Arena, profile: str
) -> None:
    (bare.workspace.frameworks / "grpc-go").symlink_to(ROOT / "frameworks" / "grpc-go")
    # Few cores answer no call of 102,400 within a second, and open 1,024 TLS connections in two.
    path = bare.workspace.profiles / "unary-grpc.yaml"
    path.write_text(path.read_text().replace("connection: 100", "connection: 2"))
    seconds = "4s" if profile.endswith("-tls") else "1s"
    done = bare.run("grpc-go", profile, "--duration", seconds, "--runs", "1")
    assert done.code == 0, done
    records = {
        each["profile"]["connection_count"]: each for each in bare.records("grpc-go", profile)
    }
    assert sorted(records) == [256, 1024]
    for record in records.values():
        generator = record["provenance"]["generator"]
        assert (generator["name"], generator["found"]) == ("h2load", "PATH")
        assert record["profile"]["load"]["streams_per_connection"] == 2
        check_unchecked(bare, record)
    assert (bare.root / ".tools" / "bodies" / "000000000408011002.bin").exists()
