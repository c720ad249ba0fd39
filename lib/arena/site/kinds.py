"""How the pages present each kind of load: one entry per kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from arena.judge.leaderboard import Board
from arena.record.measurement import Run
from arena.record.record import Record
from arena.site.charts import blast, capacity, seconds
from arena.site.charts.picture import Picture
from arena.what.loads import (
    Blast,
    Capacity,
    Closed,
    Cold,
    Live,
    LoadShape,
    Paced,
    Scenario,
    Scheduled,
    Share,
)


@dataclass(frozen=True)
class Shown:
    """A kind of load on the pages.

    `heading` and `meaning` are above its boards on the first page; `course` and `caption` are above
    the pictures of a board, `run_title` above that of one run. `about_runs` is below a record's
    table of runs. `beside` selects, from all boards, the others whose figures the pictures of a
    board show.
    """

    heading: str
    meaning: str
    course: str
    caption: str
    run_title: str
    of_board: Callable[[Board, Sequence[Board]], list[Picture]]
    of_run: Callable[[str, Record, Run], Picture | None]
    beside: Callable[[Board, Sequence[Board]], Sequence[Board]] = lambda _, __: ()
    about_runs: str = ""


_SCHEDULED = Shown(
    heading="Load schedules",
    meaning="Each call is sent when it is due, however many are still open. "
    "The lowest p99 latency ranks first.",
    course="Second by second",
    caption="Calls due and calls sent, and the latency of calls that succeeded, second by "
    "second. All pictures share one latency scale.",
    run_title="Second by second",
    of_board=seconds.of_board,
    of_run=seconds.of_run,
)

# In the order on the first page.
SHOWN: dict[type[LoadShape], Shown] = {
    Closed: Shown(
        heading="Throughput",
        meaning="A fixed number of calls is open at any time: when one ends, the next begins. "
        "The highest throughput ranks first.",
        course="Second by second",
        caption="Throughput, second by second. Each picture has its own scale.",
        run_title="Second by second",
        of_board=seconds.of_board,
        of_run=seconds.of_run,
    ),
    Scheduled: _SCHEDULED,
    Paced: replace(
        _SCHEDULED,
        heading="Fixed rates",
        meaning="Calls are due at even distances, however many are still open: what a call costs "
        "at a load that services have. The lowest CPU time of the server a call ranks first.",
    ),
    Share: replace(
        _SCHEDULED,
        heading="A share of what each can",
        meaning="Calls are due at even distances, at a share of the calls a second that the "
        "framework makes in a closed load, so that each has a rate of its own. The lowest p99 "
        "latency ranks first. What a call costs at these rates cannot be compared.",
    ),
    Capacity: Shown(
        heading="Capacity",
        meaning="The highest rate at which 99 % of the calls keep a limit on their response time, "
        "and few fail. The highest rate ranks first.",
        course="p99 against the rate",
        caption="The median p99 of the windows at each rate. ✕ The generator was late.",
        run_title="p99 against the rate",
        of_board=capacity.of_board,
        of_run=capacity.of_run,
        about_runs="The rate is the one that was found; calls are those that were due in all "
        "windows, and costs those of the whole search.",
    ),
    Cold: replace(
        _SCHEDULED,
        heading="Cold starts",
        meaning="A server is started, and calls are due at even distances from its first good "
        "reply on. The lowest time from the start to that reply ranks first. All that the server "
        "reads is in the page cache: it was started once before.",
        about_runs="The run is the load after the start. Of its seconds, the record has the "
        "server's CPU time and the calls.",
    ),
    Live: replace(
        _SCHEDULED,
        heading="Streams that live",
        meaning="Many streams are open all the time, and on each a message is due, and answered, "
        "at even distances. The lowest CPU time of the server a message and its reply ranks first.",
        about_runs="Calls are messages: those that were due in the window and were answered are "
        "OK. Latencies are those of replies, from when their message was due.",
    ),
    Blast: Shown(
        heading="Blasts",
        meaning="N calls are sent at once, for N from small to large. "
        "The highest throughput at any N ranks first.",
        course="Throughput by number of calls",
        caption=f"○ Throughput stops growing: the smallest N whose median is at least "
        f"{blast.FULL * 100:.0f} % of the highest. The server is full, or the generator where a "
        "row is client-bound. ✕ The first failed call. Each picture has its own scale.",
        run_title="Calls at once",
        beside=blast.sustained_boards,
        of_board=blast.of_board,
        of_run=blast.of_run,
        about_runs="The rate is that of the fastest point; calls, latencies and costs are those of "
        "the whole sweep.",
    ),
    Scenario: Shown(
        heading="Scenarios",
        meaning="Users send requests that depend on each other, such as the creation, the change "
        "and the deletion of an item. The highest throughput ranks first; where iterations begin "
        "at a given rate, the lowest p99 latency.",
        course="Second by second",
        caption="Throughput, second by second; or, at a given rate, the iterations that were due "
        "and that began, and how long iterations took.",
        run_title="Second by second",
        of_board=seconds.of_board,
        of_run=seconds.of_run,
        about_runs="Calls are requests over HTTP. Failed ones are counted by reason.",
    ),
}


def run_picture(record: Record, number: int | None) -> Picture | None:
    """Return the picture of the headline's run over time, or over N; None without one."""
    if number is None:
        return None
    shown = SHOWN[type(record.profile.load)]
    which = f", run {number}" if len(record.runs) > 1 else ""
    return shown.of_run(shown.run_title + which, record, record.runs[number - 1])
