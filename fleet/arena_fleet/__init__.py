"""A fleet: several generator hosts that make one load, and racks that measure one night.

The modules `link`, `nodes` and `local` use Dask.distributed, which only scripts/fleet.sh installs.
Of the package arena, nothing but its command line imports this one.
"""
