"""A fleet: several generator hosts that make one load.

The modules `link`, `worker` and `coordinator` use Dask.distributed, which only scripts/fleet.sh
installs. Nothing outside this package imports it.
"""
