"""What every test of validating may use."""

from tests.lib.arena.measure.validation.shop import shop

__all__ = ["shop"]
