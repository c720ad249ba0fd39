"""What every test of validating may use."""

from tests.lib.arena.run.validation.shop import shop

__all__ = ["shop"]
