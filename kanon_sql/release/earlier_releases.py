"""A release beside those that its ledger holds: whether they can be compared, and what they tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError
from kanon_sql.evaluate import Chosen, Rows, rows_in_words
from kanon_sql.frequency import is_same_table, source_of
from kanon_sql.hierarchies import Lookup, build_lookups, exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.models import PrivacyModel, model_of
from kanon_sql.release.joint_table import JointClasses, View, examine_jointly
from kanon_sql.release.ledger import Addition, Entry, digest_of, of_one_table, read_ledger, released_form
from kanon_sql.release.write import WrittenTable
from kanon_sql.spec import YEARS, QuasiIdentifier, Requirement, Spec
from kanon_sql.sql import Relation, source_relation

__all__ = ["JointVerdict", "addition", "coarsened", "comparable_releases", "compared", "lowest_released_levels"]


@dataclass(frozen=True)
class JointVerdict:
    """What a release and the earlier ones tell together.

    Attributes:
        table: the ledger's name.
        earlier: the earlier releases.
        joint: what the joint classes achieve; None when there is no earlier release.
        coarsened: the search was held at the levels that earlier releases have, or above.
        refused: how many nodes were compared before this one, and were not safe.
    """

    table: str
    earlier: Sequence[Entry]
    joint: JointClasses | None
    coarsened: bool = False
    refused: int = 0

    @property
    def passed(self) -> bool:
        """Whether the releases together satisfy every requirement."""
        return self.joint is None or self.joint.passed

    @property
    def conflict(self) -> bool:
        """Whether they were compared, and do not."""
        return not self.passed and not (self.joint is not None and self.joint.changed)

    def failure(self) -> str:
        """Why not, in a sentence."""
        assert self.joint is not None
        names = ", ".join(entry.name for entry in self.earlier)
        if self.joint.changed:
            return (
                f"{', '.join(self.joint.changed)} can no longer be derived from the source (the source or the "
                "release has changed), so what the releases reveal together is unknown; for tables that change, "
                "see m-invariance (check --set earlier)"
            )
        problems = [
            f"{item.violating_classes} joint classes ({rows_in_words(item.violating_rows)}) violate {item.model.label}"
            for item in self.joint.achieved
            if item.violating_classes
        ]
        return f"together with {names}, {'; '.join(problems)}"

    def remedies(self, on_conflict: str) -> list[str]:
        """What may be released although this may not: Sweeney's remedies for complementary releases (2002, 4.2).

        Args:
            on_conflict: what the spec's ledger says.
        """
        if not self.conflict:
            return []
        last = self.earlier[-1].name
        ways = [
            f"a release made of {last} alone, as the source of a spec without a ledger, reveals no more than {last}"
        ]
        if on_conflict == "refuse":
            ways.insert(0, "ledger: {on_conflict: coarsen} looks for levels that are safe beside earlier releases")
        return [f"what can be released: {'; '.join(ways)}"]


def comparable_releases(workspace: Workspace, spec: Spec) -> tuple[Entry, ...]:
    """The entries of a spec's ledger, all of which can be compared with a release of the spec.

    Raises:
        SpecError: one of them cannot, or the ledger is none.
    """
    assert spec.ledger is not None
    engine = workspace.engine
    entries = of_one_table(read_ledger(workspace, Relation(spec.ledger.table)))
    if not entries:
        return entries
    columns = {column.name for column in engine.columns(source_of(engine, spec))}
    digests = {name: digest_of(spec, column) for name, column in spec.quasi_identifiers.items()}
    problems = [
        Problem(f"ledger: {text}") for entry in entries for text in _obstacles(workspace, spec, entry, columns, digests)
    ]
    if problems:
        raise SpecError(problems)
    return entries


def _obstacles(
    workspace: Workspace, spec: Spec, entry: Entry, columns: set[str], digests: Mapping[str, str]
) -> list[str]:
    """Why a release of the spec cannot be compared with an earlier one."""
    assert spec.release is not None
    engine, found = workspace.engine, []
    if entry.table is not None:
        return [
            f"{entry.name} is a table of counts, which is not compared with rows; use a ledger of its own for tables"
        ]
    if entry.spending is not None:
        return [
            f"{entry.name} is differentially private, and a release that is not could reveal what it hides; keep "
            "one kind of release in a ledger, and do not release this table otherwise"
        ]
    if entry.release == spec.release or is_same_table(engine, entry.release, spec.release):
        found.append(
            f"{entry.name} was published at {entry.published_at} and stays as it is, to be compared with; "
            "publish under another name"
        )
    elif engine.exists(entry.release) != "table":
        found.append(
            f"the release {entry.name} (run {entry.run_id}, {entry.published_at}) is not in the database, to be "
            "compared with: restore it, or, if its run was killed before it published, run kanon-sql clean --yes, "
            "which takes the row out of the ledger"
        )
    if entry.unit != spec.unit:
        found.append(
            f"{entry.name} protects {entry.unit or 'rows'}, and this spec {spec.unit or 'rows'}: use the same unit"
        )
    named = [*entry.quasi_identifiers, *entry.shown]
    found += [
        f"the source has no column {name!r}, which {entry.name} releases" for name in named if name not in columns
    ]
    found += [
        f"the ledger does not hold the hierarchy of {name} in {entry.name} (it holds a digest of files, trees, "
        "points and SQL); write the same hierarchy into the spec, with minimum_level at its top if the column "
        "should not be released"
        for name, item in entry.quasi_identifiers.items()
        if item.rule is None and digests.get(name) != item.digest and _of_its_year(spec, name, item.digest) is None
    ]
    return found


def _of_its_year(spec: Spec, name: str, digest: str) -> QuasiIdentifier | None:
    """The spec's own hierarchy as an earlier release has it, where that release is one of another year."""
    column = spec.quasi_identifiers.get(name)
    if column is None or not column.names_release_year:
        return None
    first, last = YEARS
    dated = (column.in_year(year) for year in range(first, last + 1))
    return next((item for item in dated if digest_of(spec, item) == digest), None)


def lowest_released_levels(spec: Spec, entries: Sequence[Entry]) -> dict[str, int]:
    """The lowest level at which earlier releases show each quasi-identifier of a spec.

    An attribute that they have at its top only is as good as new, and not among them.
    """
    held = {}
    for name, column in spec.quasi_identifiers.items():
        digest = digest_of(spec, column)
        shown = [
            item.level
            for entry in entries
            if (item := entry.quasi_identifiers.get(name)) and item.digest == digest and item.level < item.height
        ]
        if shown:
            held[name] = min(shown)
    return held


def coarsened(spec: Spec, entries: Sequence[Entry]) -> Spec:
    """The spec with every quasi-identifier at or above the lowest level that was released of it.

    At that very level the joint classes are those of the new release itself, but for suppressed rows and attributes
    that only earlier releases have. So the search sees them. A level above tells no reader less of the rows that are
    out at the lower one; but rows that the earlier releases left out are a joint class with those of their kind alone,
    and at a higher level there are more of these. What the search finds is compared like any other release.

    Raises:
        SpecError: the spec's own limits are below that level.
    """
    columns = dict(spec.quasi_identifiers)
    problems = []
    for name, lowest in lowest_released_levels(spec, entries).items():
        column = columns[name]
        level = max(lowest, column.minimum_level)
        if column.maximum_level is not None and column.maximum_level < level:
            problems.append(
                Problem(
                    f"quasi_identifiers.{name}.maximum_level: on_conflict: coarsen needs level {level}, that of the "
                    f"earlier releases, and the highest allowed is {column.maximum_level}; raise it"
                )
            )
        columns[name] = column.model_copy(update={"minimum_level": level})
    if problems:
        raise SpecError(problems)
    return spec.model_copy(update={"quasi_identifiers": columns})


def compared(
    found: Chosen, written: WrittenTable, entries: Sequence[Entry], *, refused: int | None = None
) -> JointVerdict:
    """Compare a written release with the earlier ones.

    Args:
        found: the search and its node; its lookup tables are still there.
        written: the release, not yet published.
        entries: the earlier releases.
        refused: the search was held at their levels, or above, and this many nodes were compared there before; None
            where it was not.
    """
    spec = found.spec
    assert spec.ledger is not None
    table = ".".join(spec.ledger.table)
    if not entries:
        return JointVerdict(table, (), None)
    lookups = _lookups(found, entries)
    digests = {name: digest_of(spec, column) for name, column in spec.quasi_identifiers.items()}
    levels = dict(zip(spec.quasi_identifiers, found.node, strict=True))
    views = [
        View(
            name=entry.name,
            table=Relation(entry.release),
            labels={name: (lookups[name, item.digest], item.level) for name, item in entry.quasi_identifiers.items()},
            shown=entry.shown,
            drops_nulls=entry.drops_nulls,
            masked=entry.masked,
        )
        for entry in entries
    ]
    views.append(
        View(
            name="this release",
            table=written.table,
            labels={name: (lookups[name, digests[name]], level) for name, level in levels.items()},
            shown=(*spec.sensitive, *spec.keep),
            drops_nulls=spec.nulls == "suppress",
            masked=written.masked > 0,
        )
    )
    models = _models([spec.privacy, *(entry.privacy for entry in entries)])
    joint = examine_jointly(found.workspace, found.columns, views, models, spec.unit, found.sets.rows)
    return JointVerdict(table, entries, joint, refused is not None, refused or 0)


def _models(asked: Sequence[Sequence[Requirement]]) -> list[PrivacyModel]:
    """Every requirement once: what is asked of the new release, and what earlier ones promised."""
    return list(dict.fromkeys(model_of(requirement) for requirements in asked for requirement in requirements))


def _lookups(found: Chosen, entries: Sequence[Entry]) -> dict[tuple[str, str], Lookup]:
    """The lookup table of every hierarchy, by column and digest: the search's own, and new ones where these lack."""
    spec = found.spec
    lookups = {
        (lookup.name, digest_of(spec, column)): lookup
        for lookup, column in zip(found.sets.lookups, spec.quasi_identifiers.values(), strict=True)
    }
    missing = {
        (name, item.digest): _of_its_year(spec, name, item.digest) or QuasiIdentifier.model_validate(item.rule)
        for entry in entries
        for name, item in entry.quasi_identifiers.items()
        if (name, item.digest) not in lookups
    }
    start = len(lookups)
    while missing:  # a round has one hierarchy per column
        batch = {name: (digest, column) for (name, digest), column in missing.items()}
        made = _build(found, {name: column for name, (_, column) in batch.items()}, start)
        for lookup in made:
            key = lookup.name, batch[lookup.name][0]
            lookups[key] = lookup
            del missing[key]
        start += len(made)
    return lookups


def _build(found: Chosen, quasi_identifiers: Mapping[str, QuasiIdentifier], start: int) -> list[Lookup]:
    """Lookup tables for hierarchies that the spec does not have, from the distinct values in the source."""
    workspace, columns = found.workspace, found.columns
    own = [columns[name] for name in quasi_identifiers]
    names = [f"q{start + position}" for position in range(len(own))]
    refuse_blank_ends(workspace, source_relation(), exact_texts(own, "checked"), "the source")
    raw = workspace.table(f"raw{start}")
    values = [exact_value(column, "kanon_source") for column in own]
    workspace.execute("frequency/raw", target=raw, source=source_relation(), names=names, values=values)
    stored: dict[str, Column] = dict(zip(names, own, strict=True))
    refuse_mixed_forms(workspace, raw, stored, labelled=names, weighted=True)
    as_spec = found.spec.model_copy(update={"quasi_identifiers": dict(quasi_identifiers), "nulls": "value"})
    return build_lookups(workspace, as_spec, dict(columns), raw, start=start)


def addition(found: Chosen, written: WrittenTable, entries: Sequence[Entry], rows: Rows) -> Addition:
    """The new release, as the ledger will hold it."""
    spec = found.spec
    assert spec.ledger is not None
    entry = replace(
        Entry.bare(found.workspace, spec),
        drops_nulls=spec.nulls == "suppress",
        masked=written.masked > 0,
        quasi_identifiers={
            lookup.name: released_form(spec, column, level, lookup.height)
            for lookup, column, level in zip(
                found.sets.lookups, spec.quasi_identifiers.values(), found.node, strict=True
            )
        },
        sensitive=spec.sensitive,
        keep=spec.keep,
        privacy=spec.privacy,
        rows=cast("Mapping[str, int]", rows),
    )
    return Addition.of(found.workspace, spec.ledger.table, entry, spec.hash, entries)
