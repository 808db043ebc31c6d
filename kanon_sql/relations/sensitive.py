"""Sensitive values: which classes of persons, or persons who share what is known, disclose too much of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import Subject, flagged_classes, reference_in, refuse_other_kind, table_frames
from kanon_sql.frequency import ValueFacts, explained_if_missing, plain_source_of, unknown_columns, value_facts_of
from kanon_sql.hierarchies import refuse_mixed_forms
from kanon_sql.models import PrivacyModel, label_of, model_of
from kanon_sql.relations.members import Member, Placed, States
from kanon_sql.spec import PERSON, Coherence, KmAnonymity, RelationalSpec, Requirement
from kanon_sql.sql import Relation, Sql, source_relation

__all__ = ["Sensitive", "class_models", "requirement_label", "source_references"]


def requirement_label(asked: KmAnonymity | Coherence | Requirement) -> str:
    """A requirement in the field's notation, such as ``km_anonymity (k = 5, m = 1)``."""
    return asked.notation if isinstance(asked, KmAnonymity | Coherence) else label_of(asked)


def class_models(spec: RelationalSpec) -> list[PrivacyModel]:
    """The privacy models of requirements on the classes of persons."""
    return [model_of(item) for item in spec.of_classes]


def source_references(workspace: Workspace, spec: RelationalSpec, released: Mapping[str, Column]) -> dict[str, Sql]:
    """The distribution in the source of each sensitive column of persons that classes are compared with.

    Args:
        workspace: where.
        spec: names them.
        released: the columns of the released table of persons.

    Raises:
        SpecError: the source has no such column, or one of another kind than the released one.
    """
    models = [model for model in class_models(spec) if model.needs_reference]
    names = [model.attribute for model in models if model.attribute is not None]
    if not names:
        return {}
    placed = Placed(spec, PERSON)
    form = plain_source_of(workspace.engine, placed)
    with explained_if_missing(workspace.engine, placed.source.table):
        types = workspace.described(form)
    problems = unknown_columns(placed.shown, types, names, "which the spec names")
    if problems:
        raise SpecError(problems)
    for name in names:
        refuse_other_kind(workspace, released[name], types[name])
    reader = workspace.reading(form)
    refuse_mixed_forms(reader, source_relation(), {name: types[name] for name in names})
    return {
        name: reference_in(
            reader, f"source_reference{number}", source_relation(), value_facts_of(models, types[name]), None
        )
        for number, name in enumerate(dict.fromkeys(names))
    }


@dataclass
class Sensitive:
    """The sensitive values of persons, and who has to be left out for them.

    Which persons to leave out is a choice: of those who share what is known, as few as have to go of those with the
    value; all persons of a class that violates a requirement on classes.

    Attributes:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
    """

    workspace: Workspace
    spec: RelationalSpec
    members: Mapping[str, Member]
    _values: dict[str, Relation] = field(default_factory=dict)
    _models: list[PrivacyModel] = field(default_factory=list)
    _facts: dict[str, ValueFacts] = field(default_factory=dict)
    _references: dict[str, Sql] = field(default_factory=dict)
    _tables: int = 0

    def __post_init__(self) -> None:
        """Number the values, and count those that classes are compared with: once, whatever is asked later."""
        if self.spec.coherence:
            self._number_values()
        if self.spec.of_classes:
            self._know_values()

    @property
    def references(self) -> Mapping[str, Sql]:
        """The distribution of each sensitive column of persons that a model compares with, by the column."""
        columns = self.members[PERSON].sensitive
        return {columns[int(name[1:])]: reference for name, reference in self._references.items()}

    def _number_values(self) -> None:
        total, first = sum(len(member.sensitive) for member in self.members.values()), 0
        for number, (name, member) in enumerate(self.members.items()):
            if not member.sensitive:
                continue
            self._values[name] = self.workspace.table(f"sensitive{number}")
            self.workspace.execute(
                "relations/sensitive_values",
                target=self._values[name],
                rows=member.rows,
                of_person=name == PERSON,
                first=first,
                total=total,
                columns=len(member.sensitive),
            )
            first += len(member.sensitive)

    def _know_values(self) -> None:
        person = self.members[PERSON]
        columns = self.workspace.columns(person.rows)
        for model in class_models(self.spec):
            assert model.attribute is not None
            name = f"s{person.sensitive.index(model.attribute)}"
            own: dict[str, Any] = {"sensitive": name}  # the field of every model of a sensitive attribute
            self._models.append(replace(model, **own))
        for name in dict.fromkeys(model.attribute for model in self._models if model.attribute is not None):
            judging = [model for model in self._models if model.attribute == name]
            self._facts[name] = value_facts_of(judging, columns[name])
            if any(model.needs_reference for model in judging):
                self._references[name] = reference_in(
                    self.workspace, f"reference_{name}", person.rows, self._facts[name], None
                )

    # --- Who has to be left out ---

    def rare_persons(self, classes: Relation) -> Iterator[Relation]:
        """Persons who have to be left out by what is known of them alone, requirement by requirement."""
        if self._models:
            yield self._persons_of_failing_classes(classes)
        yield from self.incoherent_persons(classes, None, 0, self.holders() if self.spec.coherence else None)

    def incoherent_persons(
        self, classes: Relation, items: Relation | None, m: int, holders: Relation | None
    ) -> Iterator[Relation]:
        """Persons to leave out of those who share m items and a sensitive value too often."""
        for asked in self.spec.coherence:
            assert asked.m is not None
            if asked.h < 1 and m <= asked.m and holders is not None:
                most, of = asked.bound
                yield self._made(
                    "relations/incoherent_persons",
                    classes=classes,
                    items=items,
                    holders=holders,
                    m=m,
                    most=most,
                    of=of,
                )

    def holders(self, states: States | None = None) -> Relation:
        """Persons with their sensitive values, once each; of the rows that stay."""
        tables = [(table, None if states is None else states.get(name)) for name, table in self._values.items()]
        return self._made("relations/holders", tables=tables)

    def _persons_of_failing_classes(self, classes: Relation) -> Relation:
        table = self._made(
            "relations/persons_with_values",
            classes=classes,
            rows=self.members[PERSON].rows,
            names=list(self._facts),
        )
        known = self.workspace.columns(table)
        subject = Subject(
            table=table,
            columns={**known, **{name: facts.column for name, facts in self._facts.items()}},
            quasi_identifiers=["class"],
            references=self._references,
            facts=self._facts,
        )
        frames = table_frames(subject, self._models)
        flagged = flagged_classes(frames, self._models)
        return self._made("relations/persons_of_failing_classes", classes=classes, flagged=flagged)

    def _made(self, template: str, **context: object) -> Relation:
        self._tables += 1
        target = self.workspace.table(f"sensitive_{self._tables}")
        self.workspace.execute(template, target=target, **context)
        return target
