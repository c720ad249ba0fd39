"""Frameworks: who they are, where they stand, and how they came there."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from arena.judge.proofs import CONTRACT, PortProof, Proof, Proofs
from arena.publish.site.outputs import Page
from arena.publish.site.pages import frameworks, records
from arena.record.record import Epoch, Record
from tests.fakes import a_record, a_trial
from tests.lib.arena.judge.visits import blocks, visited
from tests.lib.arena.publish.editions import (
    HOSTILE,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    rows_of,
    site_of,
    text_of,
)
from tests.lib.arena.publish.loads import made


def page(*records: Record, name: str = "a") -> str:
    return pages_of(a_site(*records), frameworks)[f"frameworks/{name}/index.html"]


def history(html: str) -> list[str]:
    """Return the words of each line of the page's histories."""
    sections = re.findall('<section class="history".*?</section>', html, re.DOTALL)
    return [row for section in sections for row in rows_of(section)[1:]]


def test_the_list_has_everyone_and_counts_their_boards() -> None:
    site = a_site(
        a_record("b", 2e6, display_name="Bee", language="Rust"),
        a_record("a", 1e6),
        a_record("a", 1e6, profile={"name": "other"}),
        a_record("c", failure="it broke"),
    )
    text = pages_of(site, frameworks)["frameworks/index.html"]
    assert rows_of(text)[1:] == [
        "a Go – – – production 2 1 2026-01-01",
        "Bee b Rust – – – production 1 1 2026-01-01",
        "c Go – – – production – – 2026-01-01",
    ]


def test_the_list_says_which_library_that_is_and_which_of_its_variants_is_the_best(
    tmp_path: Path,
) -> None:
    repo = {"repo": "https://github.com/grpc/grpc-go/", "engine": "grpc-go"}
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        meta = {"tests": [], **(repo if name != "c" else {})}
        (tmp_path / name / "meta.json").write_text(json.dumps(meta))
    (tmp_path / "a" / "README.md").write_text("# a\n\nVersion 1.76.0, released 2026-10.\n")
    records = [a_record("a", 1e6), a_record("b", 2e6), a_record("c", 3e6)]
    site = site_of(an_edition(*records), frameworks=tmp_path)
    text = pages_of(site, frameworks)["frameworks/index.html"]
    rows = {row.split()[0]: row for row in rows_of(text)[1:]}
    assert "grpc-go grpc/grpc-go 1.76.0, 2026-10 production" in rows["a"]
    assert "grpc-go grpc/grpc-go – production" in rows["b"]
    found = re.findall(
        r'<tr data-language[^>]*?( data-best)?><th scope="row"><a [^>]*><bdi>(.)<', text
    )
    assert found == [("", "a"), (" data-best", "b"), (" data-best", "c")]


def test_nobody_is_said() -> None:
    pages = pages_of(a_site(), frameworks)
    assert list(pages) == ["frameworks/index.html"]
    assert "Nothing has been measured here yet." in pages["frameworks/index.html"]


def test_a_page_has_its_meta_its_rules_and_what_was_measured() -> None:
    text = page(
        a_record(
            "a", 1e6, display_name="An A", engine="netty", description="It serves.", type="tuned",
            repo="https://example.org/a", maintainers=("x", "y"),
        )
    )  # fmt: skip
    said = text_of(text)
    assert "<h1><bdi>An A</bdi></h1>" in text
    assert 'href="https://example.org/a"' in text
    assert 'href="../../rules/index.html#tuned"' in text
    for words in ("It serves.", "netty", "x , y", "source 111111111111 on 2026-01-01"):
        assert words in said


def a_proof(*warned: str, source: str = "1" * 64, contract: int = CONTRACT) -> Proofs:
    """Return a proof of `a`: two checks on each port, and those that only warned."""
    passed = {"unary-sum": "pass", "h2-values": "pass", **dict.fromkeys(warned, "warn")}
    port = PortProof.model_validate(
        {"tls": True, "checks": passed, "seen": {each: f"{each} <b>was</b> odd" for each in warned}}
    )
    toolchain = {"go": "go version go1.26.0", "cc": None}
    proof = Proof(
        source=source, contract=contract, runtime="native", toolchain=toolchain,
        verdict="warn" if warned else "pass", ports=(port,),
    )  # fmt: skip
    return Proofs(frameworks={"a": proof})


def proven(proofs: Proofs, folder: Path = Path("/nonexistent")) -> str:
    site = site_of(an_edition(a_record("a", 1e6)), proofs=proofs, frameworks=folder)
    return pages_of(site, frameworks)["frameworks/a/index.html"]


def test_a_page_says_that_every_check_passed_and_with_what() -> None:
    said = text_of(proven(a_proof()))
    assert "Every check passed. 2 checks, natively, of the source that was measured last" in said
    assert "go version go1.26.0" in said
    assert "is not proven" not in said


def test_a_page_shows_what_the_contract_warns_of_and_leads_to_its_rules() -> None:
    text = proven(a_proof("content-type", "h2-methods"))
    assert "Every check passed but 2, which only warn." in text_of(text)
    assert 'href="../../rules/index.html#content-type"' in text
    assert 'href="../../rules/index.html#methods">h2-methods</a>' in text
    assert "content-type &lt;b&gt;was&lt;/b&gt; odd" in text


@pytest.mark.parametrize(
    "proofs", [Proofs(), a_proof(source="2" * 64), a_proof(contract=CONTRACT - 1)]
)
def test_a_page_says_that_its_framework_is_not_proven(proofs: Proofs) -> None:
    said = text_of(proven(proofs))
    assert "The source that was measured last is not proven" in said
    assert "Every check passed" not in said


def test_a_page_shows_the_readme_and_lets_nothing_of_it_do_harm(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "README.md").write_text(
        "# a\n\nIt has `settings`.\n\n<script>alert(1)</script>\n\n[see](javascript:alert(1)) "
        "![x](http://example.org/x.png) [more](https://example.org)\n"
    )
    text = proven(Proofs(), tmp_path)
    assert "<p>It has <code>settings</code>.</p>" in text
    assert "more" in text
    assert not re.search('<script>|<img|href="javascript|example.org', text)


@pytest.mark.parametrize(
    "repo", ["javascript:alert(1)", "ftp://example.org/", "//example.org", "https://u:p@x.org/"]
)
def test_a_source_that_is_no_page_of_the_web_is_no_link(repo: str) -> None:
    text = page(a_record("a", 1e6, repo=repo))
    assert repo in text
    assert f'href="{repo}' not in text


def test_every_board_it_is_on_is_a_line_with_its_rank_of_how_many() -> None:
    text = page(
        a_record("a", 1e6, flags=["client-bound"]),
        a_record("b", 2e6),
        a_record("a", failure="it broke", profile={"name": "other"}),
    )
    rows = rows_of(text)
    assert any("2 of 2 ≥ 1.00 M messages/s client-bound" in row for row in rows)
    assert any("– – failed on 2026-01-01 run 1 of 3: it broke" in row for row in rows)
    assert 'href="../../boards/stream-grpc/64/ghz/index.html"' in text


def test_a_history_is_told_from_the_newest_on_and_says_what_changed() -> None:
    first = a_record("a", 1e6, minute=0)
    changed = a_record("a", 2e6, minute=10)
    source = changed.framework.model_copy(update={"source_sha256": "2" * 64})
    text = page(
        first,
        changed.model_copy(update={"framework": source}),
        a_record("a", minute=20, failure="it broke", status="invalid"),
        a_trial("a", 9e6, minute=30),
        a_trial("a", 8e6, minute=40),
    )
    assert history(text) == [
        "2026-01-01 invalid new source it broke",
        "2026-01-01 2.00 M new source",
        "2026-01-01 1.00 M",
        # The trials are a load of their own.
        "2026-01-01 8.00 M",
        "2026-01-01 9.00 M",
    ]
    assert "ghz · messages/s · trial, 5s × 1" in text_of(text)
    assert "source 222222222222 on 2026-01-01" in text_of(text)
    # The trials are no points of the line, and the scale ends at the most that is one.
    dots, _ = re.findall('<path class="d" d="([^"]*)"', text)
    assert dots.count("h0") == 2
    assert "from 0 to 2.00 M" in text


def test_a_record_without_a_page_leads_to_its_json() -> None:
    text = page(a_record("a", 1e6, minute=0), a_record("a", 2e6, minute=1))
    assert "T00-01-00.000000Z/index.html" in text
    assert "T00-00-00.000000Z/record.json" in text
    assert "T00-00-00.000000Z/index.html" not in text


def test_a_name_that_looks_like_a_file_is_only_a_name() -> None:
    name = "x.index.html"
    text = page(a_record(name, 1e6, minute=0), a_record(name, 2e6, minute=1), name=name)
    assert f"/{name}/2026-01-01T00-00-00.000000Z/record.json" in text


def test_a_long_history_is_cut_and_says_where_the_rest_is() -> None:
    text = page(*(a_record("a", 1e6 + number, minute=number) for number in range(40)))
    assert len(history(text)) == 12
    assert "28 older records in" in text
    (dots,) = re.findall('<path class="d" d="([^"]*)"', text)
    assert dots.count("h0") == 40


def test_the_visits_of_a_night_are_one_record_of_the_history() -> None:
    visits = [*blocks({"a": 1e6, "a~twin": 1e6}, 4), visited("a", 5.0, 2, minute=90, is_void=True)]
    assert history(page(*visits)) == []
    assert len(history(page(a_record("a", 2e6, minute=200), *visits))) == 2
    failed = visited("a", 0, 3, minute=95, failure="it fell")
    assert len(history(page(*visits, failed))) == 2


def test_one_record_is_no_history() -> None:
    assert "Each board has one record so far" in page(a_record("a", 1e6))


def test_hostile_meta_is_only_words_and_cut() -> None:
    text = page(
        a_record(
            "a", 1e6, display_name=HOSTILE, engine=HOSTILE, language=HOSTILE, repo=HOSTILE,
            maintainers=(HOSTILE,), description=HOSTILE + "\u2066x" * 10_000,
        ),
        a_record("a", minute=1, failure=HOSTILE * 99, display_name=HOSTILE),
    )  # fmt: skip
    assert "<script>" not in text
    assert "\u2066" not in text
    assert len(text) < 20_000


def test_a_page_is_made_anew_only_if_its_framework_or_its_ranks_change() -> None:
    records = a_record("a", 1e6), a_record("b", 3e6)
    mine = "frameworks/a/index.html"
    before = keys_of(a_site(*records), frameworks)
    newer = keys_of(a_site(*records, a_record("b", 3.1e6, minute=5)), frameworks)
    assert newer[mine] == before[mine]
    assert newer["frameworks/b/index.html"] != before["frameworks/b/index.html"]
    assert keys_of(a_site(*records, a_record("c", 2e6)), frameworks)[mine] != before[mine]


def test_a_history_says_what_changed_on_the_host_while_its_class_stayed() -> None:
    epoch = Epoch(
        kernel="6.1", microcode=None, mitigations={}, governor=None, boost=None,
        toolchains={"go": "go1.26"}, locks={}, sysctls={},
    )  # fmt: skip
    later = epoch.model_copy(update={"kernel": "6.2", "toolchains": {"go": "go1.27"}})
    records = [
        a_record("a", 1e6),
        *(made(a_record("a", 1e6, minute=n), epoch=each) for n, each in ((1, epoch), (2, epoch))),
        made(a_record("a", 1e6, minute=3), epoch=later),
    ]
    assert history(page(*records)) == [
        "2026-01-01 1.00 M new kernel, new toolchains",
        *["2026-01-01 1.00 M"] * 3,
    ]


def test_a_record_that_was_altered_has_no_figure_in_a_history_and_says_so_on_its_page() -> None:
    old, new = a_record("a", 1e6), a_record("a", 9e6, minute=1)
    edition = an_edition(old, new)
    problem = f"its file was altered {HOSTILE}"
    entries = {
        path: replace(entry, problem=problem if path == new.path else "")
        for path, entry in edition.entries.items()
    }
    site = site_of(replace(edition, entries=entries))
    text = pages_of(site, frameworks)["frameworks/a/index.html"]
    first, second = history(text)
    assert first.startswith("2026-01-01 altered its file was altered &lt;script")
    assert "1.00 M" in second
    assert "9.00 M" not in first
    assert "to 2026-01-01" not in text
    made = next(
        each
        for each in frameworks.outputs(site, site.current)
        if each.path.endswith("a/framework.json")
    )
    assert isinstance(made, Page)
    results = json.loads(made.make())["histories"][0]["results"]
    assert [(each["value"], each["failure"]) for each in results] == [(1e6, None), (None, problem)]
    shown = pages_of(site, records)[edition.record(new.path)]
    assert "This record does not count." in text_of(shown)
    assert HOSTILE not in shown
    assert keys_of(site, records) != keys_of(site_of(edition), records)
    assert keys_of(site, frameworks) != keys_of(site_of(edition), frameworks)
