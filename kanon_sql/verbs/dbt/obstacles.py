"""What no dbt project holds of a spec, as far as no statement is needed to know it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kanon_sql.engines import Engine
from kanon_sql.errors import Obstacle, SpecError
from kanon_sql.spec import Requirement, Spec
from kanon_sql.verbs.dbt.files import ADAPTERS, REQUIREMENTS
from kanon_sql.verbs.dbt.growing import growing_obstacles
from kanon_sql.verbs.dbt.labels import LEFT_OUT
from kanon_sql.verbs.preflight import (
    fatal_warning_obstacles,
    local_obstacles,
    parent_obstacles,
    step_obstacles,
    view_release_obstacles,
    zone_obstacles,
)

__all__ = ["dbt_obstacles"]

OTHER_KEYS = ("column", "combinations", "quasi_identifiers", "others_as_quasi_identifiers")
"""Parameters by which other classes are judged than the tests of the dbt package make."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARTS = r"""(?:'[\w.-]+'|"[\w.-]+")"""
_SOURCE = re.compile(rf"(?:ref|source)\(\s*{_PARTS}(?:\s*,\s*{_PARTS})?\s*\)")


def dbt_obstacles(engine: Engine, spec: Spec, source: str | None) -> Iterator[Obstacle]:
    """Why a spec's release is not written as models, seeds and tests of dbt.

    Args:
        engine: the database that dbt builds in.
        spec: what to release.
        source: how models are to refer to the source; None to declare it.
    """
    yield from step_obstacles(spec, "a dbt project")
    yield from zone_obstacles(spec, "a dbt project")
    yield from view_release_obstacles(spec)
    yield from fatal_warning_obstacles(spec, "a dbt project")
    yield from local_obstacles(
        spec,
        "dbt",
        f"its models apply one level per column, but with recoding: {spec.recoding.method} labels depend on the class "
        "(publish such a release with kanon-sql anonymize, and declare it as a dbt source)",
    )
    if engine.dialect.name not in ADAPTERS:
        yield Obstacle(f"the dbt package does not support {engine.dialect.name}; expected one of {', '.join(ADAPTERS)}")
    yield from _unfit(spec)
    yield from growing_obstacles(spec, engine.dialect.name)
    if source is not None and not _SOURCE.fullmatch(source):
        yield Obstacle("--source: expected ref('model') or source('name', 'table')", SpecError)


def _unfit(spec: Spec) -> Iterator[Obstacle]:
    """What of a spec a dbt release cannot be."""
    if spec.release is None or len(spec.release) > 1 or not _NAME.fullmatch(spec.release[0]):
        yield Obstacle(
            "release: expected a model name of letters, digits and _; set the schema in dbt (schema: in "
            "dbt_project.yml)",
            SpecError,
        )
    if spec.source.table is None:
        yield Obstacle(
            "source: dbt reads tables; turn the query or file into a model, and name its table here", SpecError
        )
    if spec.suppression.style == "mask":
        yield Obstacle("suppression.style: a dbt release drops suppressed rows; use drop", SpecError)
    if spec.ledger is not None:
        yield Obstacle(
            "ledger: dbt builds the release without a ledger; leave it out, or publish with anonymize", SpecError
        )
    if spec.recoding.save_as is not None:
        yield Obstacle("recoding.save_as: the dbt model itself is the recoding; leave it out", SpecError)
    for column, hierarchy in spec.quasi_identifiers.items():
        if hierarchy.by_counts:
            yield Obstacle(
                f"quasi_identifiers.{column}: a dbt model would count rows of another day to tell which values are "
                "rare; write the labels into a file (kanon-sql hierarchy --output), which becomes a seed",
                SpecError,
            )
        if hierarchy.as_ != "text":
            yield Obstacle(
                f"quasi_identifiers.{column}.as: a dbt release has labels only, and its tests check no computed "
                f"columns; leave it out and compute {hierarchy.as_} from the label in a downstream model, or publish "
                "with anonymize",
                SpecError,
            )
    yield from parent_obstacles(spec, "a dbt model")
    for item in spec.privacy:
        reason = _untested(item)
        if reason is not None:
            yield Obstacle(
                f"privacy: the dbt package cannot test {reason}; leave it out, or publish with anonymize",
                SpecError,
            )
    named = [
        *spec.quasi_identifiers,
        *spec.sensitive,
        *spec.keep,
        *spec.identifiers,
        *([spec.unit] if spec.unit else []),
    ]
    tables = [spec.source.table or ()]
    tables += [item.table for item in spec.quasi_identifiers.values() if item.table is not None]
    if any("{" in name for name in [*named, *(part for parts in tables for part in parts)]):
        yield Obstacle("a name holds a brace, which dbt would read as Jinja; rename it in an upstream model", SpecError)
    if any(name.lower() == LEFT_OUT for name in named):
        yield Obstacle(
            f"the column {LEFT_OUT!r} is reserved for the labelled model; rename it in an upstream model",
            SpecError,
        )


def _untested(requirement: Requirement) -> str | None:
    """What of a requirement the dbt package has no test for; None where it tests it as the search does."""
    ((name, parameters),) = requirement.to_dict().items()
    if name not in REQUIREMENTS:
        return f"{name} (expected {', '.join(REQUIREMENTS)})"
    if parameters.get("estimator") == "grassberger":
        return f"{name} by an estimate"
    if parameters.get("variant") == "npd_recursive":
        return f"{name} of the npd_recursive variant"
    if parameters.get("distance", "equal") != "equal":
        return f"{name} of the {parameters['distance']} distance"
    others = [key for key in OTHER_KEYS if parameters.get(key)]
    return f"{name} with {others[0]}" if others else None
