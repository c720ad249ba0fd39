"""Work on every CPU, in forks of this process that share its memory and send results back."""

import ctypes
import gc
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, TypeVar

from arena.base.errors import HostError

Answer = TypeVar("Answer")

# The maximum number of answers sent together.
_BATCH = 64

# prctl(2): the signal that a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1


@contextmanager
def spread(
    count: int, work: Callable[[int], Answer], *, forks: int
) -> Iterator[Iterator[tuple[int, Answer]]]:
    """Yield each number below `count` with the answer of `work` for it.

    There are at most `forks` forks, and at most one per CPU; without forks, the work is done
    in this process. An error in `work` is raised here. The forks start with the block, and none
    outlives the block or this process.
    """
    forks = min(forks, count, len(os.sched_getaffinity(0)))
    if not forks:
        yield ((number, work(number)) for number in range(count))
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(forks, get_context("fork"), _begin, (work,))
    try:
        batch = min(_BATCH, -(-count // forks))
        yield enumerate(pool.map(_answer, range(count), chunksize=batch))
    except BrokenProcessPool:
        raise HostError("a worker process was killed: is there enough memory?") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for fork in set(active_children()) - others:
            fork.kill()
            fork.join()


_work: Callable[[int], Any]


def _begin(work: Callable[[int], Any]) -> None:
    """Prepare a fork. An interrupt is left to the parent process."""
    global _work  # noqa: PLW0603 - what is passed with each number would be pickled
    _work = work
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Shared memory stays shared: a garbage collection would copy all of it. A fork collects its own
    # garbage, even if its parent does not.
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _answer(number: int) -> Any:
    return _work(number)
