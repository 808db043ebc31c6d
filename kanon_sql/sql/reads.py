"""What a query reads, as its text says: which tables and how, and whether it gives the same rows each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

__all__ = ["Read", "reads_of", "ties_of", "unstable_parts", "view_queries"]


@dataclass(frozen=True, slots=True)
class Read:
    """One table, view or table function that a query names.

    Attributes:
        parts: its name; of a table function, its name alone.
        final: it is read with FINAL, by which ClickHouse merges the versions of a row.
        only: it is read with ONLY, by which PostgreSQL leaves out the tables that inherit from it.
        history: it is read with FOR SYSTEM_TIME and more than one moment, so that a row comes in all its versions.
        function: it is a table function.
    """

    parts: tuple[str, ...]
    final: bool = False
    only: bool = False
    history: bool = False
    function: bool = False


def reads_of(tree: exp.Expr) -> list[Read]:
    """What a query names behind FROM, JOIN and IN; its common table expressions are not among it.

    Args:
        tree: the query.
    """
    found = dict.fromkeys(read for table in tree.find_all(exp.Table) if (read := _read(table)) is not None)
    for item in tree.find_all(exp.In):
        field = item.args.get("field") or item.args.get("expression")
        if isinstance(field, exp.Column) and not _is_cte(field, field.name):  # ClickHouse takes a table's name there
            found[Read(tuple(part.name for part in field.parts))] = None
    return list(found)


def _read(table: exp.Table) -> Read | None:
    final = isinstance(table.parent, exp.Final)
    if isinstance(table.this, exp.Func):
        called = table.this
        name = called.name if isinstance(called, exp.Anonymous) else called.sql_name()
        return Read((name.lower(),), final=final, function=True)
    parts = tuple(part.name for part in table.parts)
    if not all(parts) or (len(parts) == 1 and _is_cte(table, parts[0])):
        return None
    version = table.args.get("version")
    history = isinstance(version, exp.Version) and str(version.args.get("kind")).upper() != "AS OF"
    return Read(parts, final=final, only=bool(table.args.get("only")), history=history)


def _is_cte(node: exp.Expr, name: str) -> bool:
    """Whether a name means a common table expression where it stands; in that of ``d`` itself, ``d`` is a table."""
    below, above = node, node.parent
    while above is not None:
        with_ = above.args.get("with_")
        if isinstance(with_, exp.With):
            seen = [item.alias.lower() for item in with_.expressions]
            if below is with_ and not with_.args.get("recursive"):
                inside = next(
                    index for index, item in enumerate(with_.expressions) if any(part is node for part in item.walk())
                )
                seen = seen[:inside]
            if name.lower() in seen:
                return True
        below, above = above, above.parent
    return False


def unstable_parts(tree: exp.Expr, repeatable_samples: str) -> list[str]:
    """What in a query gives other rows each time that it is read, in words.

    Args:
        tree: the query.
        repeatable_samples: which samples of a table are the same each time: ``none``, ``seeded`` or ``all``.
    """
    found = []
    for sample in tree.find_all(exp.TableSample):
        same = repeatable_samples == "all" or (repeatable_samples == "seeded" and sample.args.get("seed") is not None)
        if not same:
            found.append("a sample of a table")
    for query in tree.find_all(exp.Query):
        if query.args.get("order") is not None or _has_one_row(query):
            continue
        if _cuts(query):
            found.append("LIMIT without ORDER BY")
        distinct = query.args.get("distinct")
        if isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None:
            found.append("DISTINCT ON without ORDER BY")
    return list(dict.fromkeys(found))


def ties_of(tree: exp.Expr) -> list[str]:
    """What in a query depends on an order in which rows may tie, in words: where they do, it may give other rows.

    Args:
        tree: the query.
    """
    found = []
    for query in tree.find_all(exp.Query):
        order, distinct = query.args.get("order"), query.args.get("distinct")
        picks = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
        if order is not None and (picks or _cuts(query)) and not _is_total(query, order):
            found.append("DISTINCT ON" if picks else "LIMIT")
    for window in tree.find_all(exp.Window):
        if isinstance(window.this, exp.RowNumber | exp.Ntile):
            found.append(f"{window.this.sql_name()}()")
    return list(dict.fromkeys(found))


def _cuts(query: exp.Query) -> bool:
    """Whether it leaves out rows by their places alone."""
    if isinstance(query.parent, exp.Exists):
        return False
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if limit is None:
        return offset is not None and offset.expression != exp.Literal.number(0)
    count = limit.args.get("expression") or limit.args.get("count")
    if isinstance(count, exp.Literal) and count.name == "0":
        return False
    options = limit.args.get("limit_options")
    return options is None or not options.args.get("with_ties")


def _has_one_row(query: exp.Query) -> bool:
    """Whether it is made of aggregates of all rows."""
    if not isinstance(query, exp.Select) or query.args.get("group") is not None:
        return False
    return bool(query.selects) and all(
        item.find(exp.AggFunc) is not None and item.find(exp.Window) is None for item in query.selects
    )


def _is_total(query: exp.Query, order: exp.Order) -> bool:
    """Whether all columns are ordered by, so that rows that tie are the same."""
    keys = [item.this if isinstance(item, exp.Ordered) else item for item in order.expressions]
    if any(isinstance(key, exp.Var) and key.name.upper() == "ALL" for key in keys):
        return True
    if any(isinstance(item, exp.Star) or item.is_star for item in query.selects):
        return False
    by_place = {int(key.name) for key in keys if key.is_int}
    by_text = {key.sql() for key in keys} | {key.name for key in keys if isinstance(key, exp.Column)}
    return all(
        place in by_place or item.alias_or_name in by_text or item.unalias().sql() in by_text
        for place, item in enumerate(query.selects, 1)
    )


def view_queries(trees: list[exp.Expr | None]) -> Iterator[exp.Expr]:
    """The queries of a view's text, which an engine shows with CREATE VIEW or without it."""
    for tree in trees:
        if isinstance(tree, exp.Query):
            yield tree
        elif isinstance(tree, exp.Create) and isinstance(tree.expression, exp.Expression):
            yield tree.expression
