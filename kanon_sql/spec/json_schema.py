"""The JSON Schemas of specs, for editors and for anyone who writes specs by program."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from kanon_sql.spec.hierarchy import Hierarchy
from kanon_sql.spec.registry import requirements
from kanon_sql.spec.release_file import AS_KEY, ReleaseFile
from kanon_sql.spec.release_view import AS_VIEW_KEY, GuardedView
from kanon_sql.spec.requirement import Requirement

__all__ = ["schema_of", "tidied", "tidy", "titled"]


def schema_of(spec: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of the class of specs."""
    _, found = models_json_schema([(item, "validation") for item in (spec, *requirements())])
    definitions = found["$defs"]
    schema = definitions.pop(spec.__name__)
    named = [{"$ref": f"#/$defs/{item.__name__}"} for item in requirements()]
    schema["properties"]["privacy"]["items"] = {"anyOf": named}
    del definitions[Requirement.__name__]
    del definitions[Hierarchy.__name__]  # its keys are those of a quasi-identifier
    schema = _renamed({"$defs": definitions, **schema})
    tidy(schema)
    for key, kind_of_release in ((AS_KEY, ReleaseFile), (AS_VIEW_KEY, GuardedView)):
        del schema["properties"][key]
        schema["properties"]["release"]["anyOf"].append({"$ref": f"#/$defs/{kind_of_release.__name__}"})
    for name in ("source", "suppression", "search", "recoding", "warnings"):
        schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "kanon_sql spec",
        "description": "What to anonymize, how, and which requirements the result must satisfy.",
    }


def _renamed(schema: dict[str, Any]) -> dict[str, Any]:
    """The definitions of requirements under the names of their models."""
    found: dict[str, Any] = json.loads(re.sub(r'("|/)(\w+)Requirement"', r'\1\2"', json.dumps(schema)))
    found["$defs"] = dict(sorted(found["$defs"].items()))
    return found


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
