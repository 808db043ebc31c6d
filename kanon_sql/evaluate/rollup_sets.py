"""The frequency sets that a search rolls up from others: they are made, kept and dropped as questions come.

Which of them pay is known to :mod:`kanon_sql.evaluate.rollup`, which sees no table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from kanon_sql.engines import Workspace
from kanon_sql.evaluate.rollup import Covering, Coverings
from kanon_sql.frequency import FrequencySets, Remembered
from kanon_sql.search import Node
from kanon_sql.sql import Relation, Statement, slot

__all__ = ["RolledUp"]


class RolledUp:
    """The tables of frequency sets at the nodes of a lattice.

    Args:
        workspace: where they are made.
        sets: the frequency sets of the run, which cover every node.
        labels: per quasi-identifier and level, how many generalized values occur.
        remembered: what earlier searches left; sets of theirs are used, and those made here are kept for the next one.
            None where each search makes its own.

    Attributes:
        coverings: which sets there are.
        made: how many were rolled up here, those included that were given up or dropped.
    """

    def __init__(
        self,
        workspace: Workspace,
        sets: FrequencySets,
        labels: Sequence[Sequence[int]],
        remembered: Remembered | None,
    ) -> None:
        self._workspace = workspace
        self._sets = sets
        self._remembered = remembered
        self.coverings = self._made_before() or Coverings(
            self._covering((0,) * len(labels), sets.base, sets.values), labels, workspace.capabilities.set_rows
        )
        if remembered is not None:
            remembered.sets["coverings"] = self.coverings
        self.made = 0
        self._numbers = count()

    def prepare(self, nodes: Sequence[Node]) -> None:
        """Have the frequency sets that a strategy asks for, and those that it asked for before no longer."""
        for covering in self.coverings.withdraw(nodes):
            self._drop(covering)
        for node in nodes:
            if not self.coverings.has(node):
                self.coverings.prepare(self._roll_up(self.coverings.best(node), node))

    def asked(self, nodes: Sequence[Node]) -> None:
        """Build the frequency sets that the questions so far, about these nodes too, would have paid for."""
        self.coverings.asked(nodes)
        while (proposal := self.coverings.proposal()) is not None:
            below, node = proposal
            covering = self._roll_up(below, node)
            if self._remembered is not None:
                for table in (covering.base, *covering.values.values()):
                    self._workspace.keep(table)
            if not self.coverings.add(covering, below):
                self._drop(covering)

    def table(self, source: Relation, node: Node, values: str | None) -> Relation:
        """Make one frequency set, rolled up to a node.

        Args:
            source: that of a specialization.
            node: it.
            values: the sensitive attribute whose values it counts, or the population; None for the classes alone.
        """
        target = self._workspace.table(f"rollup{next(self._numbers)}")
        self._workspace.run(_rolled_up(self._workspace, self._sets, source, target, node, values=values))
        return target

    def _made_before(self) -> Coverings | None:
        """The sets that an earlier search left. What a strategy had asked for has gone with its run."""
        if self._remembered is None:
            return None
        found: Coverings | None = self._remembered.sets.get("coverings")
        if found is not None:
            found.withdraw(())
        return found

    def _covering(self, node: Node, base: Relation, values: Mapping[str, Relation]) -> Covering:
        return Covering(node, base, values, self._workspace.size([base, *values.values()]))

    def _roll_up(self, below: Covering, node: Node) -> Covering:
        """The frequency sets of a node, built from those of one of its specializations."""
        self._sets.codes.refuse_uncovered(below.node, [node])
        self.made += 1
        below.reads += 1
        base = self.table(below.base, node, None)
        values = {name: self.table(table, node, name) for name, table in below.values.items()}
        return self._covering(node, base, values)

    def _drop(self, covering: Covering) -> None:
        for table in (covering.base, *covering.values.values()):
            self._workspace.drop(table)


def _rolled_up(
    workspace: Workspace, sets: FrequencySets, source: Relation, target: Relation, node: Node, *, values: str | None
) -> Statement:
    """The statement that makes a frequency set from that of one of the node's specializations.

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
    known = sets.known.get(values or "", ())
    groups += [quote(name) for name in known]
    facts = [quote(fact) for fact in sets.facts[values].all] if values in sets.facts else []
    groups += [quote("unit")] if sets.counting == "unit" else []
    shape = compiler.shape(
        "evaluate/rollup",
        (len(words), len(groups), values is not None, len(facts), *known),
        lambda: {
            "target": Relation(("kanon_rollup",)),
            "source": Relation(slot="below"),
            "values": values is not None,
            "known": known,
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
