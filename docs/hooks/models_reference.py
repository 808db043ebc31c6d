"""The table of privacy models, written from their declarations."""

from __future__ import annotations

from ruamel.yaml import YAML

from kanon_sql.errors import UnsupportedError
from kanon_sql.models import model_of
from kanon_sql.spec import Requirement, parse_requirement, requirements

__all__ = ["markdown"]


def markdown() -> str:
    """A row per form of a requirement, with when a search may prune by it."""
    rows = [
        f"| `{form.written}` | {form.asks} | {form.source} | {' | '.join(_prunes(form.written))} |"
        for item in requirements()
        for form in item.forms
    ]
    head = ["| as written | every class has | source | monotone, by rows | by persons |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _prunes(written: str) -> tuple[str, str]:
    """When pruning by a requirement is sound: for rows, for persons."""
    requirement: Requirement = parse_requirement(YAML(typ="safe").load(written))
    rows_only = requirement.rows_only is not None
    try:
        model = model_of(requirement)
    except UnsupportedError:  # a property of how a release is made, or of several
        return "not searched", "rows only" if rows_only else "persons only"
    return model.monotonicity(False).value, "rows only" if rows_only else model.monotonicity(True).value
