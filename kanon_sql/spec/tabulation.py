"""The spec of a table of counts or sums: its dimensions, what makes a cell sensitive, and how that is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from kanon_sql.spec.cell_rules import METHODS, Protection, Rules
from kanon_sql.spec.checks import Check, Fault, chosen, fail, integer, items, text
from kanon_sql.spec.dimension import Dimension, parse_dimensions
from kanon_sql.spec.document import SpecDocument, first_version, in_kind, only_kind, redacted_source
from kanon_sql.spec.fields import TABLE_NAME, ColumnName, Flag, table_name
from kanon_sql.spec.json_schema import tidied, titled
from kanon_sql.spec.keys import ColumnKey, written_key
from kanon_sql.spec.ledger import LedgerOptions, name_faults
from kanon_sql.spec.linked import TABLES, faults_of, linked_tables
from kanon_sql.spec.names import folded, format_table_name
from kanon_sql.spec.noise import noise_faults
from kanon_sql.spec.redact import sha256
from kanon_sql.spec.secret import new_secret
from kanon_sql.spec.sections import Source
from kanon_sql.spec.steps import ReleaseSteps, sample_faults, sampling_key
from kanon_sql.spec.warning_options import NamedWarnings

__all__ = ["TableSpec"]

MOST_DECIMALS = 6
"""More digits after the point leave too few before it."""

MOST_EXPANSION = 10_000
"""A sample is one in N at the least, so that every engine's whole numbers hold its estimates."""


def _release(value: object) -> tuple[str, ...]:
    if isinstance(value, Mapping) and "file" in value:
        fail("cells are published as a table; for a file leave 'release' out, and run the command with -o cells.csv")
    return table_name(value)


_names = items("the dimensions of a margin", text("a column name"))


def _percent_of(value: object) -> tuple[str, ...]:
    return tuple(_names(value))


PERCENT_OF = {
    "anyOf": [
        {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True},
        {"type": "null"},
    ]
}


def _total_label(value: object) -> str:
    found = text("a label of totals")(value)
    if found != found.strip():
        fail("expected a label without blanks at its ends")
    return found


TOTAL_LABEL = {"type": "string", "minLength": 1}


class TableSpec(SpecDocument):
    """The spec of a table of counts or sums, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        kind: ``table``, which is a table of counts or sums.
        source: the table, view, query or file that is tabulated.
        release: the table to publish; None where nothing is published.
        unit: the column that identifies the contributor (a person, a business), or the columns that do together; None
            where every row is one.
        measure: the column to add up; None for a table of counts.
        weight: the column that says for how many of the population a row of a sample stands, for a table of estimates;
            None for any other.
        decimals: digits after the point of the measure or weight.
        mean: whether a table of sums also has the count and the mean of every cell.
        percent_of: the dimensions of the margin whose percentage every cell is, none for the grand total; None where no
            percentage is published.
        count: what a table of counts or means counts: rows, or the persons of the unit; None for persons where there
            is a unit.
        dimensions: column -> dimension, in the order of the table's columns.
        total_label: what a total is called in place of a category.
        tables: the dimensions of each of several tables that are protected together; None for one table of all.
        steps: a random sample that the table is made of; None for all rows.
        rules: what makes a cell sensitive; none where noise hides every cell.
        protection: how sensitive cells are protected.
        ledger: where published tables of the source are recorded and compared, or where noise is recorded with the
            privacy budget that it spends; None for neither.
        warnings: what becomes of each warning: an error, a warning, or nothing.

    Examples:
        >>> table = kanon_sql.TableSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "table",
        ...         "source": "visits",
        ...         "dimensions": {"zip": None},
        ...         "rules": {"threshold": 5},
        ...     }
        ... )
        >>> list(table.dimensions), table.protection.method
        (['zip'], 'suppression')
    """

    expected: ClassVar[str] = "a mapping with version, kind, source, dimensions and rules"
    called: ClassVar[str] = "table spec"
    elsewhere: ClassVar[Mapping[str, str]] = {"quasi_identifiers": in_kind("release"), "privacy": in_kind("release")}
    of_kind: ClassVar[str] = "table"

    version: Annotated[Literal[1], first_version("table spec")] = Field(description="The version of this format, 1.")
    kind: Annotated[Literal["table"], only_kind("table")] = Field(description="The kind of spec; write kind: table.")
    source: Source = Field(description="The table or view to tabulate, {query: ...} or {file: ...}.")
    release: Annotated[tuple[str, ...] | None, Check(_release, TABLE_NAME)] = Field(
        default=None, description="The table to publish."
    )
    unit: ColumnKey | None = Field(
        default=None, description="The column that identifies a contributor, or several, such as [site, pid]."
    )
    measure: ColumnName | None = Field(default=None, description="The column to add up, for a table of sums.")
    weight: ColumnName | None = Field(
        default=None, description="The column of a sample's weights, for a table of estimates."
    )
    decimals: Annotated[int, integer("a number of digits", 0, MOST_DECIMALS)] = Field(
        default=0, description="Digits after the point of the measure or weight.", ge=0, le=MOST_DECIMALS
    )
    mean: Flag = Field(default=False, description="Whether to publish counts and means beside sums.")
    percent_of: Annotated[tuple[str, ...] | None, Check(_percent_of, PERCENT_OF)] = Field(
        default=None, description="The dimensions of the margin to publish percentages of; [] for the grand total."
    )
    count: Annotated[Literal["rows", "persons"] | None, chosen("count")] = Field(
        default=None, description="What is counted."
    )
    dimensions: Annotated[dict[str, Dimension], parse_dimensions] = Field(
        description="The columns that the table is broken down by.", min_length=1
    )
    total_label: Annotated[str, Check(_total_label, TOTAL_LABEL)] = Field(
        default="*", description="The label of totals; no category may have it."
    )
    tables: Annotated[tuple[tuple[str, ...], ...] | None, Check(linked_tables, TABLES)] = Field(
        default=None, description="The dimensions of each of several tables that are protected together."
    )
    steps: ReleaseSteps | None = Field(default=None, description="A random sample that the table is made of.")
    rules: Rules = Field(default=Rules.none(), description="What makes a cell sensitive, such as {threshold: 5}.")
    protection: Protection = Field(default=Protection(), description="How sensitive cells are protected.")
    ledger: LedgerOptions | None = Field(
        default=None,
        description="The table that records published tables, so that their cells cannot be subtracted, or with noise "
        "what they spend.",
    )
    warnings: NamedWarnings = Field(default=NamedWarnings(), description="For each warning: error, warn or allow.")

    _secret: str = PrivateAttr(default_factory=new_secret)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, rules that fit what is tabulated, a release of its own."""
        if value is None:
            return
        yield from noise_faults(value)
        if "rules" not in given and value.protection.noise is None:
            yield Fault((), f"missing 'rules': what makes a cell sensitive, such as {Rules.expected}", True)
        roles = {"unit": value.unit, "measure": value.measure, "weight": value.weight}
        for role, name in roles.items():
            if name is not None and name in value.dimensions:
                yield Fault(
                    (role,), "the column is a dimension already; give each column one role, so leave it out of one"
                )
        for role in ("measure", "weight"):
            if value.unit is not None and value.unit == roles[role]:
                yield Fault((role,), "the column is the unit already; give each column one role")
        yield from _holding_faults(value)
        yield from _value_faults(value)
        yield from _estimate_faults(value)
        yield from _sample_faults(value)
        for name, item in value.dimensions.items():
            if item.hierarchies:
                yield from _several_faults(value, name)
            if item.merge is not None:
                yield from _merge_faults(value, name)
        if value.tables is not None:
            totals = {name: item.total for name, item in value.dimensions.items()}
            for why in faults_of(value.tables, totals):
                yield Fault(("tables",), why)
            if value.measure is not None and not value.protection.collapses:
                why = "linked tables of sums are not audited; tabulate them apart, or use protection: collapsing"
                yield Fault(("tables",), why)
        if value.measure is None:
            for name in value.rules.of_sums:
                yield Fault(("rules", name), "the rule looks at contributions to a sum; name a measure", True)
            if "percent" in given.get("protection", {}) if isinstance(given.get("protection"), Mapping) else False:
                yield Fault(("protection", "percent"), "a table of counts takes width", True)
        else:
            if value.count is not None and not value.mean:
                yield Fault(("count",), "a table of sums counts nothing; leave it out, or the measure", True)
            if value.protection.width is not None and not value.mean:
                yield Fault(("protection", "width"), "a table of sums takes percent", True)
        if value.count == "persons" and value.unit is None:
            yield Fault(("count",), "persons are identified by a unit; name its column, or count rows")
        if value.ledger is not None:
            yield from name_faults(value.ledger, value.source.table, value.release)
            if value.protection.noise is None:
                yield from _ledger_faults(value, value.ledger)
        source = value.source.table
        if value.release is not None and source is not None and folded(value.release) == folded(source):
            yield Fault(("release",), "the release has the source's name and would replace it; choose another name")

    @property
    def counts(self) -> Literal["rows", "persons"]:
        """What a table of counts counts."""
        return self.count or ("rows" if self.unit is None else "persons")

    @property
    def added(self) -> str | None:
        """The column that is added up: the measure, or a sample's weights; None for a table of counts."""
        return self.measure if self.weight is None else self.weight

    @property
    def measured(self) -> str:
        """What a cell says: the measure's name, an estimate, or what is counted."""
        return self.measure or (self.counts if self.weight is None else "estimate")

    @property
    def merges(self) -> bool:
        """Whether neighbouring categories of some dimension are merged; the others keep their levels then."""
        return any(item.merge is not None for item in self.dimensions.values())

    @property
    def scale(self) -> int:
        """Units of the measure's last digit in 1."""
        return int(10**self.decimals)

    @property
    def further(self) -> list[str]:
        """What is published beside the value of each cell: ``count``, ``mean``, ``percent``."""
        return [*(["count", "mean"] if self.mean else []), *([] if self.percent_of is None else ["percent"])]

    @property
    def declared(self) -> bool:
        """Whether it is known without the rows which cells there are."""
        return all(item.declared for item in self.dimensions.values())

    @property
    def expansion(self) -> int:
        """What the sample's numbers are multiplied by to estimate those of all rows; 1 without a sample."""
        sample = None if self.steps is None else self.steps.sample
        return 1 if sample is None else int(1 / Fraction(repr(sample.fraction)))

    @property
    def sampling_key(self) -> str:
        """What decides who is in the sample: made of the secret that the spec names, or of one drawn with the spec.

        Raises:
            SpecError: the environment variable holds no secret.
        """
        return sampling_key(self.steps, self._secret)

    @property
    def width(self) -> int:
        """How wide the feasible interval of a sensitive count must be."""
        return self.protection.width or (self.rules.threshold or 2) - 1

    def with_levels(self, levels: Sequence[Sequence[int]]) -> Self:
        """Return the spec with other levels per dimension; none of a dimension leaves its total alone."""
        pairs = zip(self.dimensions.items(), levels, strict=True)
        dimensions = {name: item.model_copy(update={"levels": tuple(own)}) for (name, item), own in pairs}
        return self.model_copy(update={"dimensions": dimensions})

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        protection = self.protection.to_dict()
        if self.measure is None:  # sums take the one, counts the other
            protection.pop("percent", None)
        elif not self.mean:
            protection.pop("width", None)
        return {
            "version": self.version,
            "kind": self.kind,
            "source": self.source.to_dict(),
            "release": None if self.release is None else format_table_name(self.release),
            "unit": written_key(self.unit),
            "measure": self.measure,
            "weight": self.weight,
            "decimals": self.decimals,
            "mean": self.mean,
            "percent_of": None if self.percent_of is None else list(self.percent_of),
            "count": self.count,
            "dimensions": {name: dimension.to_dict() for name, dimension in self.dimensions.items()},
            "total_label": self.total_label,
            "tables": None if self.tables is None else [list(one) for one in self.tables],
            "steps": None if self.steps is None else self.steps.to_dict(),
            "rules": None if self.protection.noise is not None else self.rules.to_dict(),
            "protection": protection,
            "ledger": None if self.ledger is None else self.ledger.model_dump(mode="json"),
            **({"warnings": dict(self.warnings.given())} if self.warnings.given() else {}),
        }

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter, and a seed is not in it."""
        found = self.to_dict()
        found["protection"].pop("seed", None)  # a few guesses would find it
        return sha256(found)

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest: no literals of SQL, labels of trees, passwords, or seed."""
        found = self.to_dict()
        found["source"] = redacted_source(self.source)
        found["dimensions"] = {name: dimension.redacted() for name, dimension in self.dimensions.items()}
        found["protection"].pop("seed", None)
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a table spec may be written in."""
        schema = tidied(cls)
        words = [method for method in METHODS if method != "noise"]
        schema["properties"]["protection"] = {"anyOf": [{"enum": words}, schema["properties"]["protection"]]}
        return titled(
            schema, "kanon_sql table spec", "What to tabulate, what makes a cell sensitive, and how it is protected."
        )


def _holding_faults(value: TableSpec) -> Iterator[Fault]:
    """Holdings are of contributors, and no other column of the table."""
    holding = value.rules.by
    if holding is None:
        return
    at = ("rules", value.rules.of_sums[0], "by")
    if value.unit is None:
        yield Fault(at, "a holding adds up what several contributors gave; name these by the column 'unit' of the spec")
    if holding in (value.unit, value.measure) or holding in value.dimensions:
        yield Fault(at, "the column has another role already; give each column one role")


def _several_faults(value: TableSpec, name: str) -> Iterator[Fault]:
    """What a dimension with several hierarchies does not go with."""
    at = ("dimensions", name, "hierarchies")
    if value.protection.collapses:
        yield Fault(at, "categories collapse by one hierarchy; use 'hierarchy', or suppression or a rounding", True)
    if value.tables is not None:
        yield Fault(at, "linked tables take one hierarchy for each dimension; tabulate all dimensions together", True)
    if value.rules.margin_difference is not None:
        yield Fault(at, "margin_difference is satisfied by collapsing only, which takes one hierarchy", True)


def _merge_faults(value: TableSpec, name: str) -> Iterator[Fault]:
    """What merged neighbours do not go with."""
    at = ("dimensions", name, "merge")
    if not value.protection.collapses:
        yield Fault(at, "categories are merged by collapsing; use protection: collapsing, or leave it out", True)
    if value.tables is not None:
        yield Fault(at, "linked tables collapse by hierarchies; write one, or leave 'tables' out", True)
    if value.rules.margin_difference is not None:
        yield Fault(at, "margin_difference is judged along hierarchies only; write one, or leave the rule out", True)
    if value.ledger is not None:
        yield Fault(at, "merged categories depend on the rows, so no ledger can compare them; write a hierarchy", True)


def _ledger_faults(value: TableSpec, ledger: LedgerOptions) -> Iterator[Fault]:
    """What tables cannot be compared with others."""
    if value.release is None:
        why = (
            "only a published table is recorded, and later ones would not be compared with this one; name a 'release', "
            "or leave the ledger out"
        )
        yield Fault(("ledger",), why)
    if ledger.on_conflict != "refuse":
        why = "suppression hides more cells by itself, and other tables are refused; leave it out"
        yield Fault(("ledger", "on_conflict"), why, True)
    for name in ("measure", "weight", "steps"):
        if getattr(value, name) is not None:
            yield Fault(
                ("ledger",), f"tables with {name} are not compared; a ledger holds tables of counts of all rows"
            )
    if value.rules.threshold is None:
        yield Fault(("ledger",), "a ledger needs a threshold, which says what a small number is")
    if value.protection.rounds:
        yield Fault(("ledger",), "rounded tables are not compared; use suppression or collapsing")
    if value.unit is not None and value.counts == "rows":
        yield Fault(("ledger",), "rows of persons are not compared, since the threshold counts persons; count persons")
    for name, item in value.dimensions.items():
        for own in [item.hierarchy, *(one.hierarchy for one in item.hierarchies.values())]:
            kind = own.hierarchy
            if kind.never_in_ledger is not None or kind.name == "file":
                why = "a hierarchy outside of the spec may change between two tables; write a tree or a rule"
                yield Fault(("dimensions", name, "hierarchy"), why)


def _value_faults(value: TableSpec) -> Iterator[Fault]:
    """Digits, means and percentages of what has them."""
    if value.decimals and value.added is None:
        yield Fault(("decimals",), "counts have no digits after the point; leave it out, or name a measure", True)
    if value.mean:
        if value.measure is None:
            yield Fault(("mean",), "a mean is a sum over a count; name the measure to add up", True)
        elif value.rules.threshold is None:
            yield Fault(
                ("rules",), "means are published with their counts, which need a threshold, such as threshold: 3"
            )
        if value.protection.rounds:
            why = "means of rounded sums and counts would be far off; use suppression or collapsing"
            yield Fault(("protection", "method"), why)
        if value.tables is not None:
            yield Fault(("mean",), "linked tables have no means; leave one of them out", True)
    for name in value.percent_of or ():
        if name not in value.dimensions:
            yield Fault(("percent_of",), f"{name!r} is not a dimension of the spec; use names listed under dimensions")
    if value.percent_of is not None:
        for name, item in value.dimensions.items():
            if name not in value.percent_of and not item.total:
                why = (
                    "percentages are of a total over this dimension; leave 'total: false' out, or name it in percent_of"
                )
                yield Fault(("dimensions", name, "total"), why)


def _estimate_faults(value: TableSpec) -> Iterator[Fault]:
    """What a table of estimates does not take, and what only it does."""
    if value.weight is None:
        if value.rules.estimate is not None:
            yield Fault(("rules", "population"), "the rule looks at an estimate; name the column of weights", True)
        return
    if value.rules.threshold is None:
        yield Fault(("rules",), "a table of estimates needs a threshold, the least number of respondents of a cell")
    if value.measure is not None:
        yield Fault(("weight",), "sums are not weighted here; multiply them in a source query and name a measure", True)
    if value.count is not None:
        yield Fault(("count",), "a table of estimates adds weights up; leave it out, or the weight", True)
    if not value.protection.collapses:
        why = (
            "a reader who knows the weights can tell how many respondents an estimate stands for from an interval of it"
        )
        yield Fault(("protection",), f"{why}; estimates are protected by collapsing only: protection: collapsing")


def _sample_faults(value: TableSpec) -> Iterator[Fault]:
    """What a table of a sample does not take: its cells are whole multiples of what the sample has."""
    if value.steps is None:
        return
    sample = value.steps.sample
    for name in value.steps.columns:
        why = "a table has no coded or rounded columns; group a dimension by a hierarchy, such as {intervals: [5]}"
        yield Fault(("steps", "columns", name), why, True)
    yield from sample_faults(sample, value.unit)
    if sample is not None:
        share = 1 / Fraction(repr(sample.fraction))
        if share.denominator > 1 or share > MOST_EXPANSION:
            why = (
                f"expected 1 over a whole number up to {MOST_EXPANSION:,}, such as 0.5, 0.2 or 0.05, by which cells "
                "are multiplied"
            )
            yield Fault(("steps", "sample", "fraction"), why)
    if value.weight is not None:
        why = "weights are those of a sample that was drawn already; draw from it in a source query, with other weights"
        yield Fault(("steps",), why, True)
