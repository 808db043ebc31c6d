"""Write the release under a scratch name and verify what was written.

    write     one pass over the source into a scratch table, rows in random order; or none, see :mod:`repeat`
    verify    an independent GROUP BY over the written table; a failure drops it

Publishing it is :mod:`kanon_sql.release.publish`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import SCRATCH_TABLE, Column, Workspace, refuse_incomplete
from kanon_sql.errors import DatabaseError, VerificationError
from kanon_sql.evaluate import Examination, Subject, consistent_with_source, examine, rows_in_words
from kanon_sql.frequency import FrequencySets, LabelSizes, label_sizes
from kanon_sql.hierarchies import exact_value
from kanon_sql.models import PrivacyModel
from kanon_sql.recode import Mapped
from kanon_sql.release.differential.mechanism import Drawn, write_drawn
from kanon_sql.release.write_counted import write_repeated, write_repeated_classes
from kanon_sql.release.write_recoded import join_of, refuse_other_cells
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Relation, Sql, exact_text, render, slot, source_relation

__all__ = ["Choice", "Written", "beside", "staged", "written_release"]

_MARK, _UNIT, _NUMBER = "kanon_masked", "kanon_unit", "kanon_row"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to write: the source at the chosen node.

    Attributes:
        spec: what to release.
        columns: the source's columns by name, in order.
        sets: the frequency sets, for lookups, counts and reference distributions.
        models: the requirements.
        node: the chosen levels; None where they differ by class.
        suppressed: the table of the suppressed classes' packed keys; None when no class is suppressed.
        suppressed_rows: the number of suppressed rows, those for NULL included.
        vectors: a table that holds all that is released, if there is one: a frequency set; of a recoding its classes,
            or the values of the sensitive attribute by vector.
        mapped: which vector is released as which class, where levels differ by class.
        drawn: how many rows of each class are released, where that was drawn.
    """

    spec: Spec
    columns: Mapping[str, Column]
    sets: FrequencySets
    models: Sequence[PrivacyModel]
    node: Node | None
    suppressed: Relation | None
    suppressed_rows: int
    vectors: Relation | None
    mapped: Mapped | None = None
    drawn: Drawn | None = None

    @property
    def levels(self) -> Node:
        """The chosen levels, of a release that has them."""
        assert self.node is not None
        return self.node

    @property
    def quasi_identifiers(self) -> list[str]:
        """Their names, in the spec's order."""
        return list(self.spec.quasi_identifiers)

    @property
    def references(self) -> dict[str, Any]:
        """Per sensitive attribute: the FROM form of its distribution in the source."""
        return {
            name: render("release/stored_reference", table=table, facts=self.sets.facts[name].of_reference)
            for name, table in self.sets.references.items()
        }

    def examine(
        self,
        workspace: Workspace,
        table: Relation,
        columns: Mapping[str, Column],
        unit: str | None,
        mark: tuple[str, int] | None = None,
    ) -> Examination:
        """What the classes of a written table achieve; ``unit`` and ``mark`` as in :class:`Subject`."""
        subject = Subject(
            table=table,
            columns=columns,
            quasi_identifiers=self.quasi_identifiers,
            references=self.references,
            facts=self.sets.facts,
            unit=unit,
            mark=mark,
            label_sizes=self._label_sizes,
            populations=self.populations | self._consistent(workspace, table, columns),
        )
        for name, people in self.sets.populations.items():
            labelled = self.populations[name]
            judged, there = workspace.row("frequency/population/sums", encoded=labelled, people=people)
            refuse_incomplete("release/population_labelled", judged, there, "persons of a population")
        return examine(workspace, subject, self.models)

    def _consistent(self, workspace: Workspace, table: Relation, columns: Mapping[str, Column]) -> dict[str, Sql]:
        """What its rows and the records of the source have of each other, read anew from both, if that is asked for."""
        apart = workspace.apart("consistency_")
        found = consistent_with_source(apart, self.spec, self.models, table, columns, self.columns)
        return {frame: item.frame for frame, item in found.items()}

    @property
    def _label_sizes(self) -> LabelSizes | None:
        """Of the labels at the chosen levels; None where levels differ by class, and no requirement asks for widths."""
        return None if self.node is None else label_sizes(self.sets.lookups, [[level] for level in self.node])

    @property
    def populations(self) -> dict[str, Sql]:
        """Per population that a requirement compares with: the FROM form of it at the chosen levels."""
        if not self.sets.populations:
            return {}
        items = [
            {
                "label": exact_text(Sql(f"CAST(lookup{lookup.index}.l{level} AS VARCHAR)")),
                "table": lookup.table,
                "has_nulls": lookup.has_nulls,
            }
            for lookup, level in zip(self.sets.lookups, self.levels, strict=True)
        ]
        unit = self.spec.unit is not None
        return {
            name: render("release/population_labelled", people=people, items=items, unit=unit)
            for name, people in self.sets.populations.items()
        }


@dataclass(frozen=True)
class Written:
    """A written and verified release, not yet visible under its name.

    Attributes:
        table: the scratch table that holds it.
        examination: what its classes achieve.
        rows: rows in the table.
        released: rows with generalized values.
        masked: suppressed rows that are in the table, every quasi-identifier masked.
        persons: distinct persons among the released rows, when the spec names a unit.
        note: what the user should know about it, if anything.
    """

    table: Relation
    examination: Examination
    rows: int
    released: int
    masked: int
    persons: int | None
    note: str | None


def beside(release: tuple[str, ...], name: str) -> Relation:
    """A table in the release's schema."""
    return Relation((*release[:-1], name))


@contextmanager
def staged(workspace: Workspace, release: tuple[str, ...]) -> Iterator[Relation]:
    """A scratch name beside a release, recorded before its table is made; dropped at the end unless it was published.

    Args:
        workspace: where.
        release: the name that the table is to be published under.
    """
    target, record = beside(release, f"kanon_{workspace.run_id}_release"), beside(release, SCRATCH_TABLE)
    workspace.create_shared("engines/scratch/create_record", record)
    workspace.record(target, record)
    try:
        yield target
    finally:
        # What went wrong first is what the user has to know; and where the table was published, it is. What is left is
        # recorded, so that clean finds it.
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            workspace.execute("engines/scratch/drop", target=target)
            workspace.forget(target, record)


@contextmanager
def written_release(workspace: Workspace, choice: Choice) -> Iterator[Written]:
    """The release under a scratch name, verified; dropped at the end unless it was published, or else recorded.

    Raises:
        VerificationError: the written table is not what was promised; it was dropped.
    """
    assert choice.spec.release is not None
    with staged(workspace, choice.spec.release) as target:
        yield _write(workspace, choice, target)


def _write(workspace: Workspace, choice: Choice, target: Relation) -> Written:
    spec, columns, sets = choice.spec, choice.columns, choice.sets
    suppressed_rows = choice.suppressed_rows
    _refuse_more_suppressed(spec, sets.rows, suppressed_rows)
    masks = spec.suppression.style == "mask" and suppressed_rows > 0
    staged = masks or spec.unit is not None
    outputs = _outputs(choice)
    mark, unit = _free_name(_MARK, columns), _free_name(_UNIT, columns)
    extras = ({"masked": mark} if masks else {}) | ({"unit": unit} if spec.unit is not None else {})
    first = workspace.table("staged") if staged else target
    if choice.drawn is not None:
        workspace.report("writing the release from what was drawn", None)
        names = [str(item["name"]) for item in outputs]
        write_drawn(workspace, target, names=names, drawn=choice.drawn, sets=sets, node=choice.levels)
    elif choice.vectors is None or staged:
        workspace.report("writing the release: one pass over the source", None)
        _write_from_source(workspace, choice, first, outputs, extras, temporary=staged)
    else:
        workspace.report("writing the release from its frequency set", None)
        names = [item["name"] for item in outputs]
        if choice.mapped is None:
            write_repeated(
                workspace, target, names=names, vectors=choice.vectors, sets=sets, node=choice.levels,
                suppressed=choice.suppressed,
            )  # fmt: skip
        else:
            write_repeated_classes(
                workspace, target, names=names, members=choice.vectors, sets=sets, mapped=choice.mapped
            )
    note = None
    persons = None
    keep_masked = masks
    if staged:
        staged_columns = workspace.columns(first)
        if masks:
            # All rows: the masked ones share a class with those that are released at the top.
            examined = choice.examine(workspace, first, staged_columns, None if spec.unit is None else unit)
            keep_masked = examined.passed
            if not keep_masked:
                note = (
                    f"{rows_in_words(suppressed_rows)} suppressed and dropped, not masked: "
                    "with every quasi-identifier masked they would violate the requirement"
                )
        workspace.execute(
            "release/copy",
            target=target,
            staged=first,
            names=[item["name"] for item in outputs],
            mark=mark if masks and not keep_masked else None,
        )
        counted = workspace.row(
            "release/count", table=first, mark=mark if masks else None, unit=None if spec.unit is None else unit
        )
        persons = None if spec.unit is None else int(counted[-1])
    workspace.report("verifying the written table", None)
    examination = _verify(
        workspace, choice, target, [str(item["name"]) for item in outputs],
        expected=sets.rows - (0 if keep_masked else suppressed_rows), masked=suppressed_rows if keep_masked else 0,
        persons_in=(first, unit, None if not masks or keep_masked else (mark, 0)) if spec.unit is not None else None,
    )  # fmt: skip
    return Written(
        table=target,
        examination=examination,
        rows=examination.rows,
        released=sets.rows - suppressed_rows,
        masked=suppressed_rows if keep_masked else 0,
        persons=persons,
        note=note,
    )


def _write_from_source(
    workspace: Workspace,
    choice: Choice,
    target: Relation,
    outputs: list[dict[str, Any]],
    extras: Mapping[str, str],
    *,
    temporary: bool,
) -> None:
    """Write the release in one pass over the source.

    Args:
        workspace: where.
        choice: what.
        target: the table to create.
        outputs: the released columns.
        extras: the names of the columns for the mark and the person, where they are needed.
        temporary: the table is copied afterwards, so that it needs no order and belongs to the session.
    """
    spec, columns, sets = choice.spec, choice.columns, choice.sets
    workspace.execute(
        "release/write",
        target=target,
        temporary=temporary,
        source=source_relation(),
        outputs=outputs,
        extras=extras,
        masked="masked" in extras,
        unit=None if spec.unit is None else exact_value(columns[spec.unit], "kanon_source"),
        suppressed=choice.suppressed,
        recoded=None
        if choice.mapped is None
        else join_of(
            sets,
            choice.mapped,
            columns,
            [item["name"] for item in outputs if item["lookup"] is None],
            _free_name(_NUMBER, columns),
        ),
        keys=[]
        if choice.suppressed is None
        else [Sql(key) for key in sets.codes.from_lookups(choice.levels, PORTABLE, lambda index: f"lookup{index}")],
        lookups=[
            {
                "index": lookup.index,
                "table": lookup.table,
                "value": exact_value(columns[lookup.name], "kanon_source"),
                "has_nulls": lookup.has_nulls,
            }
            for lookup in sets.lookups
        ],
        null_values=[
            exact_value(columns[name], "kanon_source") for name in spec.quasi_identifiers if spec.nulls == "suppress"
        ],
        shuffle=not temporary,
    )


def _outputs(choice: Choice) -> list[dict[str, Any]]:
    """The release's columns in the source's order: generalized, sensitive, kept; nothing else."""
    spec, node = choice.spec, choice.node
    position = {name: index for index, name in enumerate(spec.quasi_identifiers)}
    outputs: list[dict[str, Any]] = []
    for name in choice.columns:
        if name in position:
            level = None if node is None else node[position[name]]
            outputs.append({"name": name, "lookup": position[name], "level": level, "value": None})
        elif name in spec.sensitive or name in spec.keep:
            value = render("release/column", name=name)
            outputs.append({"name": name, "lookup": None, "level": None, "value": value})
    return outputs


def _refuse_more_suppressed(spec: Spec, rows: int, suppressed_rows: int) -> None:
    """See that no recoding, whatever it counted itself, suppresses more rows than the spec allows.

    Raises:
        VerificationError: it does; nothing was written.
    """
    most = spec.suppression.max_rows(rows)
    if suppressed_rows > most:
        raise VerificationError(
            f"verification: {suppressed_rows} of {rows} rows would be suppressed, where at most {most} may be; "
            "nothing was written"
        )


def _verify(
    workspace: Workspace,
    choice: Choice,
    target: Relation,
    names: Sequence[str],
    *,
    expected: int,
    masked: int,
    persons_in: tuple[Relation, str, tuple[str, int] | None] | None,
) -> Examination:
    columns = workspace.columns(target)
    if list(columns) != list(names):
        raise VerificationError("verification: the written table does not have the promised columns; it was dropped")
    (rows,) = workspace.row("release/count", table=target, mark=None, unit=None)
    if int(rows) != expected:
        raise VerificationError(
            f"verification: {rows} rows were written where {expected} were expected "
            "(did the source change while it was read?); the table was dropped"
        )
    if choice.mapped is None:
        _refuse_other_labels(workspace, choice, target, masked=masked > 0)
    else:
        refuse_other_cells(workspace, choice.sets, choice.mapped, target, columns, masked)
    if persons_in is None:
        examination = choice.examine(workspace, target, columns, None)
    else:
        staged, unit, mark = persons_in
        examination = choice.examine(workspace, staged, workspace.columns(staged), unit, mark)
    if not examination.passed or examination.rows != expected:
        failing = ", ".join(item.model.label for item in examination.achieved if item.violating_classes)
        raise VerificationError(
            f"verification: the written table does not satisfy {failing or 'its row count'}; it was dropped"
        )
    return examination


def _refuse_other_labels(workspace: Workspace, choice: Choice, target: Relation, *, masked: bool) -> None:
    """Refuse a table with a cell that is no label of its column's level."""
    sets, node = choice.sets, choice.levels
    compiler = workspace.compiler
    branches = [
        compiler.filled(
            "release/labels",
            {
                "attribute": str(lookup.index),
                "written": workspace.quoted(target),
                "cell": compiler.quote(lookup.name),
                "label": compiler.quote(f"l{node[lookup.index]}"),
                "lookup": workspace.quoted(lookup.table),
            },
            value=exact_text(Sql(f"CAST(checked.{slot('cell')} AS VARCHAR)")),
            masked=masked,
        )
        for lookup in sets.lookups
    ]
    foreign = workspace.query(compiler.union(branches), len(branches))
    for attribute, count in sorted(foreign):
        if count:
            raise VerificationError(
                f"verification: {count} cells of {sets.lookups[attribute].name!r} are no label of level "
                f"{node[attribute]}; the table was dropped"
            )


def _free_name(name: str, columns: Mapping[str, Column]) -> str:
    taken = {column.lower() for column in columns}
    while name in taken:
        name += "_"
    return name
