"""Frameworks: who they are, where they stand, and how they came there."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arena.judge.proofs import CONTRACT, PortProof, Proof, Proofs
from arena.record.record import Epoch, Record
from arena.site.outputs import Page
from arena.site.pages import frameworks, records
from arena.what.framework import Advisories
from arena.what.releases import Release
from tests.fakes import a_record, a_trial
from tests.lib.arena.judge.visits import blocks, visited
from tests.lib.arena.site.editions import (
    HOST,
    HOSTILE,
    a_round,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    put,
    rows_of,
    site_of,
    text_of,
)
from tests.lib.arena.site.loads import made


def page(*records: Record, name: str = "a") -> str:
    return pages_of(a_site(*records), frameworks)[f"frameworks/{name}/index.html"]


def a_release(name: str, version: str, released: str | None) -> Release:
    return Release("go", f"a.org/{name}", version, released, name, of_image=False)


def history(html: str) -> list[str]:
    """Return the words of each line of the page's histories."""
    sections = re.findall('<section class="history".*?</section>', html, re.DOTALL)
    return [row for section in sections for row in rows_of(section)[1:]]


def test_the_list_has_everyone_and_counts_their_boards() -> None:
    site = a_site(
        a_record("b", 2e6, display_name="Bee", language="Rust"),
        a_record("a", 1e6),
        a_record("a", 1e6, profile={"name": "other"}),
        a_record("b", 1e5, profile={"name": "other"}, display_name="Bee", language="Rust"),
        a_record("c", failure="it broke"),
    )
    text = pages_of(site, frameworks)["frameworks/index.html"]
    assert rows_of(text)[1:] == [
        "a Go – – – production 2 1 2026-01-01",
        "Bee b Rust – – – production 2 1 2026-01-01",
        "c Go – – – production – – 2026-01-01",
    ]


def test_the_list_says_which_library_that_is_and_which_of_its_variants_is_the_best(
    tmp_path: Path,
) -> None:
    repo = {"repo": "https://github.com/grpc/grpc-go/", "engine": "grpc-go"}
    for name in ("a", "b", "c"):
        meta = {"tests": [], **(repo if name != "c" else {})}
        put(tmp_path / name / "meta.json", json.dumps(meta))
    released = {"a": a_release("grpc-go", "1.76.0", "2026-10"), "c": a_release("c", "2", None)}
    records = [a_record("a", 1e6), a_record("b", 2e6), a_record("c", 3e6)]
    site = replace(site_of(an_edition(*records), frameworks=tmp_path), releases=released)
    pages = pages_of(site, frameworks)
    assert "<dt>Release</dt><dd>grpc-go 1.76.0, 2026-10</dd>" in pages["frameworks/a/index.html"]
    assert "<dt>Release</dt>" not in pages["frameworks/b/index.html"]
    text = pages["frameworks/index.html"]
    rows = {row.split()[0]: row for row in rows_of(text)[1:]}
    assert "grpc-go grpc/grpc-go grpc-go 1.76.0, 2026-10 production" in rows["a"]
    assert "grpc-go grpc/grpc-go – production" in rows["b"]
    assert "– – c 2 production" in rows["c"]
    newer = replace(site, releases={"a": a_release("grpc-go", "1.77.0", None)})
    assert keys_of(newer, frameworks) != keys_of(site, frameworks)
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


def a_proof(
    *warned: str,
    source: str = "1" * 64,
    contract: int = CONTRACT,
    failed: Sequence[str] = (),
    verdict: str = "",
    is_seen: bool = True,
) -> Proofs:
    """Return a proof of `a`: two checks that passed, those that warned, and those that failed."""
    checks = {"unary-sum": "pass", "h2-values": "pass", **dict.fromkeys(warned, "warn")}
    checks |= dict.fromkeys(failed, "fail")
    seen = {each: f"{each} <b>was</b> odd" for each in (*warned, *failed) if is_seen}
    port = PortProof.model_validate({"tls": True, "checks": checks, "seen": seen})
    toolchain = {
        "go": "go version go1.26.0", "cc": None, "pkg-config:openssl": "3.0.16",
        "python3": "Python 3.11.7", "python:ensurepip": "Python 3.11.7", "node": "v20.1.0",
    }  # fmt: skip
    verdict = verdict or ("fail" if failed else "warn" if warned else "pass")
    proof = Proof.model_validate(
        {
            "source": source, "contract": contract, "runtime": "native", "toolchain": toolchain,
            "verdict": verdict, "ports": (port,),
        }
    )  # fmt: skip
    return Proofs(frameworks={"a": proof})


def proven(proofs: Proofs, folder: Path = Path("/nonexistent")) -> str:
    site = site_of(an_edition(a_record("a", 1e6)), proofs=proofs, frameworks=folder)
    return pages_of(site, frameworks)["frameworks/a/index.html"]


def test_a_page_says_that_every_check_passed_and_with_what() -> None:
    said = text_of(proven(a_proof()))
    assert (
        "2 of 2 checks passed. The checks ran natively ( go version go1.26.0 , openssl 3.0.16 , "
        "Python 3.11.7 , node v20.1.0 ) on the source that was measured last." in said
    )
    assert "has been saved" not in said


BOTH = a_proof("content-type", failed=["stream-10"])
WARNED = a_proof("content-type", "h2-methods")


@pytest.mark.parametrize(
    ("proofs", "said", "rows"),
    [
        (BOTH, "Failed. 2 of 4 checks passed, 1 warns, 1 failed.",
         ["content-type TLS warning content-type &lt;b&gt;was&lt;/b&gt; odd",
          "stream-10 TLS failed stream-10 &lt;b&gt;was&lt;/b&gt; odd"]),
        (WARNED, "2 of 4 checks passed, 2 warn.",
         ["content-type TLS warning content-type &lt;b&gt;was&lt;/b&gt; odd"]),
        (a_proof("content-type", is_seen=False), "2 of 3 checks passed, 1 warns.",
         ["content-type TLS warning"]),
        (a_proof(verdict="fail"),
         "Failed. 2 of 2 checks passed; then the server ended, or did not answer.", []),
    ],
)  # fmt: skip
def test_a_page_shows_what_the_contract_found(proofs: Proofs, said: str, rows: list[str]) -> None:
    html = proven(proofs)
    assert said in text_of(html)
    assert set(rows) <= set(rows_of(html))


def test_a_check_that_did_not_pass_leads_to_its_rule() -> None:
    html = proven(WARNED)
    assert 'href="../../rules/index.html#content-type"' in html
    assert 'href="../../rules/index.html#methods">h2-methods</a>' in html


@pytest.mark.parametrize(
    "proofs", [Proofs(), a_proof(source="2" * 64), a_proof(contract=CONTRACT - 1)]
)
def test_a_page_says_that_its_framework_is_not_proven(proofs: Proofs) -> None:
    said = text_of(proven(proofs))
    assert "No validation of the source that was measured last has been saved." in said
    assert "checks passed" not in said


def of_readme(folder: Path, text: str) -> str:
    """Return the page of a framework with this README."""
    put(folder / "a" / "README.md", text)
    return proven(Proofs(), folder)


def test_a_page_shows_the_readme_and_lets_nothing_of_it_do_harm(tmp_path: Path) -> None:
    text = of_readme(
        tmp_path,
        "# a\n\nIt has `settings`.\n\n<script>alert(1)</script>\n\n[see](javascript:alert(1)) "
        "![x](http://example.org/x.png) [more](https://example.org)\n",
    )
    assert "<p>It has <code>settings</code>.</p>" in text
    assert "more" in text
    assert not re.search('<script>|<img|href="javascript|example.org', text)


def test_the_anchors_of_a_readme_are_not_those_of_the_page(tmp_path: Path) -> None:
    html = of_readme(tmp_path, "# a\n\n## Contract\n\n## Notes\n\n## Main\n")
    ids = re.findall(' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "rest",
    ["\nSome words.\n" * 1000, "```\n" + "code\n\n" * 2000 + "```\n", "- item\n" * 2000],
)
def test_a_long_readme_ends_with_a_whole_paragraph_and_says_that_there_is_more(
    tmp_path: Path, rest: str
) -> None:
    text = of_readme(tmp_path, f"# a\n\nSome words.\n{rest}")
    assert "<p>Some words.</p>\n<p>The rest is in the README of the entry.</p>" in text


def test_a_round_shows_nothing_of_the_checkout(tmp_path: Path) -> None:
    meta = {"tests": [], "repo": "https://github.com/grpc/grpc-go", "engine": "of today"}
    put(tmp_path / "a" / "meta.json", json.dumps(meta))
    put(tmp_path / "a" / "README.md", "# a\n\nWords of today.\n")
    current, frozen = an_edition(), an_edition(a_record("a", 1e6), of=a_round())
    released = {"a": a_release("grpc-go", "1.76.0", "2026-10")}
    site = replace(site_of(current, frozen, frameworks=tmp_path), releases=released)
    pages = pages_of(site, frameworks, frozen)
    assert "1.76.0" not in "".join(pages.values())
    assert "of today" not in "".join(pages.values())


def best(tmp_path: Path, *records: Record) -> list[str]:
    """Return the best variants, of frameworks that are all of one library."""
    for each in records:
        meta = {"tests": [], "language": "Go", "repo": "https://github.com/grpc/grpc-go"}
        put(tmp_path / each.framework.name / "meta.json", json.dumps(meta))
    site = site_of(an_edition(*records), frameworks=tmp_path)
    text = pages_of(site, frameworks)["frameworks/index.html"]
    return re.findall(r'<tr [^>]*? data-best><th scope="row"><a [^>]*><bdi>(.)<', text)


def on_boards(**rates: Sequence[float]) -> list[Record]:
    return [
        a_record(name, rate, profile={"name": f"board-{number}"})
        for name, each in rates.items()
        for number, rate in enumerate(each)
        if rate
    ]


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ({"a": [1e6, 2e6, 1e6], "b": [2e6, 1e6, 2e6]}, "b"),
        # Each is ahead of another one, in a circle.
        ({"a": [3e6, 1e6, 2e6], "b": [2e6, 3e6, 1e6], "c": [1e6, 2e6, 3e6]}, "a"),
        # Of equals, the one with more boards.
        ({"a": [1e6, 0, 0, 1e6], "b": [0, 1e6, 1e6], "c": [1e6, 1e6, 1e6, 1e6]}, "c"),
    ],
)
def test_one_variant_of_a_library_is_the_best(
    tmp_path: Path, rates: dict[str, list[float]], found: str
) -> None:
    assert best(tmp_path, *on_boards(**rates)) == [found]


def test_a_tie_of_blocks_is_no_win(tmp_path: Path) -> None:
    # By its estimate, b is a little ahead of a: they share their ranks. So a third board decides.
    visits = blocks({"a": 1e6, "b": 1.0001e6}, 6)
    assert best(tmp_path, *visits, *on_boards(a=[2e6], b=[1e6])) == ["a"]


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
    assert f'href="../../boards/stream-grpc/64/ghz/{HOST}/index.html"' in text


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
    old, new = a_record("a", 1e6, minute=0), a_record("a", 2e6, minute=1)
    text, edition = page(old, new), an_edition(old, new)
    assert f"/{edition.record(new.path)}" in text
    assert f"/{edition.record_json(old.path)}" in text
    assert edition.record(old.path) not in text


def test_a_name_that_looks_like_a_file_is_only_a_name() -> None:
    name = "x.index.html"
    old, new = a_record(name, 1e6, minute=0), a_record(name, 2e6, minute=1)
    assert f"/{an_edition(old, new).record_json(old.path)}" in page(old, new, name=name)


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
    site = site_of(replace(edition, archive=replace(edition.archive, entries=entries)))
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


def test_the_advisories_of_its_packages_are_on_its_page_and_change_it() -> None:
    told = {
        "id": "GHSA-1234", "package": HOSTILE, "version": "1.2", "about": HOSTILE,
        "url": "https://example.org/GHSA-1234",
    }  # fmt: skip
    site = a_site(
        a_record("a", 1e6), a_record("b", 1e6), rounds=[an_edition(a_record("a"), of=a_round())]
    )
    known = Advisories.model_validate({"schema": 1, "frameworks": {"a": [told], "gone": [told]}})
    warned = replace(site, advisories=known)
    pages = pages_of(warned, frameworks)
    text = pages["frameworks/a/index.html"]
    assert '<a href="https://example.org/GHSA-1234" rel="noopener nofollow">GHSA-1234</a>' in text
    assert HOSTILE not in text
    assert "alert(" in text_of(text)
    # A round was measured with other sources.
    others = [path for path in pages if path != "frameworks/a/index.html"]
    assert [path for path in others if "GHSA" in pages[path]] == []
    assert keys_of(warned, frameworks) != keys_of(site, frameworks)
