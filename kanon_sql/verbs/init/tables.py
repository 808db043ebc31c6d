"""``init`` of several tables: find how they refer to each other, and write a spec that releases them together.

Foreign keys of the catalog say it, or else names of columns and whether all of their values are keys of another table.
Only counts come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import DatabaseError, Problem, SpecError, counted
from kanon_sql.frequency import no_such_table
from kanon_sql.hierarchies import exact_value
from kanon_sql.spec import PERSON, format_table_name, parse_table_name
from kanon_sql.sql import Relation, Statement
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.draft import usable_columns
from kanon_sql.verbs.init.profile import profile_columns
from kanon_sql.verbs.init.suggest import Suggestion, as_quasi_identifier_of, suggest
from kanon_sql.verbs.init.text import K, as_yaml
from kanon_sql.verbs.run import running

__all__ = ["init_tables"]

MOST_CONSTRAINTS = 100_000
"""More columns of keys in a catalog are an error."""

_ORPHANS = "leave them out in a query, or add the rows they refer to"

_KEY_ENDS = ("id", "no", "nr", "key", "code", "ref")
"""How the name of a column ends that may refer to another table."""


@dataclass
class _Table:
    """One of the tables.

    Attributes:
        name: its name in the spec; ``person`` for that of persons.
        parts: the name parts of the source.
        profiles: what is counted of its columns, by name.
        rows: its rows.
        key: the columns that identify its rows; empty where none are known.
        links: how it refers to others.
    """

    name: str
    parts: tuple[str, ...]
    profiles: Mapping[str, ColumnProfile]
    rows: int
    key: tuple[str, ...] = ()
    links: list[_Link] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """What messages call it."""
        return format_table_name(self.parts)


@dataclass(frozen=True)
class _Link:
    """How one table refers to another.

    Attributes:
        columns: that refer.
        parent: the other table.
        key: its columns.
        found: how that is known, for a comment.
    """

    columns: tuple[str, ...]
    parent: _Table
    key: tuple[str, ...]
    found: str


def init_tables(
    engine: Engine,
    person: str,
    tables: Sequence[str],
    *,
    k: int | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> str:
    """A commented spec that releases several tables together, with how they refer to each other.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        person: the table of persons.
        tables: the tables below it.
        k: of km-anonymity; 5 by default.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        YAML that :meth:`kanon_sql.RelationalSpec.parse` accepts.

    Raises:
        SpecError: a table is not there, no way leads from it to the persons, or several do; keys are not unique, or
            rows refer to none.
    """
    if not tables:
        raise SpecError("tables: none below that of persons; name those whose rows belong to persons")
    if k is not None and k < 1:
        raise SpecError(f"k: expected a whole number of at least 1, got {k}")
    with running(engine, timeout, report):
        found = [_read(engine, name, PERSON if not number else None) for number, name in enumerate([person, *tables])]
        with open_workspace(engine, "", inline=True) as workspace:
            return "\n".join(_Finder(workspace, found).lines(k or K)) + "\n"


def _read(engine: Engine, name: str, called: str | None) -> _Table:
    parts = parse_table_name(name)
    if engine.exists(parts) is None:
        raise SpecError(no_such_table(engine, parts, or_file=False))
    relation = engine.relation(table=parts, query=None, file=None)
    with open_workspace(engine, relation, inline=True) as workspace:
        columns, _ = usable_columns(engine.columns(relation))
        workspace.report(f"profiling {format_table_name(parts)}: one pass that counts", None)
        rows, profiles = profile_columns(workspace, columns)
    return _Table(called or parts[-1], parts, {profile.name: profile for profile in profiles}, rows)


@dataclass(frozen=True)
class _Finder:
    """Finds how tables refer to each other.

    Attributes:
        workspace: where.
        tables: that of persons first.
    """

    workspace: Workspace
    tables: Sequence[_Table]

    def lines(self, k: int) -> Iterator[str]:
        """The lines of the spec."""
        self._declared()
        for table in self.tables:
            table.key = table.key or self._unique(table)
        for table in self.tables[1:]:
            if not table.links:
                table.links = self._guessed(table)
        parents = {table.name: self._parent(table) for table in self.tables[1:]}
        self._refuse_circles(parents)
        self._refuse_bad_keys(parents)
        yield from self._text(parents, k)

    def _declared(self) -> None:
        """What the catalog says of keys."""
        workspace, engine = self.workspace, self.workspace.engine
        query = workspace.dialect.key_catalog
        if query is None:
            return
        try:
            statement = Statement("verbs/init/key_catalog", query, quoted=workspace.dialect.quoted)
            rows = workspace.query(statement, MOST_CONSTRAINTS)
        except DatabaseError:  # an older version, whose catalog has other columns: names and values say it
            return
        fold = workspace.capabilities.folded
        full = {table.name: engine.full_name(table.parts) or table.parts for table in self.tables}
        placed = {tuple(map(fold, full[table.name][-2:])): table for table in self.tables}
        own = {table.name: {fold(name): name for name in table.profiles} for table in self.tables}
        constraints: dict[tuple[str, str, str, str], list[tuple[str | None, ...]]] = {}
        for kind, schema, table, name, column, *other, _ in sorted(rows, key=lambda row: int(row[-1] or 0)):
            key = str(kind), fold(str(schema)), fold(str(table)), str(name)
            constraints.setdefault(key, []).append((str(column), *(None if o is None else str(o) for o in other)))
        primary_first = sorted(constraints.items(), key=lambda item: item[0][0] == "f")
        for (kind, schema, name, _), columns in primary_first:
            of = placed.get((schema, name))
            if of is None or any(fold(str(row[0])) not in own[of.name] for row in columns):
                continue
            listed = tuple(own[of.name][fold(str(row[0]))] for row in columns)
            if kind == "p":
                of.key = listed
                continue
            parent = placed.get((fold(columns[0][1] or ""), fold(columns[0][2] or "")))
            if parent is None or parent is of:
                continue
            names = [row[3] for row in columns]
            referred = parent.key if None in names else tuple(own[parent.name][fold(str(name))] for name in names)
            of.links.append(_Link(listed, parent, referred, "a foreign key"))

    def _unique(self, table: _Table) -> tuple[str, ...]:
        """A column that is unique, with the name of a key."""
        unique = [
            name for name, item in table.profiles.items() if item.rows and item.distinct == item.filled == item.rows
        ]
        named = [name for name in unique if name.casefold().endswith(_KEY_ENDS)]
        after_it = [name for name in named if name.casefold() in _KEY_ENDS or _is_named_after(name, table)]
        return tuple((after_it or named or unique)[:1])

    def _guessed(self, table: _Table) -> list[_Link]:
        """Columns whose names say that they refer to another table, and whose values all do."""
        found: list[_Link] = []
        lost: list[str] = []
        for parent in self.tables:
            if parent is table or len(parent.key) != 1:
                continue
            (key,) = parent.key
            for name in table.profiles:
                if not self._may_refer(table, name, parent, key):
                    continue
                link = _Link((name,), parent, (key,), "its name and values, no foreign key")
                orphans = self._orphans(table, link)
                if orphans:
                    lost.append(
                        f"{table.shown}.{name}: {orphans:,} of {counted(table.rows, 'row')} refer to no row of "
                        f"{parent.shown}"
                    )
                else:
                    found.append(link)
        if not found and lost:
            raise SpecError(
                [Problem(f"{why}; leave them out in a query, or add the rows they refer to") for why in lost]
            )
        return found

    def _may_refer(self, table: _Table, name: str, parent: _Table, key: str) -> bool:
        own, other = table.profiles[name], parent.profiles[key]
        if own.column.kind != other.column.kind:
            return False
        if (name,) == table.key and parent.name != PERSON and not _is_named_after(name, parent):
            return False
        folded, singular = name.casefold(), _singular(parent)
        same = folded == key.casefold() and folded not in _KEY_ENDS
        return same or folded in (singular, f"{singular}_{key}".casefold(), f"{singular}{key}".casefold())

    def _orphans(self, table: _Table, link: _Link) -> int:
        (count,) = self.workspace.row(
            "verbs/init/orphans",
            child=Relation(table.parts),
            parent=Relation(link.parent.parts),
            refers=[exact_value(table.profiles[name].column, "child") for name in link.columns],
            keys=[exact_value(link.parent.profiles[name].column, "parent") for name in link.key],
        )
        return int(count)

    def _parent(self, table: _Table) -> _Link:
        """The one table that a table hangs below.

        Raises:
            SpecError: there is none, or there are several.
        """
        links = {link.parent.name: link for link in table.links}
        for link in list(links.values()):  # who refers to a table and to the one above that does so twice
            for above in link.parent.links:
                if above.parent.name in links and links[above.parent.name] is not link and len(links) > 1:
                    self._refuse_other_ways(table, link, above, links[above.parent.name])
                    del links[above.parent.name]
        if not links:
            raise SpecError(
                f"{table.shown}: no foreign key and no column leads to another of the tables; write person, or parent "
                "and by, into a spec by hand"
            )
        if len(links) > 1:
            named = " and ".join(link.parent.shown for link in links.values())
            raise SpecError(
                f"{table.shown}: it refers to {len(links)} tables, {named}, and a table has one parent; leave one of "
                "them out"
            )
        return next(iter(links.values()))

    def _refuse_other_ways(self, table: _Table, link: _Link, above: _Link, direct: _Link) -> None:
        """Refuse two ways to one row that lead to different ones.

        Raises:
            SpecError: how many rows do so.
        """
        (count,) = self.workspace.row(
            "verbs/init/other_ways",
            child=Relation(table.parts),
            parent=Relation(link.parent.parts),
            refers=[exact_value(table.profiles[name].column, "child") for name in link.columns],
            keys=[exact_value(link.parent.profiles[name].column, "parent") for name in link.key],
            directly=[exact_value(table.profiles[name].column, "child") for name in direct.columns],
            indirectly=[exact_value(link.parent.profiles[name].column, "parent") for name in above.columns],
        )
        if int(count):
            rows, columns = counted(table.rows, "row"), ", ".join(direct.columns)
            raise SpecError(
                f"{table.shown}: {int(count):,} of {rows} refer by {columns} to another row of {direct.parent.shown} "
                f"than by way of {link.parent.shown}; mend them, or leave one of the columns out in a query"
            )

    def _refuse_circles(self, parents: Mapping[str, _Link]) -> None:
        for table in self.tables[1:]:
            seen, at = [table.name], parents[table.name].parent
            while at.name != PERSON:
                if at.name in seen:
                    raise SpecError(
                        f"{len(seen)} tables refer to each other in a circle, {', '.join(seen)}, and none to "
                        f"{self.tables[0].shown}; one of them has to be below it"
                    )
                seen.append(at.name)
                at = parents[at.name].parent

    def _refuse_bad_keys(self, parents: Mapping[str, _Link]) -> None:
        """Refuse keys that are not unique, and rows that refer to none."""
        problems = []
        root = self.tables[0]
        if not root.key:
            problems.append(f"{root.shown}: no column has a different value in each of its {counted(root.rows, 'row')}")
        for table in self.tables[1:]:
            link = parents[table.name]
            (repeated,) = self.workspace.row(
                "verbs/init/repeated",
                table=Relation(link.parent.parts),
                keys=[exact_value(link.parent.profiles[name].column, "own") for name in link.key],
            )
            if int(repeated):
                problems.append(
                    f"{link.parent.shown}: {counted(int(repeated), 'value')} of {', '.join(link.key)}, to which "
                    f"{table.shown} refers, {'stands' if int(repeated) == 1 else 'stand'} in several rows; a key "
                    "identifies one row"
                )
            elif orphans := self._orphans(table, link):
                problems.append(
                    f"{table.shown}: {orphans:,} of {counted(table.rows, 'row')} refer by {', '.join(link.columns)} to "
                    f"no row of {link.parent.shown}; {_ORPHANS}"
                )
        if problems:
            raise SpecError([Problem(problem) for problem in problems])

    # --- The text --------------------------------------------------------------------------

    def _text(self, parents: Mapping[str, _Link], k: int) -> Iterator[str]:
        root = self.tables[0]
        for link in parents.values():
            link.parent.key = link.key
        yield "# A spec of several tables to start from, suggested by counts; no value was looked at."
        yield "# Read every line: names and counts are only hints; you decide what an attacker may know of a person."
        yield "version: 1"
        yield f"person:  # {counted(root.rows, 'row')}"
        yield f"  table: {as_yaml(root.shown)}"
        yield f"  key: {_names(root.key)}"
        yield from self._columns(root, "  ", ())
        yield "tables:"
        for table in self._ordered(parents):
            link = parents[table.name]
            below = f"each below one of {link.parent.shown}: {link.found}"
            yield f"  {as_yaml(table.name)}:  # {counted(table.rows, 'row')}, {below}"
            yield f"    table: {as_yaml(table.shown)}"
            if any(other.parent is table for other in parents.values()):
                yield f"    key: {_names(table.key)}"
            if link.parent is root:
                yield f"    person: {_names(link.columns)}"
            else:
                yield f"    parent: {as_yaml(link.parent.name)}"
                yield f"    by: {_names(link.columns)}"
            yield from self._columns(table, "    ", link.columns)
        yield f"# At least {k} persons share their own values and any one item of the other tables."
        yield "privacy:"
        yield f"  - km_anonymity: {{k: {k}, m: 1}}"
        yield "# At most these shares of the persons, and of the other tables' rows, may be left out."
        yield "suppression: {max_persons: 0.05, max_rows: 0.05}"
        yield "release: {schema: released}  # a schema that is there"

    def _ordered(self, parents: Mapping[str, _Link]) -> list[_Table]:
        """Each table after its parent."""
        found, left = [self.tables[0]], list(self.tables[1:])
        while left:
            ready = [table for table in left if parents[table.name].parent in found]
            found += ready
            left = [table for table in left if table not in ready]
        return found[1:]

    def _columns(self, table: _Table, indent: str, refers: Sequence[str]) -> Iterator[str]:
        """The quasi-identifiers, and in comments what is not released."""
        keys = {*table.key, *refers, *(name for link in table.links for name in link.columns)}
        own = [profile for name, profile in table.profiles.items() if name not in keys]
        items = [_as_known(item) for item in suggest(own)]
        known = [item for item in items if item.role == "quasi_identifier"]
        if known:
            yield f"{indent}quasi_identifiers:"
        for item in known:
            values = counted(item.profile.distinct, "value")
            yield f"{indent}  {as_yaml(item.profile.name)}: {item.hierarchy}  # {values}"
        left = [as_yaml(item.profile.name) for item in items if item.role != "quasi_identifier"]
        if left:
            yield f"{indent}# Not released: {', '.join(left)}"


def _singular(table: _Table) -> str:
    return table.parts[-1].casefold().removesuffix("s")


def _is_named_after(column: str, table: _Table) -> bool:
    return column.casefold().startswith(_singular(table))


def _as_known(item: Suggestion) -> Suggestion:
    """What others may have seen of a person is known: a diagnosis as well as a date."""
    if item.role in ("sensitive", "keep"):
        return as_quasi_identifier_of(item, "known of a person")
    return item


def _names(names: Sequence[str]) -> str:
    return as_yaml(names[0]) if len(names) == 1 else f"[{', '.join(as_yaml(name) for name in names)}]"
