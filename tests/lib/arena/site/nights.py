"""Boards with a night of blocks, made from classic ones: what the pages show of a night."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from arena.judge.leaderboard import Board, by_estimate
from arena.judge.twins import Twin, TwinHistory
from arena.judge.verdicts import BlockEstimate, BoardNight
from arena.site.edition import Edition

BLOCKS = 8


def an_estimate(value: float, **changes: Any) -> BlockEstimate:
    """Return an estimate with an interval of 4 % to each side, and blocks within it."""
    given: dict[str, Any] = {
        "value": value,
        "low": value * 0.96,
        "high": value * 1.04,
        "blocks": BLOCKS,
        "rates": tuple(value * (0.965 + 0.01 * at) for at in range(BLOCKS)),
        "records": (),
    }
    return BlockEstimate(**given | changes)


def a_night(**changes: Any) -> BoardNight:
    given: dict[str, Any] = {
        "night": "2026-02-03T22-00-00.000000Z",
        "planned": BLOCKS,
        "blocks": BLOCKS,
        "visits": 27,
        "voids": 2,
        "disturbed": 2,
        "frameworks": 3,
        "is_ranked": True,
        "detectable": 0.034,
        "twins": (a_twin(),),
    }
    return BoardNight(**given | changes)


def a_twin(**changes: Any) -> Twin:
    given: dict[str, Any] = {"is_tied": True, "ratio": 1.003, "low": 0.987, "high": 1.02}
    return Twin(**{"framework": "a"} | given | changes)


def a_history(**changes: Any) -> TwinHistory:
    return TwinHistory(**{"tied": 11, "of": 11, "low": 0.715, "high": 1.0} | changes)


def with_a_night(
    edition: Edition, rows: Mapping[str, Mapping[str, Any]], **changes: Any
) -> Edition:
    """Return an edition whose boards have a night: `rows` has what a framework's row gets of it."""

    def with_night(board: Board) -> Board:
        given = {"night": a_night(), "twin_history": a_history()} | changes
        made = (row.model_copy(update=dict(rows.get(row.framework, {}))) for row in board.rows)
        return board.model_copy(
            update={"rows": tuple(sorted(made, key=partial(by_estimate, board.metric))), **given}
        )

    boards = tuple(map(with_night, edition.leaderboard.boards))
    return replace(edition, leaderboard=edition.leaderboard.model_copy(update={"boards": boards}))
