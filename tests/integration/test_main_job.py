"""The main job: from a framework to its record, its row and its page, natively."""

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from tests.integration.plumbing import (
    ROOT,
    Arena,
    derived_of,
    headline_of,
    load_command,
)

pytestmark = pytest.mark.integration


@pytest.fixture
def real(bare: Arena) -> Arena:
    """Return a checkout with the real frameworks, what they have built before included."""
    for name in ("grpc-go", "grpcio-python"):
        (bare.workspace.frameworks / name).symlink_to(ROOT / "frameworks" / name)
    return bare


def shorten(arena: Arena, replies: int) -> None:
    """Have each call get so many replies, not 5,000."""
    path = arena.workspace.profiles / "stream-grpc.yaml"
    text, to = path.read_text(), rf"\g<1>{replies}"
    path.write_text(re.sub(r"(count: |messages_per_call: )5000", to, text))


def check_figures(arena: Arena, record: dict[str, Any]) -> None:
    """Check that every figure of the runs can be had again from the saved raw outputs."""
    for run in record["runs"]:
        raw = arena.results / run["raw"]["path"]
        assert hashlib.sha256(raw.read_bytes()).hexdigest() == run["raw"]["sha256"]
        words = [str(raw), "--messages-per-call", str(record["profile"]["messages_per_call"])]
        done = subprocess.run(
            [sys.executable, str(ROOT / "lib" / "parse_ghz.py"), *words],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        again = json.loads(done.stdout)
        assert again["calls"] == run["calls"]
        assert again["messages_per_s"] == run["rate"]
        for name in ("at_least", "at_most"):
            assert again[name] == run[f"rate_{name}"]
        assert again["elapsed_s"] == run["elapsed_s"]
        assert 0 < run["rate"] <= run["rate_at_most"]
        assert run["server"]["cpu_s"] > 0
        assert run["server"]["peak_bytes"] > 1 << 20
        assert run["generator"]["cpu_s"] > 0
        assert run["generator"]["peak_bytes"] > 1 << 20


@pytest.mark.skipif(not shutil.which("go"), reason="grpc-go needs Go")
@pytest.mark.parametrize(
    ("profile", "port"),
    [
        pytest.param("stream-grpc", 8080, marks=pytest.mark.smoke),
        ("stream-grpc-tls", 8443),
    ],
)
def test_grpc_go_ends_up_measured_saved_ranked_and_on_the_page(
    real: Arena, profile: str, port: int
) -> None:
    # On a busy host, it may be that none of 256 calls with 5,000 replies ends within a second.
    shorten(real, 100)
    done = real.run("grpc-go", profile, "--runs", "2", "--duration", "1s")
    assert done.code == 0, done
    for line in ("build grpc-go", "contract check", "warm-up (0.3 s)", "run 1 of 2", "run 2 of 2"):
        assert f"\n{line}" in done.stderr

    (record,) = real.records("grpc-go", profile)
    assert record["status"] == "ok"
    assert {each["status"] for each in record["contract"] + record["contract_after"]} == {"pass"}
    assert [each["check"] for each in record["contract"]] == [
        each["check"] for each in record["contract_after"]
    ]
    assert record["messages_per_data_frame"] >= 1
    assert real.row("grpc-go", profile)["result"]["checks_passed"] == len(record["contract"])
    assert record["profile"]["connection_count"] == 64
    assert len(record["runs"]) == 2
    check_figures(real, record)
    encryption = "--skipTLS" if port == 8443 else "--insecure"
    assert " ".join(load_command(record)[1:]) == (
        f"{encryption} --proto requests/benchmark.proto "
        "--call benchmark.BenchmarkService/StreamSum "
        '-d {"a":1,"b":2,"count":100} --connections 64 -c 256 -z 1s '
        f"-O json localhost:{port}"
    )
    headline = headline_of(record)
    best = record["runs"][headline.run - 1]
    assert headline.value == best["rate"] == max(run["rate"] for run in record["runs"])

    assert done.said("record: ") == f"results/{profile}/64/grpc-go/{record['started_at']}.json"
    assert done.said("page: ") == "site/public/index.html"
    assert real.row("grpc-go", profile)["result"]["value"] == headline.value
    assert "grpc-go" in real.page()


def test_grpcio_python_is_measured_even_if_no_call_ends_in_the_window(real: Arena) -> None:
    profile = "stream-grpc"
    shorten(real, 1000)
    done = real.run("grpcio-python", profile, "--runs", "1", "--duration", "500ms")
    assert done.code == 0, done
    (record,) = real.records("grpcio-python", profile)
    assert record["status"] == "ok"
    (run,) = record["runs"]
    assert run["calls"]["ok"] + run["calls"]["cut"] > 0
    assert ("none-finished" in derived_of(record).flags) == (run["calls"]["ok"] == 0)
    assert real.row("grpcio-python", profile)["result"]["at_most"] == run["rate_at_most"]


def test_the_error_bar_holds_what_the_server_itself_has_counted(
    arena: Arena, faulty_server: str
) -> None:
    """The server counts what it sent to the load, and to those who ask as the load does.

    These are the contract, once a time, and the samples, at most twice a run.
    """
    count = arena.root / "count"
    arena.add("victim", native={"run": f"{faulty_server} counts {count}"})
    done = arena.run("victim", "quick", "--runs", "2")
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    folder = arena.results / "quick" / "4" / "victim" / record["started_at"]
    reports = [parse_ghz.parse_file(path) for path in sorted(folder.glob("*.json"))]
    assert len(reports) == 3
    low = sum(report.calls.ok for report in reports) * 100
    high = low + sum(report.calls.cut for report in reports) * 100
    beside = (2 + 2 * 2) * 100
    assert low <= int(count.read_text()) <= high + beside

    for run, report in zip(record["runs"], reports, strict=False):
        assert run["rate_at_least"] * run["elapsed_s"] == pytest.approx(report.calls.ok * 100)


def test_what_overrides_the_profile_is_in_force_and_on_record(arena: Arena) -> None:
    done = arena.run(
        "victim", "quick", "--generator", "ghz", "--duration", "400ms",
        RUNS="2", DURATION="7s",
    )  # fmt: skip
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    assert len(record["runs"]) == record["profile"]["runs"] == 2
    assert record["profile"]["load"]["duration_s"] == 0.4
    assert record["provenance"]["overrides"] == {
        "DURATION": "400ms",
        "GENERATOR": "ghz",
        "GHZ": str(arena.ghz),
        "RUNS": "2",
        "RUNTIME": "native",
    }
    assert "-z 400ms" in " ".join(record["provenance"]["generator"]["argv"])


def test_the_ghz_that_is_named_is_used_and_recorded_with_its_version(arena: Arena) -> None:
    other = arena.root / "other-ghz"
    shutil.copy(arena.ghz, other)
    done = arena.run("victim", "quick", GHZ=str(other))
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    generator = record["provenance"]["generator"]
    assert load_command(record)[0] == "./other-ghz"
    assert generator["found"] == "$GHZ"
    assert generator["version"].lstrip("v")[:2] == "0."


def test_a_ghz_on_path_is_found_without_being_named(arena: Arena) -> None:
    folder = arena.root / "bin"
    folder.mkdir()
    (folder / "ghz").symlink_to(arena.ghz)
    done = arena.run("victim", "quick", GHZ="", PATH=f"{folder}:{os.environ['PATH']}")
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    assert record["provenance"]["generator"]["found"] == "PATH"
    assert load_command(record)[0] == "./bin/ghz"


def test_a_dry_run_shows_the_commands_and_does_nothing(arena: Arena) -> None:
    arena.add("victim", native={"build": "touch built", "run": "touch started"})
    before = arena.snapshot()
    done = arena.run("victim", "--dry-run")
    assert done.code == 0, done
    assert "touch built" in done.stdout
    assert "touch started" in done.stdout
    assert "ghz --insecure --proto requests/benchmark.proto" in done.stdout
    assert "victim under quick" in done.stdout
    assert "victim under stream-grpc" in done.stdout
    assert arena.snapshot() == before


def test_without_saving_the_figure_is_shown_and_no_file_is_written(arena: Arena) -> None:
    before = arena.snapshot()
    done = arena.run("victim", "quick", "--no-save")
    assert done.code == 0, done
    assert "messages/s" in done.stdout
    assert "record:" not in done.stdout
    after = {name: what for name, what in arena.snapshot().items() if ".certs" not in name}
    assert after == before


def test_publish_makes_board_and_page_anew_from_the_records_alone(arena: Arena) -> None:
    broken = arena.results / "quick" / "4" / "victim" / "broken.json"
    broken.write_text("{")
    assert arena.run("victim", "quick").code == 0
    board, page = arena.results / "leaderboard.json", arena.workspace.site / "public" / "index.html"
    made = board.read_bytes(), page.read_bytes()
    board.unlink()
    page.unlink()
    shutil.rmtree(arena.workspace.frameworks)
    shutil.rmtree(arena.workspace.profiles)
    done = arena.command("publish")
    assert done.code == 0, done
    assert "broken.json is left out" in done.stderr
    assert (board.read_bytes(), page.read_bytes()) == made


def test_the_page_opens_from_disk_in_a_real_browser(arena: Arena, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no chromium")
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    meta.write_text(meta.read_text().replace('"victim"', '"grpc-go <&> co"'))
    assert arena.run("victim", "quick").code == 0
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update",
        f"--user-data-dir={tmp_path / 'chromium'}", "--dump-dom",
    ]  # fmt: skip
    page = f"file://{arena.workspace.site}/public/index.html"
    shown = subprocess.run(
        [chromium, *options, page], check=True, capture_output=True, text=True, timeout=120
    ).stdout
    assert html.escape("grpc-go <&> co", quote=False) in shown
    assert "messages/s" in shown


def test_list_shows_frameworks_and_profiles(arena: Arena) -> None:
    done = arena.command("list")
    assert done.code == 0, done
    for name in ("victim", "quick", "stream-grpc", "stream-grpc-tls"):
        assert f"  {name} " in done.stdout
