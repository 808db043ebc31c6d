"""What an attack declares: its name, what it needs, what it is about; and how it is run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.errors import SpecError
from kanon_sql.frequency import unknown_columns

__all__ = [
    "ANOTHER_VIEW",
    "AN_EARLIER_RELEASE",
    "AN_EXTERNAL_TABLE",
    "A_HIERARCHY",
    "A_SENSITIVE_ATTRIBUTE",
    "COSTLY_ESTIMATE",
    "AttackMethod",
    "AttributeAttack",
    "Need",
    "Option",
    "Threat",
    "needed",
    "refuse_without",
    "roles_in_source",
]


Threat = Literal["singling_out", "linkability", "inference", "other"]
"""The risks that WP216 names (section 3), and what is none of them."""


class Option(StrEnum):
    """What an audit may be given for some attacks alone, by the names that messages use."""

    EXTERNAL = "external"
    EARLIER = "earlier"
    VIEWS = "views"
    NEGATIONS = "negations"
    HIERARCHIES = "hierarchies"
    MADE_BY = "made_by"


@dataclass(frozen=True)
class Need:
    """Something that an attack cannot be run without.

    Attributes:
        missing: says of what was given why that is not enough; None where it is.
        option: the option of an audit that it is given by, if it is an option.
    """

    missing: Callable[[AuditInput], str | None]
    option: Option | None = None


def needed(reason: str, is_given: Callable[[AuditInput], bool], option: Option | None = None) -> Need:
    """A need whose reason is always the same.

    Args:
        reason: why the attack cannot be run, in words.
        is_given: whether what it needs is there.
        option: see :class:`Need`.
    """
    return Need(lambda given: None if is_given(given) else reason, option)


A_SENSITIVE_ATTRIBUTE = needed("the spec lists no sensitive attribute", lambda given: bool(given.spec.sensitive))
AN_EXTERNAL_TABLE = needed(
    "it needs an external table (--external)", lambda given: given.external is not None, Option.EXTERNAL
)
AN_EARLIER_RELEASE = needed(
    "it needs an earlier release (--earlier)", lambda given: bool(given.earlier), Option.EARLIER
)
ANOTHER_VIEW = needed(
    "it needs another view of the same rows (--set view=TABLE)", lambda given: len(given.views) > 1, Option.VIEWS
)
A_HIERARCHY = needed(
    "it needs a hierarchy of a sensitive attribute (--set hierarchy=COLUMN=FILE)",
    lambda given: bool(given.hierarchies),
    Option.HIERARCHIES,
)

COSTLY_ESTIMATE = "an estimate that costs more than the others; name it with --attack"
"""Why an attack runs on request only: it rests on assumptions of its own, and takes long."""


class AttackMethod(ABC):
    """A way of attacking a release. It has one file, and a template for each of its queries.

    Attributes:
        name: what users call it; it is registered by this name.
        place: where it is run and listed; one of a program's own comes last.
        attacker: what the attacker has or knows, for the docs.
        exposes: who counts as exposed, for the docs.
        asks_for: what it needs, for the docs.
        source: the publication.
        threat: the risk of WP216 that it measures.
        results: the names that its results may have; its own name if nothing else is said.
        on_request: why it is left out unless it is named; None where it runs by default.
        needs: what it cannot be run without; the first that is missing is the reason why it is left out.
        uses: options that it reads and can do without.
        reads_labels: it looks up which values a label stands for, and so knows nothing of numbers that replace others.
        reads_numbers: it knows what these say, too.
        whole_release: the release must have every quasi-identifier and every sensitive attribute.
        about_tables: what its results are about are tables, not attributes.
        counts_external: the one of its results that examines the records of the external table; None for none.
        default_noted: it compares with the k, or with the l, that the requirements promise to a class. Where they
            promise none, the audit notes which number was taken.
    """

    name: ClassVar[str]
    place: ClassVar[int] = 99
    attacker: ClassVar[str] = ""
    exposes: ClassVar[str] = ""
    asks_for: ClassVar[str] = ""
    source: ClassVar[str] = ""
    threat: ClassVar[Threat] = "other"
    results: ClassVar[tuple[str, ...]]
    on_request: ClassVar[str | None] = None
    needs: ClassVar[tuple[Need, ...]] = ()
    uses: ClassVar[tuple[Option, ...]] = ()
    reads_labels: ClassVar[bool] = False
    reads_numbers: ClassVar[bool] = False
    whole_release: ClassVar[bool] = True
    about_tables: ClassVar[bool] = False
    counts_external: ClassVar[str | None] = None
    default_noted: ClassVar[Literal["k", "l"] | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "results" not in cls.__dict__ and "name" in cls.__dict__:
            cls.results = (cls.name,)

    @property
    def options(self) -> set[Option]:
        """The options of an audit that are for this attack."""
        return {*self.uses, *(need.option for need in self.needs if need.option is not None)}

    def left_out(self, given: AuditInput, *, named: bool) -> str | None:
        """Why it cannot be run with what is given; None when it can.

        Args:
            given: what there is.
            named: it was asked for by its name.
        """
        if self.on_request is not None and not named:
            return self.on_request
        if self.reads_labels and not self.reads_numbers and given.spec.recoding.columns:
            names = ", ".join(given.spec.recoding.columns)
            return f"the numbers of {names} are aggregates of a class, and do not show which values they stand for"
        chosen = [name for name, column in given.spec.quasi_identifiers.items() if column.parents == "several"]
        if self.reads_labels and chosen:
            return f"the parents of {', '.join(chosen)} were chosen by the released rows, and are not recorded"
        rare = [name for name, column in given.spec.quasi_identifiers.items() if column.by_counts]
        if self.reads_labels and rare:
            return f"which values of {', '.join(rare)} were rare in the source is not recorded"
        return next((why for need in self.needs if (why := need.missing(given)) is not None), None)

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The tables, besides the release, that must have certain columns: without them the audit is refused."""
        return ()

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """What it is about, one run each; one None for an attack that is run once and is about nothing else."""
        return [None]

    @abstractmethod
    def run(self, scene: Scene) -> Sequence[Cases | Attack | Unmeasured]:
        """Attack: say which cases there are, or what was found, or why nothing could be measured.

        Args:
            scene: the release, what else is given, and one of :meth:`subjects` as its ``about``.
        """


class AttributeAttack(AttackMethod):
    """An attack on one sensitive attribute, run for each of the spec's in turn."""

    needs: ClassVar[tuple[Need, ...]] = (A_SENSITIVE_ATTRIBUTE,)

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """The sensitive attributes."""
        return given.spec.sensitive


def roles_in_source(given: AuditInput) -> list[tuple[Target, Sequence[str]]]:
    """What :meth:`AttackMethod.columns` says where the source must list people and their sensitive values."""
    return [(given.source, [*given.spec.quasi_identifiers, *given.spec.sensitive])]


def refuse_without(table: Target, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns.

    Raises:
        SpecError: it lacks some; the message lists what it has.
    """
    problems = unknown_columns(table.shown, table.columns, names, "which the audit needs")
    if problems:
        raise SpecError(problems)
