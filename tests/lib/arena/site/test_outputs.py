"""Making a site: what is written, what is left as it is, and what is removed."""

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.judge.cache import Cache
from arena.site import outputs as made
from arena.site.build import FOLDERS
from arena.site.outputs import Page, write_changed
from arena.site.pages import files
from tests.fakes import FakeProgress
from tests.lib.arena.site.editions import a_site, files_in, put


@dataclass
class Maker:
    """A site's folder and cache, and a note for each page that is made."""

    root: Path
    progress: FakeProgress = field(default_factory=FakeProgress)

    @property
    def public(self) -> Path:
        return self.root / "public"

    @property
    def cache(self) -> Path:
        return self.root / "cache.sqlite"

    def __call__(self, *outputs: Page, code: str = "code") -> list[str]:
        """Make the outputs, and return which of the pages were made for it."""
        notes = self.root / "notes"
        notes.write_text("")
        write_changed(outputs, self.public, FOLDERS, code, Cache(self.cache), self.progress)
        return sorted(notes.read_text().split())

    def page(self, path: str, key: str = "1") -> Page:
        def render() -> str:
            # In a process of its own, so by way of a file.
            with (self.root / "notes").open("a") as notes:
                notes.write(f"{path}\n")
            return f"{path} {key}"

        return Page(path, key, render)

    def there(self) -> dict[str, str]:
        return {name: path.read_text() for name, path in files_in(self.public).items()}

    def times(self) -> dict[str, tuple[int, int]]:
        statuses = {name: path.stat() for name, path in files_in(self.public).items()}
        return {name: (each.st_ino, each.st_mtime_ns) for name, each in statuses.items()}


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    monkeypatch.chdir(tmp_path)
    return Maker(tmp_path)


def test_everything_is_there_after_the_first_time_and_stays_as_it_is(maker: Maker) -> None:
    pages = (maker.page("index.html"), maker.page("a/b/c.html"))
    assert maker(*pages) == ["a/b/c.html", "index.html"]
    assert maker.there() == {"index.html": "index.html 1", "a/b/c.html": "a/b/c.html 1"}
    before = maker.times()
    assert maker(*pages) == []
    assert maker.times() == before
    assert maker.progress.lines == []


def test_only_what_has_another_key_is_made_again(maker: Maker) -> None:
    maker(maker.page("a.html"), maker.page("b.html"))
    assert maker(maker.page("a.html", "2"), maker.page("b.html")) == ["a.html"]
    assert maker.there() == {"a.html": "a.html 2", "b.html": "b.html 1"}


def test_other_code_makes_everything_again_but_equal_bytes_are_not_written(maker: Maker) -> None:
    outputs = [maker.page("a.html"), maker.page("b.html")]
    maker(*outputs)
    before = maker.times()
    assert maker(*outputs, code="other") == ["a.html", "b.html"]
    assert maker.times() == before
    assert maker(*outputs, code="other") == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_text("edited"),
        lambda path: os.utime(path, ns=(1, 1)),
        lambda path: (path.unlink(), path.symlink_to("b.html")),
    ],
)
def test_a_file_that_was_touched_is_made_again(maker: Maker, harm: Callable[[Path], None]) -> None:
    outputs = [maker.page("a.html"), maker.page("b.html")]
    maker(*outputs)
    harm(maker.public / "a.html")
    assert maker(*outputs) == ["a.html"]
    assert maker.there() == {"a.html": "a.html 1", "b.html": "b.html 1"}
    assert not (maker.public / "a.html").is_symlink()


def test_a_style_sheet_follows_its_source_and_a_trap_among_them_is_no_file(maker: Maker) -> None:
    static, secret = maker.root / "static", maker.root / "secret"
    put(static / "deep" / "style.css", "one")
    put(secret, "secret")
    (static / "link.css").symlink_to(secret)
    os.mkfifo(static / "pipe.css")

    def found() -> list[Page]:
        of = files.outputs(replace(a_site(), static=static))
        return [each for each in of if each.path.startswith("static/")]

    maker(*found())
    put(static / "deep" / "style.css", "other")
    maker(*found())
    assert maker.there() == {"static/deep/style.css": "other"}


def test_what_is_no_longer_planned_is_removed_with_its_empty_folders(maker: Maker) -> None:
    maker(maker.page("a.html"), maker.page("boards/x/b.html"), maker.page("boards/c.html"))
    (maker.public / "CNAME").write_text("mine")
    (maker.public / "boards" / "mine.txt").write_text("mine")
    maker(maker.page("a.html"))
    assert set(maker.there()) == {"a.html", "CNAME", "boards/mine.txt"}
    assert not (maker.public / "boards" / "x").exists()


def test_a_file_may_become_a_folder_and_a_folder_a_file(maker: Maker) -> None:
    maker(maker.page("boards/a"), maker.page("boards/b/c"))
    maker(maker.page("boards/a/x"), maker.page("boards/b"))
    assert set(maker.there()) == {"boards/a/x", "boards/b"}


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"\xff" * 999)])
def test_without_a_cache_all_is_made_and_the_sites_folders_hold_nothing_else(
    maker: Maker, harm: Callable[[Path], None]
) -> None:
    outputs = [maker.page("a.html"), maker.page("boards/x/b.html")]
    maker(*outputs, maker.page("boards/old/c.html"), maker.page("old.html"))
    (maker.public / "CNAME").write_text("mine")
    harm(maker.cache)
    assert maker(*outputs) == ["a.html", "boards/x/b.html"]
    assert set(maker.there()) == {"a.html", "boards/x/b.html", "CNAME", "old.html"}


def test_a_link_in_the_sites_folders_is_never_followed(maker: Maker, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.html").write_text("mine")
    maker.public.mkdir()
    (maker.public / "boards").symlink_to(outside)
    (maker.public / "records").mkdir()
    (maker.public / "records" / "link").symlink_to(outside)
    maker(maker.page("a.html"))
    assert (outside / "x.html").read_text() == "mine"


def test_a_cache_that_cannot_be_written_costs_only_time(maker: Maker) -> None:
    maker.cache.mkdir()
    assert maker(maker.page("a.html")) == ["a.html"]
    assert maker(maker.page("a.html")) == ["a.html"]
    assert maker.there() == {"a.html": "a.html 1"}


@pytest.mark.parametrize(
    "path", ["../a.html", "/a.html", "a/../../b.html", "a//b.html", "./a.html", "a/", "a\0b", ""]
)
def test_a_path_that_leads_out_of_the_folder_is_refused_before_anything_is_written(
    maker: Maker, path: str
) -> None:
    with pytest.raises(ValueError, match="is not below"):
        maker(maker.page("fine.html"), maker.page(path))
    assert maker.there() == {}


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (("a.html", "a.html"), "two outputs are a.html"),
        (("a/b", "a"), "a is a file and a folder"),
        (("a", "a/b/c"), "a is a file and a folder"),
    ],
)
def test_two_outputs_in_one_place_are_refused(
    maker: Maker, paths: Sequence[str], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        maker(*(maker.page(path) for path in paths))
    assert maker.there() == {}


def test_a_folder_that_cannot_be_is_one_line_with_the_first_page(maker: Maker) -> None:
    maker.public.write_text("in the way")
    said = r"^public/index\.html: cannot be written \(public is no folder\)$"
    with pytest.raises(HostError, match=said):
        maker(maker.page("index.html"))


def test_what_was_made_before_it_failed_is_not_made_again(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    outputs = [maker.page(f"{number:03}.html") for number in range(100)]
    (maker.public / "080.html").mkdir(parents=True)
    with pytest.raises(HostError, match=r"^public/080\.html: cannot be written \(Is a directory"):
        maker(*outputs)
    (maker.public / "080.html").rmdir()
    assert 0 < len(maker(*outputs)) < 50
    assert len(maker.there()) == 100


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda _: None, "cannot be read (No such file"),
        (Path.mkdir, "Is a directory"),
        (os.mkfifo, "not a plain file"),
    ],
)
def test_a_style_sheet_that_is_no_plain_file_since_is_one_line(
    maker: Maker, harm: Callable[[Path], None], said: str
) -> None:
    put(maker.root / "static" / "style.css", "text")
    found = [*files.outputs(replace(a_site(), static=maker.root / "static"))][-1]
    (maker.root / "static" / "style.css").unlink()
    harm(maker.root / "static" / "style.css")
    maker(maker.page("a.html"), found)
    (line,) = maker.progress.lines
    assert line.startswith("warning: public/static/style.css is left out: static/style.css: ")
    assert said in line
    assert set(maker.there()) == {"a.html"}


def test_a_torn_page_of_equal_size_and_time_is_made_again(maker: Maker) -> None:
    outputs = (maker.page("a.html"), maker.page("b/c.html"))
    maker(*outputs)
    before = maker.there()
    for name in before:
        path = maker.public / name
        status = path.stat()
        path.write_bytes(bytes(status.st_size))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    maker(*outputs)
    assert maker.there() == before


def test_a_build_that_was_killed_leaves_nothing_for_long(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", die)
        with pytest.raises(Killed):
            maker(maker.page("boards/a.html"))
    (left,) = maker.public.rglob("*")
    assert left.parent == maker.public
    maker(maker.page("boards/a.html"))
    assert set(maker.there()) == {"boards/a.html"}


@pytest.mark.parametrize("cpus", [{0}, {0, 1, 2}])
def test_a_page_that_fails_is_one_line_and_the_others_are_made(
    maker: Maker, cpus: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise OverflowError("too large\nfor a\x1b[31m float")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)
    fine = [maker.page(f"boards/{number}.html") for number in range(10)]
    maker(*fine, maker.page("boards/bad/x.html"), maker.page("surrogate.html"))
    bad = [Page("boards/bad/x.html", "2", fail), Page("surrogate.html", "2", lambda: "\ud800")]
    for _ in range(2):
        maker.progress.lines.clear()
        maker(*fine, *bad)
        first, second = sorted(maker.progress.lines)
        assert first == (
            "warning: public/boards/bad/x.html is left out: OverflowError: too large for a"
            "\N{REPLACEMENT CHARACTER}[31m float"
        )
        assert second.startswith("warning: public/surrogate.html is left out: UnicodeEncodeError")
        assert set(maker.there()) == {each.path for each in fine}
    assert maker(*fine, maker.page("boards/bad/x.html", "2")) == ["boards/bad/x.html"]


def test_files_can_be_read_by_a_server(maker: Maker) -> None:
    maker(maker.page("a.html"))
    for path in files_in(maker.public).values():
        assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444


def test_many_files_are_said_and_made_by_several_processes(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "_MANY", 50)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    outputs = [maker.page(f"{number}.html") for number in range(50)]
    assert len(maker(*outputs)) == 50
    assert maker.there() == {f"{number}.html": f"{number}.html 1" for number in range(50)}
    assert maker.progress.lines == ["writing 50 files of the site"]
