"""The page of a record: every run, how it came about, and how to repeat it."""

import html as html_text
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.base.model import to_json
from arena.judge.archive import open_archive
from arena.judge.leaderboard import rank_entries
from arena.judge.packing import pack
from arena.record.measurement import Memory, Raw, Run, Watch
from arena.record.record import Cpus, Epoch, GeneratorInfo, Git, Record, RuntimeInfo
from arena.site.edition import Edition
from arena.site.pages import records
from tests.fakes import (
    FAILED,
    LIMITS,
    PASSED,
    WARNED,
    a_generator,
    a_provenance,
    a_record,
    a_run,
    save,
)
from tests.lib.arena.judge.visits import visited
from tests.lib.arena.site.editions import (
    HOST,
    HOSTILE,
    a_round,
    an_edition,
    keys_of,
    pages_of,
    put,
    rows_of,
    site_of,
    text_of,
)
from tests.lib.arena.site.editions import page as page_of
from tests.lib.arena.site.loads import (
    a_second,
    a_step,
    blast,
    items,
    lasting,
    logged,
    made,
    released,
    scheduled,
    with_latency,
)

STALLED = a_run().changed(seconds=(a_second(), a_second(0)))
BIDI = "\u202egnp.exe\u202c"


def page(record: Record, folder: Path = Path("/nonexistent")) -> str:
    edition = an_edition(record, folder=folder)
    return pages_of(site_of(edition), records)[edition.record(record.path)]


def holding(name: str, **more: int) -> Record:
    """Return a record of a server whose anonymous memory is known."""
    sizes = {"anonymous_bytes": 12 << 20, "highest_bytes": 20 << 20, "idle_bytes": 8 << 20}
    run = a_run(1e6)
    memory = Memory(**{**sizes, **more})
    return a_record(name, runs=[run.changed(server=run.server.changed(memory=memory))])


def limited(name: str) -> Record:
    """Return a record of a server that a quota held back."""
    run = a_run(1e6)
    held = a_record(name, runs=[run.changed(server=run.server.changed(throttled_s=0.75))])
    shared = Cpus(policy="unpinned", server=None, generator=None, server_quota=1.5)
    return made(held, cpus=shared)


def page_with(record: Record, folder: Path, *names: str, text: str = "it said this\n") -> str:
    """Return a record's page when these files lie beside it."""
    for name in names:
        put(folder / record.path.removesuffix(".json") / name, text)
    return page(record, folder)


def with_raw(*names: str) -> list[Run]:
    raws = [Raw(path=f"somewhere/else/{name}", sha256="ab" * 32) for name in names]
    return [a_run(1e6).model_copy(update={"raw": raw}) for raw in raws]


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (a_record("a", 1e6), "1.00 M messages/s"),
        (a_record("a", 1e6, flags=["client-bound"]), "≥ 1.00 M messages/s"),
        (a_record("a", 1e6, flags=["client-bound"]), "The generator used all of its CPUs"),
        (a_record("a", 1e6, 0.8e6), "best of 2 runs: run 1, by rules 3."),
        (a_record("a", 1e6, 0.8e6), "0.8 M to 1.0 M: the range that the runs allow"),
        (a_record("a", 1e6, 0.8e6), "± 15.7 % over 2 runs"),
        (a_record("a", runs=[a_run(1e6)]), "It has no rank. Interval Unknown: a single run"),
        (a_record("a", 1e6, overrides={"RUNS": "1"}), "This is a trial"),
        (scheduled("a", [a_second(50)]), "It has no rank."),
        (a_record("a", runs=[a_run(0.0, ok=0, mean_ns=None)]), "It has no rank."),
        (a_record("a", runs=[a_run(1e6, ok=1234, cut=256)]), "1,234 0 256"),
        (a_record("a", runs=[a_run(failed={"No": 7, "Aborted": 2})]), "2 Aborted, 7 No"),
        (a_record("a", runs=[a_run(1e6, cut=100)]), "1.00 M – 1.10 M"),
        (a_record("a", 1e6), "1.20 s 2.10 s 5.00 4.00 50.0 MiB 3.00 300 MiB"),
        (a_record("a", 1e6), "Server peak memory Generator CPU s"),
        (holding("a"), "4.00 12.0 MiB 20.0 MiB 8.00 MiB 3.00 300 MiB"),
        (holding("a"), "Server memory Server highest sample Server idle memory Generator CPU s"),
        (holding("a", kernel_bytes=2 << 20), "12.0 MiB 20.0 MiB 8.00 MiB 2.00 MiB 3.00"),
        (a_record("a", runs=[a_run(), a_run(seen={"steal": 0.031})]),
         "1 of 2 runs: run 2: steal 3.1 % (limit 1 %)."),
        (a_record("a", runs=[a_run(), STALLED]), "run 2: 1 of 2 seconds."),
        (a_record("a", 1e6), "run-1.json SHA-256 000000000000…"),
        (a_record("a", 1e6), "Service latency counts"),
        (a_record("a", profile={"generator": "ghz"}), "a call without an end is in none of its"),
        (a_record("a", profile={"generator": "h2load"}), "a call without an end is in none of its"),
        (a_record("a", 1e6, contract=[PASSED, PASSED]), "1 check, all passed"),
        (a_record("a", 1e6, contract=[PASSED], packed=812.3), "packs 812 messages"),
        (a_record("a", 1e6, contract=[WARNED, PASSED]), "All 2 checks"),
        (a_record("a", 1e6, contract=[WARNED]), "content-type warn – it is answered with 200"),
        (a_record("a", 1e6, contract=[WARNED.model_copy(update={"status": "pass"}), WARNED]),
         "content-type warn –"),
        (a_record("a", 1e6, contract=[WARNED, WARNED.model_copy(update={"status": "pass"})]),
         "content-type warn –"),
        (a_record("a", failure="x", contract=[PASSED], contract_after=[FAILED]),
         "stream-10 – fail 9 replies, not 10 00 00"),
        (a_record("a", failure="no reply in time"), "failed at run 1 of 3: no reply in time"),
        (a_record("a", failure="wrong", status="invalid"), "invalid at run 1 of 3: wrong"),
        (blast("a"), "those of the whole sweep"),
        (made(a_record(), git=Git(commit="ab" * 20, dirty=True)), "with local changes"),
        (released(a_record(), "grpc-go 1.85.0"), "Release grpc-go 1.85.0 Source SHA-256"),
        (made(a_record(), cpus=Cpus(policy="pinned", server="0-1", generator="2,3")),
         "pinned: server 0-1, generator 2,3"),
        (limited("a"), "server and generator shared all CPUs; server limited to 1.5 CPUs"),
        (limited("a"), "Server throttled s Generator CPU s"),
        (limited("a"), "50.0 MiB 0.75 3.00 300 MiB"),
        (limited("a"), "--runtime native --server-quota 1.5"),
        (made(a_record(), cpus=Cpus(policy="fleet", server=None, generator=None)),
         "fleet: server on all CPUs, load from other hosts"),
        (made(a_record(), runtime=RuntimeInfo(name="docker", argv=("docker",), standin="go 1")),
         "docker; stand-in : go 1"),
        (made(a_record(), generator=None, runtime=None), "not started"),
        (a_record(), "a CPU, 4 CPUs (2 cores), 8.00 GiB memory, kernel 6, governor unknown"),
        (a_record(), "Stages build 0.1 s"),
        (a_record(overrides={"DURATION": "1s"}), "Overrides DURATION=1s"),
    ],
)  # fmt: skip
def test_a_record_says_what_it_knows(record: Record, shown: str) -> None:
    text = text_of(page(record)).replace("&#39;", "'")
    assert shown in re.sub(r" ([:,.;])(?= )", r"\1", text) or shown in text


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (a_record("a", failure="broke"), "messages/s"),
        (a_record("a", failure="broke"), "Interval"),
        (a_record("a", profile={"generator": "volley"}), "without an end"),
        (a_record("a"), "Its place in the night"),
        (a_record("a"), "The host during the runs"),
        (a_record("a"), "Steps of every run"),
        (a_record("a"), "marks a lower bound"),
        (a_record("a"), "reports no percentiles"),
        (a_record("a"), "Epoch"),
        (a_record("a"), "Release"),
    ],
)
def test_a_record_says_nothing_of_what_it_has_not(record: Record, words: str) -> None:
    assert words not in text_of(page(record))


def test_the_pictures_of_a_record_are_those_of_its_headlines_run() -> None:
    records = lasting("a", 1000.0), a_record("a"), a_record("a", failure="broke")
    assert [page(each).count("<svg role") for each in records] == [2, 1, 0]


def test_without_percentiles_a_sentence_stands_in_for_the_curve() -> None:
    run = with_latency(mean=2e6, max=9e6, samples=None)
    html = page(a_record("a", runs=[run], profile={"generator": "h2load"}))
    assert "<svg role" not in html
    assert "h2load reports no percentiles for this load" in html
    assert "9.00 ms" in html


def test_a_raw_output_is_named_and_one_command_shows_it() -> None:
    record = a_record("a", runs=with_raw("run-1.json", "../../../../etc/passwd"))
    html = page(record)
    assert "<code>run-1.json</code>" in html
    assert "ab" * 32 in html
    assert "etc/passwd" not in html
    assert pre(html, -1) == f"./scripts/arena.sh raw {record.path}"
    assert f"The record is results/{record.path} on the host that made it" in text_of(html)


def test_a_bundled_record_names_its_bundle(tmp_path: Path) -> None:
    (record,) = save(tmp_path, a_record("a", failure="broke"))
    bundle = pack(open_archive(tmp_path), [record.path])
    assert bundle
    found = open_archive(tmp_path)
    ranked = rank_entries(found.entries.values(), found.read)
    (html,) = pages_of(site_of(Edition("", None, ranked, found)), records).values()
    said = text_of(html)
    assert f"are in the bundle results/nights/{bundle.name} of the repository" in said
    assert f"takes the record's name: {found.entries[record.path].sha256[:16]} ." in said
    assert "The last lines of server.log :" in said
    assert "last words</pre>" in html


FAILED_BUILD = logged(a_record("a", failure="broke"), "x/build.log")


def test_a_failure_shows_the_end_of_its_log(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(100)]
    html = page_with(FAILED_BUILD, tmp_path, "build.log", text="\n".join(lines))
    assert "line 99</pre>" in html
    assert "line 1\n" not in html
    assert "The last lines of <code>build.log</code>:" in html


def test_a_hostile_log_is_only_text(tmp_path: Path) -> None:
    text = f"\x1b[2J{HOSTILE}\n{'long ' * 5000}\n{BIDI}\n"
    html = page_with(FAILED_BUILD, tmp_path, "build.log", text=text)
    assert not [each for each in ("<script>alert", "\x1b", "\u202e") if each in html]
    assert len(html) < 20_000


def test_a_failure_whose_log_is_gone_says_so() -> None:
    html = page(FAILED_BUILD)
    assert "Its log is no longer here." in html
    assert "<code>build.log" not in html


@pytest.mark.parametrize("trap", [lambda it: it.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_log_that_is_no_plain_file_is_not_shown(
    tmp_path: Path, trap: Callable[[Path], None]
) -> None:
    log = tmp_path / FAILED_BUILD.path.removesuffix(".json") / "build.log"
    log.parent.mkdir(parents=True)
    trap(log)
    assert "Its log is no longer here." in page(FAILED_BUILD, tmp_path)


def pre(html: str, at: int) -> str:
    found = re.findall(r'<pre class="command"[^>]*>(.*?)</pre>', html, re.DOTALL)
    return html_text.unescape(found[at])


def test_the_command_lines_are_those_that_were_run() -> None:
    argv = ("/usr/bin/ghz", "-d", '{"a": 1}', "it's", "localhost:8080")
    record = made(
        a_record(),
        generator=GeneratorInfo(name="ghz", version="v1", found="PATH", argv=argv),
        runtime=RuntimeInfo(name="native", argv=("/bin/sh", "-c", "exec ./server")),
    )
    html = page(record)
    assert shlex.split(pre(html, 0)) == list(argv)
    assert shlex.split(pre(html, 1)) == ["/bin/sh", "-c", "exec ./server"]


OVERRIDES = {
    "RUNS": "1", "DURATION": "2s", "SERVER_CPUS": "0-1",
    "GENERATOR": "ghz", "RUNTIME": "native", "GHZ": "/my/ghz",
}  # fmt: skip
REPEATED = (
    "SERVER_CPUS=0-1 ./scripts/benchmark.sh a stream-grpc --generator ghz --runs 1 --duration 2s "
    "--runtime native"
)


@pytest.mark.parametrize(
    ("record", "commands"),
    [
        (a_record("a"), ["./scripts/benchmark.sh a stream-grpc --generator ghz --runtime native"]),
        (made(a_record("a", overrides=OVERRIDES), git=Git(commit="ab" * 20, dirty=False)),
         [f"git checkout {'ab' * 20}", REPEATED]),
        (made(a_record("a"), git=Git(commit="--orphan x; true", dirty=False), runtime=None),
         ["./scripts/benchmark.sh a stream-grpc --generator ghz"]),
    ],
)  # fmt: skip
def test_a_command_repeats_the_record(record: Record, commands: list[str]) -> None:
    assert pre(page(record), -2).splitlines() == commands


def test_nothing_of_a_record_runs_in_the_shell_that_repeats_it() -> None:
    evil = "1; touch /tmp/x; $(x) `x`\n'\""
    record = made(
        a_record("a", overrides={"RUNS": evil, "SERVER_CPUS": evil, "LD_PRELOAD": evil, evil: "1"}),
        runtime=RuntimeInfo(name=evil, argv=("x",)),
    )
    command = pre(page(record), -2)
    assert "LD_PRELOAD" not in command
    assert shlex.split(command) == [
        f"SERVER_CPUS={evil}", "./scripts/benchmark.sh", "a", "stream-grpc", "--generator", "ghz",
        "--runs", evil, "--runtime", evil,
    ]  # fmt: skip


def test_records_of_one_framework_and_profile_lead_to_each_other() -> None:
    old, middle, new = (a_record("a", 1e6, minute=minute) for minute in (1, 2, 3))
    edition = an_edition(middle, new, old, a_record("b", 1e6, minute=2), of=a_round())
    pages = pages_of(site_of(edition), records)
    assert len(pages) == 4
    of_middle = pages[edition.record(middle.path)]

    def below(record: Record) -> str:
        return edition.record(record.path).replace("records", "..")

    assert f'href="{below(old)}" rel="prev"' in of_middle
    assert f'href="{below(new)}" rel="next"' in of_middle
    assert 'rel="next"' not in pages[edition.record(new.path)]
    assert "rel=" not in pages[edition.record(a_record("b", minute=2).path)].partition("<main")[2]


def test_a_neighbour_without_a_page_is_its_json() -> None:
    old, new = a_record("a", 1e6, minute=1), a_record("a", 1e6, minute=2)
    edition = an_edition(old, new)
    pages = pages_of(site_of(edition), records)
    assert list(pages) == [edition.record(new.path)]
    json = edition.record_json(old.path)
    assert f'href="{json.replace("records", "..")}" rel="prev"' in pages[edition.record(new.path)]
    assert page_of(site_of(edition), json) == to_json(old)


def test_a_record_leads_to_its_board_and_its_framework() -> None:
    html = page(a_record("a", 1e6, type="engine"))
    up = "../" * 2
    assert f'href="{up}boards/stream-grpc/64/ghz/{HOST}/engines/index.html"' in html
    assert f'href="{up}frameworks/a/index.html"' in html


def test_the_key_tells_apart_what_makes_another_page(tmp_path: Path) -> None:
    record, other = a_record("a", 1e6), a_record("a", 1e6, minute=1)

    def key(*given: Record, name: str = "first") -> str:
        edition = an_edition(*given, of=a_round(name), folder=tmp_path)
        return keys_of(site_of(edition), records)[edition.record(record.path)]

    keys = {key(record), key(record, other), key(record, name="x")}
    assert len(keys) == 3
    assert key(record) in keys


def test_a_hostile_record_is_inert() -> None:
    nasty = f"{HOSTILE}{BIDI}{'x' * 10_000}"
    check = WARNED.model_copy(update=dict.fromkeys(("check", "detail", "wire"), nasty))
    record = a_record(
        "a", 1e6, display_name=nasty, language=nasty, description=nasty, repo="javascript:alert(1)",
        overrides={nasty: nasty}, contract=[check],
    )  # fmt: skip
    host = a_provenance().host.model_copy(update={"cpu": nasty, "kernel": nasty, "docker": nasty})
    record = made(
        record, host=host, git=Git(commit=nasty, dirty=False), stages_s={nasty: 1.0},
        generator=GeneratorInfo(name=nasty, version=nasty, found=nasty, argv=(nasty,)),
        runtime=RuntimeInfo(name=nasty, argv=(nasty,), standin=nasty),
    )  # fmt: skip
    html = page(record)
    assert not [each for each in ("<script>alert", "javascript:", "\u202e") if each in html]
    assert not re.search(r"<[^>]*\s(on\w+|style)=", html)
    assert html.count("<svg ") == html.count("</svg>") == 1
    assert len(html) < 120_000


def test_the_class_and_the_epoch_of_the_host_are_said() -> None:
    epoch = Epoch(
        kernel="6.1 #1 SMP", microcode="0x1", mitigations={"mds": "Not affected"}, governor=None,
        boost="on", toolchains={"go": HOSTILE}, locks={}, sysctls={"net.core.somaxconn": "4096"},
    )  # fmt: skip
    record = made(a_record(), epoch=epoch)
    edition = an_edition(record, a_record(failure="again", minute=1))
    pages = pages_of(site_of(edition), records)
    own = pages.pop(edition.record(record.path))
    known = "Host class a CPU, 4 CPUs on 2 cores, 8 GiB, native, pinned 2 + 2 a-4-cpus-native"
    assert known in text_of(own)
    ((address, html),) = (each for each in pages.items() if each[0].startswith("epochs/"))
    assert f'href="../../{address}"' in own
    said = text_of(html)
    for words in ("6.1 #1 SMP", "microcode 0x1", "boost on", "mds Not affected", "somaxconn 4096"):
        assert words.lower() in said.lower()
    assert "<script>alert" not in html


def a_visited(**more: Any) -> str:
    """Return the page of a record of a visit, in a round: there every record has one."""
    edition = an_edition(visited("a", 1e6, minute=1, **more), of=a_round())
    (html,) = pages_of(site_of(an_edition(), edition), records, edition).values()
    return html


@pytest.mark.parametrize(
    ("visit", "shown"),
    [
        ({"block": 3}, "3 of 8, in place 1; the block has 2 visits in a shuffled order."),
        ({"block": 3}, "Its first run, for the block."),
        ({"block": 1}, "Its first run, for the block; all its runs are the framework's classic"),
        ({"block": 3, "attempt": 2}, "The block was begun 2 times."),
        ({"block": 3, "repeat": 2}, "It repeats a void visit, for the second time."),
        ({"block": 3, "is_void": True}, "Void : the host was disturbed"),
        ({"block": 3, "is_twin": True}, "It is a twin :"),
    ],
)
def test_a_visit_says_where_it_stands_in_the_night(visit: dict[str, Any], shown: str) -> None:
    text = text_of(a_visited(**visit))
    assert "Its place in the night" in text
    assert shown in text


def test_the_readings_of_the_watch_are_a_table_and_what_was_over_its_limit_is_marked() -> None:
    watch = Watch(
        elapsed_s=5.0, steal=0.1234, foreign=0.004, softirq=0.02, swapped_pages=1200,
        spin_s=(0.1, 0.103), spin_off=0.03, clock_jump_s=0.0,
    )  # fmt: skip
    record = a_record("a", runs=[a_run().changed(watch=watch), a_run()])
    limits = LIMITS.changed(most={"steal": 0.01, "foreign": 0.01, "spin_off": 0.02})
    html = page(record.changed(limits=limits))
    rows = rows_of(html[html.index("The host during the runs") :])
    assert "Steal: CPU time that the hypervisor took 12 % –" in rows
    assert "CPU time of other processes 0.4 % –" in rows
    assert "Pages swapped 1,200 –" in rows
    assert "A fixed computation on each CPU took 100–103 ms –" in rows
    assert not any("waited for a disk" in row for row in rows)
    assert '<b class="bad">12 %</b>' in html
    assert '<b class="bad">100–103 ms</b>' in html
    assert '<b class="bad">0.4 %</b>' not in html


def test_the_cpu_time_of_others_is_the_same_in_the_table_and_in_the_words() -> None:
    watch = Watch(elapsed_s=5.0, foreign=0.6374, softirq=0.0075, clock_jump_s=2.38e-7)
    record = a_record("a", runs=[a_run().changed(watch=watch), a_run()])
    html = page(record.changed(limits=LIMITS.changed(most={"foreign": 0.01})))
    assert "foreign CPU 63 % (limit 1 %)" in text_of(html)
    rows = rows_of(html[html.index("The host during the runs") :])
    assert "CPU time of other processes 63 % –" in rows
    assert "Jump of the clock < 0.001 s –" in [row.replace("&lt;", "<") for row in rows]


def test_only_the_generator_that_ran_is_named() -> None:
    given = {"VOLLEY": "/my/volley", "VOLLEY_IMAGE": "mine", "RUNS": "1"}
    text = text_of(page(made(a_record("a", overrides=given))))
    assert "VOLLEY" not in text
    assert "named by" not in text
    assert "RUNS=1" in text
    text = text_of(page(made(a_record("a", overrides={**given, "GHZ": "/my/ghz"}))))
    assert "a program on the host, named by GHZ;" in text
    assert "GHZ=/my/ghz" in text


def test_a_warm_up_that_was_counted_is_drawn() -> None:
    run = a_run().model_copy(update={"warm_up": (300_000, 800_000, 1_000_000, 2)})
    html = a_visited(block=2, runs=[run])
    assert "The warm-up: messages in each of 3 seconds, from 0 to 1.00 M" in text_of(html)


def test_a_record_of_a_scenario_has_the_steps_of_every_run() -> None:
    html = page(items("a"))
    (table,) = re.findall(r"<table>\s*<caption class=.unseen.>Steps of.*?</table>", html, re.DOTALL)
    _, *rows = [text_of(row) for row in rows_of(table)]
    assert rows == [
        "1 create 1,000 1,000 0 – 1.00 ms 12.0 ms – –",
        "1 change 1,000 997 1 status, 2 timeout – 1.00 ms 3.40 ms – –",
        "1 remove 1,000 1,000 0 – 1.00 ms 5.00 ms – –",
    ]


def test_latencies_that_are_lower_bounds_are_shown_as_such_in_every_table() -> None:
    latency = replace(a_run().latency_ns, at_least=("p99",))
    run = a_run().changed(latency_ns=latency, generators=(a_generator(1, latency_ns=latency),))
    html = page(a_record(runs=[run]))
    # The run, its host, and the table of the picture.
    assert sum("≥ 2.10 s" in row for row in rows_of(html)) == 3
    step = items("a", 3000.0, a_step("create", 12e6, None, "p99"))
    for record in (a_record(runs=[run]), step):
        assert "≥ before a latency marks a lower bound" in text_of(page(record))
    assert "1 create 1,000 1,000 0 – 1.00 ms ≥ 12.0 ms – –" in text_of(page(step))


def test_the_hosts_of_a_fleet_stand_side_by_side() -> None:
    hosts = (a_generator(1), a_generator(2, cpu_s=39.0, lateness_ns=None))
    record = a_record(runs=[a_run().changed(generators=hosts)])
    shown = page(record)
    rows = [text for text in rows_of(shown) if "Some CPU" in text]
    assert len(rows) == 2
    assert all(word in rows[0] for word in ("1/3", "100", "1.10 ms", "2.20 ms", "70.0 µs", "25 %"))
    assert "+5,000.000 ms ± 400 µs" in rows[0]
    assert "its window opens at the common moment all the same" in shown
    assert "<code>run-1-generator-1.json</code>" in shown
    assert "saturated" in rows[1]
    assert "run-1-generator-2.json" in rows[1]


def test_a_fleets_measurement_is_repeated_by_a_fleet() -> None:
    shown = page(a_record(profile={"generator": "volley-fleet"}))
    assert "--fleet tls://COORDINATOR:8786" in shown
    assert "--generator volley-fleet" not in shown
