"""Reports of h2load for tests: the captured ones, and what is made of them."""

import json
from pathlib import Path
from typing import Any

from parsers.h2load import Counts
from tests.lib.parsers.changes import put

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "h2load"
TEXT = (FIXTURES / "h2load-152-mixed.txt").read_text()
NEW_TEXT = (FIXTURES / "h2load-170-mixed.txt").read_text()
JSON = (FIXTURES / "h2load-170-mixed.json").read_text()


def changed(*path: str, to: Any) -> str:
    """Return the JSON report with one value changed, or left out if it is changed to None."""
    report = json.loads(JSON)
    put(report, path, to)
    return json.dumps(report, separators=(",", ":"))


def counts(**changes: int) -> Counts:
    """Return counts of nothing, with changes."""
    return Counts(**{**dict.fromkeys(Counts.__dataclass_fields__, 0), **changes})
