"""Every board of every round is as published: addresses, order, ranks, and figures to the digit.

A kept board that an earlier round has, too, names that round. Those are the boards as they were
frozen; `older` has the sums of all by older rules, and `figures` the ranks by the newest.
"""

from typing import Any

import pytest

from tests.golden import kept, published

ROUNDS = published.names()


def _kept(name: str) -> dict[str, Any]:
    """Return the kept boards of a round, by address."""
    return {
        address: _kept(board["as_in"])[address] if "as_in" in board else board
        for address, board in kept.read(f"boards/{name}.json").items()
    }


def _keep(name: str, boards: dict[str, Any]) -> None:
    earlier = {each: _kept(each) for each in ROUNDS[: ROUNDS.index(name)]}
    short = {
        address: next(
            ({"as_in": each} for each, own in earlier.items() if own.get(address) == board), board
        )
        for address, board in boards.items()
    }
    kept.write(f"boards/{name}.json", short, lines=4)


@pytest.mark.parametrize("name", ROUNDS)
def test_every_board_of_a_round_is_as_published(name: str) -> None:
    boards = published.boards(name)
    if kept.WRITE:
        _keep(name, boards)
    known = _kept(name)
    assert [*known] == [*boards], "the addresses of boards, or their order, are not as published"
    kept.require_equal(name, known, boards)


@pytest.mark.parametrize("name", ROUNDS)
def test_the_newest_boards_of_a_round_are_those_of_its_records(name: str) -> None:
    pair = published.ranked_again(name)
    assert pair, f"it has no boards by today's rules: ./scripts/arena.sh round derive {name}"
    assert pair[0] == pair[1]


def test_boards_by_older_rules_stay_as_they_were_judged() -> None:
    found = {name: published.older_sums(name) for name in ROUNDS}
    wrong = [name for name, sums in found.items() if not all(sums.values())]
    assert wrong == [], "boards have another sum than the one that was saved"
    kept.require("older.json", found)


def test_every_figure_of_every_board_is_ranked_as_is_kept() -> None:
    kept.require("figures.json.xz", {name: published.figures(name) for name in ROUNDS})


def test_every_kept_round_is_there() -> None:
    assert {path.stem for path in (kept.FOLDER / "boards").glob("*.json")} == {*ROUNDS}
