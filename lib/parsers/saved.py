"""What the readers of saved outputs share: taking one in, and being a command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def shown(path: str | Path) -> str:
    """Return what a message calls the file; `-` is stdin."""
    return "stdin" if str(path) == "-" else str(path)


def read(path: str | Path, most_bytes: int, kind: str) -> str:
    """Return a file's text; `-` is stdin. ValueError, one line, if it is no report of that kind."""
    where = shown(path)
    try:
        if where == "stdin":
            raw = sys.stdin.buffer.read(most_bytes + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(most_bytes + 1)
    except OSError as error:
        raise ValueError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{where!r}: {error}") from None
    if len(raw) > most_bytes:
        raise ValueError(f"{where}: larger than {most_bytes} bytes, no {kind} report is")
    # An error message is the server's bytes, which need not be UTF-8.
    return raw.decode("utf-8", errors="replace")


def print_json(name: str, make: Callable[[], Mapping[str, object]]) -> int:
    """Print what is made, for a command of that name; return its exit status.

    That is 0, 2 (a ValueError: bad input), 1 (nobody reads on) or 130 (interrupted).
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
