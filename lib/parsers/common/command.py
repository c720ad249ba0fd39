"""Reading a saved output, and being a command that prints what is in it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from parsers.common.values import ParseError

Report = TypeVar("Report")


@contextmanager
def opened(path: str | Path) -> Iterator[BufferedReader]:
    """Open a file; `-` is stdin. What goes wrong until it is closed is a ParseError naming it."""
    where = "stdin" if str(path) == "-" else str(path)
    try:
        with nullcontext(sys.stdin.buffer) if where == "stdin" else Path(path).open("rb") as file:
            yield file  # type: ignore[misc]  # stdin's type is wider than what it is
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None
    except OSError as error:
        raise ParseError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:  # A path with a null byte.
        raise ParseError(f"{where!r}: {error}") from None


def parse_saved(
    path: str | Path, most_bytes: int, kind: str, parse: Callable[[str], Report]
) -> Report:
    """Parse a file's text; `-` is stdin. ParseError names the file."""
    with opened(path) as file:
        raw = file.read(most_bytes + 1)
        if len(raw) > most_bytes:
            raise ParseError(f"larger than {most_bytes} bytes: no {kind} report is that large")
        return parse(text_of(raw))


def text_of(raw: bytes) -> str:
    """Decode an output: an error message in it is the server's bytes, which need not be UTF-8."""
    return raw.decode("utf-8", errors="replace")


def command_line(description: str, file_help: str) -> argparse.ArgumentParser:
    """Return the command line of a reader: the argument `file`, and --help."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog="exit status: 0 done, 2 wrong usage, or the file is not such a report",
    )
    parser.add_argument("file", metavar="FILE", help=f"{file_help}; - reads stdin")
    return parser


def print_json(name: str, make: Callable[[], Mapping[str, object]]) -> int:
    """Print what is made, for a command of that name; return its exit status.

    That is 0, 2 (a ValueError: bad input), 1 (stdout was closed) or 130 (interrupted).
    """
    try:
        print(json.dumps(make(), indent=2), flush=True)
    except BrokenPipeError:
        # Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
