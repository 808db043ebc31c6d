"""The files of a release in a dbt project: three models, their properties, and a seed per given hierarchy.

<release>__labelled     the source with generalized labels; private
<release>__candidate    its classes that satisfy every requirement, the person still there; private
<release>               the candidate without the person, in random order, built after an audit

Of a release that grows the first two are the rows of the day and those that wait, and the third adds to what stands.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ruamel.yaml import YAML

from kanon_sql.engines import Column
from kanon_sql.errors import Problem, SpecError
from kanon_sql.hierarchies import listed_for, with_top
from kanon_sql.models import model_of
from kanon_sql.spec import Spec
from kanon_sql.sql import Dialect
from kanon_sql.verbs.dbt.growing import NUMBER, day_query, increment_config, judged_query, rows_above
from kanon_sql.verbs.dbt.labels import HierarchyRows, escaped, labelled, released_columns

__all__ = ["ADAPTERS", "MARK", "REQUIREMENTS", "files_of"]

MARK = "Written by kanon-sql pipeline dbt, which overwrites it."

ADAPTERS = {
    "duckdb": "varchar",
    "postgres": "text",
    "redshift": "varchar(65533)",
    "snowflake": "varchar",
    "bigquery": "string",
    "spark": "string",
    "databricks": "string",
}
"""The dialects that the dbt package has adapters for, with the type of a seed's columns."""

REQUIREMENTS = {
    "k_anonymity": ("k",),
    "l_diversity": ("attribute", "l", "variant", "c"),
    "t_closeness": ("attribute", "t", "reference"),
}
"""The requirements that the dbt package has tests for, with the parameters that these take."""


@dataclass
class _Release:
    """What is being written.

    Attributes:
        tables: schema parts -> the tables of it that models read, with the columns of those that are hierarchies.
        seeds: seed -> its rows.
        level_names: per quasi-identifier, what its levels are called.
    """

    spec: Spec
    name: str
    columns: Mapping[str, Column]
    node: Mapping[str, int]
    level_names: Mapping[str, Sequence[str]]
    dialect: Dialect
    tables: dict[tuple[str, ...], dict[str, Sequence[str] | None]] = field(default_factory=dict)
    seeds: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    @property
    def grows(self) -> bool:
        return self.spec.state is not None

    @property
    def private(self) -> str:
        """The schema of what no other user may read, as an expression."""
        schema = "kanon_private" if self.spec.state is None else self.spec.state[-1]
        return f'var("kanon_sql_private_schema", {_literal(schema)})'

    @property
    def identifiers(self) -> list[str]:
        spec = self.spec
        return list(dict.fromkeys([*spec.identifiers, *([] if spec.unit is None else [spec.unit])]))

    def level_name(self, column: str) -> str:
        """What its chosen level is called, as text that Jinja leaves as it is."""
        return escaped(self.level_names[column][self.node[column]])

    def table(self, parts: tuple[str, ...], hierarchy: Sequence[str] | None = None) -> str:
        """Declare a table; how a model refers to it."""
        schemas = self.tables.setdefault(parts[:-1], {})
        schemas[parts[-1]] = hierarchy or schemas.get(parts[-1])
        return f"source({_literal(self.source_name(parts[:-1]))}, {_literal(parts[-1])})"

    def source_name(self, schema: tuple[str, ...]) -> str:
        return "_".join([self.name, "source", *(re.sub(r"\W+", "_", part) for part in schema)])


def files_of(
    spec: Spec,
    columns: Mapping[str, Column],
    hierarchy_tables: Mapping[str, Sequence[str]],
    node: Mapping[str, int],
    level_names: Mapping[str, Sequence[str]],
    dialect: Dialect,
    source: str | None,
    models: PurePosixPath,
    seeds: PurePosixPath,
) -> dict[PurePosixPath, str]:
    """The files by their paths in the project.

    Args:
        spec: what to release; its release is a plain name and its source a table.
        columns: the source's columns by name, in order.
        hierarchy_tables: the columns of each hierarchy that is a table, by quasi-identifier.
        node: the chosen levels.
        level_names: per quasi-identifier, what its levels are called.
        dialect: the engine's, one of :data:`ADAPTERS`.
        source: how models refer to the source; None to declare it as a dbt source.
        models: the project's directory for models.
        seeds: its directory for seeds.

    Raises:
        HierarchyError: a hierarchy file is wrong.
        SpecError: a hierarchy holds a value that dbt would read as NULL.
    """
    assert spec.release is not None
    assert spec.source.table is not None
    release = _Release(spec, spec.release[-1], columns, node, level_names, dialect)
    given = {
        name: found
        for name in spec.quasi_identifiers
        if (found := _given(release, name, hierarchy_tables.get(name))) is not None
    }
    where = source or release.table(spec.source.table)
    folder = models / release.name
    kept = released_columns(spec, columns)
    private = f"schema={release.private})"
    if spec.increments is not None and spec.increments.watermark is not None:
        new = labelled(
            spec, columns, node, given, rows_above(spec, where, release.name), dialect, spec.increments.watermark
        )
        query = day_query(spec, new, [*kept, *([] if spec.unit is None else [spec.unit])], release.name)
        # A view is always of the day that stands, so that no row is judged by the numbers of another one.
        candidate = f'config(materialized="view", {private}'
        asked = [_requirement(item) for item in spec.privacy]
        config = increment_config(spec, release.name, kept, columns, node, asked)
        body = judged_query(release.name)
    else:
        query = labelled(spec, columns, node, given, where, dialect)
        candidate = f'config(materialized="table", {private}'
        config, body = 'config(materialized="table")', _call(release, "release")
    files = {
        folder / f"{release.name}__labelled.sql": _model(release, f'config(materialized="table", {private}', query),
        folder / f"{release.name}__candidate.sql": _model(release, candidate, _call(release, "candidate")),
        folder / f"{release.name}.sql": _model(release, config, body),
        folder / f"{release.name}.yml": _properties(release),
    }
    for name, rows in release.seeds.items():
        files[seeds / release.name / f"{name}.csv"] = _seed(rows)
    return files


# --- Hierarchies -----------------------------------------------------------------------------


def _given(release: _Release, name: str, table_columns: Sequence[str] | None) -> HierarchyRows | None:
    item = release.spec.quasi_identifiers[name]
    if item.table is not None:
        assert table_columns is not None
        return HierarchyRows(release.table(item.table, table_columns), table_columns, None)
    written = listed_for(release.spec, item, release.columns[name], f"quasi_identifiers.{name}")
    if written is None:
        return None
    rows = with_top(written)
    seed = f"{release.name}__{re.sub(r'[^0-9a-z]+', '_', name.lower())}"
    while seed in release.seeds:
        seed += "_"
    read_as_null = [
        Problem(
            f"quasi_identifiers.{name}: the value or a label of row {number} of its hierarchy is empty or 'null', "
            "which dbt reads as NULL in a seed; put the hierarchy into a table (table: ...)"
        )
        for number, row in enumerate(rows, 1)
        if any(cell.strip().lower() in ("", "null") for cell in row)
    ]
    if read_as_null:
        raise SpecError(read_as_null[:1])
    release.seeds[seed] = rows
    return HierarchyRows(f"ref({_literal(seed)})", _seed_columns(rows), rows[0][-1])


def _seed_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["value", *(f"level_{level}" for level in range(1, len(rows[0])))]


def _seed(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(_seed_columns(rows))
    writer.writerows(rows)
    return text.getvalue()


# --- Models ----------------------------------------------------------------------------------


def _literal(value: object) -> str:
    """Plain data as a literal of Jinja."""
    return json.dumps(value, ensure_ascii=False)


def _model(release: _Release, config: str, body: str) -> str:
    return (
        f"{{# {MARK} #}}\n{{{{ {config} }}}}\n"
        f"{{{{ kanon_sql.written_for({_literal(release.dialect.name)}) }}}}\n\n{body}\n"
    )


def _call(release: _Release, macro: str) -> str:
    spec = release.spec
    kept = released_columns(spec, release.columns)
    arguments: dict[str, str] = {}
    if macro == "release":
        arguments["candidate"] = f"ref({_literal(f'{release.name}__candidate')})"
    arguments["labelled"] = f"ref({_literal(f'{release.name}__labelled')})"
    with_unit = [*kept, *([] if spec.unit is None or macro == "release" else [spec.unit])]
    arguments["columns"] = _literal([*with_unit, NUMBER] if release.grows else with_unit)
    arguments["quasi_identifiers"] = _literal(list(spec.quasi_identifiers))
    arguments["requirements"] = _literal([_requirement(item) for item in spec.privacy])
    if macro == "release":
        key, limit = spec.suppression.limit
        arguments[key] = _literal(limit)
    if spec.unit is not None:
        arguments["unit"] = _literal(spec.unit)
    listed = "".join(f"    {name}={value},\n" for name, value in arguments.items())
    return f"{{{{ kanon_sql.{macro}(\n{listed}) }}}}"


def _requirement(requirement: Any, reference: str | None = None) -> dict[str, dict[str, Any]]:
    """As a spec writes it; the reference of a t-closeness is said by the caller."""
    ((name, parameters),) = requirement.to_dict().items()
    kept = {key: parameters[key] for key in REQUIREMENTS[name] if key in parameters and key != "reference"}
    if name == "t_closeness" and reference is not None:
        kept["reference"] = reference
    return {name: kept}


# --- Properties ------------------------------------------------------------------------------


def _test(name: str, **arguments: Any) -> Any:
    return {f"kanon_sql.{name}": {"arguments": arguments}} if arguments else f"kanon_sql.{name}"


def _privacy_tests(release: _Release) -> list[Any]:
    spec = release.spec
    unit = {} if spec.unit is None else {"unit": spec.unit}
    tests = []
    for item in spec.privacy:
        ((name, parameters),) = _requirement(item, f"ref('{release.name}__labelled')").items()
        tests.append(_test(name, quasi_identifiers=list(spec.quasi_identifiers), **parameters, **unit))
    return tests


def _properties(release: _Release) -> str:
    spec, name = release.spec, release.name
    promised = ", ".join(model_of(item).label for item in spec.privacy)
    tests = [_test("no_identifiers", identifiers=release.identifiers)] if release.identifiers else []
    if spec.unit is None:
        tests += _privacy_tests(release)
    described = {
        "name": name,
        "description": f"An anonymous release: {promised}. Built only after an audit of {name}__candidate.",
        "config": {
            "meta": {
                "kanon_sql": {
                    "spec_sha256": spec.hash,
                    **({} if spec.year is None else {"release_year": spec.release_year or "the year of the build"}),
                    "levels": dict(release.node),
                    "level_names": {name: release.level_name(name) for name in release.node},
                    "requirements": [_requirement(item) for item in spec.privacy],
                    "suppression": dict([spec.suppression.limit]),
                }
            }
        },
        "columns": [
            {"name": column, "description": _role(release, column)}
            for column in released_columns(spec, release.columns)
        ],
    }
    # Of a release that grows the rest waits, however much it is.
    limits = (
        []
        if release.grows
        else [_test("suppression_limit", source=f"ref('{name}__labelled')", **dict([spec.suppression.limit]))]
    )
    of_rows = "the rows of the day, and those that wait," if release.grows else "every row of the source"
    properties: dict[str, Any] = {
        "version": 2,
        "models": [
            {**described, **({"data_tests": tests} if tests else {})},
            {
                "name": f"{name}__candidate",
                "description": "Private: the classes that satisfy every requirement, before they are published.",
                "data_tests": [*_privacy_tests(release), *limits],
            },
            {
                "name": f"{name}__labelled",
                "description": f"Private: {of_rows} with generalized quasi-identifiers.",
                "data_tests": [_test("all_covered")],
            },
        ],
    }
    kind = ADAPTERS[release.dialect.name]
    if release.seeds:
        properties["seeds"] = [
            {
                "name": seed,
                "description": "A generalization hierarchy: the value, then a column per level.",
                "config": {
                    "schema": f"{{{{ {release.private} }}}}",
                    "quote_columns": True,
                    "column_types": dict.fromkeys(_seed_columns(rows), kind),
                },
                "data_tests": [_test("hierarchy_is_valid")],
            }
            for seed, rows in release.seeds.items()
        ]
    if release.tables:
        properties["sources"] = [_source(release, schema) for schema in release.tables]
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(properties, text)
    return f"# {MARK}\n{text.getvalue()}"


def _source(release: _Release, schema: tuple[str, ...]) -> dict[str, Any]:
    tables = []
    for name, hierarchy in release.tables[schema].items():
        table: dict[str, Any] = {"name": name, "quoting": {"identifier": True}}
        if hierarchy is not None:
            table["data_tests"] = [_test("hierarchy_is_valid", levels=list(hierarchy))]
        tables.append(table)
    found: dict[str, Any] = {"name": release.source_name(schema)}
    if len(schema) == 2:
        found["database"] = schema[0]
    found["schema"] = schema[-1] if schema else "{{ target.schema }}"
    return {**found, "tables": tables}


def _role(release: _Release, column: str) -> str:
    if column in release.node:
        return f"Quasi-identifier at level {release.node[column]} of its hierarchy: {release.level_name(column)}."
    return "Sensitive attribute." if column in release.spec.sensitive else "As in the source."
