"""What a privacy model declares. It runs nothing: the evaluator composes the query.

Each model has one file here and one template of the same name in
``sql_templates/models/privacy/``, which holds its measure per class and its condition as SQL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

from kanon_sql.models.privacy.terms import TOLERANCE, Background, Monotonicity, SetWindows, ShareBound
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec import QuasiIdentifier, Requirement
from kanon_sql.sql import Sql, identifier, render

__all__ = ["TOLERANCE", "Background", "Monotonicity", "PrivacyModel", "SetWindows", "ShareBound"]


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """A requirement on every equivalence class.

    Counts of a class's values (``value_count``) may be integers of 32 bits: a measure that multiplies them casts them.

    Attributes:
        name: the template's name and the key in results.
        requirement: how a spec asks for it; several models may share one, of different kinds.
        attribute: the sensitive attribute it looks at; None for class sizes alone.
        figures: what it reaches, by its name in results -> its type and what it is, by
            :func:`kanon_sql.models.privacy.figure`: for the JSON Schema of results.
        worst: whether the class with the smallest or the largest measure is the worst.
        logarithmic: what it reaches is the exponential of the measure.
        needs_totals: the measure uses ``class_total``.
        needs_positions: the measure uses ``value_position``.
        needs_reference: the measure uses ``reference_share``: how often the original table has each value.
        needs_facts: what else the measure uses of each value; see :class:`kanon_sql.frequency.value_facts.ValueFacts`.
        spans: the measure is taken of the values in their order, by ``evaluate/ordered_frame``.
        second: which extreme of a second measure is the worst, where there is one.
        second_is_size: it is the size of the class.
        reference: where the reference distribution is taken from.
        quasi_identifiers: what classes are made by; None for the spec's quasi-identifiers.
        on_coarser_classes: these classes are unions of those that are judged and may be suppressed, and count what is
            kept of them. So it is in a search; see :mod:`kanon_sql.evaluate.class_unions`.
        others: among them are the other sensitive attributes. A search makes its classes without these, and judges each
            by its worst part, see :attr:`splits_classes`; so the condition of a model that takes them compares each of
            its measures with a threshold, and asks for all of that.
        is_bounded: the values of the source alone may tell that it is out of reach.
        judges_size: its condition looks at nothing but how many rows (or persons) a class has.
        measures_presence: its measure is about who of a population is in the table, so each must be behind one class.
        of_table: its measures are taken of all classes together, of those that satisfy all else where the others are
            suppressed. Where they are not enough, no class satisfies. With a frame, ``measure`` is of each class, and
            has a column of its own beside those of the table.
        uses_label_width: its measure is made of what it counts, and of what the class's labels lose: the column
            ``class_loss``; see :meth:`of_widths`.
        is_estimate: whether it holds is estimated from a sample: its ``assumption`` says how. Its classes must not have
            been made to be large enough in the sample.
        by_windows: windows over a class's rows tell whether it satisfies, as a view needs it; see :meth:`windowed`.
        judging: fields that no frequency set depends on: searches that differ in these alone share their sets.
        to_fixpoint: rows with something rare are dropped until there is none left, which takes rounds; see
            :mod:`kanon_sql.evaluate.combinations`. Where none is dropped, windows over classes tell: :meth:`rarest`.
        has_disclosed: with persons, a value that every person of the class holds is
            disclosed whatever else the class holds, and the measure falls to its worst.
    """

    name: ClassVar[str]
    requirement: ClassVar[type[Requirement]]
    figures: ClassVar[Mapping[str, Any]] = {}
    worst: ClassVar[Literal["MIN", "MAX"]]
    logarithmic: ClassVar[bool] = False
    needs_totals: ClassVar[bool] = False
    needs_positions: ClassVar[bool] = False
    needs_reference: ClassVar[bool] = False
    needs_facts: ClassVar[tuple[str, ...]] = ()
    spans: ClassVar[bool] = False
    second: ClassVar[Literal["MIN", "MAX"] | None] = None
    second_is_size: ClassVar[bool] = False
    is_bounded: ClassVar[bool] = False
    has_disclosed: ClassVar[bool] = False
    judging: ClassVar[tuple[str, ...]] = ()
    judges_size: ClassVar[bool] = False
    measures_presence: ClassVar[bool] = False
    of_table: ClassVar[bool] = False
    uses_label_width: ClassVar[bool] = False
    is_estimate: ClassVar[bool] = False
    by_windows: ClassVar[bool] = False
    to_fixpoint: ClassVar[bool] = False
    reference: Literal["original", "release"] = field(default="original", kw_only=True)
    quasi_identifiers: tuple[str, ...] | None = field(default=None, kw_only=True)
    on_coarser_classes: bool = field(default=False, kw_only=True)
    others: bool = field(default=False, kw_only=True)

    @classmethod
    @abstractmethod
    def of(cls, requirement: Any) -> Self | None:
        """The model that a requirement of its class asks for; None where it asks for another variant."""

    @property
    def attribute(self) -> str | None:
        """The sensitive attribute whose values a class is measured by, if the model has one."""
        return None

    @property
    def frame(self) -> str | None:
        """What is counted besides the rows of a class: the sensitive attribute, unless a second table is."""
        return self.attribute

    @property
    def adds_up(self) -> str | None:
        """The column of sampling weights that it adds up; it is the attribute then."""
        return None

    @property
    def population_person(self) -> str | None:
        """The population's column of persons, where the requirement names it."""
        return None

    @property
    def population(self) -> tuple[str, ...] | None:
        """The second table that classes are compared with, if the model has one."""
        return None

    @property
    def background(self) -> Background | None:
        """What the attacker knows beforehand, if the model judges beliefs: its frame has a row per class then."""
        return None

    @property
    def least_consistent(self) -> int | None:
        """The fewest records or rows that fit, where it compares rows of a release with records of its source."""
        return None

    @property
    def needs_perfect_matchings(self) -> bool:
        """Whether it counts only the rows that a record has in some assignment of all rows to records."""
        return False

    @property
    def penalizes_missing_persons(self) -> bool:
        """Whether persons of the population that no row stands for violate it; they are in no class."""
        return False

    def with_population_size(self, persons: int) -> PrivacyModel:
        """The model once the persons of its population are counted; itself where none of them has to be in a class."""
        return self

    @property
    def search_obstacle(self) -> str | None:
        """Why no search can judge it, only ``check``; None where one can."""
        return None

    @property
    def among_classes(self) -> bool:
        """Whether the measure of a class looks at the other classes too, so that none can be judged by itself."""
        return False

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """Sets of quasi-identifiers whose classes its steps look at besides: unions of those of all of them.

        A model with sets judges the classes of all sets, and is :attr:`among_classes`. Its ``least_size`` and what else
        is said of a class by itself stay None, and what violates may not be suppressed: that shrinks other unions.
        """
        return ()

    def with_quasi_identifiers(self, names: Sequence[str]) -> PrivacyModel:
        """The model once the quasi-identifiers of its spec are known; itself where it has no sets of them."""
        return self

    @property
    def assumption(self) -> str | None:
        """What it takes for granted that nothing here can check, in words that end up in a note; None for nothing."""
        return None

    @property
    def uniqueness_estimator(self) -> tuple[str, float] | None:
        """The estimator of population uniqueness that judges it, and the sampling fraction; None for no estimator."""
        return None

    def with_estimate(self, share: float | None, uniques: int) -> PrivacyModel:
        """The model once a table was measured; itself where no estimator judges it.

        Args:
            share: of the population, estimated to be unique there; None where the estimator does not exist.
            uniques: records that are unique in the table.
        """
        return self

    @property
    def share_bound(self) -> ShareBound | None:
        """The most of a class that may have one value, where the model says that of each value by itself."""
        return None

    @property
    @abstractmethod
    def notation(self) -> str:
        """The requirement in the field's notation, such as ``5-anonymity``."""

    @property
    def protects_no_one(self) -> bool:
        """Whether a class of one person, with one value, satisfies it, as 1-anonymity."""
        return False

    @property
    def label(self) -> str:
        """The notation, and what classes are made by if not by the spec's quasi-identifiers."""
        if self.others:
            return f"{self.notation}, the other sensitive attributes known"
        return self.notation + ("" if self.quasi_identifiers is None else f" over {', '.join(self.quasi_identifiers)}")

    @property
    def key(self) -> str:
        """A stable key for results, unique within a spec."""
        of = "" if self.frame is None else f"({self.frame})"
        if self.others:
            return f"{self.name}{of}[others known]"
        return self.name + of + ("" if self.quasi_identifiers is None else f"[{', '.join(self.quasi_identifiers)}]")

    @property
    def least_size(self) -> int | None:
        """The size that every class must have, where the model asks for one."""
        return None

    @property
    def least_values(self) -> int | None:
        """The fewest different sensitive values that a satisfying class has, where that follows; None where not."""
        return None

    @property
    def least_population(self) -> int | None:
        """The fewest persons of a population that every class stands for, where the model asks for that."""
        return None

    @property
    def most_gain(self) -> float | None:
        """The most that a value's share of a class exceeds its share of the reference, where the model bounds it."""
        return None

    @property
    def recursive_c(self) -> float | None:
        """The c of recursive (c,l)-diversity; None for any other model."""
        return None

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """A fact's name -> the values, as text, of which it is 1; it is 0 of all others."""
        return {}

    @property
    def numbers(self) -> Mapping[str, int]:
        """A fact's name -> the number for NULL: the fact is the value itself, of an attribute of whole numbers."""
        return {}

    @property
    def must_occur(self) -> tuple[str, ...]:
        """Those of :attr:`lists` whose values would go unprotected, and no one would know, if misspelt."""
        return ()

    @property
    def hierarchy(self) -> QuasiIdentifier | None:
        """The hierarchy of the sensitive attribute, where the measure uses it."""
        return None

    def with_levels(self, levels: int) -> PrivacyModel:
        """The model once the height of its hierarchy is known; itself where there is none."""
        return self

    @property
    def splits_classes(self) -> bool:
        """Whether it judges the parts of each class that the other sensitive attributes, which are known, divide it in.

        So it is in a search, where classes are made, and suppressed, by the quasi-identifiers alone.
        """
        return self.others and self.quasi_identifiers is None

    def of_whole_classes(self) -> PrivacyModel:
        """The model over all quasi-identifiers: others known then :attr:`splits_classes`."""
        return self if self.quasi_identifiers is None else replace(self, quasi_identifiers=None)

    @abstractmethod
    def monotonicity(self, by_person: bool) -> Monotonicity:
        """When pruning by this model is sound, for rows or for persons."""

    def lasting(self, by_person: bool) -> Monotonicity:
        """:meth:`monotonicity`, the other sensitive attributes considered, if they are known.

        Where classes merge, so do the parts that agree in these, and no others: what holds of every part of both holds
        of every part of the union. But a suppressed class may bring a part that the kept one does not have, and that
        violates, however monotone the model is: the class {cold, flu}, all of them poor, satisfies distinct l = 2, and
        merged with {flu}, who is rich, it does not.
        """
        found = self.monotonicity(by_person)
        return Monotonicity.WITHOUT_SUPPRESSION if self.others and found is Monotonicity.ALWAYS else found

    def out_of_reach(self, whole: Whole) -> str | None:
        """Why no class of any generalization can satisfy, in words; None where one may, or nothing is known.

        Args:
            whole: the attribute's values in the source. Asked only of models with :attr:`is_bounded`.
        """
        return None

    def refuse_unknown(self, rows: int, unit: str) -> None:
        """Refuse rows without a person, where they would make the measure look better than it may be.

        Args:
            rows: how many rows have no person.
            unit: the column that identifies persons.

        Raises:
            UnsupportedError: there are such rows, and the model minds them.
        """
        return

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The thresholds, as the template names them."""

    @abstractmethod
    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The thresholds that a table satisfies, from the worst class.

        Args:
            worst: the extreme measure over the classes; None when there is no class.
            unbounded: some class has no finite measure.
        """

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The thresholds that a table satisfies, from the worst second measure."""
        return {}

    def second_measure(self, name: str) -> Sql:
        """The aggregate over a class that is compared with the second threshold."""
        return render(f"models/privacy/{self.name}", part="second", measure=name, **self.parameters())

    def measure(self, name: str) -> Sql:
        """The aggregate over a class that is compared with the threshold."""
        return render(f"models/privacy/{self.name}", part="measure", measure=name, **self.parameters())

    def windowed(self, index: int, over: Sql) -> Sql:
        """The measure of a row's class, by windows over the rows of a table.

        Args:
            index: of the attribute: of the columns ``v<index>`` (a row's value), ``n<index>`` (rows of its class with
                this value), ``t<index>`` (rows of its class with any value) and ``p<index>`` (the value's place among
                those of the class, the most frequent first, from 1; NULL's is the last).
            over: the window over a class.
        """
        return render(f"models/privacy/{self.name}", part="windowed", index=index, over=over, **self.parameters())

    def value_steps(
        self, name: str, of_class: Sql, of_value: Sql, of_sets: Sequence[SetWindows], *, suppresses: bool
    ) -> Sequence[Mapping[str, Sql]]:
        """Columns of each value of a class, in steps: those of a step see the steps before it.

        Args:
            name: the measure's column; columns of one's own begin with it.
            of_class: the window over a class's values.
            of_value: the window over the classes that have a value.
            of_sets: for each of :attr:`sets`, the windows over the classes that it makes.
            suppresses: classes that violate are left out; else all classes of the table count.
        """
        return ()

    def parts(self, name: str) -> Mapping[str, Sql]:
        """Aggregates of each class that :meth:`class_steps` makes the measure of; none where it is one aggregate."""
        return {}

    def class_steps(self, name: str, of_table: Sql, *, suppresses: bool) -> Sequence[Mapping[str, Sql]]:
        """Columns of each class, in steps as in :meth:`value_steps`, the last of which is the measure, ``name``.

        Args:
            name: the measure's column; other columns begin with it.
            of_table: the window over all classes of a table.
            suppresses: classes that violate are left out; else all classes of the table count.
        """
        return ()

    def rarest(self, windows: Sequence[Sql]) -> Sql:
        """The measure of a class of a model with :attr:`to_fixpoint`: the rows of its rarest combination.

        Args:
            windows: over the classes that each of :attr:`sets` makes one of.
        """
        return render(f"models/privacy/{self.name}", part="measure", windows=windows)

    def over_table(self, part: str, counted: Sql, over: Sql, own: str) -> Sql:
        """A measure of all classes together, by windows.

        Args:
            part: ``measure`` or ``second``.
            counted: the condition that a class satisfies that is counted.
            over: the window.
            own: the column of what is counted of each class, where the model has a frame.
        """
        return render(
            f"models/privacy/{self.name}", part=part, counted=counted, over=over, own=own, **self.parameters()
        )

    def of_class(self, own: str) -> Sql:
        """What a requirement on the whole table asks of each class by itself; ``own`` is as in :meth:`over_table`."""
        return render(f"models/privacy/{self.name}", part="class", own=own, **self.parameters())

    def of_widths(self, own: str) -> Sql:
        """The measure of a class, where it is made of ``class_loss`` too.

        That is the logarithm of the vectors of the domain that the class's labels stand for, over that of all of them:
        0 for values, 1 for labels that all are the top.

        Args:
            own: the column of what the model counts of each class.
        """
        return render(f"models/privacy/{self.name}", part="of_widths", own=own, **self.parameters())

    def disclosed(self) -> Sql | None:
        """The measure of a class in which every person holds the same value."""
        if not self.has_disclosed:
            return None
        return render(f"models/privacy/{self.name}", part="disclosed", **self.parameters())

    def reached(self, name: str) -> Sql:
        """What the worst class is judged by; ``name`` is the measure's column, which it is for most models."""
        return identifier(name)

    def condition(self, name: str) -> Sql:
        """True where the class satisfies the requirement; ``name`` is the measure's column.

        A second measure's column is named ``name`` and ``_second``.
        """
        return render(f"models/privacy/{self.name}", part="condition", measure=name, **self.parameters())
