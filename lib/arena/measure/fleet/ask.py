"""What runs on a generator host for each call: one method of its agent.

Dask sends this function by name, so both sides need the same checkout.
"""

from typing import Any


async def ask(verb: str, given: dict[str, Any], dask_worker: Any) -> Any:
    """Call a method of the agent of a worker; `dask_worker` is what Dask hands in."""
    return await getattr(dask_worker.agent, verb)(**given)
