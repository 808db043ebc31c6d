"""The labels of rare categories: which values are merged, by what the source's rows say."""

from __future__ import annotations

from kanon_sql.engines import Workspace
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.hierarchies.files import TOP
from kanon_sql.hierarchies.graph import chosen_for
from kanon_sql.hierarchies.kind import value_text
from kanon_sql.hierarchies.row_hierarchies import RowHierarchy, Site
from kanon_sql.spec import Origin, Rare, Spec
from kanon_sql.sql import Relation, Sql

__all__ = ["rare_rows"]


def rare_rows(workspace: Workspace, spec: Origin, site: Site, raw: Relation) -> RowHierarchy:
    """Every value with its label: its own, or the one of the merged values.

    Values are put in order by how many rows have them, or persons, and by their text. Those below the threshold are
    merged, and after them one by one until the merged ones have as many as the threshold together. A person who has
    several of them counts once. NULL keeps a label of its own.

    Args:
        workspace: where.
        spec: its requirements say the threshold where the hierarchy does not.
        site: the column.
        raw: the raw frequency table, of the source and nothing else.

    Raises:
        UnsupportedError: the rows are not those of the source.
        SpecError: nothing says when a value is rare.
        HierarchyError: a value is called like the merged ones.
    """
    if site.counts is None or not isinstance(spec, Spec):
        raise UnsupportedError(
            f"{site.where}: which values are rare depends on the rows of the source, and other rows are counted here; "
            "write the labels into a file (kanon-sql hierarchy --output) and name it: {file: ...}"
        )
    rare: Rare = getattr(site.hierarchy.hierarchy, "rare")  # noqa: B009 - only this kind has it
    least = rare.below or chosen_for(spec)
    if least < 2:
        raise SpecError(
            f"{site.where}.rare: no requirement asks for a size of classes above 1, so no value is rare; add "
            "k_anonymity, or 'below'"
        )
    domain = workspace.table(f"domain{site.suffix}")
    workspace.execute(
        "hierarchies/rare",
        target=domain,
        raw=raw,
        column=site.raw_column,
        text=value_text(site.column, Sql("value")),
        by_person=site.counts == "persons",
        least=least,
        other=rare.other,
    )
    values, named, merged = workspace.row("hierarchies/rare_summary", domain=domain, other=rare.other)
    if named and merged:
        raise HierarchyError(
            f"{site.where}.rare: a value is called like the label of the merged values; choose another for 'other'"
        )
    return RowHierarchy(domain, 3, TOP, int(values))
