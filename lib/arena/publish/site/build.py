"""Building: every output of every edition, written below site/public/."""

import fcntl
import gc
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import arena
from arena.base.errors import UsageError
from arena.base.hashing import tree_sha256
from arena.base.model import to_json
from arena.base.progress import Progress
from arena.base.text import printable, shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.judge.archive import Archive, open_archive
from arena.judge.cache import Cache
from arena.judge.frozen_rounds import Round, read_rounds, round_folders
from arena.judge.leaderboard import rank_entries
from arena.judge.proofs import Proofs
from arena.judge.twins import NO_LOOKS, TwinBook, read_book
from arena.publish.site.edition import Edition, Link, Site
from arena.publish.site.links import INDEX
from arena.publish.site.outputs import Output, write_changed
from arena.publish.site.pages import (
    boards,
    compare,
    feed,
    files,
    frameworks,
    home,
    records,
    rounds,
    tax,
    texts,
)
from arena.what.advisories import Advisories

# The kinds of pages that every edition has, and those that exist once.
OF_EDITION = (home, boards, compare, frameworks, records, tax)
OF_SITE = (rounds, texts, feed, files)

NAVIGATION = (
    Link("boards", "index.html#boards", "Boards", of_edition=True),
    Link("frameworks", "frameworks/index.html", "Frameworks", of_edition=True),
    Link("compare", "compare/index.html", "Compare", of_edition=True),
    Link("tax", "tax/index.html", "Generator tax", of_edition=True),
    Link("rounds", "rounds/index.html", "Rounds"),
    Link("methodology", "methodology/index.html", "Methodology"),
    Link("glossary", "glossary/index.html", "Glossary"),
)

# Every file below these folders belongs to the site.
FOLDERS = (
    "boards", "compare", "frameworks", "glossary", "methodology", "profiles", "records", "rounds",
    "rules", "schema", "static", "tax",
)  # fmt: skip

# What pages are made from, besides this code.
_LIBRARIES = ("jinja2", "markdown-it-py", "markupsafe", "pydantic")

Said = TypeVar("Said", Proofs, Advisories)


def outputs(site: Site) -> Iterator[Output]:
    """Yield every output of the site."""
    for edition in site.editions:
        for kind in OF_EDITION:
            yield from kind.outputs(site, edition)
    for kind in OF_SITE:
        yield from kind.outputs(site)


def build(workspace: Workspace, progress: Progress, *, old_rounds: bool = True) -> Path:
    """Build the site of all records; return its first page.

    Without `old_rounds`, a round has pages only if it has some already. Only what has changed since
    the last build is written. A record, a round or a page that is broken is reported and left out.
    A second build waits for the first.
    """
    folder = workspace.site / ".build"
    with _alone(folder, progress), _without_collector():
        kept = Cache(workspace.cache)
        site = _site(workspace, kept, progress, old_rounds=old_rounds)
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


def rounds_left_out(workspace: Workspace) -> list[Path]:
    """Return the folders of the rounds that have no pages."""
    rounds = round_folders(workspace.rounds)
    return [it for it in rounds if not (workspace.public / "rounds" / it.name / INDEX).is_file()]


def _site(workspace: Workspace, kept: Cache, progress: Progress, *, old_rounds: bool) -> Site:
    """Return the current edition and the rounds."""
    book = _book(workspace, progress)
    current = _edition("", workspace.results, None, book, kept, progress)
    frozen: list[tuple[str, Edition]] = []
    left_out = () if old_rounds else rounds_left_out(workspace)
    for folder, found in read_rounds(workspace.rounds, left_out):
        if isinstance(found, Round):
            root = f"rounds/{found.name}/"
            edition = _edition(root, folder, found, found.twin_book, kept, progress)
            frozen.append((found.frozen_at, edition))
        else:
            progress.say(printable(f"warning: {shown(folder)} is left out: {found}"))
    frozen.sort(key=lambda each: each[0], reverse=True)
    return Site(
        editions=(current, *(edition for _, edition in frozen)),
        templates=workspace.site / "templates",
        static=workspace.site / "static",
        docs=workspace.root / "docs",
        frameworks=workspace.frameworks,
        proofs=_said(Proofs, "proofs", workspace, progress),
        advisories=_said(Advisories, "advisories", workspace, progress),
        rounds_left_out=len(left_out),
        navigation=NAVIGATION,
    )


def _book(workspace: Workspace, progress: Progress) -> TwinBook:
    """Return what was reviewed of twins; nothing if its file is broken, which is reported."""
    try:
        return read_book(workspace.host)
    except UsageError as error:
        progress.say(f"warning: what was reviewed of twins is left out: {error}")
        return NO_LOOKS


def _said(kind: type[Said], what: str, workspace: Workspace, progress: Progress) -> Said:
    """Return what a file says of the frameworks; nothing if it is broken, which is reported."""
    try:
        return kind.read(workspace.frameworks)
    except UsageError as error:
        progress.say(f"warning: the {what} are left out: {error}")
        return kind()


def _edition(
    root: str, folder: Path, of: Round | None, book: TwinBook, kept: Cache, progress: Progress
) -> Edition:
    archive: Archive = open_archive(folder, kept, progress, is_frozen=of is not None)
    for name, problem in archive.broken.items():
        progress.say(printable(f"warning: {shown(folder / name)} is left out: {problem}"))
    leaderboard = rank_entries(archive.entries.values(), archive.read, book, archive.broken)
    return Edition(root, folder, of, leaderboard, archive.entries, archive.read)


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
