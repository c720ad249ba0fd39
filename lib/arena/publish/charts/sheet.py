"""Sheets: what a drawing is made on, its plots, axes and legends, without a mark yet.

Most of the work on a drawing is measuring the words on its sheet. Sheets are equal when all
that they show is, and their axes end at round numbers, so that many drawings share one.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import altair as alt

# The rows of each of a sheet's data sets, by name: what its marks are made of.
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


class Sheet(Hashable, Protocol):
    """What a drawing is made on; equal sheets have equal charts."""

    def chart(self) -> alt.VConcatChart:
        """Return the chart. Its data sets are only names."""
