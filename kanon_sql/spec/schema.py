"""What JSON Schemas of specs have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["tidied", "tidy", "titled"]


def tidied(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a model, tidied."""
    schema = model.model_json_schema()
    tidy(schema)
    return schema


def titled(schema: dict[str, Any], title: str, about: str) -> dict[str, Any]:
    """The schema of a document: its draft first, what it is called, and what it is about."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": title,
        "description": about,
    }


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
