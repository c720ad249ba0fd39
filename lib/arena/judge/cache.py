"""A cache: what can be made again, kept in one file. Without it all is as right, only slower.

Nothing here raises: a file that is broken is thrown away, and one that is locked, or stands where
nothing can be written, is done without. So is what cannot be kept: a name that is not UTF-8.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

# As long as this another process may hold the file.
_PATIENCE_S = 10.0

_TABLES = """
    CREATE TABLE IF NOT EXISTS versions (space TEXT PRIMARY KEY, version TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS kept (
        space TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (space, name)
    ) WITHOUT ROWID;
"""


class Cache:
    """Texts by name, in spaces. A space is of one version: for another one it is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, space: str, version: str) -> Iterator[tuple[str, str]]:
        """Yield the names and values of a space; perhaps not all, if the file is broken."""
        try:
            with closing(self._open()) as file:
                known = file.execute("SELECT version FROM versions WHERE space = ?", (space,))
                if known.fetchone() == (version,):
                    yield from file.execute(
                        "SELECT name, value FROM kept WHERE space = ?", (space,)
                    )
        except (sqlite3.Error, UnicodeError) as error:
            self._give_up(error)

    def save(
        self, space: str, version: str, changed: Mapping[str, str], gone: Iterable[str] = ()
    ) -> None:
        """Put values into a space, and take others away, in one step."""
        try:
            with closing(self._open()) as file, file:
                known = file.execute("SELECT version FROM versions WHERE space = ?", (space,))
                if known.fetchone() != (version,):
                    file.execute("DELETE FROM kept WHERE space = ?", (space,))
                    file.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", (space, version))
                file.executemany(
                    "DELETE FROM kept WHERE space = ? AND name = ?",
                    ((space, name) for name in gone),
                )
                file.executemany(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)",
                    ((space, name, value) for name, value in changed.items()),
                )
        except (sqlite3.Error, UnicodeError) as error:
            self._give_up(error)

    def _open(self) -> sqlite3.Connection:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        file = sqlite3.connect(self._path, timeout=_PATIENCE_S)
        try:
            file.executescript(_TABLES)
        except sqlite3.Error:
            file.close()
            raise
        return file

    def _give_up(self, error: Exception) -> None:
        """Throw a broken file away; one that only cannot be had now stays."""
        if not isinstance(error, sqlite3.OperationalError | UnicodeError):
            with suppress(OSError):
                self._path.unlink()
