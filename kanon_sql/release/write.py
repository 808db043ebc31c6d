"""Write the release under a scratch name and verify what was written.

    write     one pass over the source into a scratch table, rows in random order; or none, see :mod:`write_counted`
    verify    an independent GROUP BY over the written table; a failure drops it

Publishing it is :mod:`kanon_sql.release.publish`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from kanon_sql.engines import SCRATCH_TABLE, Column, Engine, Workspace, open_workspace
from kanon_sql.errors import DatabaseError, VerificationError
from kanon_sql.evaluate import Examination, counted_classes, rows_in_words
from kanon_sql.frequency import count_of, forgets_type
from kanon_sql.hierarchies import computed_value, exact_value, refuse_wrong_columns, value_text
from kanon_sql.release.choice import Choice
from kanon_sql.release.file import (
    WrittenFile,
    file_of,
    formulas_in,
    read_back,
    remove_leftover_files,
    session_table,
    written_file,
)
from kanon_sql.release.guarded_view import guarded_table, view_notes
from kanon_sql.release.write_counted import write_repeated, write_repeated_classes
from kanon_sql.release.write_recoded import refuse_other_cells
from kanon_sql.release.write_source import MARK, UNIT, free_name, outputs_of, released_names, write_from_source
from kanon_sql.spec import Origin, Spec
from kanon_sql.sql import Relation, Sql, exact_text, identifier, slot

__all__ = ["WrittenTable", "in_schema_of", "remove_leftovers", "staged", "staged_release", "verify_view"]


@dataclass(frozen=True)
class WrittenTable:
    """A written and verified release, not yet visible under its name.

    Attributes:
        table: the scratch table that holds it.
        examination: what its classes achieve.
        rows: rows in the table.
        released: rows with generalized values.
        masked: suppressed rows that are in the table, every quasi-identifier masked.
        persons: distinct persons among the released rows, when the spec names a unit.
        note: what the user should know about it, if anything.
        file: the file that holds the release and that ``table`` was read from; None where the table is published.
        formulas: what the user should know of texts in the file that a spreadsheet may run, if anything.
        notes: what the user should know about a view.
    """

    table: Relation
    examination: Examination
    rows: int
    released: int
    masked: int
    persons: int | None
    note: str | None
    file: WrittenFile | None = None
    formulas: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def all_notes(self) -> list[str]:
        """All that the user should know about it."""
        return [*(note for note in (self.note, self.formulas) if note is not None), *self.notes]


def remove_leftovers(engine: Engine, spec: Origin) -> None:
    """Remove what killed runs of a release left, at the beginning of a run, which may be refused before it writes.

    Args:
        engine: with a run open, and the right to write.
        spec: what is to be released.
    """
    if isinstance(spec, Spec) and spec.release_file is not None:
        remove_leftover_files(engine, file_of(spec))
    if spec.release is not None:
        with open_workspace(engine, "") as workspace:
            workspace.remove_leftovers(spec.release)


def in_schema_of(release: tuple[str, ...], name: str) -> Relation:
    """A table in the release's schema."""
    return Relation((*release[:-1], name))


@contextmanager
def staged(workspace: Workspace, release: tuple[str, ...], what: str = "release") -> Iterator[Relation]:
    """A scratch name beside a release, recorded before its table is made; dropped at the end unless it was published.

    Args:
        workspace: where.
        release: the name that the table is to be published under.
        what: what the scratch name ends with; ``release`` for what gets the name.
    """
    target, record = in_schema_of(release, f"kanon_{workspace.run_id}_{what}"), in_schema_of(release, SCRATCH_TABLE)
    workspace.create_shared("engines/scratch/create_record", record)
    workspace.remove_recorded(record)
    made = Relation(workspace.engine.conceal(target.parts))
    workspace.record(target, record)
    try:
        yield made
    finally:
        # What went wrong first is what the user has to know; and where the table was published, it is. What is left is
        # recorded, so that clean finds it.
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            for table in dict.fromkeys((made, target)):
                workspace.execute("engines/scratch/drop", target=table)
            workspace.forget(target, record)


@contextmanager
def staged_release(workspace: Workspace, choice: Choice, what: str = "release") -> Iterator[WrittenTable]:
    """The release under a scratch name, verified; dropped at the end unless it was published, or else recorded.

    Args:
        workspace: where.
        choice: what to write.
        what: what the scratch name ends with; ``release`` for what is published as it is.

    Raises:
        VerificationError: the written table is not what was promised; it was dropped.
    """
    if choice.spec.release_file is not None:
        with _of_the_session(workspace) as target, ExitStack() as until_published:
            yield _write(workspace, choice, target, until_published)
        return
    if choice.spec.release_view is not None:
        yield _read_view(workspace, choice)
        return
    assert choice.spec.release is not None
    with staged(workspace, choice.spec.release, what) as target:
        yield _write(workspace, choice, target, None)


@contextmanager
def _of_the_session(workspace: Workspace) -> Iterator[Relation]:
    """A name for what is copied into a file: a table of the session, which vanishes with it; dropped at the end."""
    target = session_table(workspace.engine, "release")
    try:
        yield target
    finally:
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            workspace.execute("engines/scratch/drop", target=target)


def _write(workspace: Workspace, choice: Choice, target: Relation, until_published: ExitStack | None) -> WrittenTable:
    """Write and verify.

    Args:
        workspace: where.
        choice: what.
        target: the table to write.
        until_published: what ends once the file that the table is copied into was published; None for no file.
    """
    spec, columns, sets = choice.spec, choice.columns, choice.sets
    suppressed_rows = choice.suppressed_rows
    _refuse_more_suppressed(spec, sets.rows, suppressed_rows)
    masks = spec.suppression.style == "mask" and suppressed_rows > 0
    staged = masks or spec.unit is not None or spec.count is not None or bool(spec.computed)
    typed = any(item.as_ == "number" for item in spec.quasi_identifiers.values())
    outputs = outputs_of(choice)
    names = released_names(spec, outputs)
    mark, unit = free_name(MARK, columns), free_name(UNIT, columns)
    extras = ({"masked": mark} if masks else {}) | ({"unit": unit} if spec.unit is not None else {})
    first = workspace.table("staged") if staged else target
    if choice.drawn is not None:
        from kanon_sql.release.differential.mechanism import write_drawn

        workspace.report("writing the release from what was drawn", None)
        write_drawn(
            workspace, first, names=[str(item["name"]) for item in outputs], drawn=choice.drawn, sets=sets,
            node=choice.levels, temporary=staged,
        )  # fmt: skip
    elif choice.vectors is None or staged or typed:
        workspace.report("writing the release: one pass over the source", None)
        write_from_source(workspace, choice, first, outputs, extras, temporary=staged)
    else:
        workspace.report("writing the release from its frequency set", None)
        others = (*spec.sensitive, *spec.keep)
        by_source = [name for name in others if forgets_type(workspace.dialect, columns[name])]
        if choice.mapped is None:
            write_repeated(
                workspace, target, names=names, vectors=choice.vectors, sets=sets, node=choice.levels,
                suppressed=choice.suppressed, typed=by_source,
            )  # fmt: skip
        else:
            write_repeated_classes(
                workspace, target, names=names, members=choice.vectors, sets=sets, mapped=choice.mapped,
                typed=by_source,
            )  # fmt: skip
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
            names=names,
            computed=_computed(choice),
            mark=mark if masks and not keep_masked else None,
            merged=_merged(spec, [str(item["name"]) for item in outputs], staged_columns),
        )
        counted = workspace.row(
            "release/count", table=first, mark=mark if masks else None, unit=None if spec.unit is None else unit
        )
        persons = None if spec.unit is None else int(counted[-1])
    file, found, formulas = None, target, None
    if until_published is not None:
        workspace.report("writing the file and reading it back", None)
        file = until_published.enter_context(written_file(workspace, spec, target))
        found = until_published.enter_context(read_back(workspace, file, target))
        formulas = formulas_in(workspace, file, found)
    workspace.report("verifying the written table", None)
    examination = _verify(
        workspace, choice, found, names,
        expected=sets.rows - (0 if keep_masked else suppressed_rows), masked=suppressed_rows if keep_masked else 0,
        persons_in=(first, unit, None if not masks or keep_masked else (mark, 0)) if spec.unit is not None else None,
    )  # fmt: skip
    return WrittenTable(
        table=found,
        examination=examination,
        rows=examination.rows,
        released=sets.rows - suppressed_rows,
        masked=suppressed_rows if keep_masked else 0,
        persons=persons,
        note=note,
        file=file,
        formulas=formulas,
    )


def _merged(spec: Spec, names: Sequence[str], columns: Mapping[str, Column]) -> dict[str, object] | None:
    """What makes staged rows one, where a row stands for several persons; None where each is one.

    Args:
        spec: says for how many a row stands.
        names: the staged columns that are released.
        columns: the staged columns by name.
    """
    if spec.count is None:
        return None
    others = [name for name in names if name != spec.count]
    return {
        "names": others,
        "exactly": [exact_value(columns[name], "staged") for name in others],
        "persons": count_of(spec, "staged"),
        "count": spec.count,
    }


def _computed(choice: Choice) -> dict[str, Sql]:
    """What is released beside labels, over the staged rows, by the name of its column."""
    return {
        column.name: computed_value(
            column,
            choice.spec.quasi_identifiers[column.of],
            choice.columns[column.of].kind,
            Sql(f"staged.{identifier(column.of)}"),
        )
        for column in choice.spec.computed
    }


def _read_view(workspace: Workspace, choice: Choice) -> WrittenTable:
    """What a guarded view would show now, verified."""
    _refuse_more_suppressed(choice.spec, choice.sets.rows, choice.suppressed_rows)
    table, unit = guarded_table(workspace, choice)
    names = [str(item["name"]) for item in outputs_of(choice)]
    persons = None
    if unit is not None:
        persons = int(workspace.row("release/count", table=table, mark=None, unit=unit)[-1])
    workspace.report("verifying what the view shows", None)
    examination = _verify(
        workspace, choice, table, [*names, *([] if unit is None else [unit])],
        expected=choice.sets.rows - choice.suppressed_rows, masked=0,
        persons_in=None if unit is None else (table, unit, None),
    )  # fmt: skip
    return WrittenTable(
        table=table,
        examination=examination,
        rows=examination.rows,
        released=examination.rows,
        masked=0,
        persons=persons,
        note=None,
        notes=view_notes(workspace, choice),
    )


def verify_view(workspace: Workspace, choice: Choice) -> None:
    """Examine a view as its readers see it; rows may have come or gone since its query was verified.

    Raises:
        VerificationError: it is not what was promised.
    """
    assert choice.spec.release is not None
    view = Relation(choice.spec.release)
    columns = workspace.columns(view)
    if list(columns) != [str(item["name"]) for item in outputs_of(choice)]:
        raise VerificationError("verification: the view does not have the promised columns; it was dropped")
    _refuse_other_labels(workspace, choice, view, None, masked=False)
    if choice.spec.unit is None and not choice.examine(workspace, view, columns, None).passed:
        raise VerificationError("verification: the view does not satisfy the requirements; it was dropped")


def _refuse_more_suppressed(spec: Spec, rows: int, suppressed_rows: int) -> None:
    """See that no recoding, whatever it counted itself, suppresses more rows than the spec allows.

    Raises:
        VerificationError: it does; nothing was written.
    """
    most = spec.suppression.most(rows)
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
    (rows,) = workspace.row(
        "release/count", table=target, mark=None, unit=None, row_persons=count_of(choice.spec, "counted")
    )
    if int(rows) != expected:
        raise VerificationError(
            f"verification: {rows} rows were written where {expected} were expected "
            "(did the source change while it was read?); the table was dropped"
        )
    counted = None
    if choice.mapped is None:
        examined = persons_in is None and choice.needs_classes_only  # who has a unit counts persons
        counted = counted_classes(
            workspace, target, columns, choice.quasi_identifiers, examined=examined,
            count=count_of(choice.spec, "checked"),
        )  # fmt: skip
        _refuse_other_labels(workspace, choice, target, counted, masked=masked > 0)
    else:
        refuse_other_cells(
            workspace, choice.sets, choice.mapped, target, columns, masked, count_of(choice.spec, "checked")
        )
    quasi_identifiers = choice.spec.quasi_identifiers
    refuse_wrong_columns(workspace, choice.spec.computed, quasi_identifiers, choice.columns, target)
    if persons_in is None:
        examination = choice.examine(workspace, target, columns, None, counted=counted)
    else:
        staged, unit, mark = persons_in
        examination = choice.examine(workspace, staged, workspace.columns(staged), unit, mark)
    if not examination.passed or examination.rows != expected:
        failing = ", ".join(item.model.label for item in examination.achieved if item.violating_classes)
        raise VerificationError(
            f"verification: the written table does not satisfy {failing or 'its row count'}; it was dropped"
        )
    return examination


def _refuse_other_labels(
    workspace: Workspace, choice: Choice, target: Relation, counted: Relation | None, *, masked: bool
) -> None:
    """Refuse a table with a cell that is no label of its column's level.

    Args:
        workspace: where.
        choice: what was to be written.
        target: the table.
        counted: its classes, where these were counted; they have every cell of it.
        masked: suppressed rows are in it.
    """
    sets, node = choice.sets, choice.levels
    compiler = workspace.compiler
    branches = [
        compiler.filled(
            "release/labels",
            {
                "attribute": str(lookup.index),
                "written": workspace.quoted(counted or target),
                "cell": compiler.quote(f"q{lookup.index}" if counted else lookup.name),
                "label": compiler.quote(f"l{node[lookup.index]}"),
                "lookup": workspace.quoted(lookup.table),
            },
            value=exact_text(Sql(f"CAST({_as_label(choice, lookup.name)} AS VARCHAR)")),
            masked=masked,
            counted=counted is not None,
            row_persons=count_of(choice.spec, "checked"),
        )
        for lookup in sets.lookups
    ]
    foreign = workspace.query(compiler.union(branches), len(branches))
    for attribute, count in sorted(foreign):
        if count:
            raise VerificationError(
                f"verification: {count} cells of {sets.lookups[attribute].name!r} are not labels of level "
                f"{node[attribute]}; the table was dropped"
            )


def _as_label(choice: Choice, name: str) -> Sql:
    """A cell of the written table as the label that it is; what kept its type is a value, whose label is its text."""
    cell = Sql(f"checked.{slot('cell')}")
    return value_text(choice.columns[name], cell) if choice.spec.quasi_identifiers[name].as_ == "number" else cell
