"""What an attack is given, what it finds, and how its cases are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from kanon_sql.disclosure.attacks.promises import FEWEST, promised_k, promised_population_k, promised_values
from kanon_sql.disclosure.attacks.registry import label_of
from kanon_sql.engines import Column, Engine, Workspace, refuse_incomplete
from kanon_sql.frequency import Side, refuse_lost
from kanon_sql.hierarchies import exact_texts, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import ON_REQUEST, Count, Document, Keywords, QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["Attack", "AuditInput", "Cases", "Reading", "Revealed", "Scene", "Target", "Unmeasured", "measured"]


class Revealed(TypedDict):
    """One exposed case.

    Attributes:
        values: its values by column.
        people: how many people it stands for.
    """

    values: dict[str, str | None]
    people: Count


@dataclass(frozen=True)
class Attack(Document):
    """What one attack achieves.

    Attributes:
        name: one of the names that the method declares for its results.
        about: the sensitive attribute or the table that it uses; None if it has none.
        examined: people (rows, where nothing else is said) that it was tried on.
        exposed: those that it exposes.
        beyond: those of them that the requirement should have protected; they decide the verdict.
        risk: the highest that any of them runs; None when there is nothing to measure.
        measure: what that figure is, in words.
        estimate: it rests on an assumption that the database cannot check, and decides no verdict.
        notes: what to know about the figures.
        revealed: the exposed cases, at most as many as were asked for; None unless asked.
    """

    name: str
    about: str | None
    examined: Count
    exposed: Count
    beyond: Count
    risk: Annotated[float, Keywords(minimum=-1, maximum=1)] | None
    measure: str
    estimate: bool = False
    notes: Sequence[str] = ()
    revealed: Sequence[Revealed] | None = field(default=None, metadata=ON_REQUEST)

    @property
    def failed(self) -> bool:
        """Whether it exposes people that the requirement should have protected, and is no estimate."""
        return self.beyond > 0 and not self.estimate

    @property
    def label(self) -> str:
        """Such as ``homogeneity of diagnosis``."""
        return label_of(self.name, self.about)


@dataclass(frozen=True)
class Target:
    """A table that an attack reads.

    Attributes:
        relation: how templates name it.
        columns: its columns by name.
        shown: what to call it in messages.
        parts: its name's parts; empty for a source that is a query or a file.
    """

    relation: Relation
    columns: Mapping[str, Column]
    shown: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """Of which level the labels of a column are taken to be, where several levels have them all.

    Attributes:
        taken: a released column -> the level; the highest of its levels where it says nothing.
        levels: the same columns, as they are met -> all levels that they may be of, lowest first.
    """

    taken: Mapping[tuple[str, str], int] = field(default_factory=dict)
    levels: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def of(self, column: tuple[str, str], levels: Sequence[int]) -> int:
        """The level of a column, which may be of several."""
        self.levels[column] = list(levels)
        return self.taken.get(column, levels[-1])


@dataclass(frozen=True)
class AuditInput:
    """What an audit was given: the tables that an attacker may have, and what else they may know.

    Attributes:
        engine: where the tables are.
        spec: names the quasi-identifiers and their hierarchies.
        models: the requirements.
        release: the table that is attacked.
        source: the table that it was made of, as it is now.
        external: a table that an attacker has besides.
        on: the columns to link it on; empty for all that it shares with the release.
        earlier: other releases of the same people.
        views: projections of the same rows, the release first.
        negations: how many values an attacker can rule out.
        hierarchies: sensitive attribute -> a hierarchy of its values, as a spec gives those of quasi-identifiers.
        made_by: the program that made the release, if not this one.
    """

    engine: Engine
    spec: Spec
    models: Sequence[PrivacyModel]
    release: Target
    source: Target
    external: Target | None = None
    on: tuple[str, ...] = ()
    earlier: Sequence[Target] = ()
    views: Sequence[Target] = ()
    negations: int = 1
    hierarchies: Mapping[str, QuasiIdentifier] = field(default_factory=dict)
    made_by: str | None = None


@dataclass(frozen=True)
class Scene:
    """What every attack is run with.

    Attributes:
        workspace: where statements run; it creates no more than temporary tables.
        given: the tables, and what else an attacker may know.
        about: what the attack is about this time, of what its method lists; None where it is run once.
        reveal: how many exposed cases may be shown per attack; 0 for none.
        looked_at: what :meth:`look_at` has seen.
        reading: of which level labels are that may be of several.
        sides: the tables that are matched, by their vectors.
    """

    workspace: Workspace
    given: AuditInput
    about: str | None = None
    reveal: int = 0
    looked_at: set[tuple[str, str, bool]] = field(default_factory=set)
    reading: Reading = field(default_factory=Reading)
    sides: dict[Relation, Side] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """Names the quasi-identifiers and their hierarchies."""
        return self.given.spec

    @property
    def models(self) -> Sequence[PrivacyModel]:
        """The requirements."""
        return self.given.models

    @property
    def release(self) -> Target:
        """The table that is attacked."""
        return self.given.release

    @property
    def source(self) -> Target:
        """The table that it was made of, as it is now."""
        return self.given.source

    @property
    def attribute(self) -> str:
        """The sensitive attribute that the attack is about this time."""
        if self.about is None:
            raise ValueError("this attack is about no attribute: its method lists none")
        return self.about

    @property
    def k(self) -> int:
        """The largest k that a requirement promises to a class; without one, 2: no person may be singled out."""
        return promised_k(self.spec, self.models) or FEWEST

    def k_of(self, known: Sequence[str]) -> int:
        """The largest k for classes by some of the quasi-identifiers: what is required of these alone counts too."""
        return promised_k(self.spec, self.models, known) or FEWEST

    def population_k_of(self, known: Sequence[str]) -> int:
        """The largest k where such a class is compared with a population: k-map's k counts too."""
        return promised_population_k(self.spec, self.models, known) or FEWEST

    def l_of(self, attribute: str) -> int:
        """The fewest different values that the requirements leave to a class; at least 2."""
        return max(FEWEST, promised_values(self.spec, self.models, attribute) or FEWEST)

    def least_values(self, attribute: str) -> int:
        """The fewest values that must be possible for a person: l of the attribute where it is promised, else k."""
        return self.k if promised_values(self.spec, self.models, attribute) is None else self.l_of(attribute)

    def look_at(self, target: Target, names: Sequence[str], labelled: Sequence[str] = ()) -> None:
        """Refuse columns whose values could be misread, once each; see :mod:`kanon_sql.hierarchies.exact`.

        Args:
            target: a table.
            names: its columns that are grouped or compared.
            labelled: those of them that labels are made of.

        Raises:
            UnsupportedError: a column holds what this engine cannot compare exactly.
        """
        looks = {(target.shown, name, name in labelled) for name in names} - self.looked_at
        if not looks:
            return
        self.looked_at.update(looks)
        columns = {name: target.columns[name] for name in names if any(look[1] == name for look in looks)}
        refuse_mixed_forms(self.workspace, target.relation, columns, labelled=labelled)
        refuse_blank_ends(self.workspace, target.relation, exact_texts([*columns.values()], "checked"), target.shown)


@dataclass(frozen=True)
class Cases:
    """The cases of one attack, as a query.

    Attributes:
        name, about, measure, estimate, notes: see :class:`Attack`.
        query: a row per case: ``people``, ``risk`` and, each 0 or 1, ``exposed`` and ``beyond``.
        keys: the columns that tell a case, and what they are called when revealed; of several with one name the first.
        examined: the number of people it was tried on, as an expression; None: those of the cases.
        against: where cases are matches, the number of those who could be matched, as an expression.
        unmatched: where cases are matches: why there may be none although a person is exposed.
        whole: the table whose rows are all in some case, each in one; None where cases are matches.
    """

    name: str
    about: str | None
    query: Sql
    keys: Mapping[str, str]
    measure: str
    examined: Sql | None = None
    against: Sql | None = None
    unmatched: str = ""
    whole: Relation | None = None
    estimate: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Unmeasured:
    """What an attack could not do once it had looked at the tables.

    Attributes:
        name: the attack, or the part of it.
        why: in words.
        too_large: it was too much to compute, and says nothing about what the tables are.
    """

    name: str
    why: str
    too_large: bool = False


def measured(scene: Scene, cases: Cases) -> Attack | Unmeasured:
    """Count the people of an attack's cases: one row comes back, and the exposed cases only if revealed.

    Where nothing at all is matched, that says more of how the tables are written than of the protection.
    """
    examined, exposed, beyond, risk, people, others, there, *found = scene.workspace.row(
        "disclosure/attacks/counted",
        cases=cases.query, examined=cases.examined, against=cases.against, whole=cases.whole,
        sides=list(scene.sides.values()),
    )  # fmt: skip
    refuse_lost(f"the attack {cases.name}", found)
    if cases.whole is not None:
        refuse_incomplete(f"the attack {cases.name}", people, there)
    notes = list(cases.notes)
    if cases.against is not None:
        if others and not people and (examined or cases.examined is None):
            why = "which protects no person if the columns are only written in another form"
            return Unmeasured(cases.name, f"{cases.unmatched}, {why}")
        if cases.examined is not None:
            notes.append(f"{int(people or 0):,} of {int(examined or 0):,} match anything")
    revealed = None
    if scene.reveal:
        rows = scene.workspace.fetch(
            "disclosure/attacks/revealed", scene.reveal, cases=cases.query,
            keys=[identifier(key) for key in cases.keys], most=scene.reveal,
        )  # fmt: skip
        revealed = [Revealed(values=_values(cases.keys.values(), row), people=int(row[-1])) for row in rows]
    return Attack(
        name=cases.name,
        about=cases.about,
        examined=int(examined or 0),
        exposed=int(exposed or 0),
        beyond=int(beyond or 0),
        risk=None if risk is None else float(risk),
        measure=cases.measure,
        estimate=cases.estimate,
        notes=notes,
        revealed=revealed,
    )


def _values(names: Iterable[str], row: Sequence[object]) -> dict[str, str | None]:
    """Column -> its value; what comes once more for a column says how the value is written."""
    values: dict[str, str | None] = {}
    for name, cell in zip(names, row, strict=False):
        values.setdefault(name, None if cell is None else str(cell))
    return values
