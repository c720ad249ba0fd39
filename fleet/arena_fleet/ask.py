"""What runs on a host for each call: one method of its agent.

Dask sends these functions by name, so both sides need the same checkout.
"""

from typing import Any


async def ask(verb: str, given: dict[str, Any], dask_worker: Any) -> Any:
    """Call a method of the agent of a worker; `dask_worker` is what Dask hands in."""
    return await getattr(dask_worker.agent, verb)(**given)


async def ask_as_task(verb: str, given: dict[str, Any]) -> Any:
    """Do the same as a task, which the scheduler keeps until it has ended."""
    from distributed import get_worker

    return await ask(verb, given, get_worker())
