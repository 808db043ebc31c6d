"""``policies``: what a spec says of identifiers, levels and k, as statements that a database enforces."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.engines import DryEngine
from kanon_sql.errors import Obstacle, SpecError, UnsupportedError, refuse
from kanon_sql.models import models_of
from kanon_sql.registers import POLICY_DIALECTS
from kanon_sql.spec import Spec
from kanon_sql.sql import Dialect, Sql, dialect_named, dollar_tag, literal, render, sql_list
from kanon_sql.verbs.check import never_released, spellings
from kanon_sql.verbs.preflight import obstacles, reading_obstacles
from kanon_sql.verbs.render import assumed_columns

__all__ = ["policies", "policy_obstacles"]


def policies(spec: Spec, dialect: str, role: str = "analyst", *, anonymizer: bool = False) -> str:
    """Write the statements by which a role reads the release of a spec, and not its source.

    Every statement has a comment with what it enforces, and what it does not. Nothing is run, and no connection is
    needed: the types of columns are assumed, as :func:`kanon_sql.render` assumes them. On PostgreSQL the script
    changes nothing, and says why, while the role can reach the source by any way that the catalog shows.

    Args:
        spec: whose source and release are tables.
        dialect: one of ``POLICY_DIALECTS``.
        role: the role that is to read the release, as the database has its name; on BigQuery a principal such as
            ``group:analysts@example.org``.
        anonymizer: on PostgreSQL, also write labels for the extension PostgreSQL Anonymizer.

    Raises:
        SpecError: the source or the release is no table, or the role cannot be one.
        UnsupportedError: another dialect.
    """
    if dialect not in POLICY_DIALECTS:
        raise UnsupportedError(f"policies are not written for {dialect}; expected one of {', '.join(POLICY_DIALECTS)}")
    refuse(obstacles(DryEngine(dialect, ()), spec, "policies"))
    if not role or "\x00" in role or role.lower() == "public":
        raise SpecError(f"--role {role}: expected the name of one role; every role (PUBLIC) would include the owner")
    if anonymizer and dialect != "postgres":
        raise SpecError(
            f"--anonymizer: PostgreSQL Anonymizer is an extension of PostgreSQL; leave it out for {dialect}"
        )
    context = _CONTEXTS[dialect](spec, dialect_named(dialect), role)
    if dialect == "postgres":
        context["masked"] = _labels(spec) if anonymizer else None
    return render(f"verbs/policies/{dialect}", **context) + "\n"


def policy_obstacles(spec: Spec) -> Iterator[Obstacle]:
    """Why no policies are written for a spec.

    Args:
        spec: the spec.
    """
    if spec.source.table is None:
        yield Obstacle("source: policies are for a table or view by its name; name the table that it reads", SpecError)
    yield from reading_obstacles(spec, "a policy")
    if spec.release is None:
        yield Obstacle(
            "release: policies need a release that is a table or a view in the same database; name one", SpecError
        )


def _hidden(spec: Spec) -> list[str]:
    """The columns that no reader may see."""
    return list(dict.fromkeys([*never_released(spec), *([] if spec.unit is None else [spec.unit])]))


def _coarse(spec: Spec) -> list[str]:
    """The quasi-identifiers whose values are never released as they are."""
    return [name for name, item in spec.quasi_identifiers.items() if item.minimum_level > 0 and item.point is None]


def _group_size(spec: Spec) -> int | None:
    """The size that every class must have; None where no requirement says one."""
    return max((model.least_size for model in models_of(spec) if model.least_size is not None), default=None)


def _named(dialect: Dialect, parts: Sequence[str]) -> Sql:
    return Sql(dialect.relation(parts))


def _quoted(dialect: Dialect, names: Sequence[str]) -> list[Sql]:
    return [Sql(dialect.quote(name)) for name in names]


def _tables(spec: Spec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    assert spec.source.table is not None
    assert spec.release is not None
    return spec.source.table, spec.release


# --- PostgreSQL ------------------------------------------------------------------------------


def _postgres(spec: Spec, dialect: Dialect, role: str) -> dict[str, Any]:
    source, release = _tables(spec)
    kept = spec.recoding.save_as
    held = [_named(dialect, parts) for parts in (source, *([] if kept is None else [(*release[:-1], kept)]))]
    states = [] if spec.state is None else [spec.state[-1]]
    inside = "\n".join([*map(str, held), dialect.relation(release), role, *states, *spellings(_hidden(spec))])
    return {
        "role": Sql(dialect.quote(role)),
        "role_text": literal(role),
        "held": held,
        "held_texts": [literal(str(table)) for table in held],
        "states": _quoted(dialect, states),
        "state_texts": sql_list(map(literal, states)) if states else Sql("NULL"),
        "release": _named(dialect, release),
        "release_text": literal(dialect.relation(release)),
        "release_schema": Sql(dialect.quote(release[-2])) if len(release) > 1 else None,
        "identifiers": sql_list(map(literal, spellings(_hidden(spec)))),
        "tag": Sql(dollar_tag(inside)),
        "quasi_identifiers": [_named(dialect, (*release, name)) for name in spec.quasi_identifiers],
    }


def _labels(spec: Spec) -> list[tuple[Sql, Sql]]:
    dialect, (source, _) = dialect_named("postgres"), _tables(spec)
    null = literal("MASKED WITH VALUE NULL")
    return [(_named(dialect, (*source, name)), null) for name in [*_hidden(spec), *_coarse(spec)]]


# --- Warehouses ------------------------------------------------------------------------------


def _granted(
    dialect: Dialect, role: str, source: Sequence[str], release: Sequence[str], usage: tuple[str, str]
) -> dict[str, Any]:
    """The role, the tables, and what it needs to come to the release: the right to use its database and its schema."""
    outer = [(usage[0], release[:-2]), (usage[1], release[:-1])]
    return {
        "role": Sql(dialect.quote(role)),
        "role_text": Sql(dialect.literal(role)),
        "usage": [Sql(f"{right} {dialect.relation(parts)}") for right, parts in outer if parts],
        "source": _named(dialect, source),
        "release": _named(dialect, release),
    }


def _snowflake(spec: Spec, dialect: Dialect, role: str) -> dict[str, Any]:
    source, release = _tables(spec)
    size = _group_size(spec)
    own = _own_names(dialect, source, role, size)
    return {
        **_granted(dialect, role, source, release, ("DATABASE", "SCHEMA")),
        # Of masked persons a group would have none.
        "masks": _masks(spec, dialect, own, () if size is None or spec.unit is None else (spec.unit,)),
        "hidden": _quoted(dialect, _hidden(spec)),
        "projection": own("hide"),
        "aggregation": own("group"),
        "k": size,
        "unit": None if spec.unit is None else Sql(dialect.quote(spec.unit)),
    }


def _databricks(spec: Spec, dialect: Dialect, role: str) -> dict[str, Any]:
    source, release = _tables(spec)
    own = _own_names(dialect, source, role, None)
    return {
        **_granted(dialect, role, source, release, ("USE CATALOG ON CATALOG", "USE SCHEMA ON SCHEMA")),
        "masks": _masks(spec, dialect, own, ()),
        "filter": own("rows"),
    }


def _bigquery(spec: Spec, dialect: Dialect, role: str) -> dict[str, Any]:
    if not re.match(r"(user|group|serviceAccount|domain):.+|allAuthenticatedUsers$|principal(Set)?://.+", role):
        raise SpecError(f"--role {role}: expected a principal of BigQuery, such as group:analysts@example.org")
    source, release = _tables(spec)
    size = _group_size(spec) if spec.unit is not None else None
    policy = {"aggregation_threshold_policy": {"threshold": size, "privacy_unit_column": spec.unit}}
    coarse = _coarse(spec)
    shown = [name for name, item in spec.quasi_identifiers.items() if name not in coarse and item.point is None]
    columns = dict.fromkeys([*([] if spec.unit is None else [spec.unit]), *shown, *spec.sensitive, *spec.keep])
    return {
        "role_text": Sql(dialect.literal(role)),
        "source": _named(dialect, source),
        "release": _named(dialect, release),
        "k": size,
        "view": _own_names(dialect, release, role, [*source, *columns, size])("groups"),
        "policy": Sql(dialect.literal(json.dumps(policy, ensure_ascii=False))),
        "columns": _quoted(dialect, list(columns)),
    }


def _own_names(dialect: Dialect, table: Sequence[str], role: str, of: object) -> Callable[[str], Sql]:
    """Names of objects beside a table, others for another table, role or content: one that is there says the same."""
    digest = hashlib.sha256(json.dumps([*table, role, of]).encode()).hexdigest()[:8]
    schema = "".join(f"{dialect.quote(part)}." for part in table[:-1])
    return lambda what: Sql(f"{schema}{dialect.quote(f'kanon_{what}_{digest}')}")


def _masks(
    spec: Spec, dialect: Dialect, own: Callable[[str], Sql], counted: Sequence[str]
) -> list[tuple[Sql, Sql, list[Sql]]]:
    """For each type of a column that is masked: the type, the name of its mask, and the columns."""
    kinds = {column.name: dialect.type(column.type) for column in assumed_columns(spec)}
    text = dialect.type("VARCHAR")
    masked: dict[str, list[str]] = {}
    for name in dict.fromkeys([*_hidden(spec), *_coarse(spec)]):
        if name in counted:
            continue
        masked.setdefault(kinds.get(name, text), []).append(name)
    return [
        (Sql(kind), own(re.sub(r"\W+", "_", kind.lower()).strip("_")), _quoted(dialect, names))
        for kind, names in masked.items()
    ]


_CONTEXTS: Mapping[str, Callable[[Spec, Dialect, str], dict[str, Any]]] = dict(
    zip(POLICY_DIALECTS, (_snowflake, _bigquery, _databricks, _postgres), strict=True)
)
"""Dialect -> what its template needs."""
