"""What JSON Schemas of specs have in common."""

from __future__ import annotations

__all__ = ["tidy"]


def tidy(schema: object) -> None:
    """Drop titles that only repeat names, and all but the summary of descriptions."""
    if isinstance(schema, list):
        for part in schema:
            tidy(part)
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        if isinstance(schema.get("description"), str):
            schema["description"] = schema["description"].partition("\n\n")[0].replace("``", "")
        for part in schema.values():
            tidy(part)
