"""A recoding that was kept, applied to other rows: each goes to the class that covers it and loses least.

Where cuts were kept and not classes, see :mod:`kanon_sql.recode.kept_cuts`.

A class covers a row if each of its labels is, at the label's level, that of the row's value. Classes are numbered by
what a row loses in them. Every vector goes to the first class that covers it. Then the classes are judged, by the class
query that verifies a release as well, and those that violate are given up, so that their rows go to the next class:

    assigned  every vector with the first class that covers it
    judged    whether each class satisfies
    left      what still covers what: a class that violates is out, unless rows of an earlier one may still join it

Nothing violates at the end. Rows that no class covers any more are suppressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.errors import HierarchyError, Problem, SpecError
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import Prepared
from kanon_sql.hierarchies import kind_of, with_top
from kanon_sql.recode.cells import CellsResult, caps_of
from kanon_sql.recode.kept_cuts import KEPT, recoded_by_cuts
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, highest_levels
from kanon_sql.recode.release import Mapped, Suppressed, described
from kanon_sql.search import Node
from kanon_sql.spec import QuasiIdentifier, Spec, sha256
from kanon_sql.sql import Relation, slot

__all__ = ["MOST_ROUNDS", "STATEMENTS_A_ROUND", "KeptRecoding", "hierarchies_of", "recoded_as_kept"]

MOST_ROUNDS = 32
"""How often classes that violate are given up and their rows go on; after that, their rows are suppressed."""

STATEMENTS_A_ROUND = 7
"""No round takes more statements, whatever the table, its columns or the requirements are."""

_LIMITS = ("minimum_level", "maximum_level")


@dataclass(frozen=True)
class KeptRecoding:
    """A recoding that was kept.

    Attributes:
        shown: what messages call it.
        table: it; a row per class, or one of levels.
        run_id: the run that published it.
        method: of the spec that it was learned by.
        by_class: whether labels differ by class; else every column has one level.
        node: of cells, the levels of what is not suppressed; of levels, these.
        hierarchies: per quasi-identifier, in the order of its columns, what :func:`hierarchies_of` says.
        orders: where cuts were kept and not classes: per column that they are in, what its values are compared as.
    """

    shown: str
    table: Relation
    run_id: str
    method: str
    by_class: bool
    node: Mapping[str, int] | None
    hierarchies: Mapping[str, Mapping[str, Any]]
    orders: Mapping[str, str] | None = None

    def refuse_others(self, spec: Spec) -> None:
        """Refuse a spec whose columns have other labels.

        Raises:
            SpecError: the method, the quasi-identifiers or a hierarchy is another one; all that differs is named.
        """
        problems = []
        if spec.recoding.method != self.method:
            problems.append(
                f"recoding: {self.shown} was learned by the method {self.method}, and the spec says "
                f"{spec.recoding.method}"
            )
        if spec.recoding.ranges:
            problems.append(
                f"recoding.ranges: {self.shown} has labels of hierarchies, and no range of values; leave ranges out"
            )
        if spec.recoding.variant == "relaxed":
            problems.append(
                f"recoding.variant: {self.shown} has cuts, which say of every value where it goes, and relaxed divides "
                "rows that are alike; use strict"
            )
        asked = hierarchies_of(spec)
        problems += [
            f"quasi_identifiers: {self.shown} was learned without {name!r}; leave it out"
            for name in asked
            if name not in self.hierarchies
        ]
        problems += [
            f"quasi_identifiers: {self.shown} was learned with {name!r}, which the spec does not have"
            for name in self.hierarchies
            if name not in asked
        ]
        for name in asked:
            if name in self.hierarchies:
                problems += self._differences(name, asked[name])
        if problems:
            raise SpecError([Problem(problem) for problem in problems])

    def _differences(self, name: str, asked: Mapping[str, Any]) -> list[str]:
        """What is different of one quasi-identifier."""
        own = self.hierarchies[name]
        where = f"quasi_identifiers.{name}"
        found = [
            f"{where}: {what} is {asked[what]}, and {self.shown} was learned with {own[what]}"
            for what in _LIMITS
            if asked[what] != own[what]
        ]
        if asked["sha256"] != own["sha256"]:
            found.append(
                f"{where}: this hierarchy ({asked['kind']}) is not the one that {self.shown} was learned with "
                f"({own['kind']})"
            )
        return found


def hierarchies_of(spec: Spec) -> dict[str, dict[str, Any]]:
    """Per quasi-identifier, what its labels are made by: the kind, a digest and the limits of levels; no value.

    A hierarchy table is known by its name alone.
    """
    return {name: _hierarchy(spec, column) for name, column in spec.quasi_identifiers.items()}


def _hierarchy(spec: Spec, column: QuasiIdentifier) -> dict[str, Any]:
    shown_keys = {key: value for key, value in column.what_labels().items() if key not in (*_LIMITS, "weight", "as")}
    rows = kind_of(column).listed_rows(spec)
    content: Any = shown_keys if rows is None else with_top(rows)
    limits = {"minimum_level": column.minimum_level, "maximum_level": column.maximum_level}
    return {"kind": next(iter(shown_keys), "values"), "sha256": sha256(content), **limits}


def recoded_as_kept(given: Prepared, spec: Spec, kept: KeptRecoding) -> NoRecoding | RecodingResult:
    """Put rows into the classes of a recoding that was kept.

    Args:
        given: the frequency sets of these rows.
        spec: what to release; the recoding was compared with it.
        kept: the recoding, whose labels differ by class.

    Returns:
        The recoding of these rows; or nothing, where more rows than the spec allows would have to be suppressed.
    """
    sets = given.sets
    if sets.rows == sets.null_rows:
        return NoRecoding(spec, given, None)
    if kept.orders is not None:
        return recoded_by_cuts(given, spec, kept.shown, kept.table, list(kept.hierarchies), kept.orders)
    given.workspace.report(f"recoding by {kept.shown}", None)
    state = begin(given.workspace, sets, given.models, *_levels(given, spec, kept))
    unclear = state.make("unclear", "unclear", {"labels": state.labels})
    keyed = state.make(
        "kept/keyed", "keyed", {"kept": kept.table, "labels": state.labels, "unclear": unclear},
        attributes=tuple(state.paths), words=state.names,
        places=tuple(list(kept.hierarchies).index(path.name) for path in state.paths),
    )  # fmt: skip
    covers = state.make("kept/covers", "covers", {"vectors": state.vectors, "keyed": keyed}, words=state.names)
    assigned, judged, covered = _assigned(state, covers)
    released, _ = state.row("verdict", {"judged": judged})
    suppressed, most = sets.rows - released, given.max_suppressed
    if suppressed > most or not released:
        uncovered = sets.kept_rows - covered
        why = (
            f"of {rows_in_words(sets.rows)}, {suppressed:,} would have to be suppressed, and at most {most:,} may be: "
            f"no class of {kept.shown} covers {uncovered:,} of them, and {covered - released:,} are in classes that "
            "would violate a requirement"
        )
        return NoRecoding(spec, given, why)
    return _recoded(given, spec, kept, state, _mapped(state, keyed, assigned, judged))


def _levels(given: Prepared, spec: Spec, kept: KeptRecoding) -> tuple[Node, Sequence[tuple[int, ...]] | None]:
    """The highest levels, and all that labels may have."""
    if spec.recoding.method != "cells":
        return highest_levels(given.sets), None
    tops = tuple(lookup.height for lookup in given.sets.lookups)
    node = _node(spec, kept)
    _refuse_higher(given, node)
    return tops, [tuple(sorted({level, top})) for level, top in zip(node, tops, strict=True)]


def _node(spec: Spec, kept: KeptRecoding) -> Node:
    assert kept.node is not None
    return tuple(kept.node[name] for name in spec.quasi_identifiers)


def _refuse_higher(given: Prepared, node: Node) -> None:
    """Refuse a level that a hierarchy table does not have any more."""
    problems = [
        Problem(f"quasi_identifiers.{lookup.name}: its hierarchy has lost levels since then; learn the recoding again")
        for lookup, level in zip(given.sets.lookups, node, strict=True)
        if level > lookup.height
    ]
    if problems:
        raise HierarchyError(problems)


def _assigned(state: Partitions, covers: Relation) -> tuple[Relation, Relation, int]:
    """Every vector with its class, the verdict on each class, none of which violates, and the rows covered at all."""
    covered = None
    while True:
        number, last = state.rounds, state.rounds == MOST_ROUNDS
        assigned = state.make(
            "kept/assigned", f"assigned{number}", {"vectors": state.vectors, "covers": covers},
            words=state.names, by_person=state.judge.by_person,
        )  # fmt: skip
        judged = state.judge.judged(f"judged{number}", slot("grouped"), ["part"], {"grouped": assigned})
        kept, violating = state.row("verdict", {"judged": judged})
        covered = kept + violating if covered is None else covered
        if not violating:
            return assigned, judged, covered
        tables = {"covers": covers, "assigned": assigned, "judged": judged}
        left = state.make("kept/left", f"left{number}", tables, last=last)
        for used in (covers, assigned, judged):
            state.workspace.drop(used)
        covers, state.rounds = left, number + 1


def _mapped(state: Partitions, keyed: Relation, assigned: Relation, judged: Relation) -> Mapped:
    """The classes that rows are in."""
    paths = tuple(state.paths)
    classes = state.make("kept/classes", "classes", {"keyed": keyed, "judged": judged}, attributes=paths)
    count, rows, squares = state.row("summary", {"classes": classes})
    return Mapped(
        classed=assigned,
        classes=classes,
        names=state.names,
        paths=paths,
        count=count,
        rows=rows,
        squares=squares,
        columns=described(state.workspace, classes, paths, sum(path.high - path.low + 1 for path in paths)),
        vectors=state.vectors,
    )


def _recoded(
    given: Prepared, spec: Spec, kept: KeptRecoding, state: Partitions, mapped: Mapped
) -> NoRecoding | RecodingResult:
    """The result; of cells, unless more are suppressed than their caps allow."""
    violating = given.sets.kept_rows - mapped.rows
    if spec.recoding.method != "cells":
        return RecodingResult(spec, given, mapped, state.judge, state.rounds, violating, None, KEPT, 0)
    counts = state.row("kept/suppressed", {"classes": mapped.classes}, attributes=tuple(mapped.paths))
    cells = [
        Suppressed(count if len(path.levels) > 1 else 0, most)
        for count, path, most in zip(counts, mapped.paths, caps_of(spec, given.sets.rows), strict=True)
    ]
    over = [path.name for path, item in zip(mapped.paths, cells, strict=True) if item.cells > item.most]
    if over:
        why = f"more cells of {', '.join(over)} would be suppressed than recoding.caps allows"
        return NoRecoding(spec, given, why)
    return CellsResult(
        spec, given, replace(mapped, suppressed=cells), state.judge, state.rounds, violating, None, KEPT, 0,
        node=_node(spec, kept),
    )  # fmt: skip
