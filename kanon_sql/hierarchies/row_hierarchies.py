"""Hierarchies given as rows: of a file, a tree, or a table in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError, Problem, have
from kanon_sql.hierarchies.files import TOP, with_top
from kanon_sql.hierarchies.graph import as_tree
from kanon_sql.hierarchies.kind import value_text
from kanon_sql.hierarchies.matching_rows import listed_for
from kanon_sql.spec import Origin, QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Sql

__all__ = ["RowHierarchy", "Site", "loaded_rows", "rows_of", "split_labels"]


@dataclass(frozen=True)
class Site:
    """A column of a raw frequency table that gets a lookup table.

    Attributes:
        index: its number among the sites.
        where: what to call it in messages.
        column: the source's column.
        raw_column: its column in the raw frequency table.
        suffix: of its scratch tables' names.
        hierarchy: its hierarchy.
        chooses: of several parents one may be chosen.
        counts: what the frequency table counts, of the source and nothing else; None where it counts others.
    """

    index: int
    where: str
    column: Column
    raw_column: str
    suffix: str
    hierarchy: QuasiIdentifier
    chooses: bool = False
    counts: Literal["rows", "persons"] | None = None

    @property
    def several(self) -> bool:
        """Whether a value may have several rows, of which one is chosen."""
        return self.chooses and self.hierarchy.parents == "several"


@dataclass(frozen=True)
class RowHierarchy:
    """A hierarchy given as rows.

    Attributes:
        domain: the scratch table that holds them.
        levels: their columns.
        top: the label of the last.
        count: how many they are.
        columns: what the columns of a hierarchy table are called; empty elsewhere.
        given: they themselves, from a file or a tree; None where only the database has them.
    """

    domain: Relation
    levels: int
    top: str
    count: int
    columns: Sequence[str] = ()
    given: Sequence[Sequence[str]] | None = None


def loaded_rows(workspace: Workspace, spec: Origin, sites: Sequence[Site]) -> dict[int, RowHierarchy]:
    """The rows of files and trees, loaded: by the number of their site.

    Raises:
        HierarchyError: a file holds no hierarchy, or values have several parents, and none is chosen here.
    """
    problems = [
        Problem(
            f"{site.where}.parents: of several parents one is chosen by rows and requirements, which only plan, "
            "anonymize and compare do; for anything else give each value one row"
        )
        for site in sites
        if site.hierarchy.parents == "several" and not site.chooses
    ]
    if problems:
        raise HierarchyError(problems)
    loaded = {}
    with workspace.together():
        for site in sites:
            rows = listed_for(spec, site.hierarchy, site.column, site.where, several=site.several)
            if rows is None:
                continue
            given = with_top(rows)
            domain = workspace.table(f"domain{site.suffix}")
            workspace.load(domain, [f"l{level}" for level, _ in enumerate(given[0])], given)
            loaded[site.index] = RowHierarchy(domain, len(given[0]), given[0][-1], len(given), (), given)
    return loaded


def rows_of(workspace: Workspace, spec: Origin, site: Site, raw: Relation, loaded: RowHierarchy | None) -> RowHierarchy:
    """A hierarchy given as rows, of which every value has one.

    Args:
        workspace: where they are.
        spec: its requirements say which of several parents is the best.
        site: the column.
        raw: the raw frequency table.
        loaded: the rows of a file or a tree; None for a hierarchy table.
    """
    rows = _copy_table(workspace, site) if loaded is None else loaded
    if not site.several:
        return rows
    assert isinstance(spec, Spec)  # whose requirements say which parent is the best
    text = value_text(site.column, Sql("found.value"))
    domain, count = as_tree(workspace, spec, site.where, rows.domain, rows.levels - 1, raw, text, site.raw_column)
    workspace.drop(rows.domain)
    return replace(rows, domain=domain, count=count, given=None)


def _copy_table(workspace: Workspace, site: Site) -> RowHierarchy:
    """Copy a hierarchy table as text.

    Raises:
        HierarchyError: it holds no hierarchy.
    """
    named, where = site.hierarchy.table, f"{site.where}.table"
    assert named is not None
    domain, source = workspace.table(f"domain{site.suffix}"), Relation(named)
    names = list(workspace.columns(source))
    workspace.execute("hierarchies/copy", target=domain, table=source, names=names)
    rows, missing, repeated, tops, top = workspace.row("hierarchies/domain_summary", domain=domain, levels=len(names))
    problems = []
    if not rows:
        problems.append(Problem(f"{where}: the hierarchy table has no rows; expected one per value"))
    if missing:
        problems.append(Problem(f"{where}: {have(missing)} a NULL; every level needs a label"))
    if repeated and not site.several:
        problems.append(Problem(f"{where}: {have(repeated, 'value')} more than one row; a value has one"))
    if problems:
        raise HierarchyError(problems)
    if tops == 1 and len(names) > 1:
        return RowHierarchy(domain, len(names), str(top), int(rows), names)
    return RowHierarchy(domain, len(names) + 1, TOP, int(rows), names)


def split_labels(rows: Sequence[Sequence[str]]) -> dict[int, int]:
    """Per level below the last two, how many labels have more than one parent (Samarati 2001, condition C1).

    Args:
        rows: of a hierarchy, top included; texts are the same only if they are so character by character.
    """
    found = {}
    for level in range(len(rows[0]) - 2):
        parents: dict[str, set[str]] = {}
        for row in rows:
            parents.setdefault(row[level], set()).add(row[level + 1])
        found[level] = sum(len(own) > 1 for own in parents.values())
    return found
