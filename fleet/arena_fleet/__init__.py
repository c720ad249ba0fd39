"""A fleet: several generator hosts that make one load.

The modules `link`, `nodes` and `settings`, and those that import them, use Dask.distributed, which
only scripts/fleet.sh installs. Nothing outside this package imports it.
"""
