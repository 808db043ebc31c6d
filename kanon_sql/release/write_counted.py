"""Write the release from a frequency set: every released row as often as it was counted.

Where nothing is released but the quasi-identifiers and the one sensitive attribute that the search looks at,
a frequency set holds all there is to release, and the source need not be read again.

    blocks    the rows to release, each once, with how often it is to be written; in random order
    repeat    the release: the row of each block so many times

Equal rows lie together in the release, so its order tells no more than its rows do: blocks are grouped by released
values alone and shuffled. Grouped any finer, a block would show which rows of a class share their exact values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.engines import Workspace
from kanon_sql.frequency import FrequencySets
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql

__all__ = ["write_repeated"]

BLOCK = 1_000
"""The most copies of a row in one block: engines may make a list of so many numbers."""


def write_repeated(
    workspace: Workspace,
    target: Relation,
    *,
    names: Sequence[str],
    vectors: Relation,
    sets: FrequencySets,
    node: Node,
    suppressed: Relation | None,
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
    """
    compiler, keyed = workspace.compiler, sets.keyed(node)
    position = {lookup.name: lookup.index for lookup in sets.lookups}
    sensitive = next((name for name in names if name not in position), None)
    blocks = workspace.table("blocks")

    def fill(name: str, table: Relation, count: str, context: Mapping[str, object]) -> None:
        shape = compiler.shape(name, (table.parts,), lambda: {"target": table, **context})
        numbers = compiler.dialect.numbers_to(count)
        assert numbers is not None, "the caller asked holds_all"
        workspace.run(compiler.fill(name, shape, {"numbers": numbers}))

    count = compiler.quote("block_count")
    fill(
        "release/blocks",
        blocks,
        f"{compiler.quote('classes')}.{count}",
        {
            "size": BLOCK,
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
            "sensitive": None if sensitive is None else sets.references[sensitive],
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
    fill("release/repeat", target, f"{compiler.quote('blocks')}.{count}", {"blocks": blocks, "names": names})
    workspace.drop(blocks)
