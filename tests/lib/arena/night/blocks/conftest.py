"""What every test of blocks may use."""

from tests.lib.arena.night.blocks.shop import blocks, shop

__all__ = ["blocks", "shop"]
