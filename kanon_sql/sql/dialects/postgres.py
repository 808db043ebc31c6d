"""PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import ClassVar

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect, replaced
from kanon_sql.sql.dialects.rewrites import called

__all__ = ["Postgres", "dollar_tag"]


def dollar_tag(text: str) -> str:
    """What quotes a text that has it nowhere."""
    return next(tag for number in count() if (tag := f"$kanon{number or ''}$") not in text)


@dialect
class Postgres(Dialect):
    """PostgreSQL 12 and later."""

    name = "postgres"
    item = "UNNEST({})"
    listed = (
        'COALESCE(ARRAY_AGG(CAST({0} AS TEXT) ORDER BY CAST({0} AS TEXT) COLLATE "C") FILTER (WHERE {0} IS NOT NULL), '
        "CAST(ARRAY[] AS TEXT[]))"
    )
    sorted_list = 'ARRAY(SELECT item FROM UNNEST({}) AS items(item) ORDER BY CAST(item AS TEXT) COLLATE "C")'
    of_session = re.compile(r"pg_temp(_\d+)?", re.IGNORECASE)
    sqlglot = "postgres"
    longest_name = (63, "bytes")
    narrow_sums = True  # SUM(BIGINT) keeps a NUMERIC per group, SUM(INTEGER) a BIGINT
    keeps_queries = True
    # PostgreSQL's hash tables grow from few buckets on, and what comes in their own order lands in one heap:
    # 65,000 groups of 254,000 vectors took 40 s where another order took 0.1 s.
    orders_sets = True
    reads_rows = True
    schemas = (
        "SELECT pg_catalog.current_database()::pg_catalog.text, nspname::pg_catalog.text FROM pg_catalog.pg_namespace"
    )
    key_catalog = (
        "SELECT con.contype::pg_catalog.text, own_schema.nspname::pg_catalog.text, own.relname::pg_catalog.text, "
        "con.oid::pg_catalog.text, own_column.attname::pg_catalog.text, other_schema.nspname::pg_catalog.text, "
        "other.relname::pg_catalog.text, other_column.attname::pg_catalog.text, place.number "
        "FROM pg_catalog.pg_constraint AS con "
        "CROSS JOIN LATERAL pg_catalog.unnest(con.conkey) WITH ORDINALITY AS place (attnum, number) "
        "JOIN pg_catalog.pg_class AS own ON own.oid = con.conrelid "
        "JOIN pg_catalog.pg_namespace AS own_schema ON own_schema.oid = own.relnamespace "
        "JOIN pg_catalog.pg_attribute AS own_column "
        "ON own_column.attrelid = con.conrelid AND own_column.attnum = place.attnum "
        "LEFT JOIN pg_catalog.pg_class AS other ON other.oid = con.confrelid "
        "LEFT JOIN pg_catalog.pg_namespace AS other_schema ON other_schema.oid = other.relnamespace "
        "LEFT JOIN pg_catalog.pg_attribute AS other_column "
        "ON other_column.attrelid = con.confrelid AND other_column.attnum = con.confkey[place.number] "
        "WHERE con.contype IN ('p', 'f')"
    )
    moved: ClassVar[Mapping[str, str]] = {
        "date": "({date} + CAST({days} AS INTEGER))",
        "timestamp": "({date} + CAST({days} AS INTEGER) * INTERVAL '1 day')",
        "moment": "({date} + CAST({days} AS INTEGER) * INTERVAL '24 hours')",
    }
    zones = True
    keyed = (
        "ENCODE(SHA256(DECODE('{outer}', 'hex') "
        "|| SHA256(DECODE('{inner}', 'hex') || CONVERT_TO({text}, 'UTF8'))), 'hex')"
    )
    # OFFSET keeps conditions of a reader above the view: below it, EXPLAIN ANALYZE would count the rows of one class.
    guard = ("CREATE VIEW", "WITH (security_barrier = true) AS", "OFFSET 0")
    # With fewer digits, floats that were suppressed would share a class with others; another style has other prefixes.
    guard_session = (
        "CASE WHEN pg_catalog.current_setting('DateStyle') LIKE 'ISO%' "
        "AND pg_catalog.current_setting('IntervalStyle') = 'postgres' "
        "AND CAST(pg_catalog.current_setting('extra_float_digits') AS INTEGER) > 0 THEN TRUE "
        "ELSE CAST('this view is read with DateStyle ISO, IntervalStyle postgres and extra_float_digits 1, not ' "
        "|| pg_catalog.current_setting('extra_float_digits') AS BOOLEAN) END"
    )

    functions_have_path = True
    column_types = (
        "SELECT a.attname::pg_catalog.text AS column_name, "
        "s.nspname || '.' || t.typname || ' ' || a.atttypmod AS column_type "
        "FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid "
        "JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace "
        "WHERE a.attrelid = {name}::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped"
    )
    settings: ClassVar[Mapping[str, str]] = {
        "standard_conforming_strings": "on",
        "DateStyle": "ISO, YMD",
        "TimeZone": "UTC",  # a date of a moment is the same for anyone who asks
        "extra_float_digits": "1",
        "IntervalStyle": "postgres",  # labels of intervals and bytes
        "bytea_output": "hex",
        "row_security": "off",  # an error where a policy would hide rows: a part of a table says nothing of the rest
    }
    """By which texts are written alike, and all rows are read."""
    plans: ClassVar[Mapping[str, str]] = {
        "enable_nestloop": "off", "enable_mergejoin": "off", "join_collapse_limit": "1",
    }  # fmt: skip
    """Joins by hash, in the order in which they are written."""

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """With the caller's rights, and with no schema in its path that another role could put something into."""
        tag = dollar_tag(query)
        settings = {**self.settings, **self.plans}
        listed = "".join(f"SET {name} = {self.literal(value)}\n" for name, value in settings.items())
        return (
            f"CREATE OR REPLACE FUNCTION {function}() RETURNS TABLE ({self.declared(columns)})\n"
            f"LANGUAGE sql STABLE SECURITY INVOKER\nSET search_path = pg_catalog, pg_temp\n{listed}"
            f"AS {tag}\n{query}\n{tag};"
        )

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Collation C: byte by byte, also where the database's collation is not deterministic."""
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))

    def exact_padded(self, text: exp.Expr) -> exp.Expr:
        """By the function that writes values of the type, for a reader too; casts call another one."""
        return self.exact(called("TEXTIN", called("BPCHAROUT", text)))

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By bits: digits of base 16 are read where an x is before them."""
        digest = called("ENCODE", called("SHA256", called("CONVERT_TO", text, "UTF8")), "hex")
        digits, bits = called("SUBSTR", digest, 1, 12), exp.DataType.build("BIT(48)", dialect="postgres")
        return exp.cast(exp.cast(exp.paren(exp.DPipe(this=exp.Literal.string("x"), expression=digits)), bits), "BIGINT")

    def hold(self, tables: Sequence[Sequence[str]]) -> str:
        """The lock that a row which is written takes: triggers, rules and owners wait for its end."""
        return f"LOCK TABLE {', '.join(map(self.relation, tables))} IN ROW EXCLUSIVE MODE"

    def readers(self, schema: Sequence[str]) -> str:
        """Roles that may use the schema; those that may read all data may read the source too."""
        name = self.literal(schema[-1])
        return (
            "SELECT COUNT(*) FROM pg_catalog.pg_roles AS r, pg_catalog.pg_namespace AS n "
            f"WHERE n.nspname = {name} AND r.rolname <> CURRENT_USER AND NOT r.rolsuper "
            "AND pg_catalog.left(r.rolname, 3) <> 'pg_' "
            "AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles AS a "
            "WHERE a.rolname = 'pg_read_all_data' AND pg_catalog.pg_has_role(r.oid, a.oid, 'MEMBER')) "
            "AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')"
        )

    def numbers_to(self, count: str) -> str:
        """A series; beside the tables before it without a word like LATERAL, being a function."""
        return f"GENERATE_SERIES(0, {count} - 1)"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Joins that compare NULL too, and counts of different values, by hash.

        IS NOT DISTINCT FROM cannot be hashed, and each row of one side would be looked at beside each row of the other:
        arrays of one value compare it as a value. Both sides have one type, or arrays would not compare.

        What a derived table decides is decided once for each of its rows (see :func:`_decided_once`).
        """
        for join in tree.find_all(exp.Join):
            condition = join.args.get("on")
            if condition is not None:
                join.set("on", replaced(condition, exp.NullSafeEQ, _of_arrays))
        for select in list(tree.find_all(exp.Select)):
            _count_by_hash(select)
        for derived in tree.find_all(exp.Subquery):
            if isinstance(derived.parent, exp.From | exp.Join):
                _decided_once(derived.this)
        return tree


def _of_arrays(same: exp.Expr) -> exp.Expr:
    left, right = (exp.Array(expressions=[side.copy()], bracket_notation=True) for side in (same.this, same.expression))
    return exp.EQ(this=left, expression=right)


def _decided_once(inner: exp.Expr) -> None:
    """Keep a derived table with a CASE from being merged into the query around it.

    The server would write the CASE wherever the query names the column, and decide it for every row of a join: a
    million rows were cut along nine columns in half as much time again. OFFSET 0 skips nothing, and costs nothing.
    """
    if not isinstance(inner, exp.Select) or any(inner.args.get(part) for part in ("group", "distinct", "limit")):
        return
    if any(item.find(exp.Window, exp.AggFunc) for item in inner.selects):
        return
    if any(item.find(exp.Case) for item in inner.selects):
        inner.set("offset", exp.Offset(expression=exp.Literal.number(0)))


_PARTS = "kanon_parts"
_OF_PARTS: Mapping[type[exp.Expr], type[exp.AggFunc]] = {
    exp.Count: exp.Sum, exp.Sum: exp.Sum, exp.Min: exp.Min, exp.Max: exp.Max,
}  # fmt: skip
"""What is asked of a group -> what makes it from the answers of the group's parts."""


def _count_by_hash(select: exp.Select) -> None:
    """COUNT(DISTINCT x) of groups, or of all rows, as a COUNT of their parts by x, which are grouped before.

    The server sorts all rows by what they are grouped by and by x to find what is different, and hashes two groupings.
    A query stays as it is where something else of it is not made from answers of the parts.
    """
    given = {name for name, value in select.args.items() if value}
    inner, group = given & {"from_", "joins", "where"}, select.args.get("group")
    if given - inner - {"with_", "expressions", "group", "having"}:
        return
    if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
        return
    grouped_by = [] if group is None else group.expressions
    aliases = {exp.column(item.args["alias"]): item.this for item in select.selects if isinstance(item, exp.Alias)}
    if any(aliases.get(key, key) != key or isinstance(key, exp.Literal) for key in grouped_by):
        return  # an alias may be what they are grouped by, or a column of its name; a number is the place of one
    asked = [*select.selects, *([select.args["having"].this] if "having" in given else [])]
    own = [found for item in asked for found in item.find_all(exp.AggFunc) if not isinstance(found.parent, exp.Window)]
    counted = {found.this for found in own if isinstance(found.this, exp.Distinct)}
    if len(counted) != 1 or not all(map(_has_parts, own)) or any(item.find(exp.Select) for item in asked):
        return
    keys = [*grouped_by, *counted.pop().expressions]
    parts = {key: f"part{number}" for number, key in enumerate(dict.fromkeys(keys))}
    by = [*parts]

    def part(expression: exp.Expr) -> exp.Column:
        name = parts.setdefault(expression, f"part{len(parts)}")
        return exp.column(exp.to_identifier(name, quoted=True), _PARTS)

    def whole(node: exp.Expr) -> exp.Expr:
        if node in grouped_by:
            return part(node)
        if type(node) not in _OF_PARTS or isinstance(node.parent, exp.Window):
            return node
        if isinstance(node.this, exp.Distinct):
            return exp.Count(this=part(node.this.expressions[0]), big_int=True)
        made = _OF_PARTS[type(node)](this=part(node.copy()))
        if not isinstance(node, exp.Count):
            return made
        number = exp.cast(made, exp.DType.BIGINT)  # a group has a part, and a table may have none
        return number if grouped_by else exp.Coalesce(this=number, expressions=[exp.Literal.number(0)])

    made = [item.copy().transform(whole) for item in asked]
    if any(column.table != _PARTS for item in made for column in item.find_all(exp.Column)):
        return  # of the group, without being what it is grouped by
    grouped = exp.Select(
        **{name: select.args[name] for name in inner},
        expressions=[exp.alias_(question.copy(), name, quoted=True) for question, name in parts.items()],
        group=exp.Group(expressions=[key.copy() for key in by]),
    )
    expressions = [
        exp.alias_(new, old.name, quoted=True) if isinstance(old, exp.Column) else new
        for new, old in zip(made, select.selects, strict=False)
    ]
    for name in inner:
        select.set(name, None)
    select.set("expressions", expressions)
    select.set("from_", exp.From(this=grouped.subquery(exp.to_identifier(_PARTS, quoted=True), copy=False)))
    if grouped_by:
        select.set("group", exp.Group(expressions=[part(key) for key in dict.fromkeys(grouped_by)]))
    if "having" in given:
        select.set("having", exp.Having(this=made[-1]))


def _has_parts(asked: exp.Expr) -> bool:
    """Whether an aggregate of a group can be made from those of its parts by what is counted."""
    if isinstance(asked.parent, exp.Filter) or type(asked) not in _OF_PARTS:
        return False
    different = asked.this
    return not isinstance(different, exp.Distinct) or (isinstance(asked, exp.Count) and len(different.expressions) == 1)
