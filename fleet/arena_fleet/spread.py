"""Spreading work over racks: each takes the next piece as soon as it is free."""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from arena_fleet.rack import Asked, Ended, LostRackError, Rack

_LOOK_S = 0.1


class Work(Protocol):
    """A piece of work: the session that makes it."""

    @property
    def asked(self) -> Asked:
        """The session."""


Piece = TypeVar("Piece", bound=Work)


def spread(
    racks: list[Rack],
    take: Callable[[Rack], Piece | None],
    ended: Callable[[Rack, Piece, Ended | LostRackError], bool],
) -> None:
    """Give racks work until `take` has none for any of them, and all have ended theirs.

    `ended` is called with what came of a piece, and returns whether its rack may go on; one that
    may not, or is lost, is removed from `racks`. An interrupt ends the work on all racks.
    """
    free, busy = list(racks), dict[str, tuple[Rack, Piece]]()
    try:
        while True:
            for rack in list(free):
                if (piece := take(rack)) is not None:
                    free.remove(rack)
                    busy[rack.name] = rack, piece
                    rack.begin(piece.asked)
            if not busy:
                return
            for rack, piece in list(busy.values()):
                if (end := _look(rack)) is None:
                    continue
                del busy[rack.name]
                if ended(rack, piece, end) and not isinstance(end, LostRackError):
                    free.append(rack)
                else:
                    racks.remove(rack)
            time.sleep(_LOOK_S)
    finally:
        for rack, _ in busy.values():
            rack.stop()
        for rack, _ in busy.values():
            rack.await_stop()


def _look(rack: Rack) -> Ended | LostRackError | None:
    try:
        return rack.poll()
    except LostRackError as error:
        return error
