"""What every test of blocks may use."""

from tests.lib.arena.measure.blocks.shop import blocks, shop

__all__ = ["blocks", "shop"]
