"""What every test of nights may use."""

from tests.lib.arena.measure.night.shop import shop

__all__ = ["shop"]
