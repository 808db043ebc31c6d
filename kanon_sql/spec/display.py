"""How specs and results show themselves; what they show is made by the report, above."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["Displayed", "Printed"]


class Printed:
    """What is printed as the text of its command, and has a short form for a prompt."""

    def __str__(self) -> str:
        """The text that its command prints."""
        from kanon_sql import plain_text

        text: str = plain_text(self)
        return text

    def __repr__(self) -> str:
        """Its kind, and its verdict where it has one."""
        values = (getattr(self, name, None) for name in ("verb", "verdict", "message"))
        return f"<{': '.join([type(self).__name__, *map(str, filter(None, values))])}>"


class Displayed(Printed):
    """What is also a report in a notebook."""

    def _repr_html_(self) -> str:
        """The report, for notebooks."""
        from kanon_sql import html_fragment

        return html_fragment(cast("Any", self))
