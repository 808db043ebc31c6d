"""Hierarchies in which a value, or a label, has several parents: one of them is chosen for each, from the bottom up.

A graph becomes a tree that the data needs: a round takes one step of bottom-up generalization (Wang, Yu, Chakraborty
2004) over the rows of the column alone. All labels of a level that may still choose, and that have the parent of the
step among theirs, go to it. The step is taken whose rows lose least detail per row that leaves a label of fewer than k
rows, since such a label violates k-anonymity whatever the other columns are; where no row does, what loses least.
"""

from __future__ import annotations

from kanon_sql.engines import Workspace
from kanon_sql.errors import HierarchyError
from kanon_sql.models import models_of
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql

__all__ = ["MOST_PARENTS", "STATEMENTS_A_CHOICE", "as_tree", "chosen_for"]

MOST_PARENTS = 1024
"""How many parents of one level labels may choose from; a round chooses one."""

STATEMENTS_A_CHOICE = 6
"""No round takes more statements: a parent, whether there is one, the choices with it; and what is dropped."""


def chosen_for(spec: Spec) -> int:
    """The size below which a label is to be left: the largest that a requirement asks of a class."""
    return max(model.least_size or 1 for model in models_of(spec))


def as_tree(
    workspace: Workspace, spec: Spec, where: str, domain: Relation, height: int, raw: Relation, text: Sql, column: str
) -> tuple[Relation, int]:
    """Choose one parent for every label.

    Args:
        workspace: where to do it.
        spec: the requirements: k is the largest size of a class that one asks for.
        where: what to call the hierarchy in messages.
        domain: its rows: ``l0`` and so on, several for a value that has several parents.
        height: the top's level.
        raw: a frequency table with the column's values.
        text: a value ``found.value`` as the hierarchy has it.
        column: its column in that table.

    Returns:
        A table like ``domain`` with one row for each value, in which every label has one parent; and its rows.

    Raises:
        HierarchyError: there are too many parents to choose from.
    """
    least = chosen_for(spec)
    suffix = f"of_{domain.parts[-1]}"
    compiler = workspace.compiler
    fills = {"column": compiler.quote(column), "raw": workspace.quoted(raw), "domain": workspace.quoted(domain)}
    climbed = workspace.table(f"climbed0{suffix}")
    workspace.run(compiler.filled("hierarchies/graph/values", fills, target=workspace.quoted(climbed), text=text))
    for level in range(height - 1):
        chosen = _chosen(workspace, where, domain, climbed, level, least, suffix)
        above = workspace.table(f"climbed{level + 1}{suffix}")
        workspace.execute("hierarchies/graph/climbed", target=above, climbed=climbed, chosen=chosen, levels=level + 1)
        for used in (chosen, climbed):
            workspace.drop(used)
        climbed = above
    (rows,) = workspace.row("hierarchies/graph/count", table=climbed)
    return climbed, int(rows)


def _chosen(
    workspace: Workspace, where: str, domain: Relation, climbed: Relation, level: int, least: int, suffix: str
) -> Relation:
    """The parent of every label of a level.

    Raises:
        HierarchyError: there are too many parents to choose from.
    """
    edges = workspace.table(f"edges{level}{suffix}")
    workspace.execute("hierarchies/graph/edges", target=edges, domain=domain, climbed=climbed, level=level)
    (parents,) = workspace.row("hierarchies/graph/parents", edges=edges)
    if parents > MOST_PARENTS:
        raise HierarchyError(
            f"{where}: labels of level {level} have {parents} parents to choose from, one a round, and at most "
            f"{MOST_PARENTS} are possible; give values one parent where they need no choice"
        )
    chosen = workspace.table(f"chosen{level}_0{suffix}")
    workspace.execute("hierarchies/graph/only", target=chosen, edges=edges)
    for number in range(1, int(parents) + 1):
        best, after = (
            workspace.table(f"best{level}_{number}{suffix}"),
            workspace.table(f"chosen{level}_{number}{suffix}"),
        )
        workspace.execute("hierarchies/graph/best", target=best, edges=edges, chosen=chosen, least=least)
        (found,) = workspace.row("hierarchies/graph/count", table=best)
        if found:
            workspace.execute("hierarchies/graph/chosen", target=after, edges=edges, chosen=chosen, best=best)
        for used in (best, *([chosen] if found else [])):
            workspace.drop(used)
        if not found:
            break
        chosen = after
    workspace.drop(edges)
    return chosen
