"""The output of the gate: a table for people, JSON for programs."""

import json
from dataclasses import asdict

from arena.base.text import columns
from tools.bench_instructions.judging import COMMITTED, TOLERANCE, Measured, Outcome, Verdict

_HEADINGS = ("", "instructions", "committed", "ratio", "spread", "")
_AGAINST = ("the other", "ratio")
_FIGURES = (1, 2, 3, 4, 6, 7)  # The columns that hold numbers.


def to_json(outcome: Outcome) -> str:
    """Return one JSON object: the conditions of both sides, and each figure."""
    figures = [
        {
            **asdict(each),
            "instructions": each.instructions,
            "committed": outcome.committed.instructions[each.name],
            "ratio": outcome.ratio(each),
            "verdict": outcome.verdict(each),
        }
        for each in outcome.measured
    ]
    return json.dumps(
        {
            "conditions": asdict(outcome.conditions),
            "committed_conditions": asdict(outcome.committed.conditions),
            "figures": figures,
        },
        indent=2,
    )


def to_text(outcome: Outcome) -> str:
    """Return the figures as a table, and a line for each thing to do or to know."""
    is_beside = any(each.against for each in outcome.measured)
    table = [
        _HEADINGS + _AGAINST * is_beside,
        *(_cells(outcome, each) for each in outcome.measured),
    ]
    conditions = ", ".join(f"{name} {value}" for name, value in asdict(outcome.conditions).items())
    rounds = len(outcome.measured[0].rounds)
    lines = [f"medians of {rounds} rounds; {conditions}", "", *columns(table, _FIGURES)]
    if why := outcome.differences:
        lines += ["", f"not judged: the committed figures have other conditions ({why})"]
    if lower := outcome.names(Verdict.BELOW):
        lines += ["", f"commit the lower figures with --write: {lower}"]
    return "\n".join(lines)


def failure(outcome: Outcome) -> str:
    """Return what is wrong and what to do, in one line; empty if nothing is."""
    above = outcome.names(Verdict.ABOVE)
    return above and (
        f"{COMMITTED}: figures of today are more than {100 * TOLERANCE:g} % above: {above}; make "
        "volley cheaper, or say why it may cost more and write the file with --write"
    )


def _cells(outcome: Outcome, figure: Measured) -> tuple[str, ...]:
    cells = (
        figure.name,
        _number(figure.instructions),
        _number(outcome.committed.instructions[figure.name]),
        f"{outcome.ratio(figure):.3f}",
        f"{100 * figure.spread:.2f} %",
        outcome.verdict(figure),
    )
    if not figure.against:
        return cells
    other = figure.against_instructions
    return (*cells, _number(other), f"{figure.instructions / other:.3f}")


def _number(instructions: float) -> str:
    """Return a figure with as many digits as it is committed with."""
    return f"{float(f'{instructions:.5g}'):,}"
