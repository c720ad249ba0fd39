"""Work on every CPU: forks of this process, which share what it holds and send back text."""

import gc
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection

from arena.base.errors import HostError

Work = Callable[[int], str]

# Answers that travel together.
_BATCH = 64


@contextmanager
def spread(count: int, work: Work, *, forks: int) -> Iterator[Iterator[tuple[int, str]]]:
    """Yield each number below `count` with what `work` says of it, in no certain order.

    There are as many forks as are asked for, but no more than CPUs; each takes every n-th number.
    With none, the work is done right here. A HostError in `work` is raised here. The forks begin
    when the block does, and none outlives it.
    """
    forks = min(forks, count, len(os.sched_getaffinity(0)))
    if not forks:
        yield ((number, work(number)) for number in range(count))
        return
    context = get_context("fork")
    workers = []
    pipes: list[Connection] = []
    try:
        for first in range(forks):
            ours, theirs = context.Pipe(duplex=False)
            pipes.append(ours)
            # Every other one begins at the end: neighbours are alike, and in each other's way when
            # all processes create files.
            part = range(first, count, forks)[:: 1 - 2 * (first % 2)]
            worker = context.Process(target=_work, args=(part, work, theirs, pipes), daemon=True)
            worker.start()
            workers.append(worker)
            theirs.close()
        yield _answers(pipes)
    finally:
        for pipe in pipes:
            pipe.close()
        for worker in workers:
            worker.kill()
            worker.join()


def _answers(pipes: Sequence[Connection]) -> Iterator[tuple[int, str]]:
    """Yield what comes out of the pipes until each has said that it is done."""
    waiting = list(pipes)
    while waiting:
        ready = connection.wait(waiting)
        for pipe in [each for each in waiting if each in ready]:
            try:
                message = pipe.recv()
            except EOFError:
                raise HostError("a process of ours was killed: is there enough memory?") from None
            if message is None:
                waiting.remove(pipe)
            elif isinstance(message, Exception):
                raise message
            else:
                yield from message


def _work(numbers: range, work: Work, pipe: Connection, others: Sequence[Connection]) -> None:
    """Do a fork's part. An interrupt is the business of the process that forked.

    With its `others`, the ends that only that process reads, closed, a fork ends when it has gone.
    """
    for each in others:
        each.close()
    # What is shared stays shared: looking through it for garbage would copy all of it. What a fork
    # itself leaves behind is collected, even if its parent does without.
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        for at in range(0, len(numbers), _BATCH):
            pipe.send([(number, work(number)) for number in numbers[at : at + _BATCH]])
        pipe.send(None)
    except HostError as error:
        pipe.send(error)
    except BrokenPipeError:
        # Who would hear of it has gone.
        return
    except Exception as error:  # noqa: BLE001 - it is raised again where it is heard
        bug = RuntimeError(f"{type(error).__name__}: {error}")
        bug.add_note(traceback.format_exc())
        pipe.send(bug)
