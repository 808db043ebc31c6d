"""The recoding of a spec: whether every row of a column is released at one level, or each class at its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from pydantic import Field, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from kanon_sql.errors import Problem, SpecError
from kanon_sql.registers import RECODINGS
from kanon_sql.spec.checks import (
    Check,
    Declared,
    Fault,
    Faults,
    FieldType,
    Part,
    choice,
    chosen,
    did_you_mean,
    fail,
    kind,
    quote,
    share,
    text,
)
from kanon_sql.spec.names import parse_table_name

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["MOST_DIGITS", "Aggregate", "Recoding", "RecodingOptions", "parse_recoding", "recoding", "variants"]

_AGGREGATES = ("mean", "median", "mode")

MOST_DIGITS = 10
"""Digits after the point that a number may have whose values are replaced by one of their class."""

_AGGREGATES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [
                    {"enum": list(_AGGREGATES)},
                    {
                        "type": "object",
                        "properties": {
                            "aggregate": {"enum": list(_AGGREGATES)},
                            "digits": {"type": ["integer", "null"], "minimum": 0, "maximum": MOST_DIGITS},
                        },
                        "required": ["aggregate"],
                        "additionalProperties": False,
                    },
                ]
            },
        }
    ]
}
"""What columns of numbers are replaced by."""


def _name(value: object) -> str:
    """The name of a table beside the release."""
    written = text("the name of a table")(value)
    if len(parse_table_name(written)) != 1:
        fail("expected the name of a table without a schema: the recoding is saved in the release's schema")
    return written


@Check
def _classify(value: object) -> str:
    """The column that a classifier is to tell."""
    if not isinstance(value, str) or not value:
        fail(f"expected the name of the column to predict, got {kind(value)}")
    return value


def _caps(value: object) -> dict[str, float]:
    """The shares of cells that may be suppressed, by column."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to shares of their cells, got {kind(value)}")
    faults = Faults()
    check = share("a share of the column's cells")
    found = {name: faults.attempt((name,), check, most) for name, most in value.items()}
    faults.finish()
    return {str(name): most for name, most in found.items() if most is not None}


def _aggregates(value: object) -> dict[str, str | dict[str, Any]]:
    """What the values of a class are replaced by, by column."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to {', '.join(_AGGREGATES)}, got {kind(value)}")
    if not value:
        fail("expected at least one column, such as {income: mean}")
    faults = Faults()
    found = {str(name): faults.attempt((name,), _aggregate, item) for name, item in value.items()}
    faults.finish()
    return {name: item for name, item in found.items() if item is not None}


def _aggregate(value: object) -> str | dict[str, Any]:
    """A function, or a function and to how many digits after the point."""
    check = choice("aggregate", _AGGREGATES)
    if not isinstance(value, Mapping):
        return str(check(value))
    faults = Faults()
    for key in value:
        if key not in ("aggregate", "digits"):
            faults.attempt((key,), fail, "unknown key; expected aggregate and digits, as {aggregate: mean, digits: 2}")
    function = faults.attempt(("aggregate",), check, value.get("aggregate"))
    digits = None if value.get("digits") is None else faults.attempt(("digits",), _digits, value["digits"])
    faults.finish()
    return str(function) if digits is None else {"aggregate": str(function), "digits": digits}


def _digits(value: object) -> int:
    """Digits after the point."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_DIGITS:
        fail(f"expected a whole number from 0 to {MOST_DIGITS}, the digits after the point; got {kind(value)}")
    return int(value)


@Check
def _ranges(value: object) -> list[str]:
    """The columns that are released as ranges of values."""
    if not isinstance(value, list | tuple):
        fail(f"expected a list of quasi-identifiers, got {kind(value)}")
    for name in value:
        if not isinstance(name, str):
            fail(f"expected names of quasi-identifiers, got {kind(name)}")
    return list(dict.fromkeys(value))


@dataclass(frozen=True)
class Aggregate:
    """What the values of a column are replaced by.

    Attributes:
        function: ``mean``, ``median`` or ``mode`` of the class.
        digits: how many digits after the point are released; None for as many as the column's type has.
    """

    function: str
    digits: int | None = None


@dataclass(frozen=True)
class Recoding:
    """A recoding: what a spec, a report and a verb must know of it. :func:`recoding` declares one.

    Attributes:
        name: as specs write it.
        run: frequency sets, spec, budget -> what was made; None for full-domain recoding, which a search makes.
        title: its name in reports.
        words: what it does to a value.
        takes: the options of ``recoding`` that it takes.
        variants: those that it has, the usual one first; none where it has one form.
        needs: the options that it must be given -> what to write there.
        any_model: whether it goes with requirements of every kind.
        faults: what it cannot be asked for together with the rest of a spec.
        models: the privacy models that its classes are judged by, of those that the spec asks for.
        not_kept: why it cannot be kept for new rows; None where it says of every value where it goes, whether or not
            the source has it.
        of_ranges: all its labels are ranges of values, which no hierarchy has.
        of_numbers: some of its labels are numbers made of those of a class.
        of_rows: its labels are those of single rows, which form no classes.
        chooses_parents: where a value has several parents, one of them is chosen for all rows.
        combines: it also suppresses for combinations of a few columns, which lie across classes.
        parts_rows: rows that are alike may be in several classes.
        lowest_labels: every label is the lowest that all rows of its class have in common.
        optimum_instead: the note of a result that is the full-domain optimum instead; None for what is said of classes
            that suppress more rows.
        place: in lists, where those to try first come first.
    """

    name: str
    run: Callable[..., Any] | None
    title: str
    words: str
    takes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    any_model: bool = True
    faults: Callable[[Spec], Iterable[Fault]] = lambda _: ()
    models: Callable[[Sequence[Any]], Sequence[Any]] = lambda models: models
    not_kept: str | None = None
    of_ranges: bool = False
    of_numbers: bool = False
    of_rows: bool = False
    chooses_parents: bool = False
    combines: bool = False
    parts_rows: bool = False
    lowest_labels: bool = False
    optimum_instead: str | None = None
    place: int = 9

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``recoding`` that it takes, with its variants."""
        return (*(["variant"] if self.variants else []), *self.takes)


F = TypeVar("F", bound=Callable[..., Any])


def recoding(name: str, **about: Any) -> Callable[[F], F]:
    """Declare a function as the recoding of a name; ``about`` are the attributes of :class:`Recoding`."""

    def declared(run: F) -> F:
        RECODINGS.add(name, Recoding(name, run, **about), run.__module__)
        return run

    return declared


RECODINGS.add(
    "full_domain",
    Recoding(
        "full_domain",
        None,
        "Full-domain recoding",
        "a column has one level for all rows",
        chooses_parents=True,
        place=0,
    ),
    f"{RECODINGS.package}.",
)


def variants() -> tuple[str, ...]:
    """The variants that recodings have, each once."""
    return tuple(dict.fromkeys(word for declared in RECODINGS.values() for word in declared.variants))


class _Variant(FieldType):
    """The check for a variant that some recoding has."""

    def __call__(self, value: object) -> str:
        """Check a value; other recodings are imported where the one that is asked for does not have it."""
        if isinstance(value, str) and any(value in declared.variants for declared in RECODINGS.loaded):
            return value
        return choice("variant", variants())(value)

    @property
    def schema(self) -> dict[str, Any]:
        """Those that there are."""
        return {"anyOf": [{"type": "string", "enum": list(variants())}]}


class RecodingOptions(Part):
    """How values are generalized.

    Attributes:
        method: ``full_domain``, one level per column for all rows (Samarati 2001), or one of
            :data:`kanon_sql.registers.RECODINGS`, whose files say what they do.
        variant: for local and kk, how long to look for classes: ``fast``, or ``best`` of several ways; for mondrian,
            ``strict``, all rows of a value on one side, or ``relaxed``; for cells, the level of each column,
            ``searched``, or its ``minimum`` level (_CS); for cover, what becomes of overlapping sets,
            ``trees`` or disjoint ones, ``reduce``; for subtree, whether labels are specialized from the top,
            ``top_down``, or generalized from the values, ``bottom_up``; None for methods without variants.
        ranges: for local and subtree, the columns that are released as ranges of their values; None for others.
        start: for local and kk, where to begin: at the ``top``, the highest levels allowed, with the full-domain
            ``optimum``, or with ``both``, of which the better one is released; None for the top, or for both where the
            variant is best.
        resist: for local, ``refinement``: choices also depend on coins, so that they rule no value under a label out;
            None for counts alone.
        caps: for cells, the share of a column's cells that may be suppressed, by column; None for others.
        classify: for subtree, the column that the release is to tell: steps are chosen by their information about it,
            and by detail without one; None for others.
        save_as: the table beside the release in which the recoding is saved, for new rows; None to save none.
        columns: for microaggregation, ``mean``, ``median`` or ``mode``, by column, or a mapping of ``aggregate`` to
            one of them and ``digits`` to how many digits after the point are released; None for others.
    """

    expected: ClassVar[str] = "a recoding such as local, or a mapping such as {method: local, variant: best}"

    method: Annotated[str, Declared(RECODINGS)] = Field(
        default="full_domain",
        description="One level per column for all rows, or levels that differ by class or by value.",
    )
    variant: Annotated[str | None, _Variant()] = Field(
        default=None,
        description="For local and kk: fast, or best (the best of several attempts). For mondrian: strict (all rows "
        "with the same value on the same side of a cut) or relaxed. For cells: search the level of each column, "
        "or use its minimum. For cover: divide trees of overlapping sets (trees) or make them "
        "disjoint (reduce). For subtree: specialize labels (top_down) or generalize them (bottom_up).",
    )
    ranges: Annotated[list[str] | None, _ranges] = Field(
        default=None,
        description="For local and subtree: the columns to release as ranges of their values instead of hierarchy "
        "labels.",
    )
    start: Annotated[Literal["top", "optimum", "both"] | None, chosen("start")] = Field(
        default=None,
        description="For local and kk: where to start, at the highest levels or at the full-domain optimum.",
    )
    resist: Annotated[Literal["refinement"] | None, chosen("attack to resist")] = Field(
        default=None,
        description="For local: refinement makes choices depend on coins, too, so that no value under a label can be "
        "ruled out by knowing the algorithm.",
    )
    caps: Annotated[
        dict[str, float] | None, Check(_caps, {"anyOf": [{"type": "object", "additionalProperties": share("").schema}]})
    ] = Field(default=None, description="For cells: for each column, the share of its cells that may be suppressed.")
    save_as: Annotated[str | None, Check(_name, text("").schema)] = Field(
        default=None, description="The table that saves the recoding, for kanon-sql release apply."
    )
    classify: Annotated[str | None, _classify] = Field(
        default=None, description="For subtree: the column that a classifier should predict from the release."
    )
    columns: Annotated[dict[str, str | dict[str, Any]] | None, Check(_aggregates, _AGGREGATES_SCHEMA)] = Field(
        default=None,
        description="For microaggregation: for each column, the aggregate that replaces its values in a class.",
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is the method; local is fast, mondrian strict, and so on, unless they say so."""
        found = {"method": value} if isinstance(value, str) else value
        declared = RECODINGS.get(found.get("method", "full_domain")) if isinstance(found, Mapping) else None
        if declared is None or not declared.variants or found.get("variant") is not None:
            return found
        return {**found, "variant": declared.variants[0]}

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What a method does not take."""
        declared = RECODINGS.get(given.get("method", "full_domain"))
        if declared is None:
            return
        for option in given:
            if option in ("method", "save_as", *declared.options):
                continue
            takers = [name for name, other in RECODINGS.items() if option in other.options]
            reason = "full_domain is configured under 'search'; " if declared.run is None else ""
            listed = f"{', '.join(takers[:-1])} and {takers[-1]}"
            who = f"the method {takers[0]} takes" if len(takers) == 1 else f"the methods {listed} take"
            yield Fault((option,), f"{reason}only {who} it", True)
        variant = given.get("variant")
        if declared.variants and variant not in (None, *declared.variants) and variant in variants():
            yield Fault(("variant",), f"{declared.name} has the variants {' and '.join(declared.variants)}")
        for option, what in declared.needs.items():
            if option not in given:
                why = f"{declared.name} needs {option}, {what}; expected a mapping in {option!r}"
                yield Fault((), why, False)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        words = [name for name, declared in RECODINGS.items() if not declared.needs]
        return {"anyOf": [{"enum": words}, handler.resolve_ref_schema(handler(core))]}

    @property
    def declared(self) -> Recoding:
        """What the method is."""
        found: Recoding = RECODINGS[self.method]
        return found

    @property
    def is_full_domain(self) -> bool:
        """Whether one node of the lattice describes the release; else labels differ by class."""
        return self.method == "full_domain"

    @property
    def kept_in(self) -> str:
        """The name of the table that the recoding is kept in, beside the release."""
        assert self.save_as is not None
        return parse_table_name(self.save_as)[-1]

    @property
    def parts_rows(self) -> bool:
        """Whether rows that are alike may be in several classes; some recodings find out by the rows."""
        return self.declared.parts_rows or self.variant == "relaxed" or self.resist is not None

    @property
    def labels_are_lowest(self) -> bool:
        """Whether every label of a release is the lowest that all rows of its class have in common."""
        return self.declared.lowest_labels and not self.ranges

    @property
    def releases_ranges(self) -> bool:
        """Whether some labels are ranges of values, which no hierarchy has."""
        return self.declared.of_ranges or bool(self.ranges)

    def in_ranges(self, name: str) -> bool:
        """Whether labels of a quasi-identifier are ranges of its values."""
        return self.declared.of_ranges or name in (self.ranges or ())

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        """What the values of a class are replaced by, by column."""
        return {
            name: Aggregate(item) if isinstance(item, str) else Aggregate(item["aggregate"], item["digits"])
            for name, item in (self.columns or {}).items()
        }

    @property
    def begins(self) -> str:
        """Where local recoding begins: ``top``, ``optimum`` or ``both``."""
        return self.start or ("both" if self.variant == "best" else "top")

    @property
    def label(self) -> str:
        """The method and its options, such as ``local:best``: :func:`parse_recoding` reads those that are words."""
        chosen, given = (
            ("method", "variant", *_literal_options()),
            {name: value for name, value in self if value and name != "save_as"},
        )
        words = [given[name] for name in chosen if name in given]
        others = [
            f"{name}={value if isinstance(value, str) else '+'.join(map(str, value))}"
            for name, value in given.items()
            if name not in chosen
        ]
        return ":".join([*words, *others])

    def to_dict(self) -> str | dict[str, Any]:
        """As a spec has it."""
        options = self.model_dump(exclude_none=True)
        return options if len(options) > 1 else self.method


def parse_recoding(written: str | Mapping[str, Any]) -> RecodingOptions:
    """A recoding in one word, or as a spec writes it.

    Args:
        written: a method, and after colons the options that are chosen from a list, such as ``local:best``; or a
            mapping as in a spec.

    Raises:
        SpecError: there is no such method or option, or the method does not take it.
    """
    given: dict[str, Any] = dict(written) if isinstance(written, Mapping) else {}
    shown = "recoding"
    if isinstance(written, str):
        given["method"], *words = (word.strip() for word in written.split(":"))
        shown = f"recoding {quote(written)}"
        for word in words:
            names = [name for name, allowed in _chosen().items() if name != "method" and word in allowed]
            if not names:
                known = [word for name, allowed in _chosen().items() if name != "method" for word in allowed]
                expected = ", ".join(map(quote, known))
                raise SpecError(f"{shown}: unknown option{did_you_mean(word, known)}; expected one of {expected}")
            given[names[0]] = word
    try:
        return RecodingOptions.model_validate(given)
    except ValidationError as error:
        raise SpecError([Problem(f"{shown}: {item['msg']}") for item in error.errors(include_input=False)]) from None


def _chosen() -> dict[str, tuple[str, ...]]:
    """The options that are one of some words, the method first -> these words."""
    return {"method": (), "variant": variants(), **_literal_options()}


def _literal_options() -> dict[str, tuple[str, ...]]:
    """The options that are one of some words whatever the method is -> these words."""
    fields = RecodingOptions.model_fields.items()
    return {name: allowed for name, item in fields if (allowed := _literals(item.annotation))}


def _literals(annotation: Any) -> tuple[str, ...]:
    """The words of the ``Literal`` in an annotation."""
    parts = get_args(annotation)
    if get_origin(annotation) is Literal:
        return parts
    return tuple(word for part in parts for word in _literals(part))
