"""Read ghz's output, or volley's: `python3 lib/parse_ghz.py FILE --messages-per-call 5000`.

Reads what `ghz -O json`, `-O pretty` and the default text summary print (seen: v0.93.0 and
v0.121.0) and detects the form. A text summary may be a copy that lost its layout: see
`parsers/ghz/text_report.py`. It has no samples, no clock and two decimals: prefer JSON wherever
there is a choice. In volley's JSON the messages are counted, so the rate is theirs and has no
error bar.

Raises ParseError, a ValueError of one line, for anything that is not a complete ghz report.
Standard library only. The readers are in the package `parsers.ghz`; `parsers/ghz/calls.py` explains
which calls count as cut.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from parsers.common.command import command_line, parse_saved, print_json
from parsers.common.values import ParseError
from parsers.ghz.json_report import parse_json
from parsers.ghz.report import GhzReport
from parsers.ghz.text_report import START, parse_summary

__all__ = ["GhzReport", "ParseError", "as_dict", "main", "parse", "parse_file"]

SCHEMA = 2
MAX_BYTES = 512 * 2**20
"""A million details with their errors stay well below this."""


def parse(text: str) -> GhzReport:
    """Read one ghz report, JSON or text summary. Raises ParseError."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip()
    if not start:
        raise ParseError("empty input: ghz printed no report, its reason is on its stderr")
    # A log's line may begin with a bracket; a report of ghz does not.
    if start[0] == "{" or (start[0] == "[" and START not in text):
        return parse_json(start)
    if START in text or start.startswith("volley "):
        return parse_summary(text)
    raise ParseError(
        "neither a ghz JSON report nor a ghz text summary: "
        "run ghz or volley with `-O json` or no -O"
    )


def parse_file(path: str | Path) -> GhzReport:
    """Read a saved report; `-` is stdin. Raises ParseError, also for an unreadable file."""
    return parse_saved(path, MAX_BYTES, "ghz", parse)


def as_dict(report: GhzReport, messages_per_call: int) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data."""
    rate = report.rate(messages_per_call)
    counted = {} if report.messages is None else {"messages_counted": report.messages}
    return {
        "schema": SCHEMA,
        "form": report.form,
        "name": report.name,
        "elapsed_s": report.elapsed_s,
        "count": report.count,
        "calls": asdict(report.calls),
        "calls_per_s": rate.calls_per_s,
        "messages_per_call": rate.messages_per_call,
        **counted,
        "messages_per_s": rate.messages_per_s,
        "at_least": rate.at_least,
        "at_most": rate.at_most,
        "reported_calls_per_s": report.reported_calls_per_s,
        "latency_ns": asdict(report.latency),
    }


def _messages_per_call(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = command_line(
        "Print the numbers of a saved report of ghz or volley as JSON.",
        "what ghz or volley printed, JSON or text",
    )
    parser.add_argument(
        "--messages-per-call",
        metavar="N",
        type=_messages_per_call,
        default=1,
        help="messages that each OK call stands for, unless the report counts them (default: 1)",
    )
    arguments = parser.parse_args(argv)
    return print_json(
        "parse_ghz", lambda: as_dict(parse_file(arguments.file), arguments.messages_per_call)
    )


if __name__ == "__main__":
    sys.exit(main())
