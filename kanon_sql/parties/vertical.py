"""A vertically split table: every party has columns of its own, of every person whose key it has. Search, join, verify.

After Jiang, Clifton, "A secure distributed framework for achieving k-anonymity", 2006, where two sites generalize each
its own columns, test by encrypted keys whether every class of the joined table has at least k rows, and generalize
further until all have; and Wang, Fung, Dong, "Integrating private databases for data analysis", 2005, who search the
same lattice from the top down. Here the mediator counts the joined classes from tokens, and any search asks for nodes.

Keys are hashed in each party's database with a key that all parties share in this run. A party's vectors and classes
have tokens that are its own, so that two parties' tokens have nothing in common but the persons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Any

from kanon_sql.engines import Engine, Reporter
from kanon_sql.errors import Obstacle, SpecError, VerificationError, refuse
from kanon_sql.evaluate import Examination, Subject, examine
from kanon_sql.frequency import explained_if_missing, prepared, source_of, value_facts_of
from kanon_sql.models import PrivacyModel, metric_for, models_of
from kanon_sql.parties.exchange import MEDIATOR, Transcript, fresh_key
from kanon_sql.parties.holder import Holder
from kanon_sql.parties.pooled import Classes, Columns, Demands, PooledEvaluator
from kanon_sql.parties.refusals import demands_of, party_obstacles, refuse_float_values
from kanon_sql.release import publish, staged
from kanon_sql.search import Node, Outcome, search
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation

__all__ = ["JoinedRelease", "Vertical", "searched_vertically", "vertical_obstacles"]


@dataclass(frozen=True)
class JoinedRelease:
    """The joined release, written at one party, verified, and not yet published.

    Attributes:
        table: the scratch table that holds it.
        examination: what its classes achieve.
    """

    table: Relation
    examination: Examination


@dataclass(frozen=True)
class Vertical:
    """A search over a vertically split table that is over.

    Attributes:
        spec: what was asked for.
        holders: the parties.
        models: the requirements.
        evaluator: what counted the joined classes.
        outcome: of the search.
        transcript: what crossed.
        classes: the joined ones of the chosen node; none where no node satisfies.
        report: called with each stage of what parties do together.
    """

    spec: Spec
    holders: Sequence[Holder]
    models: Sequence[PrivacyModel]
    evaluator: PooledEvaluator
    outcome: Outcome
    transcript: Transcript
    classes: Classes
    report: Reporter
    _joined: _Joined

    @contextmanager
    def written(self, at: int) -> Iterator[JoinedRelease]:
        """The joined release under a scratch name in one party's database, verified; dropped unless published.

        Args:
            at: the position of that party.

        Raises:
            VerificationError: the written table is not what was promised.
        """
        assert self.outcome.best is not None
        assert self.spec.release is not None
        self.report("opening what is released", None)
        rows = self._released(self.outcome.best.node)
        # A party can compute the tokens of its own persons: in their order it would know which row is whose.
        SystemRandom().shuffle(rows)
        holder = self.holders[at]
        workspace = holder.workspace
        self.transcript.add(MEDIATOR, holder.name, "rows of the joined release", rows)
        names = [name for own in self.holders for name in (*own.given_names, *own.others)]
        ordered = [*self.spec.quasi_identifiers, *self.spec.sensitive, *self.spec.keep]
        places = [names.index(name) for name in ordered]
        with staged(workspace, self.spec.release) as target:
            self.report(f"writing the joined release at {holder.name}", None)
            loaded = workspace.table("loaded")
            cells = [[row[place] for place in places] for row in rows]
            workspace.load(loaded, [f"l{index}" for index, _ in enumerate(ordered)], cells)
            workspace.execute("parties/joined", target=target, loaded=loaded, names=ordered)
            self.report("verifying the written table", None)
            yield JoinedRelease(target, self._verified(holder, target))

    def publish(self, at: int, joined: JoinedRelease, manifest: Mapping[str, Any]) -> None:
        """Publish the joined release in the database where it was written."""
        publish(self.holders[at].workspace, self.spec, joined.table, manifest)

    def _released(self, node: Node) -> list[tuple[str, ...]]:
        """The cells of every released row, opened only now and only of these."""
        released = self._joined.released(node)
        contents = []
        for holder, own in zip(self.holders, self._joined.divided(node), strict=True):
            table, of_person = holder.contents(own)
            wanted = {of_person[person] for person in released}
            opened = holder.opened(table, wanted)
            contents.append({person: opened[of_person[person]] for person in released})
        return [tuple(cell for own in contents for cell in own[person]) for person in released]

    def _verified(self, holder: Holder, target: Relation) -> Examination:
        """What the classes of the written table achieve, read from the table alone."""
        workspace = holder.workspace
        columns = workspace.columns(target)
        subject = Subject(
            table=target,
            columns=columns,
            quasi_identifiers=list(self.spec.quasi_identifiers),
            references={},
            facts={name: value_facts_of(self.models, columns[name]) for name in self.evaluator.demands.diversity},
        )
        found = examine(workspace, subject, self.models)
        promised = self.classes.kept(self.evaluator.demands)
        if not found.passed or (found.rows, found.classes) != (promised.total(), len(promised)):
            raise VerificationError(
                "verification: the written table does not have the classes that the search has counted (did a source "
                "change while it was read?); it was dropped"
            )
        return found


class _Joined:
    """The persons that every party has, by tokens.

    Args:
        spec: names the quasi-identifiers.
        holders: the parties.
        demands: what a class has to have.

    Attributes:
        persons: a person's token -> the tokens of the person's vectors, one per party.
    """

    def __init__(self, spec: Spec, holders: Sequence[Holder], demands: Demands) -> None:
        self._holders = holders
        self._demands = demands
        held = [holder.vectors() for holder in holders]
        common = set(held[0]).intersection(*held[1:])
        self.persons = {person: tuple(own[person] for own in held) for person in sorted(common)}
        self._vectors = Counter(self.persons.values())
        self._values: dict[str, Counter[tuple[tuple[str, ...], str]]] = {}
        for attribute in demands.diversity:
            (holder,) = (holder for holder in holders if attribute in holder.others)
            value_of = holder.values(attribute)
            self._values[attribute] = Counter(
                (vectors, value_of[person]) for person, vectors in self.persons.items() if person in value_of
            )
        position = {name: index for index, name in enumerate(spec.quasi_identifiers)}
        self._places = [[position[name] for name in holder.given_names] for holder in holders]
        self._classes: dict[tuple[int, Node], dict[str, str]] = {}

    def divided(self, node: Node) -> list[Node]:
        """A node of all columns as a node of each party's own."""
        return [tuple(node[place] for place in places) for places in self._places]

    def classes(self, node: Node) -> Classes:
        """The joined classes of a node by their tokens, with their rows and their different values."""
        generalized = self._generalized(node)
        sizes = Counter[object]()
        for vectors, rows in self._vectors.items():
            sizes[_class_of(vectors, generalized)] += rows
        values = {
            attribute: Counter[object](
                name for name, _ in {(_class_of(vectors, generalized), value) for vectors, value in held}
            )
            for attribute, held in self._values.items()
        }
        return Classes(sizes, values)

    def released(self, node: Node) -> list[str]:
        """The tokens of the persons in joined classes that satisfy."""
        generalized, kept = self._generalized(node), self.classes(node).kept(self._demands)
        return [person for person, vectors in self.persons.items() if _class_of(vectors, generalized) in kept]

    def _generalized(self, node: Node) -> list[dict[str, str]]:
        """Per party, a vector's token -> that of its class; asked once per node of its own."""
        found = []
        for index, own in enumerate(self.divided(node)):
            if (index, own) not in self._classes:
                self._classes[index, own] = self._holders[index].classes(own)
            found.append(self._classes[index, own])
        return found


def _class_of(vectors: Sequence[str], generalized: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(own[vector] for own, vector in zip(generalized, vectors, strict=True))


@contextmanager
def searched_vertically(
    engines: Sequence[Engine], names: Sequence[str], spec: Spec, key: str, report: Reporter
) -> Iterator[Vertical]:
    """Prepare every party's columns in its own database, and search the lattice of all by joined tokens.

    Args:
        engines: one for each party, each with a run open.
        names: what to call them.
        spec: what to anonymize and how: the columns of all parties.
        key: the column that every party has, by which rows belong together.
        report: called with each stage of what parties do together.

    Raises:
        UnsupportedError: the spec asks for what only a table in one place can tell, or a key is not unique.
        SpecError: a column is at no party, or at several.
        KanonError: whatever a stage raises.
    """
    refuse([*party_obstacles(spec), *vertical_obstacles(spec, key)])
    models, transcript, person_key = models_of(spec), Transcript(), fresh_key()
    demands = demands_of(models)
    parts = _divided(engines, names, spec, key)
    with ExitStack() as opened:
        holders = []
        for engine, name, own in zip(engines, names, parts, strict=True):
            others = [*own.sensitive, *own.keep]
            judged = [model for model in models if model.attribute is None]
            given = opened.enter_context(prepared(engine, own, judged))
            holders.append(Holder(name, given, key, others, person_key, transcript))
        _refuse_other_keys(holders)
        refuse_float_values([holder.given for holder in holders], demands.diversity)
        report("joining the parties' tokens", None)
        joined = _Joined(spec, holders, demands)
        lookups = {lookup.name: lookup for holder in holders for lookup in holder.sets.lookups}
        columns = Columns(
            list(spec.quasi_identifiers.values()), tuple(lookups[name].height for name in spec.quasi_identifiers)
        )
        evaluator = PooledEvaluator(spec, metric_for(spec), columns, demands, len(joined.persons), 0, joined.classes)
        report(f"searching the lattice ({spec.search.algorithm})", 0)
        outcome = search(spec.search.algorithm, evaluator.question(), evaluator.answers, **spec.search.options).run()
        best = outcome.best
        classes = Classes(Counter(), {}) if best is None else joined.classes(best.node)
        yield Vertical(spec, holders, models, evaluator, outcome, transcript, classes, report, joined)


def vertical_obstacles(spec: Spec, key: str) -> Iterator[Obstacle]:
    """A key that would be released, or rows that each party would tell of.

    Args:
        spec: what to anonymize and how.
        key: the column that every party has.
    """
    if key not in spec.identifiers:
        yield Obstacle(
            f"--key {key}: expected one of the spec's identifiers, which are never released; add it to 'identifiers'",
            SpecError,
        )
    if spec.nulls == "suppress":
        yield Obstacle(
            "parties: nulls: suppress would have every party tell whose rows it leaves out; use nulls: value, or leave "
            "such rows out in a view"
        )


def _divided(engines: Sequence[Engine], names: Sequence[str], spec: Spec, key: str) -> list[Spec]:
    """Per party, the spec of its own columns.

    Raises:
        SpecError: a column is nowhere, or at two parties, or a party has no quasi-identifier or no key.
    """
    held: list[set[str]] = []
    for engine, name in zip(engines, names, strict=True):
        with explained_if_missing(engine, spec.source.table):
            columns = {column.name for column in engine.columns(source_of(engine, spec))}
        if key not in columns:
            raise SpecError(f"--key {key}: the source at {name} has no such column; every party needs it")
        held.append(columns)
    for column in (*spec.quasi_identifiers, *spec.sensitive, *spec.keep):
        having = [name for name, columns in zip(names, held, strict=True) if column in columns]
        if len(having) != 1:
            where = f"at {' and '.join(having)}" if having else "at no party"
            raise SpecError(
                f"{column}: the column is {where}; a vertical split needs it at exactly one party; hide it from "
                "the others by a view or a source query"
            )
    found = []
    for name, columns in zip(names, held, strict=True):
        own = {column: given for column, given in spec.quasi_identifiers.items() if column in columns}
        if not own:
            raise SpecError(f"{name} has no quasi-identifier of the spec; every party needs one")
        changed = {
            "quasi_identifiers": own,
            "identifiers": tuple(column for column in spec.identifiers if column in columns),
            "sensitive": tuple(column for column in spec.sensitive if column in columns),
            "keep": tuple(column for column in spec.keep if column in columns),
        }
        found.append(spec.model_copy(update=changed))
    return found


def _refuse_other_keys(holders: Sequence[Holder]) -> None:
    """Refuse keys of several kinds, whose texts would differ: fewer rows would be joined than belong together."""
    kinds = {holder.given.columns[holder.key].kind for holder in holders}
    if len(kinds) > 1 or not kinds <= {"text", "integer"}:
        raise SpecError(
            f"--key {holders[0].key}: the column is "
            + " and ".join(f"{holder.given.columns[holder.key].type} at {holder.name}" for holder in holders)
            + "; expected text or whole numbers, the same at every party; cast it in a view or a source query"
        )
