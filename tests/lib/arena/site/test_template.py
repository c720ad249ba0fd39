"""Templates: what is other people's comes out inert, and links lead nowhere else."""

from dataclasses import replace
from pathlib import Path

import jinja2
import pytest
from markupsafe import Markup

from arena.site.edition import name, relative
from arena.site.template import frame, plain, render, web
from tests.fakes import a_record
from tests.lib.arena.site.editions import a_round, a_site, an_edition


def rendered(tmp_path: Path, template: str, **context: object) -> str:
    (tmp_path / "x.html.j2").write_text(template)
    site = replace(a_site(), templates=tmp_path)
    return render(site, "x.html.j2", "a/b/index.html", an_edition(), **context)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two  words\n\there", "two words here"),
        ("a\x00b\x1b[31mc\x07", "ab[31mc"),
        ("gpj\u202egnp.exe", "gpjgnp.exe"),
        ("\u2066a\u2069\u200e\u200f\u061cb\u202a\u202c", "ab"),
        ("a\u00a0b", "a b"),
        ("עברית", "עברית"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        (5, "5"),
    ],
)
def test_plain_text_is_one_line_that_steers_nothing(text: object, shown: str) -> None:
    assert plain(text) == shown


def test_plain_text_is_cut() -> None:
    assert plain("x" * 10_000) == "x" * 299 + "…"
    assert plain("one two", 5) == "one…"
    assert plain("x" * 5, 5) == "x" * 5


@pytest.mark.parametrize(
    "address", ["https://example.org", "http://example.org/a?b=c#d", "https://[::1]/x"]
)
def test_an_address_of_the_web_is_a_link(address: str) -> None:
    assert web(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "", "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x", "file:///etc/passwd", "//example.org", "example.org", "https://", "https:///x",
        "https://me:pass@example.org", "https://exa mple.org", "https://example.org/\n",
        "http://[::1",
        "https://example.org/\u202e", "https://example.org/" + "x" * 500,
    ],
)  # fmt: skip
def test_anything_else_is_none(address: str) -> None:
    assert web(address) == ""


def test_whatever_is_printed_has_no_marks_of_direction(tmp_path: Path) -> None:
    shown = rendered(tmp_path, '<i title="{{ x }}">{{ x }}</i>{{ n }}', x="a\u202e\x07<b>", n=7)
    assert shown == '<i title="a&lt;b&gt;">a&lt;b&gt;</i>7'


def test_markup_of_our_own_stays(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ x }}", x=Markup("<b>é</b>")) == "<b>é</b>"


def test_lines_of_a_log_stay_lines(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ x }}", x="é\n\tb\r") == "é\n\tb "


def test_links_are_relative_to_the_page(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ href('a/c/index.html#d') }}") == "../c/index.html#d"


def test_a_typing_error_in_a_template_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(jinja2.UndefinedError, match="titel"):
        rendered(tmp_path, "{{ board.titel }}", board=a_record("a"))


def test_what_an_edition_says_on_each_page_is_in_its_frame() -> None:
    assert frame(an_edition()) != frame(an_edition(of=a_round()))
    assert frame(an_edition(of=a_round("a"))) != frame(an_edition(of=a_round("b")))


@pytest.mark.parametrize(
    ("target", "page", "link"),
    [
        ("index.html", "index.html", "index.html"),
        ("a/b/index.html", "a/b/index.html", "index.html"),
        ("a/b/index.html", "index.html", "a/b/index.html"),
        ("index.html#boards", "a/b/index.html", "../../index.html#boards"),
        ("a/c/x.json", "a/b/index.html", "../c/x.json"),
        ("a/b/c/x.json", "a/b/index.html", "c/x.json"),
    ],
)
def test_a_link_names_a_file_from_where_the_page_lies(target: str, page: str, link: str) -> None:
    assert relative(target, page) == link


def test_names_of_ours_stay_apart_and_others_stay_in_their_folder() -> None:
    ours = ["ghz", "ghz-", "ghz_", "unary-grpc", "Grpc.Net", "a.b-c__d"]
    assert [name(each) for each in ours] == ours
    assert name("p99 latency") == "p99-latency"
    assert name("messages/s") == "messages-s"
    strange = [name(each) for each in ("", ".", "..", "../x", "a/../b")]
    assert strange == ["-", "-", "-", "-x", "a-..-b"]
