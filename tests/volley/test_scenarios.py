"""Whole runs of scenarios; the servers count for themselves."""

import csv
import itertools
import json
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.machine.certs import ensure_certificate
from tests.fakes import FakeProgress
from tests.integration.plumbing import ROOT
from tests.volley.plumbing import CHECKOUT, Volley, free_port
from tests.volley.scenarios import Scenarios, changes_hash, crud, plan, settled
from tools.bench_scenarios import servers
from tools.bench_scenarios.servers import Running

pytestmark = pytest.mark.integration

EXAMPLES = ROOT / "volley" / "examples"

Serve = Callable[..., Running]


@pytest.fixture(scope="session")
def crud_go() -> Path:
    """Build the Go server of items."""
    if not shutil.which("go"):
        pytest.skip("there is no Go to build the server of items")
    return servers.build(FakeProgress())


@pytest.fixture
def serve(volley: Volley, tmp_path: Path) -> Iterator[Serve]:
    """Run `volley serve` with the given flags, on a port of its own."""
    with ExitStack() as running:

        def start(*flags: str, tls: bool = False) -> Running:
            ensure_certificate(CHECKOUT.certs)
            cert, key = CHECKOUT.certs / "server.crt", CHECKOUT.certs / "server.key"
            security = ["--tls-cert", str(cert), "--tls-key", str(key)] if tls else []
            argv = [str(volley.program), "serve", "--listen=127.0.0.1:0", *security, *flags]
            return running.enter_context(_folder_of(tmp_path, argv))

        yield start


@pytest.fixture
def serve_go(crud_go: Path, tmp_path: Path) -> Iterator[Serve]:
    """Run the Go server with the given flags, on ports of its own."""
    with ExitStack() as running:

        def start(*flags: str, tls: bool = False) -> Running:
            ensure_certificate(CHECKOUT.certs)
            security = [f"-tls={CHECKOUT.certs}"] if tls else []
            return running.enter_context(_folder_of(tmp_path, [str(crud_go), *security, *flags]))

        yield start


def _folder_of(parent: Path, argv: list[str]) -> AbstractContextManager[Running]:
    folder = parent / "server"
    folder.mkdir()
    return servers.serving(argv, folder)


# ---- the example


def example(folder: Path, api: int, rpc: int) -> Path:
    """Write the example for these ports, with small rates and times, and users enough for them."""
    for file in ("shop.proto", "patch.json"):
        shutil.copy(EXAMPLES / file, folder)
    shop: dict[str, Any] = yaml.safe_load((EXAMPLES / "shop.yaml").read_text())
    shop["targets"]["api"]["hosts"] = f"https://127.0.0.1:{api}"
    shop["targets"]["rpc"] = f"http://127.0.0.1:{rpc}"
    shop["scenarios"]["orders"]["load"] = [{"rate": "40/s", "for": "2s"}]
    shop["load"] = [{"rate": "0..100/s", "for": "1s"}, {"rate": "100/s", "for": "1s"}]
    shop["thresholds"][0] = "max(crud.create) < 10s"
    shop["scenarios"]["crud"]["steps"][0]["expect"]["within"] = "10s"
    shop["http"]["timeout"] = "30s"
    shop["limits"]["drain"] = "30s"
    del shop["control"]
    with (folder / "users.csv").open("w") as users:
        rows = csv.writer(users)
        rows.writerow(["name", "mail"])
        rows.writerows([f"user {number}, of many", "a@b"] for number in range(1000))
    path = folder / "shop.yaml"
    path.write_text(yaml.safe_dump(shop))
    return path


def test_the_example_passes_all_its_checks_and_counts_what_the_server_counts(
    scenarios: Scenarios, serve_go: Serve
) -> None:
    server = serve_go("-grpc=127.0.0.1:0", tls=True)
    file = example(scenarios.folder, server.port, servers.port_of(server.where, "grpc"))
    done = scenarios.run(file)
    assert done.code == 0, done
    done.passed_all()

    counts = settled(server)
    # 50 iterations while the rate rises, 100 afterwards: 80 and 20 of 100.
    crud, browse, orders = (done.iterations_of(name) for name in ("crud", "browse", "orders"))
    assert (crud["ok"], browse["ok"], orders["ok"]) == (120, 30, 80)
    for name, count in (("create", "created"), ("change", "patched"), ("remove", "deleted")):
        assert done.ok(name) == counts[count] == crud["ok"]
    assert (counts["live"], counts["duplicates"], counts["tokens"]) == (0, 0, 1)
    assert counts["patch_hash"] == 120 * zlib.crc32((EXAMPLES / "patch.json").read_bytes())
    assert done.ok("list") == done.ok("stock") == browse["ok"]
    assert done.ok("login") == done.ok("watch") == orders["ok"]
    assert done.step("watch")["requests"]["replies"] == 100 * orders["ok"]
    assert counts["calls"] == 2 * orders["ok"]
    assert counts["messages"] == 101 * orders["ok"]


def test_the_example_is_good_as_it_stands(volley: Volley) -> None:
    done = volley.run("check", str(EXAMPLES / "shop.yaml"))
    assert done.code == 0, done


# ---- drained runs


@pytest.mark.parametrize("server_of", ["serve", "serve_go"])
@pytest.mark.parametrize("protocol", ["h1", "h2c", "tls"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_drained_run_leaves_nothing_and_counts_what_the_server_counts(
    scenarios: Scenarios,
    request: pytest.FixtureRequest,
    server_of: str,
    protocol: str,
    threads: int,
) -> None:
    serve: Serve = request.getfixturevalue(server_of)
    tls = protocol == "tls"
    server = serve(tls=tls)
    url = f"{'https' if tls else 'http'}://127.0.0.1:{server.port}"
    http = {"version": 1 if protocol == "h1" else 2}
    load = [{"users": 40}, {"iterations": 1500}]
    done = scenarios.run(crud(url, load, http=http), "--threads", str(threads))
    assert done.code == 0, done
    done.passed_all()
    assert (done.iterations["begun"], done.iterations["ok"]) == (1500, 1500)
    counts = settled(server)
    for name, count in (("create", "created"), ("change", "patched"), ("remove", "deleted")):
        assert done.ok(name) == counts[count] == 1500
    assert (counts["live"], counts["duplicates"]) == (0, 0)
    # Several threads draw batches of rows, so only of one it is known which rows they were.
    if threads == 1:
        assert counts["patch_hash"] == changes_hash(1500)


@pytest.mark.parametrize(("version", "reason"), [("auto", "reset"), (1, "connection closed")])
def test_alpn_chooses_http2_unless_the_file_says_otherwise(
    scenarios: Scenarios, serve: Serve, version: str | int, reason: str
) -> None:
    server = serve("--reset-every", "5", tls=True)
    url = f"https://127.0.0.1:{server.port}"
    done = scenarios.run(
        plan(url, [TOKEN], TEN, http={"version": version, "connections": 1}, thresholds=[])
    )
    requests = done.step("token")["requests"]
    assert (requests["ok"], requests["failed"]) == (8, 2), done
    # HTTP/1.1 has no stream to reset: it loses the connection.
    (failure,) = done.step("token")["failures"]
    assert (failure["reason"], failure["count"]) == (reason, 2)
    assert settled(server)["connections"] == (1 if reason == "reset" else 3)


# ---- rows and weights


def log_of(scenarios: Scenarios, server: Running) -> list[str]:
    """Return the server's line for each request: method and path."""
    settled(server)  # Its journal is complete then.
    lines = (scenarios.folder / "requests.log").read_text().splitlines()
    return [line.rpartition(" ")[0] for line in lines]


def rows_in(folder: Path, number: int) -> list[str]:
    """Write a CSV file of so many rows; return what `number-check` of each is."""

    def row(number: int) -> tuple[str, str]:
        return f"{number:07d}", f"{zlib.crc32(str(number).encode()):08x}"

    found = [row(each) for each in range(number)]
    lines = (f'{mine},"a ""text"", of\ntwo lines",{check}\n' for mine, check in found)
    (folder / "rows.csv").write_text("number,text,check\n" + "".join(lines))
    return ["-".join(each) for each in found]


UNIQUE = {
    "data": {"row": {"csv": "rows.csv", "order": "unique", "at_end": "stop"}},
    "http": {"connections": 16},
}


def test_unique_rows_come_once_each_and_whole_over_all_threads_and_connections(
    scenarios: Scenarios, serve_go: Serve
) -> None:
    rows = rows_in(scenarios.folder, 100_000)
    server = serve_go(f"-log={scenarios.folder / 'requests.log'}")
    step = {"get": "${api}/v1/stock/${row.number}-${row.check}", "expect": {"status": 200}}
    url, load = f"http://127.0.0.1:{server.port}", [{"users": 256, "for": "1h"}]
    done = scenarios.run(plan(url, [step], load, **UNIQUE), "--threads", "2")
    assert (done.code, done.iterations["ok"]) == (0, len(rows)), done
    seen = log_of(scenarios, server)
    assert len(seen) == len(rows)
    assert set(seen) == {f"GET /v1/stock/{row}" for row in rows}


def test_of_a_million_unique_rows_none_is_twice_lost_or_torn(
    scenarios: Scenarios, serve: Serve
) -> None:
    rows = rows_in(scenarios.folder, 1_000_000)
    server = serve()
    # All rows change one item. The server sums the CRC-32 of the bodies.
    item = {
        "name": "item",
        "post": "${api}/v1/items",
        "json": {},
        "save": {"url": {"header": "location"}},
    }
    step = {"name": "change", "patch": "${url}", "text": "${row.number}-${row.check}"}
    url, load = f"http://127.0.0.1:{server.port}", [{"users": 256, "for": "1h"}]
    made = plan(url, [step], load, setup=[item], **UNIQUE)
    done = scenarios.run(made, "--threads", "2")
    assert (done.code, done.iterations["ok"]) == (0, len(rows)), done
    counts = settled(server)
    assert counts["patched"] == done.ok("change") == len(rows)
    assert counts["patch_hash"] == sum(zlib.crc32(row.encode()) for row in rows)


def weighted(server: Running, load: list[dict[str, Any]]) -> dict[str, Any]:
    made = plan(f"http://127.0.0.1:{server.port}", [], load, http={"version": 1, "connections": 2})
    made["scenarios"] = {
        name: {"weight": weight, "steps": [{"name": name, "get": f"${{api}}/v1/stock/{name}"}]}
        for name, weight in (("often", 80), ("seldom", 20))
    }
    return made


def test_weights_are_exact_over_any_thousand_starts(scenarios: Scenarios, serve_go: Serve) -> None:
    server = serve_go(f"-log={scenarios.folder / 'requests.log'}")
    done = scenarios.run(weighted(server, [{"users": 1}, {"iterations": 5000}]))
    assert done.code == 0, done
    is_often = [line == "GET /v1/stock/often" for line in log_of(scenarios, server)]
    assert len(is_often) == 5000
    until = [0, *itertools.accumulate(is_often)]
    windows = Counter(end - start for start, end in zip(until, until[1000:], strict=False))
    assert set(windows) <= {799, 800, 801}, windows


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("iterations", [1000, 1003, 3333])
@pytest.mark.parametrize("load", [{"users": 8}, {"rate": "2000/s", "for": "1h"}])
def test_weights_are_exact_over_all_threads(
    scenarios: Scenarios, serve: Serve, threads: int, iterations: int, load: dict[str, Any]
) -> None:
    made = weighted(serve(), [load, {"iterations": iterations}])
    for each in made["scenarios"].values():
        each["steps"][0]["expect"] = {"status": 404}
    done = scenarios.run(made, "--threads", str(threads))
    assert done.code == 0, done
    often, seldom = (done.iterations_of(name)["begun"] for name in ("often", "seldom"))
    assert often + seldom == iterations
    assert abs(often - 0.8 * iterations) <= 1, (often, seldom)


# ---- time


def test_a_second_of_silence_is_in_the_mean_latency(scenarios: Scenarios, serve: Serve) -> None:
    rate, window_s, freeze_s = 100, 3, 1.0
    server = serve("--freeze", "1s:1s")
    steps = [{"name": "token", "post": "${api}/oauth/token"}]
    load = [{"rate": f"{rate}/s", "for": f"{window_s}s"}]
    url = f"http://127.0.0.1:{server.port}"
    done = scenarios.run(plan(url, steps, load, limits={"iterations_open": 5000}))
    assert done.code == 0, done
    assert done.ok("token") == settled(server)["tokens"] == rate * window_s
    # A request that was due t before the thaw waited for t: rate x freeze of them, for half of it
    # on average. A busy host adds to that.
    least_ns = rate * freeze_s**2 / 2 / (rate * window_s) * 1e9
    latency = done.step("token")["latency_ns"]
    assert latency["kind"] == "response"
    assert latency["mean"] >= 0.95 * least_ns


# ---- how a run ends


TOKEN = {"name": "token", "post": "${api}/oauth/token"}
ABSENT = {"name": "absent", "get": "${api}/v1/items/none"}
TEN = [{"users": 2}, {"iterations": 10}]


def test_each_threshold_that_fails_is_named_and_the_exit_status_is_99(
    scenarios: Scenarios, serve: Serve
) -> None:
    url = f"http://127.0.0.1:{serve().port}"
    rules = ["max(only.token) < 1ns", "dropped < 1%", "failed < 10%"]
    made = plan(url, [{**TOKEN, "expect": {"status": 200}}], TEN, thresholds=rules)
    done = scenarios.run(made, "--fail-if", "ok(only) > 9")
    assert done.code == 99, done
    said = done.stderr.splitlines()
    assert len(said) == 2, done
    assert "max(only.token) < 1ns" in said[0]
    assert "ok(only) is 10" in said[1]


@pytest.mark.parametrize("thresholds", [[], ["failed < 50%"]])
def test_a_run_in_which_nothing_succeeds_has_status_1_whatever_its_thresholds(
    scenarios: Scenarios, serve: Serve, thresholds: list[str]
) -> None:
    url = f"http://127.0.0.1:{serve().port}"
    done = scenarios.run(plan(url, [ABSENT], TEN, thresholds=thresholds))
    assert (done.code, done.iterations["failed"]) == (1, 10), done


def test_a_failed_iteration_has_status_1_unless_thresholds_allow_it(
    scenarios: Scenarios, serve: Serve
) -> None:
    url = f"http://127.0.0.1:{serve('--status-every', '503:5').port}"
    done = scenarios.run(plan(url, [TOKEN], TEN))
    assert (done.code, done.iterations["ok"], done.iterations["failed"]) == (1, 8, 2), done
    assert done.step("token")["statuses"] == {"200": 8, "503": 2}
    (failure,) = done.step("token")["failures"]
    assert "503" in json.dumps(failure)
    assert scenarios.run(plan(url, [TOKEN], TEN, thresholds=["failed < 30%"])).code == 0


def test_a_broken_file_is_refused_with_its_line_before_any_request(
    scenarios: Scenarios, serve: Serve
) -> None:
    server = serve()
    made = plan(f"http://127.0.0.1:{server.port}", [{**TOKEN, "hedaers": {}}], TEN)
    done = scenarios.run(made)
    assert (done.code, done.stdout) == (2, ""), done
    assert "plan.json:" in done.stderr
    assert "`headers`" in done.stderr
    assert server.counts()["calls_started"] == 0


def test_a_port_where_nobody_listens_is_one_line(scenarios: Scenarios) -> None:
    port = free_port()
    done = scenarios.run(plan(f"http://127.0.0.1:{port}", [TOKEN], TEN))
    assert done.code == 1, done
    assert str(port) in done.error
