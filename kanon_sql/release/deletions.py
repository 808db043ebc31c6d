"""Rows that leave a release that grows, so that no reader can tell which of them had to.

Anyone who subtracts a version from the one before sees what has gone. So rows go by classes of the batch that they were
released in, since that is what a reader can distinguish: k of a class at least, of which some had to and others were
drawn, and k or none stay. Where values are protected or persons have several rows, the class of the batch goes
whole. What has gone is never released again, although the source may still have it.

A state knows rows by their values alone. Where equal rows were released in several batches, which of them has left
the source is not known, so that all of these classes give rows away; and a row that waits is taken first, so that what
was released once is never taken for what was not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.hierarchies import exact_texts, exact_value, refuse_blank_ends
from kanon_sql.models import models_of
from kanon_sql.release.identity import refuse_other_types
from kanon_sql.release.increments import protects_values
from kanon_sql.release.state import State
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, source_relation

__all__ = ["Deletions", "departures_of", "leaving_rows"]


@dataclass(frozen=True)
class Deletions:
    """What leaves.

    Attributes:
        workspace: where.
        spec: what is released.
        columns: the source's columns.
        state: before.
        leaving: rows that leave the source.
        waiting: the rows that still wait.
        groups: the classes of batches that rows go from.
        changes: what becomes of the state.
        removed: what is to be taken out of the release.
        removed_rows: how many rows that is.
    """

    workspace: Workspace
    spec: Spec
    columns: Mapping[str, Column]
    state: State
    leaving: int
    waiting: Relation
    groups: Relation
    changes: Relation
    removed: Relation
    removed_rows: int

    def deleted_rows(self, release: Relation) -> Relation:
        """Where the rows stand that are to be taken out.

        Raises:
            VerificationError: the release does not have them.
        """
        workspace, target = self.workspace, self.workspace.table("deleted_rows")
        workspace.execute(
            "release/state/deleted_rows",
            target=target,
            release=release,
            removed=self.removed,
            row_id=workspace.capabilities.row_id,
            names=self.names,
            shown=self._shown(workspace.columns(release)),
        )
        if workspace.size([target]) != self.removed_rows:
            self._refuse_lack()
        return target

    def take_out(self, release: Relation, deleted_rows: Relation) -> None:
        """Take the rows out of the release in its place, and see that k or none stays of each class."""
        workspace = self.workspace
        workspace.execute(
            "release/state/take_out", release=release, deleted_rows=deleted_rows, row_id=workspace.capabilities.row_id
        )
        self.refuse_small(release)

    def thinned(self, release: Relation) -> Relation:
        """The release without the rows, as a scratch table.

        Raises:
            VerificationError: the release does not have them.
        """
        workspace, target = self.workspace, self.workspace.table("thinned")
        columns = workspace.columns(release)
        workspace.execute(
            "release/state/thinned",
            target=target,
            release=release,
            removed=self.removed,
            names=self.names,
            columns_shown=list(columns),
            shown=self._shown(columns),
        )
        (there,) = workspace.row("release/count", table=release, mark=None, unit=None)
        if int(there) - workspace.size([target]) != self.removed_rows:
            self._refuse_lack()
        self.refuse_small(target)
        return target

    def refuse_small(self, release: Relation) -> None:
        """See that the classes which rows were taken out of are as large as the spec wants, by the release's rows.

        Raises:
            VerificationError: one is not.
        """
        columns = self.workspace.columns(release)
        smallest, _ = self.workspace.row(
            "release/state/touched",
            release=release,
            groups=self.groups,
            labelled=list(self.spec.quasi_identifiers),
            shown=[exact_value(columns[name], "standing") for name in self.spec.quasi_identifiers],
        )
        k = least_rows(self.spec)
        if smallest is not None and self.spec.unit is None and int(smallest) < k:
            raise VerificationError(
                f"verification: a class that rows were taken out of would have fewer than {k} rows; nothing was changed"
            )

    @property
    def names(self) -> list[Sql]:
        """What the released columns are called where they are compared."""
        return [Sql(f"v{number}") for number, _ in enumerate(released_columns(self.spec, self.state))]

    def _shown(self, columns: Mapping[str, Column]) -> list[Sql]:
        return [exact_value(columns[name], "standing") for name in released_columns(self.spec, self.state)]

    def _refuse_lack(self) -> None:
        raise VerificationError(
            "verification: the release does not have the rows that its state records, so another program has "
            "changed it. This run changed nothing: release again, under another name"
        )


def released_columns(spec: Spec, state: State) -> list[str]:
    """The columns that a release shows: quasi-identifiers first, then what is shown as it is."""
    shown = {*spec.sensitive, *spec.keep}
    return [*spec.quasi_identifiers, *(name for name in state.columns if name in shown)]


def least_rows(spec: Spec) -> int:
    """The rows or persons that every class has at least; 1 where no requirement says so."""
    return max([1, *(model.least_size for model in models_of(spec) if model.least_size is not None)])


def leaving_rows(workspace: Workspace, state: State, columns: Mapping[str, Column]) -> Relation:
    """The rows of the workspace's source, each different one once, with a number.

    Raises:
        SpecError: it lacks a column, or one is of another type than the state knows.
    """
    missing = [name for name in state.columns if name not in columns]
    if missing:
        raise SpecError(
            f"--deleted: the table has no column {missing[0]!r}; expected all columns that the spec names, whose "
            "values identify a row"
        )
    refuse_other_types(state, columns, state.columns, "--deleted")
    texts = exact_texts([columns[name] for name in state.columns], "checked")
    refuse_blank_ends(workspace, source_relation(), texts, "the deleted rows")
    target = workspace.table("leaving")
    workspace.execute(
        "release/state/leaving",
        target=target,
        names=list(state.columns),
        source=source_relation(),
        exact=exact_texts([columns[name] for name in state.columns], "kanon_source"),
    )
    return target


def departures_of(
    workspace: Workspace, spec: Spec, state: State, leaving: Relation, columns: Mapping[str, Column]
) -> Deletions:
    """What has to go when rows leave the source, and what goes with it.

    Args:
        workspace: where.
        spec: what is released.
        state: so far.
        leaving: the rows, of :func:`leaving_rows`.
        columns: the source's columns.

    Raises:
        SpecError: the state does not know some of the rows, or who comes back would not be known again.
    """
    if protects_values(spec) and spec.unit is None:
        raise SpecError(
            "--deleted: a requirement protects sensitive values, and a deleted row may come back changed, in "
            "another class: an attacker could infer the values that both classes have in common, and no column "
            "identifies the person here. Name the person's column as unit, so that a person who was released is "
            "not released again; or add rows of new persons only"
        )
    names, labelled = list(state.columns), list(spec.quasi_identifiers)

    def exact(table: str) -> list[Sql]:
        return [exact_value(replace(columns[name], name=f"c{number}"), table) for number, name in enumerate(names)]

    def texts(table: str) -> list[Sql]:
        own = [replace(columns[name], name=f"c{number}") for number, name in enumerate(names)]
        return exact_texts(own, table)

    made = {
        name: workspace.table(name)
        for name in ("matched", "waited", "groups", "members", "going", "changes", "removed", "left")
    }
    workspace.execute(
        "release/state/matched",
        target=made["matched"],
        published=state.published,
        leaving=leaving,
        labelled=labelled,
        remembered=exact("published"),
        asked=exact("leaving"),
    )
    workspace.execute(
        "release/state/waited",
        target=made["waited"],
        waiting=state.waiting,
        leaving=leaving,
        remembered=exact("waiting"),
        asked=exact("leaving"),
    )
    asked, unknown = workspace.row(
        "release/state/unknown", leaving=leaving, matched=made["matched"], waited=made["waited"]
    )
    if int(unknown):
        raise SpecError(
            f"--deleted: {int(unknown):,} of {int(asked):,} rows were not taken before, or occur more often than "
            "they were taken; a row is identified by its values in all columns that the spec names"
        )
    whole = spec.unit is not None or protects_values(spec)
    workspace.execute(
        "release/state/groups",
        target=made["groups"],
        published=state.published,
        matched=made["matched"],
        labelled=labelled,
        k=None if whole else least_rows(spec),
        whole_until=state.whole_until,
    )
    workspace.execute(
        "release/state/members",
        target=made["members"],
        names=names,
        labelled=labelled,
        published=state.published,
        groups=made["groups"],
        leaving=leaving,
        matched=made["matched"],
        exact=texts("listed"),
    )
    workspace.execute(
        "release/state/going", target=made["going"], names=names, labelled=labelled, members=made["members"]
    )
    workspace.execute(
        "release/state/changes",
        target=made["changes"],
        names=names,
        labelled=labelled,
        going=made["going"],
        leaving=leaving,
        waited=made["waited"],
    )
    numbers = state.position
    labels = [exact_value(Column(f"l{index}", "VARCHAR", "text"), "going") for index, _ in enumerate(labelled)]
    others = [
        exact_value(replace(columns[name], name=f"c{numbers[name]}"), "going")
        for name in released_columns(spec, state)[len(labelled) :]
    ]
    shown = [*labels, *others]
    workspace.execute(
        "release/state/removed",
        target=made["removed"],
        names=[Sql(f"v{number}") for number, _ in enumerate(shown)],
        shown=shown,
        going=made["going"],
    )
    (removed,) = workspace.row("release/state/sums", removed=made["removed"])
    workspace.execute(
        "release/state/still_waiting",
        target=made["left"],
        names=names,
        waiting=state.waiting,
        leaving=leaving,
        same=exact("waiting"),
        remembered=exact("placed"),
        asked=exact("leaving"),
    )
    return Deletions(
        workspace=workspace,
        spec=spec,
        columns=columns,
        state=state,
        leaving=int(asked),
        waiting=made["left"],
        groups=made["groups"],
        changes=made["changes"],
        removed=made["removed"],
        removed_rows=int(removed),
    )
