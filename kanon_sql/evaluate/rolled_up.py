"""The statement that makes the frequency set of a node from that of one of its specializations."""

from __future__ import annotations

from kanon_sql.engines import Workspace
from kanon_sql.frequency import FrequencySets
from kanon_sql.search import Node
from kanon_sql.sql import Relation, Statement, slot

__all__ = ["rolled_up"]


def rolled_up(
    workspace: Workspace, sets: FrequencySets, source: Relation, target: Relation, node: Node, *, values: str | None
) -> Statement:
    """Make a frequency set.

    Args:
        workspace: where it will run.
        sets: the frequency sets of the run.
        source: the specialization's.
        target: what to call the new one.
        node: it.
        values: the sensitive attribute whose values it counts, or the population; None for the classes alone.
    """
    compiler, quote = workspace.compiler, workspace.compiler.quote
    words = [
        compiler.dialect.masked(f"{quote('below')}.{quote(f'code{word}')}", str(mask))
        for word, mask in enumerate(sets.codes.held(node))
    ]
    groups = sets.codes.keys(node, compiler.dialect, "below")
    groups += [quote("value_code")] if values is not None else []
    facts = [quote(fact) for fact in sets.facts[values].all] if values in sets.facts else []
    groups += [quote("unit")] if sets.counting == "unit" else []
    shape = compiler.shape(
        "evaluate/rollup",
        (len(words), len(groups), values is not None, len(facts)),
        lambda: {
            "target": Relation(("kanon_rollup",)),
            "source": Relation(slot="below"),
            "values": values is not None,
            "facts": [slot(f"fact_{position}") for position, _ in enumerate(facts)],
            "counting": sets.counting,
            "ordered": compiler.dialect.orders_sets,
            "words": [slot(f"word_{position}") for position, _ in enumerate(words)],
            "groups": [slot(f"group_{position}") for position, _ in enumerate(groups)],
        },
    )
    fills = {"below": workspace.quoted(source)}
    fills |= {f"word_{position}": word for position, word in enumerate(words)}
    fills |= {f"group_{position}": group for position, group in enumerate(groups)}
    fills |= {f"fact_{position}": fact for position, fact in enumerate(facts)}
    quoted = workspace.quoted(target)
    return compiler.fill("evaluate/rollup", shape, fills, target=quoted)
