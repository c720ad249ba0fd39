"""The data beside the pages, and the page that only loads some: JSON, CSV, feed, records."""

import csv
import io
import json
import re
import uuid
from dataclasses import replace
from xml.etree import ElementTree as ET

import jsonschema  # type: ignore[import-untyped]
import pytest

from arena.base.model import to_json
from arena.judge.leaderboard import Board
from arena.record.measurement import Memory
from arena.record.record import Record
from arena.site.build import outputs
from arena.site.pages import compare
from arena.site.pages.files import MODELS, schema_of
from tests.fakes import WARNED, a_record, a_run, a_trial
from tests.lib.arena.site.editions import (
    HOST,
    a_round,
    a_site,
    an_edition,
    page,
    pages_of,
    site_of,
    text_of,
)
from tests.lib.arena.site.loads import SCHEDULED, a_step, items

BOARD = f"boards/stream-grpc/64/ghz/{HOST}"
ATOM = "{http://www.w3.org/2005/Atom}"
UNARY = {"metric": "requests/s", "messages_per_call": 1}


def rows_of(*records: Record) -> list[dict[str, str]]:
    """Return the rows of the CSV of the only board, or the first."""
    site = a_site(*records)
    text = page(site, f"{site.current.board_folder(site.current.boards[0])}/board.csv")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def feed_of(*records: Record) -> ET.Element:
    return ET.fromstring(page(a_site(*records), "feed.xml"))


def test_a_board_is_there_as_json_which_says_all_that_it_knows() -> None:
    site = a_site(a_record("a", 2e6), a_record("b", 1e6, type="engine"))
    for board, folder in zip(site.current.boards, (BOARD, f"{BOARD}/engines"), strict=True):
        assert Board.model_validate_json(page(site, f"{folder}/board.json")) == board


def test_a_board_as_csv_has_a_row_a_framework_and_units_in_its_header() -> None:
    fast, slow = rows_of(
        a_record("fast", 2e6, 4e6, 3e6, flags=("client-bound", "unpinned"), contract=[WARNED]),
        a_record("slow", 1e6, packed=11.5, flags=("unpinned",)),
    )
    assert (fast["rank"], slow["rank"]) == ("1", "2")
    rates = {name: fast[f"{name}_messages_per_s"] for name in ("value", "median", "low", "high")}
    assert list(rates.values()) == ["4000000.0", "3000000.0", "2000000.0", "4000000.0"]
    assert (fast["latency_p99_ns"], fast["server_peak_bytes"]) == ("2100000000.0", str(50 << 20))
    assert fast["flags"] == "client-bound unpinned"
    assert fast["checks_warned"] == "content-type"
    assert (fast["messages_per_data_frame"], slow["messages_per_data_frame"]) == ("", "11.5")
    assert re.fullmatch(r"(\.\./){5}records/[0-9a-f]{16}/index\.html", slow["record"])


def test_a_board_has_anonymous_memory_and_the_peak_only_of_those_who_have_no_other() -> None:
    run = a_run(2e6)
    memory = Memory(anonymous_bytes=12 << 20, highest_bytes=20 << 20)
    new = a_record("new", runs=[run.changed(server=run.server.changed(memory=memory))])
    old = a_record("old", 1e6)
    first, second = rows_of(new, old)
    names = ["server_anonymous_bytes", "server_highest_anonymous_bytes", "server_peak_bytes"]
    assert [first[name] for name in names] == [str(12 << 20), str(20 << 20), ""]
    assert [second[name] for name in names] == ["", "", str(50 << 20)]
    assert "server_kernel_bytes" not in first
    assert "server_anonymous_bytes" not in rows_of(old)[0]
    for records, titles in (
        ((new, old), ["Memory MiB", "Memory, highest sample MiB", "Peak memory MiB"]),
        ((old,), ["Peak memory MiB"]),
    ):
        html = page(a_site(*records), f"{BOARD}/index.html")
        heads = map(text_of, re.findall('<th scope="col".*?</th>', html, re.DOTALL))
        assert [each for each in heads if "emory" in each] == titles


def test_a_csv_has_a_failure_in_its_row_and_ends_its_lines_as_rfc_4180_has_it() -> None:
    record = a_record("a", failure='no "x",\nno y')
    text = page(a_site(record), f"{BOARD}/board.csv")
    assert text.count("\r\n") == text.count("\n") == 2
    (row,) = rows_of(record)
    assert (row["rank"], row["value_messages_per_s"]) == ("", "")
    assert row["failure"] == 'run 1 of 3: no "x",\N{REPLACEMENT CHARACTER}no y'
    assert row["record"].endswith("/index.html")


@pytest.mark.parametrize("sign", "=+-@\t")
def test_no_cell_of_a_csv_is_a_formula(sign: str) -> None:
    (row,) = rows_of(a_record("a", display_name=f"{sign}1+1|cmd", language=f"{sign}\u202e"))
    assert row["display_name"] == f"'{sign}1+1|cmd"
    assert row["language"] == f"'{sign}\N{REPLACEMENT CHARACTER}"


def test_metrics_have_their_own_words_in_a_csv() -> None:
    (row,) = rows_of(a_record("a", profile=UNARY))
    assert {"value_requests_per_s", "server_cpu_s_per_million_requests_at_least"} <= row.keys()


def test_a_framework_has_all_its_results_the_oldest_first() -> None:
    records = [
        a_record("a", 1e6, minute=1),
        a_record("a", failure="it fell", minute=3),
        a_trial("a", 3e6, minute=2, language="Rust"),
        a_record("b", 1e6),
    ]
    text = page(a_site(*records), "frameworks/a/framework.json")
    found = json.loads(text)
    assert found["framework"]["name"] == "a"
    history, trials = found["histories"]
    assert (history["rank"], history["board"]) == (1, f"{BOARD}/index.html")
    results = history["results"]
    keys = ("status", "value", "is_trial", "failure")
    good, failed = ([each[key] for key in keys] for each in results)
    assert (good, failed) == (["ok", 1e6, False, None], ["failed", None, False, "it fell"])
    assert (trials["load"], trials["board"]) == ("5s-x-1", f"{BOARD}/5s-x-1/index.html")
    assert [(each["value"], each["is_trial"]) for each in trials["results"]] == [(3e6, True)]
    assert results[0]["record"] == an_edition(*records).page_or_json(records[0].path)


def test_figures_to_compare_have_intervals_flags_and_links_below_their_edition() -> None:
    a = a_record("a", 1e6, 1.5e6, flags=("client-bound", "cut-calls"))
    edition = an_edition(
        a,
        a_record("b", failure="it fell"),
        a_record("a", 9e3, profile={"name": "unary-grpc", "generator": "h2load"}, type="engine"),
        of=a_round("spring"),
    )
    text = page(a_site(rounds=[edition]), "rounds/spring/compare/compare.json")
    found = json.loads(text)
    ids = [each["id"] for each in found["profiles"]]
    assert ids == [f"stream-grpc/64/ghz/{HOST}", f"unary-grpc/64/h2load/{HOST}"]
    assert found["profiles"][0]["href"] == "boards/stream-grpc/64/ghz/index.html"
    assert found["profiles"][0]["lower_is_better"] is False
    (framework,) = found["frameworks"]
    assert framework["href"] == "frameworks/a/index.html"
    record = f"../../{edition.record(a.path)}"
    *figures, value, interval, is_comparable = framework["figures"]["0"]
    assert figures == [1.5e6, 1e6, 1.5e6 * 1.001, "client-bound,cut-calls", record]
    assert (value[0], "M" in value, "M" in interval) == ("≥", True, True)
    assert is_comparable


def test_profiles_of_two_metrics_and_boards_of_two_divisions_compare_as_they_may() -> None:
    records = [
        a_record("a", 1e6),
        a_record("b", 1e6, type="engine"),
        a_record("c", 1e6, profile={"name": "unary", **UNARY}),
    ]
    found = json.loads(page(a_site(*records), "compare/compare.json"))
    ids = [each["id"] for each in found["profiles"]]
    assert ids == [f"stream-grpc/64/ghz/{HOST}", f"unary/64/ghz/{HOST}"]
    figures = {each["name"]: list(each["figures"]) for each in found["frameworks"]}
    assert figures == {"a": ["0"], "b": ["0"], "c": ["1"]}


def test_the_page_that_compares_names_its_data_and_leads_to_the_boards_without_a_script() -> None:
    spring = an_edition(a_record("a"), of=a_round("spring"))
    site = a_site(a_record("a"), rounds=[spring])
    current = pages_of(site, compare)["compare/index.html"]
    assert 'src="../static/compare.js"' in current
    for text in (current, pages_of(site, compare, spring)["rounds/spring/compare/index.html"]):
        without = text.partition('<div id="compare"')[2]
        assert without.startswith(' data-src="compare.json" data-root="../">')
        assert 'href="../index.html#boards"' in without.partition("</div>")[0]


def test_every_json_is_as_its_published_schema_says() -> None:
    site = a_site(a_record("a", 2e6), a_record("a", minute=1, failure="x"), a_record("b"))
    for path in (f"{BOARD}/board", "frameworks/a/framework", "compare/compare"):
        name = path.rpartition("/")[2]
        schema = json.loads(page(site, f"schema/{name}.schema.json"))
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(page(site, f"{path}.json")), schema)
    record = json.loads(to_json(a_record("a")))
    jsonschema.validate(record, schema_of("record"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**record, "status": "fine"}, schema_of("record"))
    schemas = {each.path for each in outputs(site) if each.path.startswith("schema/")}
    assert schemas == {f"schema/{name}.schema.json" for name in MODELS}


def test_the_feed_is_atom_with_the_newest_records_first() -> None:
    feed = feed_of(
        a_record("old", 1e6, minute=1),
        a_record("new", 2e6, minute=59, flags=("client-bound",)),
        a_record("bad", failure="it fell", minute=30),
    )
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}updated") == "2026-01-01T00:59:00.000000Z"
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    titles = [each.findtext(f"{ATOM}title") for each in feed.iter(f"{ATOM}entry")]
    assert titles == [
        "new: ≥ 2.00 M messages/s under stream-grpc",
        "bad: stream-grpc failed",
        "old: 1.00 M messages/s under stream-grpc",
    ]
    assert [each.attrib["rel"] for each in feed.findall(f"{ATOM}link")] == ["self", "alternate"]
    for entry in feed.iter(f"{ATOM}entry"):
        assert all(entry.findtext(ATOM + tag) for tag in ("id", "title", "updated", "summary"))


def test_ids_of_the_feed_are_its_records_own_for_ever() -> None:
    def ids(*records: Record) -> list[str]:
        return [each.text or "" for each in feed_of(*records).iter(f"{ATOM}id")]

    before = ids(a_record("a"))
    assert ids(a_record("a"), a_record("b", minute=1))[::2] == before
    assert len(set(ids(a_record("a"), a_record("b")))) == 3
    assert all(uuid.UUID(each.removeprefix("urn:uuid:")).version == 5 for each in before)


def test_the_feed_has_fifty_entries_and_links_json_where_there_is_no_page() -> None:
    records = [a_record("a", 1e6, minute=minute) for minute in range(60)]
    entries = feed_of(*records).iter(f"{ATOM}entry")
    first, second, *others = (each for entry in entries for each in entry.iter(f"{ATOM}link"))
    assert len(others) == 48
    edition = an_edition(*records)
    assert first.attrib["href"].endswith(edition.record(records[59].path))
    assert second.attrib["href"].endswith(edition.record_json(records[58].path))
    assert second.attrib["type"] == "application/json"


def test_a_feed_of_nothing_is_one_and_hostile_words_are_escaped() -> None:
    assert feed_of().findtext(f"{ATOM}updated") == "1970-01-01T00:00:00Z"
    feed = feed_of(a_record("a", failure="<b>\x00\x1b]\u202e&\uffff"))
    summary = feed.findtext(f"{ATOM}entry/{ATOM}summary") or ""
    assert "<b>" in summary
    assert not {"\x00", "\x1b", "\u202e", "\uffff"} & set(summary)


def test_only_the_current_edition_has_the_feed_the_schemas_and_the_styles() -> None:
    spring = an_edition(a_record("a"), of=a_round("spring"))
    site = a_site(a_record("b"), rounds=[spring])
    paths = [each.path for each in outputs(site)]
    once = {"feed.xml", "schema/record.schema.json", "static/style.css"}
    assert once <= set(paths)
    assert not {f"rounds/spring/{path}" for path in once} & set(paths)


def test_a_record_has_a_page_or_else_its_json_and_a_round_ships_no_json() -> None:
    old, new = a_record("a", minute=1), a_record("a", minute=2)
    current = an_edition(old, new)
    spring = an_edition(a_record("b"), a_record("b", minute=1), of=a_round("spring"))
    paths = [each.path for each in outputs(site_of(current, spring))]
    assert sorted(each for each in paths if each.startswith("records/")) == sorted(
        [
            current.record_json(old.path),
            current.record(new.path),
            *(spring.record(path) for path in spring.entries),
        ]
    )


def test_a_record_of_two_rounds_has_one_page_as_the_newer_shows_it() -> None:
    record = a_record("a")
    autumn, spring = (an_edition(record, of=a_round(name)) for name in ("autumn", "spring"))
    site = a_site(rounds=[autumn, spring])
    assert autumn.record(record.path) == spring.record(record.path)
    assert "Round autumn" in page(site, spring.record(record.path))


def test_what_is_said_anywhere_changes_the_key_of_what_says_it() -> None:
    def keys(rate: float) -> dict[str, str]:
        site = a_site(a_record("a", rate), a_record("b", profile={"name": "other"}))
        return {each.path: each.key for each in outputs(site)}

    before, after = keys(1e6), keys(2e6)
    changed = {path for path in after if after[path] != before.get(path)}
    framework = {"frameworks/a/index.html", "frameworks/a/framework.json"}
    board = {f"{BOARD}/{name}" for name in ("index.html", "board.json", "board.csv")}
    assert {
        *framework,
        *board,
        "index.html",
        "methodology/index.html",
        "compare/compare.json",
    } <= changed
    assert not any(path.startswith(("boards/other", "schema/", "frameworks/b")) for path in changed)


def test_what_is_only_a_bound_says_so_in_a_csv_and_what_is_unknown_is_empty() -> None:
    rows = rows_of(
        a_record("bound", 3e6, flags=["client-bound"]),
        a_record("known", 2e6),
        a_record("none", runs=[a_run(0.0, ok=0, cut=5, mean_ns=None)]),
    )
    found = [(row["bound"], row["value_messages_per_s"]) for row in rows]
    assert found == [(">=", "3000000.0"), ("", "2000000.0"), ("<", "")]
    assert rows[2]["median_messages_per_s"] == ""
    assert rows[2]["high_messages_per_s"] == "5000.0"


def test_a_csv_says_which_latencies_are_lower_bounds() -> None:
    run = a_run()
    bound = run.changed(latency_ns=replace(run.latency_ns, at_least=("p99", "max")))
    known, open_ = rows_of(a_record("a", 2e6), a_record("b", runs=[bound]))
    assert [row["latency_at_least"] for row in (known, open_)] == ["", "p99"]
    assert open_["latency_p99_ns"] == known["latency_p99_ns"]
    record = items("a", 3000.0, a_step("create", 12e6, None, "p99"), a_step("remove", 5e6))
    (row,) = rows_of(record)
    assert (row["latency_p99_bound_create"], row["latency_p99_bound_remove"]) == (">=", "")
    # A headline that is a lower bound has the sign that one by the generator has.
    record = a_record("a", runs=[bound], profile=SCHEDULED)
    (row,) = rows_of(record)
    assert row["bound"] == ">="


def test_a_board_of_a_scenario_has_the_p99_of_each_step_as_csv_and_the_whole_step_as_json() -> None:
    site, board = a_site(items("a")), f"boards/crud-h2c/4/volley/{HOST}"
    (row,) = rows_of(items("a"))
    steps = {key: value for key, value in row.items() if key.startswith("latency_p99_ns_")}
    assert steps == {
        "latency_p99_ns_create": "12000000.0",
        "latency_p99_ns_change": "3400000.0",
        "latency_p99_ns_remove": "5000000.0",
    }
    (own,) = json.loads(page(site, f"{board}/board.json"))["rows"]
    change = own["result"]["steps"][1]
    assert (change["name"], change["count"], change["ok"]) == ("change", 1000, 997)
    assert change["failed"] == {"timeout": 2, "status": 1}
