"""Compose the query of equivalence classes: sizes, measures, and which classes satisfy.

Used by the evaluator over frequency sets and by ``check`` over a written table. The
privacy models give the pieces; the composition is the same for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal

from kanon_sql.evaluate.label_widths import LabelWidths, judge_widths, with_losses
from kanon_sql.models import PrivacyModel, SetWindows
from kanon_sql.sql import Sql, identifier, render, sql_list

__all__ = [
    "Frames",
    "LeftClasses",
    "checks_persons",
    "classes",
    "conditions",
    "flagged_classes",
    "is_alone",
    "judged_columns",
    "measure_name",
    "second_name",
]


@dataclass(frozen=True)
class LeftClasses:
    """The classes that are left once every combination of columns is frequent.

    Attributes:
        table: a FROM form of them, by their keys.
        rarest: by the number of each requirement on combinations, the rows of the rarest one that is left.
    """

    table: Sql
    rarest: Mapping[int, Sql]


@dataclass(frozen=True)
class Frames:
    """Where classes are counted from.

    Attributes:
        base: FROM form over the quasi-identifiers: ``row_count`` (and ``person_count`` or ``unit``).
        values: per sensitive attribute, a FROM form with ``value_code``, ``reference_share`` and its facts too; per
            population, one that holds its rows, and every class with none as well.
        facts: per sensitive attribute, the names of these facts.
        group_levels: per sensitive attribute with a hierarchy, the levels whose groups are among them.
        references: per sensitive attribute with a model that needs it, a FROM form of the reference's own facts.
        counting: what a class counts: rows, persons (added up), or unit (counted distinct).
        compared: per sensitive attribute whose values do not carry what its reference tells of them: the names of these
            facts, which are joined once the values are counted.
        written: those of them whose values are texts.
        own_references: those of them whose reference was made of the same rows, so that it has every value.
        within: those of the keys that distinguish whole tables, such as a node's number among its classes.
        widths: of the labels, where a requirement asks for them.
        standing: which classes are left where rows with rare combinations are dropped; None where none is.
        narrow: no number of rows or persons needs more than 32 bits, which this engine adds up faster.
        known: per sensitive attribute, the columns of ``values`` by which the parts of a class differ that are judged
            where the other sensitive attributes are known.
        suppresses: classes that violate are left out, and measures of a whole table are of the others.
        numbered: ``values`` has a row per class and value, with the class's total, and its one key is a number that
            stands for the class within it; "in order": for values that are put in order.
        single: ``base``, and ``values`` of sensitive attributes, have a row per row of a table, which need no more than
            counting.
        keys: the expressions that classes are grouped by, over either form.
        carried: expressions to carry along, constant within a class.
        summed: expressions over ``base`` to add up within a class.
        unions: per set of quasi-identifiers that a requirement is on, the expressions that its classes, which are
            unions of the classes here, are grouped by.
        set_keys: the same where these are some of ``keys``, by their places.
    """

    base: Sql
    values: dict[str, Sql]
    counting: str
    keys: Sequence[Sql]
    carried: Sequence[Sql] = ()
    summed: Sequence[Sql] = ()
    unions: Mapping[tuple[str, ...], Sequence[Sql]] = field(default_factory=dict)
    set_keys: Mapping[tuple[str, ...], Sequence[int]] = field(default_factory=dict)
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    group_levels: Mapping[str, Sequence[int]] = field(default_factory=dict)
    references: Mapping[str, Sql] = field(default_factory=dict)
    compared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    written: Collection[str] = ()
    own_references: Collection[str] = ()
    numbered: bool | Literal["in order"] = False
    single: bool = False
    within: Sequence[Sql] = ()
    widths: LabelWidths | None = None
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    suppresses: bool = True
    narrow: bool = False
    standing: LeftClasses | None = None

    @property
    def key_names(self) -> list[str]:
        """The names of the key columns: ``k0``, ``k1``, ..."""
        return [f"k{index}" for index in range(len(self.keys))]

    @property
    def carried_names(self) -> list[str]:
        """The names of the carried columns: ``z0``, ``z1``, ..."""
        return [f"z{index}" for index in range(len(self.carried))]

    @property
    def summed_names(self) -> list[str]:
        """The names of the sums: ``w0``, ``w1``, ..."""
        return [f"w{index}" for index in range(len(self.summed))]


def is_alone(models: Sequence[PrivacyModel]) -> bool:
    """Whether the models look at one sensitive attribute, in one way, at whole classes, and at no population."""
    framed = [model for model in models if model.frame is not None]
    if any(model.splits_classes for model in framed):
        return False
    return all(model.attribute is not None for model in framed) and len({(m.frame, m.spans) for m in framed}) == 1


def checks_persons(frames: Frames, models: Sequence[PrivacyModel]) -> bool:
    """Whether classes come with ``all_size``, the persons of all of them, since a join could lose some.

    Where classes are added up for many questions at once, the rows alone are compared: a class's persons and its rows
    are counted by one GROUP BY, so that a join keeps both or none.
    """
    return frames.single and frames.counting == "unit" and any(model.frame is not None for model in models)


def measure_name(index: int, model: PrivacyModel) -> str:
    """The column that holds a model's measure."""
    own = model.frame is not None or model.on_coarser_classes or model.of_table or model.uses_label_width
    own = own or model.to_fixpoint
    return f"m{index}" if own else "class_size"


def classes(frames: Frames, models: Sequence[PrivacyModel], *, with_keys: bool = True, label: Sql | None = None) -> Sql:
    """The equivalence classes, one row each, with their counts and the models' measures.

    Args:
        frames: where to count from.
        models: the requirements.
        with_keys: whether the keys are needed; leaving them out saves planning time.
        label: what to put into a column ``node``, where ``base`` alone is counted.
    """
    names = [measure_name(index, model) for index, model in enumerate(models)]
    unions = _unions(frames, models)
    within = _within(frames, models)
    sets, of_sets = _sets(frames, models)
    carried = {**dict(zip(frames.carried_names, frames.carried, strict=True)), **_flat(unions), **sets, **within}
    widths = frames.widths if judge_widths(models) else None
    labels = {} if widths is None else widths.carried
    # One sensitive attribute counted in rows needs no second pass for the class sizes.
    named = list(zip(names, models, strict=True))
    alone = is_alone(models) and frames.counting == "rows" and not frames.summed
    joined = (bool(frames.values) and not alone) or any(model.to_fixpoint for model in models)
    checks_size = checks_persons(frames, models)
    shared: dict[str, Any] = {
        "keys": frames.keys,
        "key_names": frames.key_names,
        "carried": [*carried.values(), *labels.values()],
        "carried_names": [*carried, *labels],
        "summed": frames.summed,
        "summed_names": frames.summed_names,
        "counting": frames.counting,
        "numbered": frames.numbered,
        "with_keys": with_keys or joined,
        "label": label,
        "checks_size": checks_size,
    }
    of_class = render("evaluate/window", names=frames.key_names)
    of_value = render("evaluate/window", names=[*within, "value_code"])
    of_table = render("evaluate/window", names=list(within))
    base = None
    if not alone:
        rows = _rows(frames.single, narrow=frames.narrow)
        base = render("evaluate/base_frame", frequency=frames.base, rows=rows, **shared)
    passed = [*(["all_size"] if checks_size else []), *carried, *labels, *frames.summed_names]
    measured: list[str] = []
    for frame, relation in frames.values.items():
        facts = frames.facts.get(frame, ())
        for spans in (False, True):
            over = [
                (name, model)
                for name, model in named
                if model.frame == frame and model.spans is spans and not model.splits_classes
            ]
            if not over:
                continue
            counted = render(
                "evaluate/ordered_frame" if spans else "evaluate/values_frame",
                frequency=relation,
                rows=_rows(frames.single and over[0][1].attribute is not None, narrow=frames.narrow),
                narrow=frames.narrow,
                reference=frames.references.get(frame),
                compared=frames.compared.get(frame),
                written=frame in frames.written,
                own_reference=frame in frames.own_references,
                models=[column for name, model in over for column in _counted_columns(name, model)],
                facts=facts,
                group_levels=list(frames.group_levels.get(frame, ())),
                totals=any(model.needs_totals or model.hierarchy is not None for _, model in over),
                positions=any(model.needs_positions for _, model in over),
                steps=_together(
                    model.value_steps(
                        name, of_class, of_value, [of_sets[own] for own in model.sets], suppresses=frames.suppresses
                    )
                    for name, model in over
                )[::-1],
                **shared,
            )
            for columns in _together(
                model.class_steps(name, of_table, suppresses=frames.suppresses) for name, model in over
            ):
                counted = render("evaluate/step", classes=counted, columns=columns)
            held = [_columns(name, model) for name, model in over]
            base = (
                counted
                if base is None
                else render(
                    "evaluate/classes",
                    base_frame=base,
                    values_frame=counted,
                    of_rows=over[0][1].attribute is not None,
                    models=held,
                    passed_names=[*passed, *measured],
                    **shared,
                )
            )
            for model in held:
                measured += [model["name"], *([] if model["second"] is None else [f"{model['name']}_second"])]
    for frame in frames.values:
        split = [(name, model) for name, model in named if model.frame == frame and model.splits_classes]
        if not split:
            continue
        assert base is not None, "classes with parts have a base frame"
        held = [{**_columns(name, model), "disclosed": None} for name, model in split]
        base = render(
            "evaluate/classes",
            base_frame=base,
            values_frame=_worst_parts(frames, frame, split),
            of_rows=True,
            models=held,
            passed_names=[*passed, *measured],
            **shared,
        )
        for model in held:
            measured += [model["name"], *([] if model["second"] is None else [f"{model['name']}_second"])]
    assert base is not None, "either its rows are counted or its values"
    found = base
    if widths is not None:
        needed = [*(frames.key_names if shared["with_keys"] else []), "class_rows", "class_size"]
        needed += [*(["all_size"] if checks_size else []), *carried, *frames.summed_names, *measured]
        found = with_losses(found, needed, widths, _of_widths(named))
    return _table_wide(_with_unions(_with_combinations(found, frames, models, of_sets), models, unions), frames, models)


def _worst_parts(frames: Frames, attribute: str, named: Sequence[tuple[str, PrivacyModel]]) -> Sql:
    """Classes with the worst measures of their parts, of which each has one value of every other sensitive attribute.

    Args:
        frames: where classes are counted from.
        attribute: the sensitive attribute of the models.
        named: the models that judge these parts, with the columns of their measures.
    """
    relation = frames.values[attribute]
    known = [identifier(name) for name in frames.known[attribute]]
    parts = replace(
        frames, base=relation, values={attribute: relation}, keys=[*frames.keys, *known], carried=(), summed=(),
        unions={}, set_keys={}, within=(), widths=None,
    )  # fmt: skip
    models = [replace(model, others=False) for _, model in named]
    measures = []
    for index, (name, model) in enumerate(named):
        own = measure_name(index, models[index])
        measures.append((name, own, Sql(model.worst)))
        if (second := second_name(own, models[index])) is not None:
            assert model.second is not None
            measures.append((f"{name}_second", second, Sql(model.second)))
    return render("evaluate/worst_parts", parts=classes(parts, models), keys=frames.key_names, measures=measures)


def _of_widths(named: Iterable[tuple[str, PrivacyModel]]) -> dict[str, Sql]:
    """Per model that asks how wide labels are, by its column: its measure."""
    return {
        name: model.of_widths("class_size" if model.frame is None else own_name(name, model))
        for name, model in named
        if model.uses_label_width
    }


def _together(steps: Iterable[Sequence[Mapping[str, Sql]]]) -> list[list[tuple[str, Sql]]]:
    """The steps of several models side by side: per step, the columns of all of them."""
    return [[column for one in side for column in one.items()] for side in zip_longest(*steps, fillvalue={})]


def _rows(single: bool, *, narrow: bool) -> Sql:
    """The rows of a group."""
    if single:
        return Sql("CAST(COUNT(*) AS BIGINT)")
    return Sql("SUM(CAST(row_count AS INTEGER))" if narrow else "SUM(row_count)")


def _unions(frames: Frames, models: Sequence[PrivacyModel]) -> dict[int, dict[str, Sql]]:
    """Per model whose classes are unions of these, the finest first: the names and expressions of their keys."""
    on_coarser_classes = [
        (index, model.quasi_identifiers or ()) for index, model in enumerate(models) if model.on_coarser_classes
    ]
    return {
        index: {f"u{index}_{place}": key for place, key in enumerate(frames.unions[names])}
        for index, names in sorted(on_coarser_classes, key=lambda item: -len(item[1]))
    }


def _sets(frames: Frames, models: Sequence[PrivacyModel]) -> tuple[dict[str, Sql], dict[tuple[str, ...], SetWindows]]:
    """For the sets that requirements look at besides: keys to carry along, by name, and the windows of each set."""
    carried: dict[str, Sql] = {}
    windows: dict[tuple[str, ...], SetWindows] = {}
    if frames.standing is not None:
        return carried, windows
    for number, own in enumerate(dict.fromkeys(own for model in models for own in model.sets)):
        if own in frames.set_keys:
            names = [frames.key_names[place] for place in frames.set_keys[own]]
        else:
            named = {f"s{number}_{place}": key for place, key in enumerate(frames.unions[own])}
            carried |= named
            names = list(named)
        windows[own] = SetWindows(
            of_class=render("evaluate/window", names=names),
            of_value=render("evaluate/window", names=[*names, "value_code"]),
        )
    return carried, windows


def _with_combinations(
    found: Sql, frames: Frames, models: Sequence[PrivacyModel], of_sets: Mapping[tuple[str, ...], SetWindows]
) -> Sql:
    """The classes with the rows of their rarest combination: by windows, or as it is known of those that are left."""
    for index, model in enumerate(models):
        if not model.to_fixpoint:
            continue
        name = measure_name(index, model)
        if frames.standing is None:
            rarest = model.rarest([of_sets[own].of_class for own in model.sets])
            found = render("evaluate/step", classes=found, columns=[(name, rarest)])
        else:
            found = render(
                "evaluate/combinations/measured", classes=found, measure=name, keys=frames.key_names,
                standing=frames.standing.table, rarest=frames.standing.rarest[index],
            )  # fmt: skip
    return found


def _flat(unions: Mapping[int, Mapping[str, Sql]]) -> dict[str, Sql]:
    return {name: key for keys in unions.values() for name, key in keys.items()}


def _with_unions(found: Sql, models: Sequence[PrivacyModel], unions: Mapping[int, Mapping[str, Sql]]) -> Sql:
    """The classes with the sizes of their unions, each over what the requirements before it leave."""
    every = conditions(models)
    kept = [
        condition
        for condition, model in zip(every, models, strict=True)
        if not model.on_coarser_classes and not model.of_table
    ]
    for index, keys in unions.items():
        measure = measure_name(index, models[index])
        found = render("evaluate/unions", classes=found, kept=kept, names=list(keys), measure=measure)
        kept = [*kept, every[index]]
    return found


def _within(frames: Frames, models: Sequence[PrivacyModel]) -> dict[str, Sql]:
    """The columns that distinguish whole tables, where a requirement is on these."""
    if not any(model.of_table or model.among_classes for model in models):
        return {}
    return {f"within{place}": key for place, key in enumerate(frames.within)}


def _table_wide(found: Sql, frames: Frames, models: Sequence[PrivacyModel]) -> Sql:
    """The classes with the measures of whole tables, each over what the requirements before it leave."""
    window = render("evaluate/window", names=list(_within(frames, models)))
    kept = [condition for condition, model in zip(conditions(models), models, strict=True) if not model.of_table]
    for index, model in enumerate(models):
        if not model.of_table:
            continue
        name = measure_name(index, model)
        own = own_name(name, model)
        counted = [*kept, model.of_class(own)] if frames.suppresses else [Sql("1 = 1")]
        condition = sql_list([Sql(f"({item})") for item in counted], " AND ")
        found = render(
            "evaluate/table_wide",
            classes=found,
            measure=name,
            measure_second=f"{name}_second",
            first=model.over_table("measure", condition, window, own),
            second=None if model.second is None else model.over_table("second", condition, window, own),
        )
        kept = [*kept, model.condition(name)]
    return found


def _columns(name: str, model: PrivacyModel) -> dict[str, Any]:
    """What the templates need of a model with a frame of its own."""
    has_second = model.second is not None and not model.second_is_size and not model.of_table
    own = own_name(name, model)
    return {
        "name": own,
        "measure": model.measure(own),
        "disclosed": model.disclosed(),
        "second": model.second_measure(own) if has_second else None,
    }


def _counted_columns(name: str, model: PrivacyModel) -> list[dict[str, Any]]:
    """What is counted of each class for a model with a frame: its measure, or the parts that this is made of."""
    parts = model.parts(name)
    if not parts:
        return [_columns(name, model)]
    return [{"name": part, "measure": measure, "second": None} for part, measure in parts.items()]


def own_name(name: str, model: PrivacyModel) -> str:
    """The column of what a model counts of each class: its measure, unless that is made of more."""
    return f"{name}_own" if model.of_table or model.uses_label_width else name


def second_name(name: str, model: PrivacyModel) -> str | None:
    """The column that holds a model's second measure; None where it has none."""
    if model.second is None:
        return None
    return "class_size" if model.second_is_size else f"{name}_second"


def conditions(models: Sequence[PrivacyModel]) -> list[Sql]:
    """Per model, the condition that a class of :func:`classes` must satisfy."""
    return [model.condition(measure_name(index, model)) for index, model in enumerate(models)]


def flagged_classes(frames: Frames, models: Sequence[PrivacyModel], *, with_keys: bool = True) -> Sql:
    """The classes with a column ``satisfied``, 1 or 0; without their keys, where no one looks at them."""
    return render(
        "evaluate/flagged",
        classes=classes(frames, models, with_keys=with_keys),
        columns=[
            *(frames.key_names if with_keys else []),
            *frames.carried_names,
            *(["all_size"] if checks_persons(frames, models) else []),
            *judged_columns(models),
        ],
        conditions=conditions(models),
    )


def judged_columns(models: Sequence[PrivacyModel]) -> list[str]:
    """The columns of :func:`classes` that the models look at: counts and measures."""
    columns = ["class_rows", "class_size"]
    for index, model in enumerate(models):
        name = measure_name(index, model)
        if name != "class_size":
            second = second_name(name, model)
            columns += [name] if second in (None, "class_size") else [name, second]
        if model.of_table and model.frame is not None:
            columns.append(own_name(name, model))
    return columns
