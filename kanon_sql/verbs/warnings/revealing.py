"""Warnings about columns that are released as they are: what they reveal of quasi-identifiers, whose rows they link.

Two records with the same value of such a column may agree in the value of a quasi-identifier more often than any two
records that have the same label. How often any two agree is what chance gives, for groups of whatever size, so that a
column of many values is not taken for one that determines something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kanon_sql.disclosure.risk import LARGE, Agreement, GroupsOf, Pair, Records, agreement_of
from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.evaluate import few
from kanon_sql.frequency import count_of
from kanon_sql.models import PrivacyModel
from kanon_sql.release import Choice, Labelled, free_name, labelled_with_values
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Relation, Sql
from kanon_sql.verbs.init import names_a_group
from kanon_sql.verbs.result import Warned

if TYPE_CHECKING:
    from kanon_sql.relations import RowsWithValues

__all__ = ["linking_columns", "revealing_columns", "revealing_related"]

SHARE = 0.05
"""The share of rows from which a column is named."""

MANY = 0.25
"""The share of rows from which a column that reveals a quasi-identifier is an error by default: it is the column then,
and not a few of its values."""

GROUPED = 0.5
"""How far pairs with a value agree in a label, between chance (0) and always (1), from which the value is a group's."""


@dataclass(frozen=True)
class _Compared:
    """Columns that are released as they are, and the records to look for them in.

    Attributes:
        released: the columns.
        records: the released rows.
        labels: the quasi-identifiers, as they are released.
        finer: quasi-identifier that is not released as it is -> what its labels stand for: its values, and its labels
            one level finer.
    """

    released: Sequence[str]
    records: Records
    labels: Sequence[str]
    finer: Mapping[str, Sequence[str]]

    @property
    def pairs(self) -> dict[Pair, str]:
        """Per column and quasi-identifier: what its labels stand for, among records with its label."""
        return {
            Pair(kept, values, (name,) if name in self.labels else ()): name
            for kept in self.released
            for name, finer in self.finer.items()
            for values in finer
        }


def revealing_columns(workspace: Workspace, choice: Choice, rows: Labelled | None = None) -> list[Warned]:
    """Columns that are released as they are and reveal more of a quasi-identifier than its labels, or link rows.

    Where frequency sets hold all that is released, each column takes one statement over its own. Otherwise it reads the
    source once more, into a scratch table of released rows beside their values, and that table by one statement
    (several where there are many columns). Only what that finds is asked about once more, within the groups by all
    labels, which are many.

    Args:
        workspace: where.
        choice: what is released.
        rows: these rows, where something else has read them.
    """
    spec = choice.spec
    reveals = spec.warnings.kept_reveals_quasi_identifier != "allow"
    links = spec.warnings.kept_links_rows != "allow"
    released = [
        name for name in dict.fromkeys([*spec.sensitive, *spec.kept_values]) if choice.columns[name].kind != "ambiguous"
    ]
    if not released or not (reveals or links):
        return []
    workspace.report("looking for columns that reveal quasi-identifiers", None)
    if rows is None and _is_counted(choice, released):
        compared = [_in_set(choice, name) for name in released]
    else:
        compared = [_in_rows(choice, rows or labelled_with_values(workspace, choice), released)]
    found = [_warned_of(workspace, choice, frame, reveals=reveals, links=links) for frame in compared]
    return [
        *(item for revealing, _ in found for item in revealing),
        *(item for _, linking in found for item in linking),
    ]


def _warned_of(
    workspace: Workspace, choice: Choice, frame: _Compared, *, reveals: bool, links: bool
) -> tuple[list[Warned], list[Warned]]:
    """Of the columns of a frame: what they reveal, and which rows they link."""
    asked, finer, released = partial(agreement_of, workspace, frame.records), frame.pairs, frame.released
    agreements, alone = asked(list(finer), alone=released, labels=frame.labels, least=few(choice.models))
    for own in alone.values():
        refuse_incomplete("disclosure/risk/agreement", own.rows, choice.sets.rows - choice.suppressed_rows)
    revealing = {pair: name for pair, name in finer.items() if agreements[pair].share >= SHARE}
    whole = _by_all_labels(revealing, frame.labels)
    grouped = [Pair(kept, name) for kept in released if links and _is_of_groups(alone[kept]) for name in frame.labels]
    further = [*whole.values(), *grouped]
    more, _ = asked(further) if further else ({}, {})
    revealed_by: list[Warned] = []
    linked_by: list[Warned] = []
    found = set()
    for kept in released:
        revealed = _revealed(kept, revealing, whole, agreements, more)
        if revealed:
            found.add(kept)
            records = "rows" if choice.spec.unit is None else "persons"
            revealed_by += [_revealing(kept, revealed, alone[kept], records, few(choice.models))] if reveals else []
    for kept in released if links else ():
        joint = max((more[pair].agreement for pair in grouped if pair.kept == kept), default=0.0)
        linked_by += _links(choice.models, kept, alone[kept], joint, determines=kept in found)
    return revealed_by, linked_by


def revealing_related(workspace: Workspace, rows: RowsWithValues, least: int) -> list[Warned]:
    """Columns of tables that are released together, and that reveal more of a quasi-identifier than its labels.

    They are measured as :func:`revealing_columns` does it, in the rows of one table with those above each.

    Args:
        workspace: where.
        rows: these rows.
        least: fewer persons than this are few.
    """
    labelled = rows.rows
    finer = {
        Pair(kept, values[label], (label,)): label
        for kept in rows.unchanged
        for label in rows.coarse
        if kept in rows.own or label in rows.own
        for values in (labelled.values, labelled.finer)
    }
    released = list(dict.fromkeys(pair.kept for pair in finer))
    if not released:
        return []
    workspace.report("looking for columns that reveal quasi-identifiers", None)
    asked = partial(agreement_of, workspace, Records.of_table(labelled.table, labelled.columns, labelled.unit))
    agreements, alone = asked(list(finer), alone=released, labels=labelled.labels, least=least)
    for own in alone.values():
        refuse_incomplete("disclosure/risk/agreement", own.rows, rows.count)
    revealing = {pair: label for pair, label in finer.items() if agreements[pair].share >= SHARE}
    whole = _by_all_labels(revealing, labelled.labels)
    more, _ = asked(list(whole.values())) if whole else ({}, {})
    warned = []
    for kept in released:
        if revealed := _revealed(kept, revealing, whole, agreements, more):
            shown = {rows.shown[label]: share for label, share in revealed.items()}
            warned.append(_revealing(rows.shown[kept], shown, alone[kept], "persons", least))
    return warned


def linking_columns(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    unit: str | None,
) -> list[Warned]:
    """Kept columns of a table as it is that link rows.

    It takes one statement over the table, if it has such columns, and one more where few rows have a value.

    Args:
        workspace: where the table is.
        spec: the roles of its columns.
        models: the requirements.
        table: it.
        columns: its columns by name.
        unit: its column of persons; None where rows are counted.
    """
    released = [name for name in spec.kept_values if name in columns and columns[name].kind != "ambiguous"]
    labels = [name for name in spec.quasi_identifiers if name in columns]
    if not released or not labels or spec.warnings.kept_links_rows == "allow":
        return []
    workspace.report("looking for columns that link rows", None)
    asked = partial(agreement_of, workspace, Records.of_table(table, columns, unit, count_of(spec, "checked")))
    _, alone = asked([], alone=released, labels=labels, least=few(models))
    grouped = [Pair(kept, name) for kept in released if _is_of_groups(alone[kept]) for name in labels]
    agreements, _ = asked(grouped) if grouped else ({}, {})
    warned = []
    for kept in released:
        joint = max((agreements[pair].agreement for pair in grouped if pair.kept == kept), default=0.0)
        warned += _links(models, kept, alone[kept], joint, determines=False) if alone[kept].rows else []
    return warned


def _coarse(choice: Choice) -> list[str]:
    """The quasi-identifiers that are not released as they are."""
    names = list(choice.spec.quasi_identifiers)
    return [name for place, name in enumerate(names) if choice.node is None or choice.node[place] > 0]


def _in_rows(choice: Choice, rows: Labelled, released: Sequence[str]) -> _Compared:
    """Columns in released rows beside their values."""
    finer = {name: [values[name] for values in (rows.values, rows.finer) if name in values] for name in _coarse(choice)}
    return _Compared(
        released, Records.of_table(rows.table, rows.columns, rows.unit, count_of(choice.spec, "checked")),
        rows.labels, finer,
    )  # fmt: skip


def _is_counted(choice: Choice, released: Sequence[str]) -> bool:
    """Whether each column has a frequency set, whose rows are those that are released, as a reader sees them."""
    return (
        choice.node is not None
        and choice.drawn is None
        and choice.spec.unit is None
        and all(name in choice.sets.references for name in released)
        and (choice.vectors is not None or all(choice.columns[name].varies is None for name in released))
    )


def _in_set(choice: Choice, kept: str) -> _Compared:
    """A column in its frequency set, whose codes identify the labels of all levels: no value is read."""
    sets, node = choice.sets, choice.levels

    def code(place: int, level: int) -> list[Sql]:
        return [Sql(sets.codes.code(place, level, PORTABLE, "checked"))]

    keys = {kept: [Sql("checked.value_code")]}
    labels, finer = [], {}
    for lookup, level in zip(sets.lookups, node, strict=True):
        if level < lookup.height:
            labels.append(lookup.name)
            keys[lookup.name] = code(lookup.index, level)
        below = [0, level - 1] if level > 1 and level - 1 not in lookup.unlabelled else [0]
        if level:
            finer[lookup.name] = [free_name(f"kanon_level{own}_{lookup.index}", choice.columns) for own in below]
            keys |= {name: code(lookup.index, own) for name, own in zip(finer[lookup.name], below, strict=True)}
    records = Records(
        sets.values[kept],
        keys.__getitem__,
        is_weighted=True,
        suppressed=choice.suppressed,
        class_keys=[Sql(key) for key in sets.codes.keys(node, PORTABLE, "checked")],
    )
    return _Compared([kept], records, labels, finer)


def _by_all_labels(revealing: Iterable[Pair], labels: Sequence[str]) -> dict[Pair, Pair]:
    """Pairs with the same ones among records that agree in all labels, where these are more than their own."""
    whole = {pair: replace(pair, labels=tuple(labels)) for pair in revealing}
    return {pair: together for pair, together in whole.items() if together != pair}


def _revealed(
    kept: str,
    revealing: Mapping[Pair, str],
    whole: Mapping[Pair, Pair],
    agreements: Mapping[Pair, Agreement],
    more: Mapping[Pair, Agreement],
) -> dict[str, float]:
    """The quasi-identifiers of which a column reveals more than all labels do, each with the share of records."""
    found: dict[str, float] = {}
    for pair, name in revealing.items():
        item = agreements[pair]
        if pair.kept == kept and not (pair in whole and item.explained_by(more[whole[pair]])):
            found[name] = max(item.share, found.get(name, 0.0))
    return found


def _revealing(kept: str, revealed: Mapping[str, float], alone: GroupsOf, records: str, least: int) -> Warned:
    share = max(revealed.values())
    shares = ", ".join(f"{name} ({100 * item:.1f} % of {records})" for name, item in revealed.items())
    message = (
        f"{kept} reveals more than the released labels of {shares}. Groups by all labels and {kept} have as few as "
        f"{alone.smallest:,} {records if alone.smallest != 1 else records[:-1]}. Make {kept} a quasi-identifier, "
        "generalize it in a source query, or leave it out"
    )
    figures = {"share": share, "smallest": alone.smallest, "least": least}
    return Warned("kept_reveals_quasi_identifier", message, [kept, *revealed], figures, severe=share >= MANY)


def _is_of_groups(alone: GroupsOf) -> bool:
    """Whether many rows share a value with few others."""
    rows = alone.rows
    return alone.few_rows >= SHARE * rows and rows <= LARGE * alone.values and alone.shared >= SHARE * rows


def _links(
    models: Sequence[PrivacyModel], kept: str, alone: GroupsOf, joint: float, *, determines: bool
) -> list[Warned]:
    least, rows = few(models), alone.rows
    figures = {"rows": rows, "linked": alone.linked / rows, "least": least, "smallest": alone.smallest}
    if alone.linked >= SHARE * rows:
        message = (
            f"{kept}: {100 * alone.linked / rows:.1f} % of the released rows have a value that fewer than {least:,} "
            "persons have, one of them in several rows: these rows can be linked to one person. Leave the column out, "
            "or keep a coarser one"
        )
        return [Warned("kept_links_rows", message, [kept], figures)]
    if _is_of_groups(alone) and (names_a_group(kept) or (joint >= GROUPED and not determines)):
        figures["linked"] = alone.shared / rows
        message = (
            f"{kept} groups rows of a few persons, as a household number does: {100 * alone.shared / rows:.1f} % of "
            f"the released rows share its value with others, and groups by all labels and {kept} have as few as "
            f"{alone.smallest:,}. An attacker who knows the members of a group can find its rows. Leave the column out"
        )
        return [Warned("kept_links_rows", message, [kept], figures)]
    return []
