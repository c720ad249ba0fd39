"""Pictures of boards, records and generators, with what to say of them.

Everything here is made of records and of what the leaderboard says of them. A `Picture` is numbers
and words; its `svg` is made by draw.py, the only module that knows a drawing library.
"""

from collections.abc import Sequence

from arena.judge.leaderboard import Board
from arena.publish.charts.blast import FULL, blast_pictures
from arena.publish.charts.course import course_picture
from arena.publish.charts.latency import latency_picture
from arena.publish.charts.picture import MOST, Picture, Table
from arena.publish.charts.scheduled import scheduled_pictures
from arena.publish.charts.sustained import sustained_pictures
from arena.what.profile import Kind

__all__ = [
    "CAPTIONS",
    "MOST",
    "Picture",
    "Table",
    "course_picture",
    "latency_picture",
    "pictures_of",
]

# What all pictures of a board show.
CAPTIONS: dict[Kind, str] = {
    "scheduled": "Calls that were due against calls that were sent, and the latency of those that "
    "succeeded, second by second. The latencies have the same scale in all pictures.",
    "blast": "○ Throughput stops growing: the server is full, or the generator where a row is "
    f"client-bound. This is the smallest N whose median is at least {FULL * 100:.0f} % of the "
    "highest. ✕ The first failure. Each picture has its own scale.",
    "closed": "Throughput, second by second. Each picture has its own scale.",
}


def pictures_of(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return the pictures of a board's first rows, one each; `boards` are all there are."""
    if board.kind == "scheduled":
        return scheduled_pictures(board)
    if board.kind == "blast":
        return blast_pictures(board, boards)
    return sustained_pictures(board)
