"""Examine a table as it is: group it by its quasi-identifiers, no matter who wrote it.

The same examination verifies a release before it is published and answers ``check``. It
reads the table itself, never the frequency sets that the search used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.evaluate.classes import (
    Frames,
    checks_persons,
    conditions,
    flagged_classes,
    is_alone,
)
from kanon_sql.evaluate.examination import (
    Achieved,
    Examination,
    achieved_context,
    read_examination,
    size_edges,
    size_number,
)
from kanon_sql.evaluate.label_widths import LabelWidths, judge_widths
from kanon_sql.evaluate.table_combinations import TableCombinations, combinations_of_table, rows_with_rare
from kanon_sql.frequency import LabelSizes, ValueFacts, text_of
from kanon_sql.hierarchies import exact_texts, exact_value, refuse_blank_ends, shown_keys
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Count, Document
from kanon_sql.sql import Relation, Sql, identifier, literal, relation, render

__all__ = [
    "Failing",
    "Subject",
    "counted_classes",
    "examine",
    "failing_classes",
    "groupings",
    "reference_in",
    "refuse_other_kind",
    "table_context",
    "table_frames",
]


_WRITTEN = ("text", "other")
"""Kinds whose values are compared as text, exactly."""

_EXACT = ("integer", "decimal")
"""Kinds whose values are the same number, or not, whichever of the two they are."""


@dataclass(frozen=True)
class Failing(Document):
    """A class that violates a requirement: shown only to a user who asked for its values.

    Attributes:
        values: column -> value as text; None for NULL.
        rows: rows in it.
        violates: the labels of the requirements that it violates.
    """

    values: Mapping[str, str | None] = field(repr=False)
    rows: Count
    violates: Sequence[str]


def groupings(models: Sequence[PrivacyModel]) -> dict[tuple[str, ...] | None, list[PrivacyModel]]:
    """The requirements by what their classes are made by; None for the quasi-identifiers of the spec, first."""
    found: dict[tuple[str, ...] | None, list[PrivacyModel]] = {None: []}
    for model in models:
        found.setdefault(model.quasi_identifiers, []).append(model)
    return found


def refuse_other_kind(workspace: Workspace, own: Column, original: Column) -> None:
    """Refuse to look up values of one kind in a distribution of another.

    Databases would cast one of them: 1 is found as '1' and as '01' then, and its rows would be counted twice.

    Args:
        workspace: where they are compared.
        own: the attribute in the table.
        original: the attribute where its distribution is taken from.

    Raises:
        SpecError: the kinds differ.
    """
    kinds = {own.kind, original.kind}
    if len(kinds) == 1 or kinds <= set(_WRITTEN) or kinds <= set(_EXACT):
        return
    if own.kind == "other" and not workspace.dialect.typed:  # CREATE TABLE AS forgets what dates are
        return
    raise SpecError(
        f"{own.name!r} is {own.type} in the table and {original.type} in the source that it is compared with: which "
        "of their values are the same is not known; cast one of them in a view"
    )


def reference_in(
    workspace: Workspace,
    name: str,
    table: Relation,
    facts: ValueFacts,
    unit: Column | None,
    count: Sql | None = None,
) -> Sql:
    """A FROM form of a sensitive attribute's distribution in a table, with the facts of its values.

    A scratch table, so that it stands in front of the statements that read it: inside them, and twice, it
    would nest deeper than SQLite's parser goes.

    Raises:
        SpecError: its values are ranked as an enumeration lists them, and the distribution's type lists others.
    """
    if facts.ranked and facts.labels is not None and facts.column.labels != facts.labels:
        raise SpecError(
            f"t_closeness: distance: ordered: {facts.column.name!r} is an enumeration, and the one that it is compared "
            "with lists other labels, or lists them in another order; give both columns one type"
        )
    target = workspace.table(name)
    counts = render(
        "evaluate/examine/counts",
        table=table,
        value=exact_value(facts.column, "original"),
        unit=None if unit is None else exact_value(unit, "original"),
        row_persons=count,
    )
    workspace.execute(
        "evaluate/examine/reference",
        target=target,
        value_facts=facts.value_facts(),
        value_counts=facts.value_counts(counts),
    )
    return relation(target)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A table as it is examined.

    Attributes:
        table: the table.
        columns: its columns by name.
        quasi_identifiers: the columns that classes are grouped by.
        references: per sensitive attribute that a model compares with one: the reference distribution.
        facts: per sensitive attribute: what else the models ask of its values.
        unit: count distinct values of this column instead of rows.
        mark: examine only rows where this column has this number.
        own_references: the attributes whose reference was made of this very table, so that it has all of its values.
        label_sizes: of the labels that it may have, where a requirement asks how wide these are.
        populations: per frame of a model's own, such as a population: a FROM form of it by the table's classes.
        counted: a scratch table of all its classes, see :func:`counted_classes`; None where its rows are to be read.
        count: for how many persons a row stands, over the alias ``checked``; None where each is one.
    """

    table: Relation
    columns: Mapping[str, Column]
    quasi_identifiers: Sequence[str]
    references: Mapping[str, Sql]
    facts: Mapping[str, ValueFacts]
    unit: str | None = None
    mark: tuple[str, int] | None = None
    own_references: Collection[str] = ()
    label_sizes: LabelSizes | None = None
    populations: Mapping[str, Sql] = field(default_factory=dict)
    counted: Relation | None = None
    count: Sql | None = None


def counted_classes(
    workspace: Workspace,
    table: Relation,
    columns: Mapping[str, Column],
    quasi_identifiers: Sequence[str],
    *,
    examined: bool = False,
    count: Sql | None = None,
) -> Relation | None:
    """A scratch table of a table's classes, ``q0``, ... with ``row_count``, where that spares passes over its rows.

    Args:
        workspace: where.
        table: the table; read once.
        columns: its columns by name.
        quasi_identifiers: those that classes are made by.
        examined: these classes are all that an examination of the table will look at, so that it counts them anyway.
        count: as in :class:`Subject`.

    Returns:
        None where it spares nothing, since a column is read without the others, or where nothing can be stored.
    """
    spares = workspace.dialect.reads_rows or examined
    if not spares or workspace.mode == "inline" or not quasi_identifiers:
        return None
    target = workspace.table("counted")
    keys = shown_keys([columns[name] for name in quasi_identifiers], "checked")
    workspace.execute("evaluate/examine/counted", target=target, table=table, keys=keys, row_persons=count)
    return target


def examine(workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel]) -> Examination:
    """Group a table by its quasi-identifiers and measure every requirement. No DDL.

    One statement, and one more for every other set of columns that a requirement's classes are made by.
    """
    found: dict[int, Achieved] = {}  # by model: requirements of several specs may share a key
    whole: Examination | None = None
    numbered = workspace.dialect.numbers_classes
    for over, asked in _grouped(subject, models):
        own, combined = _without_combinations(workspace, over, asked)
        frames = _frames(workspace, over, own, numbered=numbered)
        rows = workspace.fetch("evaluate/achieved", len(size_edges(own)) + 1, **table_context(over, own, frames))
        examination = read_examination(rows, own)
        found |= {id(item.model): item for item in examination.achieved} | {id(item.model): item for item in combined}
        rare = sum(item.violating_rows for item in combined)  # of one requirement, which stands alone
        examination = replace(examination, violating_rows=examination.violating_rows + rare)
        whole = whole or examination
    assert whole is not None
    return replace(whole, achieved=[found[id(model)] for model in models])


def _without_combinations(
    workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel]
) -> tuple[list[PrivacyModel], list[Achieved]]:
    """The requirements that the classes still have to be looked at for, and what those on combinations reach.

    Where a combination is rare, and there is another requirement, rows that violate both count once: windows tell.
    """
    combined = [model for model in models if model.to_fixpoint]
    others = [model for model in models if not model.to_fixpoint]
    if not combined:
        return others, []
    frames = _frames(workspace, subject, combined)
    known: list[TableCombinations] = []
    rare: list[TableCombinations] = []
    for item in combinations_of_table(workspace, frames, combined):
        (rare if item.rare else known).append(item)
    achieved = [Achieved(item.model, item.model.achieved(item.rarest, False), 0, 0) for item in known]
    if len(rare) != 1 or others:
        return [*others, *(item.model for item in rare)], achieved
    (item,) = rare
    values = item.model.achieved(item.rarest, False)
    return others, [*achieved, Achieved(item.model, values, *rows_with_rare(workspace, frames, item))]


def table_context(subject: Subject, models: Sequence[PrivacyModel], frames: Frames) -> dict[str, Any]:
    """What ``evaluate/achieved`` needs to measure requirements on a table.

    Args:
        subject: the table.
        models: the requirements.
        frames: where its classes are counted from.
    """
    flagged = flagged_classes(frames, models, with_keys=False)
    return {
        "flagged": render("evaluate/examine/sized", flagged=flagged, size=size_number(size_edges(models))),
        "kept_only": False,
        "size": Sql("size_number"),
        "checks_size": checks_persons(frames, models),
        "table": subject.table,
        "row_persons": subject.count,
        "where": _marked(subject),
        **achieved_context(models),
    }


def failing_classes(workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel], most: int) -> list[Failing]:
    """The classes that violate a requirement, the smallest first, with their values: for a user who asked for them.

    Args:
        workspace: where to run it.
        subject: the table.
        models: the requirements.
        most: how many, for each set of columns that classes are made by.
    """
    found = []
    for over, own in _grouped(subject, models):
        frames = _frames(workspace, over, own)
        rows = workspace.fetch(
            "evaluate/examine/failing",
            most,
            keys=frames.key_names,
            flagged=flagged_classes(frames, own),
            conditions=conditions(own),
            most=most,
        )
        keys = len(frames.key_names)
        for row in rows:
            # Behind the values may stand how they are written.
            cells = zip(over.quasi_identifiers, row[:keys], strict=False)
            values = {name: None if cell is None else str(cell) for name, cell in cells}
            violated = [model.label for model, flag in zip(own, row[keys + 1 :], strict=True) if flag]
            found.append(Failing(values, int(row[keys]), violated))
    return found


def _grouped(subject: Subject, models: Sequence[PrivacyModel]) -> Iterator[tuple[Subject, list[PrivacyModel]]]:
    """The table by each set of columns that requirements' classes are made by, with these requirements.

    A population, or a background, knows numbers and not how a table writes them: requirements that compare with one
    are examined by numbers, in a statement of their own where a column has equal ones that look different.
    """
    for names, own in groupings(models).items():
        over = subject if names is None else replace(subject, quasi_identifiers=names, counted=None)
        varied = any(over.columns[name].varies is not None for name in over.quasi_identifiers)
        framed = [model for model in own if varied and _is_framed(model)]
        others = [model for model in own if model not in framed]
        if others or names is None:
            yield over, others
        if framed:
            yield replace(over, counted=None), framed


def _is_framed(model: PrivacyModel) -> bool:
    """Whether it compares classes with something of its own, such as a population."""
    return model.frame is not None and model.attribute is None


def _marked(subject: Subject) -> Sql | None:
    """Which rows of the table are examined; None for all."""
    if subject.mark is None:
        return None
    column, value = subject.mark
    return render("evaluate/examine/marked", column=column, value=value)


def _frames(
    workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel], *, numbered: bool = False
) -> Frames:
    """Where the classes of a table are counted from; refuses texts that the engine would merge."""
    attributes = (model.attribute for model in models if model.attribute is not None)
    grouped = [
        *subject.quasi_identifiers,
        *dict.fromkeys(attributes),
        *([] if subject.unit is None else [subject.unit]),
    ]
    texts = exact_texts([subject.columns[name] for name in grouped], "checked")
    what = subject.table.parts[-1] if subject.table.parts else "the source"
    refuse_blank_ends(workspace, subject.table, texts, what)
    return table_frames(subject, models, numbered=numbered)


def table_frames(subject: Subject, models: Sequence[PrivacyModel], *, numbered: bool = False) -> Frames:
    """Where the classes of a table are counted from, once :func:`examine` has taken it.

    Args:
        subject: the table.
        models: the requirements whose attributes to look at.
        numbered: the classes' columns are not asked for, and a number in their place is faster. It stands for a
            class within one frame, so it is given where there is one only, and that is sorted by classes.
    """
    columns, unit = subject.columns, subject.unit
    framed = [model for model in models if _is_framed(model)]
    grouped = [columns[name] for name in subject.quasi_identifiers]
    keys = [exact_value(column, "checked") for column in grouped] if framed else shown_keys(grouped, "checked")
    key_names = [f"q{index}" for index, _ in enumerate(keys)]
    shared: dict[str, Any] = {
        "table": subject.table,
        "keys": keys,
        "key_names": key_names,
        "unit": None if unit is None else exact_value(columns[unit], "checked"),
        "where": _marked(subject),
        "counted": False,
        "row_persons": subject.count,
    }
    attributes = dict.fromkeys(model.attribute for model in models if model.attribute is not None)
    values = {}
    numbered = numbered and unit is None and bool(keys) and is_alone(models) and any(map(_needs_order, models))
    numbered = numbered and not judge_widths(models)  # labels are carried along, and a number is none
    numbered = numbered and not any(model.sets for model in models)  # nor does it tell what fewer columns have
    spans = any(model.spans for model in models)
    for name in attributes:
        facts, value = subject.facts[name], exact_value(columns[name], "checked")
        marks = list(facts.marks(value).items())
        form = "evaluate/examine/numbered" if numbered else "evaluate/examine/rows"
        values[name] = render(
            form, value=value, compared=name in subject.references, facts=marks, spans=spans, **shared
        )
    named: dict[str, Sequence[str]] = {name: subject.facts[name].all for name in attributes}
    for model in framed:
        if model.frame is not None:
            values[model.frame] = subject.populations[model.frame]
            named[model.frame] = model.needs_facts
    # The values of a sensitive attribute are counted by row, and their classes with them.
    counted = subject.counted if not attributes and unit is None and subject.mark is None else None
    if counted is not None:
        shared |= {"table": counted, "keys": _counted_keys(subject, key_names), "counted": True}
    return Frames(
        base=render("evaluate/examine/rows", value=None, **shared),
        values=values,
        counting="rows" if unit is None else "unit",
        set_keys={own: _places(grouped, own) for model in models for own in model.sets},
        keys=[identifier(name) for name in (["class_number"] if numbered else key_names)],
        facts=named,
        group_levels={name: subject.facts[name].group_levels for name in attributes},
        references=subject.references,
        compared={name: subject.facts[name].of_reference for name in attributes if name in subject.references},
        written=[name for name in attributes if columns[name].kind == "text"],
        own_references=subject.own_references,
        numbered=numbered and ("in order" if spans else True),
        widths=_widths(subject, key_names) if judge_widths(models) else None,
        single=counted is None and subject.count is None,
        suppresses=False,
    )


def _places(grouped: Sequence[Column], names: Sequence[str]) -> list[int]:
    """Where the keys of some columns stand among those of all: the columns, and what a reader sees besides."""
    seen = [column.name for column in grouped if column.varies is not None]
    return [place for place, name in enumerate([*(column.name for column in grouped), *seen]) if name in names]


def _counted_keys(subject: Subject, key_names: Sequence[str]) -> list[Sql]:
    """The columns of counted classes, texts exactly again: how a scratch table compares them is its engine's to say."""
    kinds = dict(zip(key_names, (subject.columns[name] for name in subject.quasi_identifiers), strict=False))
    return [
        exact_value(replace(kinds[key], name=key), "checked")
        if key in kinds and kinds[key].kind in ("text", "other")
        else Sql(f"checked.{identifier(key)}")
        for key in key_names
    ]


def _widths(subject: Subject, key_names: Sequence[str]) -> LabelWidths:
    """How wide the labels of a table are."""
    known = subject.label_sizes
    assert known is not None, "they are looked for where a requirement asks for them"
    keys = dict(zip(subject.quasi_identifiers, key_names, strict=False))
    named = [(name, key) for name, key in keys.items() if name in known.sizes]
    labels = [text_of(subject.columns[name], identifier(key)) for name, key in named]
    return LabelWidths(labels, [known.sizes[name] for name, _ in named], literal(0.0), known.domain)


def _needs_order(model: PrivacyModel) -> bool:
    """Whether its measure looks at each value beside all those of the class."""
    return model.needs_totals or model.needs_positions or model.spans or model.hierarchy is not None
