"""The budget: what the releases of a ledger have spent, and whether one more may be made.

Mechanisms with coins of their own compose: their epsilons add up, and so do their deltas (Dwork, Roth 2014, theorem
3.16). That holds for whatever they are applied to, also as the table changes, as long as all of them are differentially
private; so a ledger holds releases of this kind alone, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from kanon_sql.engines import Workspace
from kanon_sql.errors import DatabaseError, Problem, SpecError
from kanon_sql.frequency import FrequencySets, is_same_table
from kanon_sql.release.ledger import (
    Addition,
    Entry,
    Spending,
    SpentOnNoise,
    of_one_table,
    read_ledger,
    released_form,
)
from kanon_sql.spec import DifferentialPrivacyRequirement, Spec, TableSpec
from kanon_sql.sql import Relation

__all__ = [
    "addition_of_rows",
    "addition_of_table",
    "budget_with",
    "budgets",
    "refuse_exceeded_budget",
    "spend",
]


def refuse_exceeded_budget(workspace: Workspace, spec: Spec | TableSpec, requirement: Spending) -> tuple[Entry, ...]:
    """The entries of a spec's ledger, which leave enough for one more release.

    All protect the same: of a person with several rows, what is promised of rows says little, and a row less of theirs
    changes a table of persons by more than it is promised for.

    The smallest total that any of its releases states counts: who raised it later would break what was promised.

    Raises:
        SpecError: they do not, or another kind of release is among them.
    """
    assert spec.ledger is not None
    assert spec.release is not None
    entries = of_one_table(read_ledger(workspace, Relation(spec.ledger.table)))
    problems = []
    for entry in entries:
        if entry.spending is None:
            problems.append(
                f"{entry.name} is no differentially private release; beside it a guarantee of this kind means nothing, "
                "since it may show the persons that this one hides. A ledger holds one kind of release"
            )
        elif entry.unit != spec.unit:
            problems.append(
                f"{entry.name} protects {entry.unit or 'rows'}, and this spec {spec.unit or 'rows'}: budgets of "
                "different units do not add up; use the same unit, or another ledger"
            )
        same = entry.release == spec.release or is_same_table(workspace.engine, entry.release, spec.release)
        if same and workspace.engine.exists(entry.release) is not None:
            problems.append(
                f"{entry.name} was published at {entry.published_at}, and what it spent stays spent; publish under "
                "another name"
            )
    if not problems:
        problems = _overdrawn(entries, requirement)
    if problems:
        raise SpecError([Problem(f"ledger: {text}") for text in problems])
    return entries


def _overdrawn(entries: Sequence[Entry], requirement: Spending) -> list[str]:
    """Which budgets one more release would exceed."""
    spent = budget_with(entries, requirement)
    found = []
    for position, (what, own) in enumerate(zip(("epsilon", "delta"), requirement.spends, strict=True)):
        if spent[position] > (most := _least_total(entries, requirement)[position]):
            found.append(
                f"the releases before this one have spent {what} {float(spent[position] - own):g}, and this one would "
                f"make it {float(spent[position]):g}, where at most {float(most):g} may be spent together (the least "
                "'total' that any of them states; without one a release is the only one)"
            )
    return found


def _least_total(entries: Sequence[Entry], requirement: Spending) -> tuple[Fraction, Fraction]:
    stated = [item.may_spend for item in _requirements(entries, requirement)]
    return min(epsilon for epsilon, _ in stated), min(delta for _, delta in stated)


def budget_with(entries: Sequence[Entry], requirement: Spending) -> tuple[Fraction, Fraction]:
    """The epsilon and delta that a release and those before it spend together."""
    spends = [item.spends for item in _requirements(entries, requirement)]
    return sum((epsilon for epsilon, _ in spends), Fraction(0)), sum((delta for _, delta in spends), Fraction(0))


def _requirements(entries: Sequence[Entry], requirement: Spending) -> list[Spending]:
    before = [entry.spending for entry in entries]
    return [*(item for item in before if item is not None), requirement]


def budgets(
    entries: Sequence[Entry], requirement: Spending
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """What the ledger's releases have spent, this one included, and the least total that any of them states."""
    return budget_with(entries, requirement), _least_total(entries, requirement)


def spend(workspace: Workspace, addition: Addition) -> None:
    """Enter a release into its ledger, before anything is drawn.

    What a run spends is spent however it ends: a run that is repeated until its sample pleases would tell more than
    one. So the entry is never withdrawn, and says nothing that depends on the rows.

    Args:
        workspace: where.
        addition: the release, and what the ledger was found to hold.

    Raises:
        DatabaseError: another release was entered since the ledger was read; nothing was drawn.
    """
    addition.create(workspace)
    if workspace.capabilities.transactional_ddl:
        with workspace.engine.transaction():
            addition.take_turn(workspace)
            addition.enter(workspace)
        return
    try:
        addition.announce(workspace)
    except DatabaseError:
        addition.withdraw(workspace)
        raise


def addition_of_rows(
    workspace: Workspace,
    spec: Spec,
    requirement: DifferentialPrivacyRequirement,
    sets: FrequencySets,
    entries: Sequence[Entry],
) -> Addition:
    """The entry of a release of rows; of levels those that are fixed, and of rows none.

    Args:
        workspace: where.
        spec: what will be released.
        requirement: what that spends.
        sets: the lookup tables, with the heights of the hierarchies.
        entries: what the ledger was found to hold.
    """
    levels = requirement.generalization or {}
    quasi_identifiers = {
        lookup.name: released_form(spec, spec.quasi_identifiers[lookup.name], levels[lookup.name], lookup.height)
        for lookup in sets.lookups
        if lookup.name in levels
    }
    assert spec.ledger is not None
    entry = replace(
        Entry.bare(workspace, spec),
        unit=None,
        drops_nulls=spec.nulls == "suppress",
        quasi_identifiers=quasi_identifiers,
        privacy=spec.privacy,
    )
    return Addition.of(workspace, spec.ledger.table, entry, spec.hash, entries)


def addition_of_table(workspace: Workspace, spec: TableSpec, spent: SpentOnNoise, entries: Sequence[Entry]) -> Addition:
    """The entry of a table with noise.

    Args:
        workspace: where.
        spec: what will be released.
        spent: what that spends.
        entries: what the ledger was found to hold.
    """
    assert spec.ledger is not None
    entry = replace(Entry.bare(workspace, spec), noise=spent)
    return Addition.of(workspace, spec.ledger.table, entry, spec.hash, entries)
