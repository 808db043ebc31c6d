"""Write the release from a frequency set: every released row as often as it was counted.

Where nothing is released but the quasi-identifiers and the one sensitive attribute that the search looks at,
a frequency set holds all there is to release, and the source need not be read again. The same holds of the classes of
a recoding.

    blocks    the rows to release, each once, with how often it is to be written; in random order
    typed     the release without rows, where a column of the source has to say what its values' type is
    repeat    the release: the row of each block this many times

Equal rows lie together in the release, so its order tells no more than its rows do: blocks are grouped by released
values alone and shuffled. Grouped any finer, a block would show which rows of a class share their exact values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon_sql.engines import Workspace
from kanon_sql.frequency import FrequencySets
from kanon_sql.recode import Mapped
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql, source_relation

__all__ = ["write_repeated", "write_repeated_classes"]

BLOCK = 1_000
"""The most copies of a row in one block: engines may make a list of this many numbers."""


def write_repeated(
    workspace: Workspace,
    target: Relation,
    *,
    names: Sequence[str],
    vectors: Relation,
    sets: FrequencySets,
    node: Node,
    suppressed: Relation | None,
    typed: Sequence[str],
) -> None:
    """Write the release of a node.

    Args:
        workspace: where.
        target: the table to create.
        names: the released columns, in order.
        vectors: a frequency set that covers the node: over the values of the sensitive attribute if that is released.
        sets: the lookups and the reference tables that its codes stand for.
        node: the chosen levels.
        suppressed: the table of the suppressed classes' packed keys; None when no class is suppressed.
        typed: the released columns whose type only the source knows.
    """
    keyed = sets.keyed(node)
    position = {lookup.name: lookup.index for lookup in sets.lookups}
    _write(
        workspace,
        target,
        names,
        typed,
        "release/blocks",
        "classes",
        {
            "vectors": vectors,
            "lookups": [
                {
                    "index": index,
                    "table": sets.lookups[index].table,
                    "level": node[index],
                    "code": Sql(sets.codes.code(index, node[index], PORTABLE, "classes")),
                    "of_lookup": Sql(sets.codes.from_lookup(index, node[index], PORTABLE)),
                }
                for index in keyed
            ],
            "sensitive": _sensitive(sets, names),
            "outputs": [
                {"name": name, "index": position.get(name), "top": None}
                if position.get(name) in (None, *keyed)
                else {"name": name, "index": None, "top": sets.lookups[position[name]].top}
                for name in names
            ],
            "suppressed": suppressed,
            "words": [
                {"name": f"code{word}", "key": Sql(key)}
                for word, key in zip(sets.codes.keyed(node), sets.codes.keys(node, PORTABLE, "vectors"), strict=True)
            ],
        },
    )


def write_repeated_classes(
    workspace: Workspace,
    target: Relation,
    *,
    names: Sequence[str],
    members: Relation,
    sets: FrequencySets,
    mapped: Mapped,
    typed: Sequence[str],
) -> None:
    """Write the release of a recoding.

    Args:
        workspace: where.
        target: the table to create.
        names: the released columns, in order.
        members: the values of the sensitive attribute by vector if that is released, else the classes.
        sets: the lookups and the reference tables.
        mapped: the recoding.
        typed: the released columns whose type only the source knows.
    """
    position = {lookup.name: lookup.index for lookup in sets.lookups}
    context = {
        "outputs": [{"name": name, "index": position.get(name)} for name in names],
        "classes": mapped.classes,
        "classed": mapped.classed,
        "members": members,
        "sensitive": _sensitive(sets, names),
    }
    _write(workspace, target, names, typed, "release/recoded_blocks", "counted", context)


def _sensitive(sets: FrequencySets, names: Sequence[str]) -> Relation | None:
    """The values that the codes of the released sensitive attribute stand for; None where none is released."""
    quasi_identifiers = {lookup.name for lookup in sets.lookups}
    return next((sets.references[name] for name in names if name not in quasi_identifiers), None)


def _write(
    workspace: Workspace,
    target: Relation,
    names: Sequence[str],
    typed: Sequence[str],
    template: str,
    counted: str,
    context: Mapping[str, object],
) -> None:
    """Write the rows of blocks, each this many times.

    Args:
        workspace: where.
        target: the table to create.
        names: the released columns, in order.
        typed: those of them whose type only the source knows.
        template: what makes the blocks.
        counted: what it calls the relation with their number.
        context: what else it needs.
    """
    compiler, blocks = workspace.compiler, workspace.table("blocks")

    def fill(name: str, table: Relation, counted: str, given: Mapping[str, object]) -> None:
        shape = compiler.shape(name, (table.parts,), lambda: {"target": table, **given})
        numbers = compiler.dialect.numbers_to(f"{compiler.quote(counted)}.{compiler.quote('block_count')}")
        assert numbers is not None, "the caller asked holds_all"
        workspace.run(compiler.fill(name, shape, {"numbers": numbers}))

    fill(template, blocks, counted, {"size": BLOCK, **context})
    if typed:
        statement = compiler.statement(
            "release/typed", target=target, blocks=blocks, names=names, typed=typed, source=source_relation()
        )
        workspace.run(replace(statement, scans=0))  # it reads no row
    fill("release/repeat", target, "blocks", {"blocks": blocks, "names": names, "insert": bool(typed)})
    workspace.drop(blocks)
