"""What PostgreSQL's catalog knows of whose a table is, what runs when it is used, and who may read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kanon_sql.sql import Dialect

__all__ = ["faults", "grants", "properties", "revoked", "rights_by_default", "rights_on"]

_BUILT_IN = 16384
"""Objects of PostgreSQL's own have smaller numbers."""

_FAULTS = (
    "is no plain table",
    "is a temporary table, which vanishes with the connection",
    "has triggers",
    "has rules",
    "has row-level security",
    "is a partition, or inherits, or is inherited from",
    "has generated columns or defaults",
    "has check, exclusion or foreign key constraints",
    "has an index on an expression or on a part of its rows",
    "has columns of a type that is not PostgreSQL's own",
    "lets another role add triggers or references (REVOKE TRIGGER, REFERENCES on it)",
)
"""What each column of :func:`properties` but the last two says of a table."""


def properties(table: str) -> str:
    """The query of what is wrong with a table that is found by its name: no row where there is none.

    Membership is looked up in the catalog: ``pg_has_role`` says of a superuser that it is a member of every role.

    Args:
        table: its name, as a text literal.
    """
    return f"""
WITH RECURSIVE roles (number) AS (
    SELECT oid FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER
    UNION
    SELECT given.roleid FROM pg_catalog.pg_auth_members AS given JOIN roles ON roles.number = given.member
)
SELECT relation.relkind <> 'r', relation.relpersistence = 't',
    EXISTS (SELECT FROM pg_catalog.pg_trigger AS made WHERE made.tgrelid = relation.oid),
    EXISTS (SELECT FROM pg_catalog.pg_rewrite AS made WHERE made.ev_class = relation.oid),
    relation.relrowsecurity,
    relation.relispartition OR EXISTS (
        SELECT FROM pg_catalog.pg_inherits AS made
        WHERE made.inhrelid = relation.oid OR made.inhparent = relation.oid
    ),
    EXISTS (SELECT FROM pg_catalog.pg_attrdef AS made WHERE made.adrelid = relation.oid),
    EXISTS (
        SELECT FROM pg_catalog.pg_constraint AS made
        WHERE made.conrelid = relation.oid AND made.contype NOT IN ('n', 'p', 'u')
    ),
    EXISTS (
        SELECT FROM pg_catalog.pg_index AS made
        WHERE made.indrelid = relation.oid AND (made.indexprs IS NOT NULL OR made.indpred IS NOT NULL)
    ),
    EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS made
        WHERE made.attrelid = relation.oid AND made.attnum > 0 AND NOT made.attisdropped
        AND made.atttypid >= {_BUILT_IN}
    ),
    EXISTS (
        SELECT FROM pg_catalog.aclexplode(relation.relacl) AS acl
        LEFT JOIN pg_catalog.pg_roles AS other ON other.oid = acl.grantee
        WHERE acl.privilege_type IN ('TRIGGER', 'REFERENCES') AND acl.grantee <> relation.relowner
        AND NOT COALESCE(other.rolsuper, false) AND acl.grantee NOT IN (SELECT number FROM roles)
    ),
    NOT owner.rolsuper AND owner.oid NOT IN (SELECT number FROM roles), owner.rolname
FROM pg_catalog.pg_class AS relation JOIN pg_catalog.pg_roles AS owner ON owner.oid = relation.relowner
WHERE relation.oid = pg_catalog.to_regclass({table})"""


def faults(row: Sequence[Any], dialect: Dialect) -> list[str]:
    """What a row of :func:`properties` says, in words."""
    *flags, foreign, owner = row
    shown_text = [words for flag, words in zip(flags, _FAULTS, strict=True) if flag]
    if foreign:
        name = dialect.quote(owner.decode() if isinstance(owner, bytes) else str(owner))
        shown_text.append(f"belongs to the role {name}, which is neither this one nor one that it is a member of")
    return shown_text


def rights_by_default(schema: str) -> str:
    """The query of the rights that a table of this role's would have in a schema as soon as it is made.

    Args:
        schema: its name as an expression.
    """
    return (
        "SELECT DISTINCT acl.grantee = 0, pg_catalog.pg_get_userbyid(acl.grantee), acl.privilege_type, "
        "acl.is_grantable, NULL::pg_catalog.name FROM pg_catalog.pg_default_acl AS made "
        "CROSS JOIN LATERAL pg_catalog.aclexplode(made.defaclacl) AS acl "
        "WHERE made.defaclobjtype = 'r' AND acl.grantee <> made.defaclrole "
        "AND made.defaclrole = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER) "
        f"AND made.defaclnamespace IN (0, (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema})) "
        "ORDER BY 1, 2, 3, 4"
    )


def rights_on(table: str) -> str:
    """The query of the rights that others have on a table or view, and on its columns.

    Args:
        table: its name, as a text literal.
    """
    columns = (
        "SELECT DISTINCT acl.grantee = 0, pg_catalog.pg_get_userbyid(acl.grantee), acl.privilege_type, "
        "acl.is_grantable, {column} FROM pg_catalog.pg_class AS relation {more} "
        "CROSS JOIN LATERAL pg_catalog.aclexplode({acl}) AS acl "
        f"WHERE relation.oid = pg_catalog.to_regclass({table}) AND acl.grantee <> relation.relowner"
    )
    of_columns = (
        "JOIN pg_catalog.pg_attribute AS made ON made.attrelid = relation.oid AND made.attnum > 0 "
        "AND NOT made.attisdropped"
    )
    whole = columns.format(column="NULL::pg_catalog.name", more="", acl="relation.relacl")
    return f"{whole} UNION {columns.format(column='made.attname', more=of_columns, acl='made.attacl')} ORDER BY 1, 2, 3"


def _grantee(row: Sequence[Any], dialect: Dialect) -> str:
    return "PUBLIC" if row[0] else dialect.quote(_text(row[1]))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def grants(rows: Iterable[Sequence[Any]], table: str, dialect: Dialect) -> list[str]:
    """The statements that give rights.

    Args:
        rows: of :func:`rights_by_default` or :func:`rights_on`.
        table: on what, its quoted name.
        dialect: quotes names.
    """
    return [
        f"GRANT {_text(row[2])}{'' if row[4] is None else f' ({dialect.quote(_text(row[4]))})'} ON TABLE {table} "
        f"TO {_grantee(row, dialect)}{' WITH GRANT OPTION' if row[3] else ''}"
        for row in rows
    ]


def revoked(rows: Iterable[Sequence[Any]], table: str, dialect: Dialect, rights: str = "ALL") -> list[str]:
    """The statement that takes rights from those who have some by default; none where there are no such roles.

    Args:
        rows: of :func:`rights_by_default`.
        table: on what, its quoted name.
        dialect: quotes names.
        rights: which.
    """
    names = sorted({_grantee(row, dialect) for row in rows})
    return [f"REVOKE {rights} ON TABLE {table} FROM {', '.join(names)}"] if names else []
