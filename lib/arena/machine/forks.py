"""Work on every CPU: forks of this process, which share what it holds and send back results."""

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

# The most answers that travel together.
_BATCH = 64

# prctl(2): the signal that a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1


@contextmanager
def spread(
    count: int, work: Callable[[int], Answer], *, forks: int
) -> Iterator[Iterator[tuple[int, Answer]]]:
    """Yield each number below `count` with the answer that `work` gives for it.

    There are at most `forks` forks, and at most one for each CPU; without any, the work is done
    in this process. An error in `work` is raised here. The forks begin when the block does, and
    none outlives it, or this process.
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
    """Make a fork ready. An interrupt is left to the process that forked."""
    global _work  # noqa: PLW0603 - what is passed with each number would be pickled
    _work = work
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # What is shared stays shared: looking through it for garbage would copy all of it. A fork's own
    # garbage is collected, even if its parent's is not.
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _answer(number: int) -> Any:
    return _work(number)
