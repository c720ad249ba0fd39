"""What every test of nights may use."""

from tests.lib.arena.night.shop import shop

__all__ = ["shop"]
