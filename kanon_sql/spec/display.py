"""What a notebook shows as a report."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["Displayed"]


class Displayed:
    """Specs and results, which show themselves as HTML; what they show is made by the report, above."""

    def _repr_html_(self) -> str:
        """The report, for notebooks."""
        from kanon_sql import html_fragment

        return html_fragment(cast("Any", self))
