"""Checking a site: what is wrong is found, and what is right is left in peace."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from tests.commandline import Line
from tests.fakes import FakeProgress
from tools.site_check import Checked, check, command


def page(body: str, title: str = "x") -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"</head><body>{body}</body></html>\n"
    )


def look(folder: Path, **files: str) -> Checked:
    """Check a site of these files; in their names `__` stands for a slash, and `_` for a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check(folder, FakeProgress())


RIGHT = """
<a href="a/index.html">a</a> <a href="a/index.html#part">b</a> <a href="#here">c</a>
<a id="here" href="https://example.org/x">d</a> <a href="mailto:a@example.org">e</a>
<a href="index.html#sort=p99&amp;dir=asc">f</a> <img src="data:image/gif;base64,R0" alt="">
<a href="raw.log">g</a> <a href="with%20space.txt">h</a>
<svg viewBox="0 0 1 1" aria-labelledby="t"><title id="t">x</title><use href="#t"/></svg>
"""


def test_a_site_whose_links_all_lead_somewhere_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "with space.txt").write_text("x")
    found = look(
        tmp_path,
        index_html=page(RIGHT),
        a__index_html=page('<h2 id="part">x</h2><a href="../index.html?x=1">up</a>'),
        a__board_csv='rank,record\r\n1,../index.html\r\n2,""\r\n',
        feed_xml='<feed xmlns="http://www.w3.org/2005/Atom"><link href="index.html"/></feed>',
        raw_log="x",
    )
    assert found == Checked(pages=2, links=13, problems=[])


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("nowhere.html", "leads nowhere"),
        ("a", "names a folder, not a file"),
        ("a/", "names a folder, not a file"),
        (".", "names a folder, not a file"),
        ("#nowhere", "names a part that index.html does not have"),
        ("a/index.html#nowhere", "names a part that a/index.html does not have"),
        ("../up.html", "leads out of the site"),
        ("a/../../up.html", "leads out of the site"),
        ("%2e%2e/up.html", "leads out of the site"),
        ("/index.html", "is not relative"),
        ("//example.org/x", "is not relative"),
        ("javascript:alert(1)", "has the scheme javascript:"),
        ("file:///etc/passwd", "has the scheme file:"),
        ("http://[x", "is not an address"),
    ],
)
def test_a_link_that_leads_nowhere_is_one_line(tmp_path: Path, link: str, said: str) -> None:
    (tmp_path.parent / "up.html").write_text("outside")
    found = look(
        tmp_path, index_html=page(f'<a href="{link}">x</a>'), a__index_html=page('<p id="b">x</p>')
    )
    (line,) = found.problems
    assert line == f"index.html: the link '{link}' {said}"


@pytest.mark.parametrize("attribute", ["href", "src", "data-src", "action", "poster"])
def test_every_attribute_that_is_an_address_is_followed(tmp_path: Path, attribute: str) -> None:
    found = look(tmp_path, index_html=page(f'<div {attribute}="nowhere.json">x</div>'))
    assert found.problems == ["index.html: the link 'nowhere.json' leads nowhere"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<p><div></p></div>", "unexpected-end-tag"),
        ("<table><p>x</p></table>", "voodoo"),
        ("<b>x", "expected-one-end-tag-but-got-another"),
        ('<p id="a" id="b">x</p>', "duplicate-attribute"),
        ("&nosuch;", "expected-named-entity"),
        ("<a href=x<y>z</a>", "unexpected-character-in-unquoted"),
        ('<p id="a">x</p><p id="a">y</p>', "the id `a` is empty, has spaces or is there twice"),
        ('<p id="">x</p>', "the id `` is empty, has spaces or is there twice"),
        ('<p id="a b">x</p>', "the id `a b` is empty, has spaces or is there twice"),
        ('<label for="nowhere">x</label>', "nothing has the id `nowhere`"),
        ('<p aria-labelledby="a b" id="a">x</p>', "nothing has the id `b`"),
    ],
)
def test_an_error_in_the_html_is_said_with_its_page(tmp_path: Path, body: str, said: str) -> None:
    problems = look(tmp_path, index_html=page(body)).problems
    assert any(line.startswith("index.html: ") and said in line for line in problems), problems


def test_a_page_without_a_doctype_is_none(tmp_path: Path) -> None:
    problems = look(tmp_path, index_html="<p>x</p>").problems
    assert problems == ["index.html: line 1, column 3: expected-doctype-but-got-start-tag p"]


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    (tmp_path / "bytes.html").write_bytes(b"\xff\xfe")
    found = look(tmp_path, feed_xml="<feed>", b_csv='record\r\n"x\r\n')
    said = {line.partition(": ")[0] for line in found.problems}
    assert said == {"bytes.html", "feed.xml", "b.csv"}


def test_the_links_of_a_feed_and_of_a_csv_are_followed(tmp_path: Path) -> None:
    found = look(
        tmp_path,
        feed_xml='<feed xmlns="http://www.w3.org/2005/Atom"><link href="gone.html"/></feed>',
        a__board_csv="rank,record\r\n1,gone.html\r\n",
    )
    assert found.problems == [
        "a/board.csv: the link 'gone.html' leads nowhere",
        "feed.xml: the link 'gone.html' leads nowhere",
    ]


def test_without_a_site_it_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no site yet \(\./scripts/site\.sh build\)"):
        check(tmp_path / "public", FakeProgress())


def test_many_pages_are_checked_by_several_processes(tmp_path: Path) -> None:
    for number in range(250):
        (tmp_path / f"{number}.html").write_text(page(f'<a href="{number + 1}.html">next</a>'))
    progress = FakeProgress()
    found = check(tmp_path, progress)
    assert (found.pages, found.links) == (250, 250)
    assert found.problems == ["249.html: the link '250.html' leads nowhere"]
    assert progress.lines == ["checking 250 files"]


# ---- the command


def test_the_site_is_built_and_checked(line: Line) -> None:
    built = line("site", "build")
    assert (built.code, built.out) == (0, "page: site/public/index.html\n")
    index = Path("site/public/index.html")
    index.write_text(index.read_text().replace("</main>", "<a href=gone.html>x</a></main>"))
    checked = line(command=command)
    assert checked.code == 1
    assert "error: index.html: the link 'gone.html' leads nowhere\n" in checked.err
    assert checked.out.endswith(" problems\n")


def test_of_very_many_problems_only_the_first_are_shown(line: Line, workspace: Workspace) -> None:
    workspace.public.mkdir()
    links = "".join(f'<a href="{number:03}\x1b.html">x</a>' for number in range(60))
    (workspace.public / "a.html").write_text(f"<!doctype html><title>x</title>{links}")
    checked = line(command=command)
    lines = checked.err.splitlines()
    problems = int(checked.out.split()[-2])
    assert (len(lines), lines[-1]) == (51, f"error: and {problems - 50} more")
    assert "\x1b" not in checked.err


def test_without_a_site_there_is_nothing_to_check(line: Line) -> None:
    outcome = line(command=command)
    assert (outcome.code, outcome.out) == (2, "")
    said = "error: site/public: there is no site yet (./scripts/site.sh build)\n"
    assert outcome.err == said
