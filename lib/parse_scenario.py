"""Read volley's report of scenarios: `python3 lib/parse_scenario.py FILE`.

Reads what `volley run FILE -O json` prints. The rate is that of requests which succeeded, by the
seconds from the load's beginning to the end of the last iteration. Setup and teardown do not count.

Raises ParseError, a ValueError of one line, for anything that is not a complete report.
Standard library only. The reader is `parsers/scenario.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from parsers.common.command import command_line, parse_saved, print_json
from parsers.common.values import ParseError
from parsers.scenario import ScenarioReport, StepCounts, parse_run

__all__ = ["ParseError", "ScenarioReport", "StepCounts", "as_dict", "main", "parse", "parse_file"]

SCHEMA = 1
MAX_BYTES = 128 * 2**20
"""Reports of a thousand steps stay well below this."""


def parse(text: str) -> ScenarioReport:
    """Read one report. Raises ParseError."""
    if not text.strip():
        raise ParseError("empty input: volley printed no report, its reason is on its stderr")
    return parse_run(text)


def parse_file(path: str | Path) -> ScenarioReport:
    """Read a saved report; `-` is stdin. Raises ParseError, also for an unreadable file."""
    return parse_saved(path, MAX_BYTES, "volley", parse)


def as_dict(report: ScenarioReport) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data."""
    return {
        "schema": SCHEMA,
        "elapsed_s": report.elapsed_s,
        "iterations": asdict(report.iterations),
        "calls": asdict(report.calls),
        "requests_per_s": report.requests_per_s,
        "reported_calls_per_s": report.reported_calls_per_s,
        "latency_ns": asdict(report.latency),
        "steps": [
            {
                "name": step.name,
                "count": step.count,
                "ok": step.calls.ok,
                "failed": step.calls.failed,
                "latency_ns": asdict(step.latency),
            }
            for step in report.steps
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = command_line(
        "Print the numbers of a saved report of scenarios as JSON.",
        "what `volley run -O json` printed",
    )
    arguments = parser.parse_args(argv)
    return print_json("parse_scenario", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
