"""A release that grows at coarser levels: what stands is given the labels above those that it has.

Levels nest, so that a class which stands becomes a part of one class, and a reader who has both versions learns of no
row more than the finer one said. What stands is judged at these levels nevertheless where persons have several rows: a
value that some have in one class, and the others in another, is every person's in the union of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.hierarchies import build_lookups, exact_texts, exact_value
from kanon_sql.release.state import State
from kanon_sql.release.write_source import free_name
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, exact_text, identifier

__all__ = ["Coarser", "coarser_labels", "released_rows"]


@dataclass(frozen=True)
class Coarser:
    """The labels of what stands at other levels.

    Attributes:
        workspace: where.
        spec: what is released.
        state: so far.
        maps: position of a quasi-identifier -> the table of its labels before and after.
    """

    workspace: Workspace
    spec: Spec
    state: State
    maps: Mapping[int, Relation]

    def release(self, standing: Relation) -> Relation:
        """The rows of the release, relabelled, as a scratch table.

        Raises:
            VerificationError: a row has a label that no value under it was released by.
        """
        columns, target = self.workspace.columns(standing), self.workspace.table("relabelled")
        position = {name: index for index, name in enumerate(self.spec.quasi_identifiers)}
        outputs = [
            {"name": name, "value": self._after(position.get(name), Sql(f"standing.{identifier(name)}"))}
            for name in columns
        ]
        labels = {index: exact_value(columns[name], "standing") for name, index in position.items()}
        self._write(target, standing, outputs, labels, released_only=False)
        return target

    def state_rows(self, published: Relation, what: str) -> Relation:
        """What a state remembers of released rows, relabelled, as a scratch table.

        Args:
            published: the rows.
            what: what to call the table.
        """
        target = self.workspace.table(f"relabelled_{what}")
        outputs: list[dict[str, object]] = []
        for number, _ in enumerate(self.state.columns):
            value = Sql(f"standing.{identifier(f'c{number}')}")
            outputs.append({"name": f"c{number}", "value": value, "retired": value})
        labels = {}
        for index, _ in enumerate(self.spec.quasi_identifiers):
            label = Sql(f"standing.{identifier(f'l{index}')}")
            labels[index] = exact_text(Sql(f"CAST({label} AS VARCHAR)"))
            outputs.append({"name": f"l{index}", "value": self._after(index, label), "retired": label})
        for name in ("batch", "row_count"):
            outputs.append({"name": name, "value": Sql(f"standing.{name}"), "retired": Sql(f"standing.{name}")})
        self._write(target, published, outputs, labels, released_only=True)
        return target

    def _after(self, index: int | None, label: Sql) -> Sql:
        return label if index is None or index not in self.maps else Sql(f"{identifier(f'map{index}')}.label_after")

    def _write(
        self,
        target: Relation,
        standing: Relation,
        outputs: Sequence[Mapping[str, object]],
        labels: Mapping[int, Sql],
        *,
        released_only: bool,
    ) -> None:
        maps = [
            {
                "index": index,
                "table": table,
                "label": labels[index],
                "before": exact_text(Sql(f"CAST({identifier(f'map{index}')}.label_before AS VARCHAR)")),
            }
            for index, table in self.maps.items()
        ]
        self.workspace.execute(
            "release/state/relabelled",
            target=target,
            standing=standing,
            outputs=outputs,
            maps=maps,
            released_only=released_only,
        )
        if self.workspace.size([target]) != self.workspace.size([standing]):
            raise VerificationError(
                "verification: the release has labels that are not in its state, so another program has changed "
                "it. This run changed nothing: release again, under another name"
            )


def coarser_labels(
    workspace: Workspace, spec: Spec, state: State, columns: Mapping[str, Column], node: Node
) -> Coarser:
    """The labels of all values that were released, at the levels that they have and at others.

    Args:
        workspace: where; the state is read, and the source is not.
        spec: what is released.
        state: so far.
        columns: the source's columns.
        node: the levels to come.
    """
    apart = workspace.apart("standing_")
    raw = apart.table("raw")
    stored = {
        f"q{index}": replace(columns[name], name=f"c{state.position[name]}")
        for index, name in enumerate(spec.quasi_identifiers)
    }
    values = [exact_value(column, "kanon_source") for column in stored.values()]
    apart.execute("frequency/raw", target=raw, source=state.published, names=list(stored), values=values)
    lookups = build_lookups(apart, spec, dict(columns), raw)
    maps = {}
    for lookup, after in zip(lookups, node, strict=True):
        before = state.node[lookup.name]
        if before != after:
            maps[lookup.index] = apart.table(f"map{lookup.index}")
            apart.execute(
                "release/state/labels_now",
                target=maps[lookup.index],
                lookup=lookup.table,
                before=before,
                after=after,
            )
    return Coarser(workspace, spec, state, maps)


def released_rows(
    workspace: Workspace, state: State, columns: Mapping[str, Column], changes: Relation | None
) -> tuple[Relation, str]:
    """What is released as a source of its own, and the column that says in which batch.

    Equal rows of a person are there once: persons are counted, and how many rows they have tells nothing.

    Args:
        workspace: where.
        state: so far.
        columns: the source's columns.
        changes: what becomes of rows that were released, where some leave now.
    """
    target, batch, names = workspace.table("standing"), free_name("kanon_batch", columns), list(state.columns)
    stored = [replace(columns[name], name=f"c{number}") for number, name in enumerate(names)]
    workspace.execute(
        "release/state/standing",
        target=target,
        names=names,
        published=state.published,
        changes=changes,
        batch=batch,
        exact=exact_texts(stored, "listed"),
    )
    return target, batch
