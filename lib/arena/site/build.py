"""Building: every output of every edition, written below site/public/."""

import fcntl
import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import arena
from arena.base.errors import UsageError
from arena.base.model import to_json
from arena.base.progress import Progress
from arena.base.reading import tree_sha256
from arena.base.text import printable, shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.judge.archive import open_archive
from arena.judge.cache import Cache
from arena.judge.leaderboard import rank_entries
from arena.judge.proofs import Proofs
from arena.judge.rounds import read_rounds, require_records
from arena.judge.twin_list import list_twins
from arena.judge.twins import NO_LOOKS, load_name, read_book
from arena.site.edition import Edition, NavLink, Site
from arena.site.outputs import Page, write_changed
from arena.site.pages import boards, compare, files, frameworks, home, records, texts
from arena.what.framework import Advisories
from arena.what.releases import releases

# The kinds of pages that every edition has, and those that exist once.
OF_EDITION = (home, boards, compare, frameworks)
OF_SITE = (records, texts, files)

NAVIGATION = (
    NavLink("boards", "index.html#boards", "Boards", of_edition=True),
    NavLink("frameworks", "frameworks/index.html", "Frameworks", of_edition=True),
    NavLink("compare", "compare/index.html", "Compare", of_edition=True),
    NavLink("rounds", "rounds/index.html", "Rounds"),
    NavLink("methodology", "methodology/index.html", "Methodology"),
    NavLink("glossary", "glossary/index.html", "Glossary"),
)

# Every file below these folders belongs to the site; older ones had a page of the tax.
FOLDERS = (
    "boards", "compare", "epochs", "frameworks", "glossary", "methodology", "profiles", "records",
    "rounds", "rules", "schema", "static", "tax",
)  # fmt: skip

# What pages are made from, besides this code.
_LIBRARIES = ("jinja2", "markdown-it-py", "markupsafe", "pydantic")

Said = TypeVar("Said")


def outputs(site: Site) -> Iterator[Page]:
    """Yield every output of the site."""
    for edition in site.editions:
        for kind in OF_EDITION:
            yield from kind.outputs(site, edition)
    for kind in OF_SITE:
        yield from kind.outputs(site)


def build(workspace: Workspace, progress: Progress) -> Path:
    """Build the site of all records; return its first page.

    Only what has changed since the last build is written. A record, a round or a page that is
    broken is reported and left out. A second build waits for the first.
    """
    folder = workspace.site / ".build"
    with _alone(folder, progress), _without_collector():
        kept = Cache(workspace.cache)
        site = _site(workspace, kept, progress)
        write_atomic(workspace.results / "leaderboard.json", to_json(site.current.leaderboard))
        write_changed(outputs(site), workspace.public, FOLDERS, _code(site), kept, progress)
    return workspace.public / site.current.home()


@contextmanager
def _alone(folder: Path, progress: Progress) -> Iterator[None]:
    """Let one build at a time into the block; any number if the system has no file locks."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("w")
    except OSError:
        yield
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say("waiting: another build of the site is running")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # The file system has no locks.
        yield


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable garbage collection in the block: a hundred thousand entries all stay in use."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _site(workspace: Workspace, kept: Cache, progress: Progress) -> Site:
    """Return the current edition, which is of all records that are in no round, and the rounds.

    The history of twins is that of all records here.
    """
    archive = open_archive(workspace.results, kept, progress)
    for name, problem in archive.left_out.items():
        where = shown(workspace.results / name)
        progress.say(printable(f"warning: {where} is left out: {problem}"))
    frozen: list[Edition] = []
    for file, found in read_rounds(workspace.rounds):
        try:
            if isinstance(found, ValueError):
                raise found
            own = require_records(found, archive)
        except ValueError as error:
            progress.say(printable(f"warning: {shown(file)} is left out: {error}"))
        else:
            frozen.append(Edition.of_round(found, own))
    frozen.sort(key=lambda each: each.round.frozen_at if each.round else "", reverse=True)
    left = archive.without(
        {it for each in frozen if each.round for it in each.round.records.values()}
    )
    of, folder = "what was reviewed of twins is", workspace.frameworks
    book = _said(read_book, workspace.host, NO_LOOKS, of, progress)
    twins = {load_name(each.load.key): each.history for each in list_twins(archive, book)}
    book = replace(book, known=twins)  # A night that was frozen counts for the next one.
    ranked = rank_entries(left.entries.values(), left.read, book, left.broken)
    return Site(
        editions=(Edition("", None, ranked, left), *frozen),
        templates=workspace.site / "templates",
        static=workspace.site / "static",
        docs=workspace.root / "docs",
        frameworks=folder,
        proofs=_said(Proofs.read, folder, Proofs(), "the proofs are", progress),
        advisories=_said(Advisories.read, folder, Advisories(), "the advisories are", progress),
        releases=_said(releases, folder, {}, "the releases are", progress),
        navigation=NAVIGATION,
    )


def _said(read: Callable[[Path], Said], folder: Path, none: Said, what: str, to: Progress) -> Said:
    """Return what a file of a folder says; nothing if it is broken, which is reported."""
    try:
        return read(folder)
    except UsageError as error:
        to.say(f"warning: {what} left out: {error}")
        return none


def _code(site: Site) -> str:
    """Return a digest of what every page depends on.

    That is this code, the templates, the libraries, and the editions that links lead to.
    """
    trees = []
    for folder in (Path(arena.__file__).parents[1], site.templates):
        found = (path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file())
        trees.append(tree_sha256(folder, sorted(found)))
    to = f"{site.front.root} {site.measured is not None}"
    words = " ".join([*trees, to, sys.version, *map(version, _LIBRARIES)])
    return hashlib.sha256(words.encode()).hexdigest()
