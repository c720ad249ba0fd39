"""A cache of derived data in one file. Without it, results are the same, only slower.

Nothing here raises. A broken file is deleted. A file that is locked or not writable is not used.
Values are not saved if a name is not UTF-8.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

# The maximum wait for another process that holds the file.
_PATIENCE_S = 10.0

_TABLES = """
    CREATE TABLE IF NOT EXISTS versions (space TEXT PRIMARY KEY, version TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS kept (
        space TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (space, name)
    ) WITHOUT ROWID;
"""


class Cache:
    """Texts by name, in spaces. A space has one version; for any other it is empty."""

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
        """Add values to a space and remove others, in one transaction."""
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
        """Delete a broken file; keep one that is only unavailable now."""
        if not isinstance(error, sqlite3.OperationalError | UnicodeError):
            with suppress(OSError):
                self._path.unlink()
