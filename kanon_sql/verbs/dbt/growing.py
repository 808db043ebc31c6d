"""A release that grows as dbt models: what such a spec cannot ask for, and the calls that its models are made of.

What a build adds is judged and written by the package's materialization ``kanon_sql_increment``, in ``dbt/macros``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.engines import Column
from kanon_sql.errors import Obstacle, SpecError
from kanon_sql.release import promise_of, protects_values
from kanon_sql.spec import Spec, sha256

__all__ = ["INCREMENT", "NUMBER", "day_query", "growing_obstacles", "increment_config", "judged_query", "rows_above"]

INCREMENT = "kanon_sql_increment"
"""The package's materialization, and where its model says what it needs."""

NUMBER = "kanon_number"
"""The column that tells the rows of a day apart."""

_ENGINES = ("duckdb", "postgres")
"""Where release and state change in one transaction."""


def growing_obstacles(spec: Spec, engine: str) -> Iterator[Obstacle]:
    """What of a spec with a state a dbt release cannot be.

    Args:
        spec: any.
        engine: the dialect's name.
    """
    if spec.state is None:
        return
    refresh = "run kanon-sql anonymize and refresh for it"
    if engine not in _ENGINES:
        yield Obstacle(
            "state: release and state must change together, and dbt can write them in one transaction only on "
            f"{' and '.join(_ENGINES)}, not on {engine}; {refresh}",
            SpecError,
        )
    if spec.increments is None or spec.increments.watermark is None:
        yield Obstacle(
            "increments.watermark: missing; a build takes the rows above the last one. For rows that come as tables, "
            f"{refresh}",
            SpecError,
        )
    if spec.increments is not None and spec.increments.on_drift != "hold":
        yield Obstacle(
            f"increments.on_drift: {spec.increments.on_drift} changes the levels, but dbt build does not search; use "
            f"hold, or {refresh}",
            SpecError,
        )
    if spec.follows_the_calendar:
        yield Obstacle(
            "release_year: labels depend on the year, so rows of another year would get other labels than those of "
            f"{spec.year}; write release_year: {spec.year} in the spec to keep these labels",
            SpecError,
        )
    if len(spec.state) > 1:
        yield Obstacle(
            "state.schema: expected a plain schema name, since dbt adds its own prefix and chooses the database",
            SpecError,
        )
    watermark = None if spec.increments is None else spec.increments.watermark
    named = [*spec.quasi_identifiers, *spec.sensitive, *spec.keep, *([spec.unit] if spec.unit else []), watermark or ""]
    if any(name.lower().startswith("kanon_") for name in named):
        yield Obstacle(
            "a column's name begins with kanon_, which is reserved; rename it in an upstream model",
            SpecError,
        )
    if "{" in (watermark or ""):
        yield Obstacle(
            "increments.watermark: the name holds a brace, which dbt would read as Jinja; rename it", SpecError
        )


def rows_above(spec: Spec, source: str, release: str) -> str:
    """The new rows of a source, as a Jinja expression like the source's."""
    assert spec.increments is not None
    return f"kanon_sql.rows_above({source}, {_literal(spec.increments.watermark)}, {_literal(release)})"


def day_query(spec: Spec, labelled: str, columns: Sequence[str], release: str) -> str:
    """The model of the rows of a day and those that wait, around the query of the new rows' labels."""
    unit = "" if spec.unit is None else f", unit={_literal(spec.unit)}"
    return (
        f"{{% set labelled %}}\n{labelled}\n{{% endset %}}\n{{{{ kanon_sql.day(labelled, {_literal(list(columns))}, "
        f"{_literal(release)}{unit}, protects_values={_literal(protects_values(spec))}) }}}}"
    )


def judged_query(release: str) -> str:
    """The model of the release: every row of the day, and whether it is added."""
    candidate, labelled = (f"ref({_literal(f'{release}__{name}')})" for name in ("candidate", "labelled"))
    return f"{{{{ kanon_sql.judged_day({candidate}, {labelled}) }}}}"


def increment_config(
    spec: Spec,
    release: str,
    columns: Sequence[str],
    source: Mapping[str, Column],
    node: Mapping[str, int],
    requirements: Sequence[Mapping[str, Any]],
) -> str:
    """The release's ``config``: its materialization, and what that has to know.

    Args:
        spec: what is released.
        release: its name.
        columns: those of the release.
        source: those of the source, whose types belong to what is promised.
        node: the levels, which stay.
        requirements: as the package's macros take them.
    """
    promised = {"spec": promise_of(spec), "node": dict(node), "types": {name: source[name].type for name in columns}}
    meta: dict[str, Any] = {
        "release": release,
        "columns": list(columns),
        "quasi_identifiers": list(spec.quasi_identifiers),
        "unit": spec.unit or "",
        "requirements": list(requirements),
        **dict([spec.suppression.limit]),
        "promise": sha256(promised),
    }
    return f"config(materialized={_literal(INCREMENT)}, meta={{{_literal(INCREMENT)}: {_literal(meta)}}})"


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
