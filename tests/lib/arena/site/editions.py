"""Builders of editions and sites of records at hand, and their pages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from arena.base.model import to_json
from arena.judge.archive import Archive, open_archive
from arena.judge.entry import entry_of
from arena.judge.host_class import host_class_of
from arena.judge.leaderboard import rank_entries
from arena.judge.proofs import Proofs
from arena.judge.rounds import DerivedBoards, Round
from arena.record.bundle import name_of
from arena.record.record import Record
from arena.site.build import NAVIGATION, OF_EDITION, outputs
from arena.site.edition import INDEX, Edition, Site
from arena.site.outputs import Page
from tests.fakes import a_record

ROOT = Path(__file__).resolve().parents[4]
# The class of the hosts of all records of tests: it is in the addresses of current boards.
HOST = host_class_of(a_record()).id
NOWHERE = Path("/nonexistent")
HOSTILE = "<script>alert('1')</script>\"&{{ 7*7 }}"


@dataclass(frozen=True)
class Given(Archive):
    """An archive of the records that it was given, whose files need not be there."""

    given: Mapping[str, Record] = field(kw_only=True)

    def read(self, path: str) -> Record:
        return self.given[path]

    def text(self, path: str) -> str:
        return to_json(self.given[path])


def given(*records: Record, folder: Path = NOWHERE) -> Given:
    """Return an archive of these records; what lies beside them is in `folder`."""
    of = {each.path: each for each in records}
    entries = {path: entry_of(each, name_of(to_json(each).encode())) for path, each in of.items()}
    return Given(folder, entries, {}, {}, [], open_archive(folder)._records, given=of)


def an_edition(*records: Record, of: Round | None = None, folder: Path = NOWHERE) -> Edition:
    """Return what is current, or a round, of these records; their logs are in `folder`."""
    archive = given(*records, folder=folder)
    leaderboard = rank_entries(archive.entries.values(), archive.read)
    if of:
        names = {path: each.sha256 for path, each in archive.entries.items()}
        judged = (DerivedBoards(derived_at=of.frozen_at, leaderboard=leaderboard),)
        of = of.model_copy(update={"records": names, "judged": judged})
    return Edition(f"rounds/{of.name}/" if of else "", of, leaderboard, archive)


def a_round(name: str = "first", note: str = "") -> Round:
    time = "2026-02-03T04-05-06.000000Z"
    return Round(name=name, frozen_at=time, note=note, records={}, bundles={})


def a_site(*records: Record, rounds: Sequence[Edition] = (), docs: Path = ROOT / "docs") -> Site:
    return site_of(an_edition(*records), *rounds, docs=docs)


def site_of(
    *editions: Edition,
    docs: Path = ROOT / "docs",
    frameworks: Path = Path("/nonexistent"),
    proofs: Proofs = Proofs(),  # noqa: B008 - it is frozen
) -> Site:
    """Return the site of these editions, the current one first, with the real templates."""
    templates, static = ROOT / "site" / "templates", ROOT / "site" / "static"
    return Site(editions, templates, static, docs, frameworks, proofs, NAVIGATION)


def page(site: Site, path: str) -> str:
    """Return one page of a site, made."""
    (found,) = (each for each in outputs(site) if each.path == path)
    assert isinstance(found, Page)
    return found.make()


def pages_of(site: Site, kind: ModuleType, edition: Edition | None = None) -> dict[str, str]:
    """Return the pages of one kind, that of the current edition if none is given, by path."""
    return {each.path: each.make() for each in _pages(site, kind, edition)}


def keys_of(site: Site, kind: ModuleType, edition: Edition | None = None) -> dict[str, str]:
    """Return what the pages of one kind depend on, by path."""
    return {each.path: each.key for each in _pages(site, kind, edition)}


def _pages(site: Site, kind: ModuleType, edition: Edition | None) -> list[Page]:
    found = (
        kind.outputs(site, edition or site.current) if kind in OF_EDITION else kind.outputs(site)
    )
    return [each for each in found if isinstance(each, Page) and each.path.endswith(INDEX)]


def rows_of(html: str, begin: str = "<tr") -> list[str]:
    """Return the words of each row that begins so."""
    return [text_of(row) for row in re.findall(f"{begin}.*?</tr>", html, re.DOTALL)]


def put(path: Path, text: str) -> None:
    """Write a file, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files_in(folder: Path) -> dict[str, Path]:
    """Return every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }


def text_of(html: str) -> str:
    """Return a page's words as they are read: no tags, and one space between them."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())
