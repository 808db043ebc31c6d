"""Whether groups of vectors satisfy the requirements: the composed class query, over any grouping of the vectors.

What a class counts beside its rows (values of sensitive attributes, persons) is kept per vector once, so that every
grouping is a join by the vectors' numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Workspace
from kanon_sql.errors import Obstacle
from kanon_sql.evaluate import Frames, flagged_classes
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import Monotonicity, PrivacyModel
from kanon_sql.recode.paths import Word
from kanon_sql.registers import RECODINGS
from kanon_sql.sql import Relation, Sql, relation, render, slot

__all__ = ["Judge", "judge_of", "partition_obstacles"]


@dataclass(frozen=True)
class Judge:
    """The requirements as every partition of a recoding must satisfy them.

    Attributes:
        workspace: where statements run.
        sets: the frequency sets.
        models: the requirements, all of them about whole partitions. Classes of some quasi-identifiers are unions of
            partitions: what each partition has, a union has the more.
        vectors: the numbered vectors.
        members: per sensitive attribute, its values by vector.
        persons: the persons by vector; None where vectors count what a class counts.
    """

    workspace: Workspace
    sets: FrequencySets
    models: Sequence[PrivacyModel]
    vectors: Relation
    members: Mapping[str, Relation]
    persons: Relation | None

    @property
    def by_person(self) -> bool:
        """Whether a vector counts persons, which add up."""
        return self.sets.counting == "persons"

    @property
    def size(self) -> str:
        """The column of the vectors that adds up to a class's size, or at least bounds it."""
        return "person_count" if self.by_person else "row_count"

    @property
    def least_size(self) -> int:
        """The largest size that a requirement asks of every class."""
        return max([1, *(model.least_size for model in self.models if model.least_size is not None)])

    @property
    def donors(self) -> int | None:
        """The size that decides everything, so that vectors may be moved from one group to another; None for others."""
        only_sizes = all(model.judges_size for model in self.models)
        return self.least_size if only_sizes and self.persons is None else None

    @property
    def by_rows_alone(self) -> bool:
        """Whether a group satisfies as soon as it has ``least_size`` rows."""
        return self.donors is not None and not self.by_person

    @property
    def joins_safely(self) -> bool:
        """Whether a group that satisfies still does whatever joins it."""
        by_person = self.sets.counting != "rows"
        return all(model.lasting(by_person) is Monotonicity.ALWAYS for model in self.models)

    def judged(
        self,
        what: str,
        grouped: Sql,
        keys: Sequence[str],
        tables: Mapping[str, Relation],
        *,
        largest: bool = False,
    ) -> Relation:
        """Judge groups of vectors.

        Args:
            what: what to call the table of the verdicts.
            grouped: a table, or a query in parentheses, of ``vector``, the keys and what vectors count.
            keys: the columns that distinguish the groups.
            tables: slot -> the scratch table that it stands for in ``grouped``.
            largest: also the size of the largest vector of each group, where sizes decide everything.

        Returns:
            A scratch table of the keys, ``class_rows``, ``class_size`` and ``satisfied``.
        """
        carried = f"-{self.size}" if largest else None
        return self.workspace.make(
            "recode/judged",
            what,
            {**tables, **self.tables},
            {},
            keys=tuple(keys),
            largest=largest,
            flagged=self.flagged(grouped, keys, carried),
        )

    def flagged(self, grouped: Sql, keys: Sequence[str], carried: str | None = None) -> Sql:
        """The query of groups of vectors: ``k0`` and so on, what they count, and ``satisfied``.

        Args:
            grouped: a table, or a query in parentheses, of ``vector``, the keys and what vectors count.
            keys: the columns that distinguish the groups.
            carried: of which each group's least is wanted as ``z0``: ``vector``, or the negative of its size.
        """
        frames = self._over(
            grouped,
            keys,
            {name: slot(f"members{index}") for index, name in enumerate(self.members)},
            {name: slot(f"reference{index}") for index, name in enumerate(self.sets.references)},
            None if self.persons is None else slot("persons"),
            carries_vector=carried == "vector",
        )
        return flagged_classes(replace(frames, carried=[] if carried is None else [Sql(carried)]), self.models)

    @property
    def tables(self) -> dict[str, Relation]:
        """The scratch tables that :meth:`flagged` needs, by slot."""
        own = {f"members{index}": table for index, table in enumerate(self.members.values())}
        own |= {f"reference{index}": table for index, table in enumerate(self.sets.references.values())}
        return own if self.persons is None else {**own, "persons": self.persons}

    def classes(self, classed: Relation) -> Frames:
        """The classes of vectors whose table has the number of each vector's class, ``part``."""
        members = {name: relation(table) for name, table in self.members.items()}
        references = {name: relation(table) for name, table in self.sets.references.items()}
        persons = None if self.persons is None else relation(self.persons)
        return self._over(relation(classed), ["part"], members, references, persons)

    def _over(
        self,
        grouped: Sql,
        keys: Sequence[str],
        members: Mapping[str, Sql],
        references: Mapping[str, Sql],
        persons: Sql | None,
        *,
        carries_vector: bool = False,
    ) -> Frames:
        shown = [*keys, "vector"] if carries_vector else list(keys)

        def frame(columns: Sequence[str], held: Sql | None) -> Sql:
            return render("recode/frame", keys=shown, names=columns, grouped=grouped, members=held)

        people = ["person_count"] if self.by_person else []
        return Frames(
            base=frame(["row_count", *people], None) if persons is None else frame(["row_count", "unit"], persons),
            values={name: frame(self.columns(name), held) for name, held in members.items()},
            counting=self.sets.counting,
            keys=[Sql(key) for key in keys],
            facts={name: facts.all for name, facts in self.sets.facts.items()},
            group_levels={name: facts.group_levels for name, facts in self.sets.facts.items()},
            references=references,
            known=self.sets.known,
        )

    def columns(self, attribute: str) -> list[str]:
        """What a frequency set of a sensitive attribute holds beside the vectors."""
        counted = {"rows": [], "persons": ["person_count"], "unit": ["unit"]}[self.sets.counting]
        known = self.sets.known.get(attribute, ())
        return ["value_code", *known, "reference_share", *self.sets.facts[attribute].all, *counted, "row_count"]


def judge_of(
    workspace: Workspace,
    sets: FrequencySets,
    models: Sequence[PrivacyModel],
    vectors: Relation,
    words: Sequence[Word],
) -> Judge:
    """The requirements, with what they count written per vector."""
    made = Judge(workspace, sets, [model.of_whole_classes() for model in models], vectors, {}, None)

    def written(what: str, held: Relation, names: Sequence[str]) -> Relation:
        tables = {"held": held, "vectors": vectors}
        return workspace.make("recode/members", what, tables, {}, words=tuple(words), names=tuple(names))

    members = {
        name: written(f"members{index}", sets.values[name], made.columns(name)) for index, name in enumerate(sets.facts)
    }
    persons = written("persons", sets.base, ["unit", "row_count"]) if sets.counting == "unit" else None
    return replace(made, members=members, persons=persons)


def partition_obstacles(method: str, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Requirements that no class of a recoding that is not full-domain can be judged by.

    Args:
        method: the recoding.
        models: what its classes are judged by.
    """
    for model in models:
        if model.population is not None:
            yield Obstacle(
                f"{model.label}: recoding: {method} counts the classes of the source alone, and which of them a person "
                "of the population would be in is not known; use recoding: full_domain"
            )
        if model.uses_label_width:
            yield Obstacle(
                f"{model.label}: a recoding that is not full-domain judges classes before they have labels, and what a "
                "record earns falls with the widths of these; use recoding: full_domain, or no_attack"
            )
        if model.to_fixpoint and RECODINGS[method].combines:
            continue
        if model.of_table or model.among_classes:
            yield Obstacle(
                f"{model.label}: a recoding that is not full-domain judges each class by itself, and this is about all "
                "of them together; use recoding: full_domain, or k_anonymity with local recoding and check for this one"
            )
