"""Sections of a spec: where the rows are, how many may be suppressed, how to search, what utility to measure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kanon_sql.spec.hierarchy import QuasiIdentifier

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic_core import CoreSchema

from kanon_sql.registers import QUALITY_METRICS, SEARCH_ALGORITHMS, Register
from kanon_sql.spec.checks import Check, Declared, Fault, Part, chosen, fail, integer, share, text
from kanon_sql.spec.csv_format import CsvFormat, is_csv
from kanon_sql.spec.fields import TABLE_NAME, ClassColumn, ColumnName, FileName, Flag, TableName
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.prices import Prices

__all__ = [
    "NO_SOURCE",
    "Generalized",
    "Origin",
    "SearchOptions",
    "Source",
    "Suppression",
    "Utility",
    "share_or_percent",
]


# --- Source --------------------------------------------------------------------------------


class Source(Part):
    """What to read: exactly one of a table (or view), a query, and a file; or none, where the table itself is given.

    Attributes:
        table: catalog, schema and name, as many as are given.
        query: a SELECT statement in the database's own dialect.
        file: a Parquet or CSV path, relative to the spec file; a directory of Parquet files or of Delta Lake.
        csv: how a CSV file is written; None where DuckDB finds out.
        count_versions: versions of a row are meant to count as rows, where a table has several of them: one of
            ClickHouse's whose rows are merged later, or one that is read with its history.
    """

    expected: ClassVar[str] = "a table name, {query: ...} or {file: ...}"

    table: TableName | None = None
    query: Annotated[str | None, text("a query")] = None
    file: FileName | None = None
    csv: CsvFormat | None = Field(
        default=None, description="The format of a CSV file: encoding, delimiter, decimal mark, dates."
    )
    count_versions: Flag = Field(
        default=False, description="Whether to count all versions of a row as rows, if the table keeps several."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is a table."""
        return {"table": value} if isinstance(value, str | list | tuple) else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Exactly one of the three."""
        places = [key for key in given if key not in ("csv", "count_versions")]
        if not places:
            yield Fault((), f"expected {cls.expected}, got none of them")
        for key in places[1:]:
            yield Fault((key,), f"give one source only; {places[0]!r} is already given", True)
        if "csv" in given and not is_csv(given.get("file")):
            yield Fault(("csv",), "this is for a CSV file; give one as 'file', or leave it out", True)

    @property
    def given(self) -> bool:
        """Whether it says where the rows are."""
        return (self.table, self.query, self.file) != (None, None, None)

    def to_dict(self) -> str | dict[str, Any] | None:
        """The form a spec is written in."""
        if not self.given:
            return None
        if self.table is not None:
            place, name = "table", format_table_name(self.table)
        else:
            place, name = ("query", self.query) if self.query is not None else ("file", cast(str, self.file))
        more: dict[str, Any] = {} if self.csv is None else {"csv": self.csv.to_dict()}
        if self.count_versions:
            more["count_versions"] = True
        return name if place == "table" and not more else {place: name, **more}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        inner = handler.resolve_ref_schema(handler(core))
        for schema in inner["properties"].values():
            schema.pop("default", None)
        one = [{"required": [name]} for name in ("table", "query", "file")]
        return {"anyOf": [*TABLE_NAME["anyOf"], {**inner, "oneOf": one}]}


NO_SOURCE = Source.model_construct()
"""Of a spec for a table that a program gives beside it."""


# --- Options -------------------------------------------------------------------------------


_ROWS = integer("a row count", 0)


def _max_rows(value: object) -> int:
    if isinstance(value, float | Decimal):
        fail("expected a row count, a whole number of at least 0; write a share of the rows as max_share")
    return _ROWS(value)


_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,9})?) ?%")
_PERCENT_SCHEMA = {"type": "string", "pattern": r"^\d{1,3}(\.\d{1,9})? ?%$"}


def share_or_percent(what: str, instead: str = ", such as 0.02 or 2%") -> Check[float]:
    """A check for a largest share, from 0.0 to 1.0, or such as ``2%``.

    Args:
        what: of what, such as ``the rows``.
        instead: what to write where a number is too large for a share.
    """
    of_share = share(f"a share of {what}")

    def check(value: object) -> float:
        if isinstance(value, str) and (percent := _PERCENT.fullmatch(value.strip())):
            return of_share(Decimal(percent.group(1)) / 100)
        if isinstance(value, str):
            fail(f"expected a share of {what} between 0 and 1, such as 0.02 or 2%, got text")
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            fail(f"expected a share of {what} between 0 and 1{instead}")
        return of_share(value)

    return Check(check, {"anyOf": [of_share.schema, _PERCENT_SCHEMA]})


class Suppression(Part):
    """How many rows may be left out (MaxSup), and what happens to them.

    Attributes:
        max_rows: the most rows that may be left out; None where a share is given, or nothing.
        max_share: the largest share of the source's rows that may be left out, from 0.0 to 1.0, or such as ``2%``; None
            where a number of rows is given, or nothing. Without either, no row may be left out.
        style: ``drop`` leaves the rows out; ``mask`` keeps them with every
            quasi-identifier at its top value.
    """

    expected: ClassVar[str] = "a share such as 5%, {max_share: 0.05} or {max_rows: 20}"

    max_rows: Annotated[int | None, Check(_max_rows, _ROWS.schema)] = Field(
        default=None, description="The largest number of suppressed rows (Samarati's MaxSup)."
    )
    max_share: Annotated[float | None, share_or_percent("the rows", "; write a number of rows as max_rows")] = Field(
        default=None, description="MaxSup as a share of the rows, from 0.0 to 1.0, or such as 2%."
    )
    style: Annotated[Literal["drop", "mask"], chosen("suppression style")] = Field(
        default="drop", description="Drop suppressed rows, or mask them: release them with all labels at the top."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A percentage alone is the largest share."""
        return {"max_share": value} if isinstance(value, str) else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """At most one of the two limits."""
        if "max_rows" in given and "max_share" in given:
            yield Fault(("max_share",), "max_rows already sets the limit; leave one of the two out", True)

    @model_serializer(mode="wrap")
    def _with_one_limit(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The limit that is given, so that what is written can be read back."""
        written: dict[str, Any] = handler(self)
        key, limit = self.limit
        del written["max_share" if key == "max_rows" else "max_rows"]
        return {**written, key: limit}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        both = {"max_rows": {"type": "integer"}, "max_share": {"type": "number"}}
        limits = {**handler.resolve_ref_schema(handler(core)), "not": {"properties": both, "required": [*both]}}
        return {"anyOf": [_PERCENT_SCHEMA, limits]}

    @property
    def limit(self) -> tuple[Literal["max_rows", "max_share"], int | float]:
        """The key that says how many rows may be left out, and what it says."""
        return ("max_share", self.max_share or 0.0) if self.max_rows is None else ("max_rows", self.max_rows)

    @property
    def allows_some(self) -> bool:
        """Whether any row may be left out."""
        return self.limit[1] != 0

    def most(self, rows: int) -> int:
        """The most rows that may be suppressed out of ``rows``; exact, rounded down."""
        key, limit = self.limit
        return int(limit) if key == "max_rows" else floor(Fraction(Decimal(str(limit))) * rows)


class SearchOptions(Part):
    """How to search the generalization lattice, and what makes one node better than another.

    Attributes:
        algorithm: all search the lattice, but for ``k_optimize``, which searches partitions of
            the ordered domains into intervals.
        metric: what to optimize; k_optimize knows those that it has bounds for.
        classify: for the metric classification, the column of class values.
        prices: for the metric publisher_payout, what the publisher and an attacker gain and lose.
        aggregate: how the losses of the columns become one value; None for the metric's own way.
        gs_factor: below 0.5 suppression costs less, above it generalization does.
        monotone: leave out what suppression costs.
        prefer: what decides between equals; not for k_optimize.
        variant: for incognito, which frequency sets it prepares.
        distance_vectors: for samarati, count suppressed rows by the matrix of distance vectors.
        seed: the seed of the random numbers, for algorithms that draw some.
        cuts: for k_optimize, the most places per quasi-identifier where its domain may be cut, at
            quantiles of the rows; None for between any two values.
    """

    expected: ClassVar[str] = "{algorithm: optimal, metric: loss}"

    algorithm: Annotated[str, Declared(SEARCH_ALGORITHMS)] = Field(
        default="optimal", description="The search algorithm."
    )
    metric: Annotated[str, Declared(QUALITY_METRICS)] = Field(
        default="loss", description="The quality metric to optimize."
    )
    classify: ClassColumn = Field(
        default=None, description="For the metric classification: the released column to predict."
    )
    prices: Prices | None = Field(
        default=None,
        description="For the metric publisher_payout: the gains and losses of the publisher and an attacker.",
    )
    aggregate: Annotated[
        Literal["sum", "arithmetic_mean", "geometric_mean", "maximum", "rank"] | None, chosen("aggregate")
    ] = Field(
        default=None, description="How to aggregate the losses of the columns; the metric's default if not given."
    )
    gs_factor: Annotated[float, share("gs_factor")] = Field(
        default=0.5, description="Balance: below 0.5 suppression costs less, above 0.5 generalization costs less."
    )
    monotone: Flag = Field(default=False, description="Whether to exclude suppressed rows from the metric.")
    prefer: Annotated[
        Literal[
            "minimum_suppression",
            "minimum_absolute_distance",
            "minimum_relative_distance",
            "maximum_distribution",
        ],
        chosen("preference criterion"),
    ] = Field(default="minimum_suppression", description="How to choose among solutions of the same height.")
    variant: Annotated[Literal["basic", "super_roots", "cube"], chosen("variant of incognito")] = Field(
        default="basic", description="For incognito: which frequency sets to precompute."
    )
    distance_vectors: Flag = Field(
        default=False, description="For samarati: count suppressed rows with the matrix of distance vectors."
    )
    seed: Annotated[int, integer("a seed", 0)] = Field(
        default=0, description="The random seed, for randomized algorithms."
    )
    cuts: Annotated[int | None, integer("a number of cuts", 1)] = Field(
        default=None, description="For k_optimize: the largest number of cuts of a domain; unlimited by default."
    )

    @property
    def of_intervals(self) -> bool:
        """Whether the algorithm chooses intervals of the values, not levels of the hierarchies."""
        return bool(SEARCH_ALGORITHMS[self.algorithm].of_intervals)

    @property
    def metric_label(self) -> str:
        """The metric by its name, and how it differs from what the name says: ``loss (rank, gs_factor 0.33)``."""
        differs = [
            *([self.aggregate] if self.aggregate not in (None, _aggregate_of(self.metric)) else []),
            *([f"gs_factor {self.gs_factor:g}"] if self.gs_factor != 0.5 else []),
            *(["monotone"] if self.monotone else []),
        ]
        return f"{self.metric} ({', '.join(str(item) for item in differs)})" if differs else self.metric

    @property
    def options(self) -> dict[str, Any]:
        """What the algorithm takes beyond the question."""
        return {name: getattr(self, name) for name in SEARCH_ALGORITHMS[self.algorithm].parameters}

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What an algorithm or a metric does not take, or cannot do."""
        if not given:
            return
        usual = {name: field.default for name, field in cls.model_fields.items()}
        algorithm, metric = (
            declared.get(given.get(key, usual[key]))
            for key, declared in (("algorithm", SEARCH_ALGORITHMS), ("metric", QUALITY_METRICS))
        )
        if algorithm is not None:
            yield from _only_of_others("algorithm", algorithm, SEARCH_ALGORITHMS, given)
        if metric is not None:
            yield from _metric_faults(metric, given)
        if algorithm is None or not algorithm.of_intervals:
            return
        for option in ("aggregate", "gs_factor", "monotone"):
            if option in given and given[option] != usual[option]:
                why = f"{algorithm.name} has bounds only for the metric without these options; leave them out"
                yield Fault((option,), why, True)
        if metric is not None and not metric.bounds_cuts:
            yield Fault(
                ("metric",),
                f"{algorithm.name} needs a metric that more cuts worsen only by suppression; these are "
                f"{' and '.join(name for name, other in QUALITY_METRICS.items() if other.bounds_cuts)} only",
            )
        if "prefer" in given and given["prefer"] != usual["prefer"]:
            yield Fault(("prefer",), f"{algorithm.name} chooses by the metric only; leave 'prefer' out", True)

    @model_serializer(mode="wrap")
    def _without_other_options(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only what the algorithm takes, so that what is written can be read back."""
        written: dict[str, Any] = handler(self)
        for option in ("classify", "prices", "aggregate", "gs_factor", "monotone"):
            if getattr(self, option) == type(self).model_fields[option].default:
                written.pop(option, None)
        taken = SEARCH_ALGORITHMS[self.algorithm].takes
        others = {option for other in SEARCH_ALGORITHMS.values() for option in other.takes if option not in taken}
        return {name: item for name, item in written.items() if name not in others}


def _aggregate_of(metric: str) -> str | None:
    """How a metric makes one value of the losses of the columns; None where it has no losses of columns."""
    return getattr(QUALITY_METRICS[metric], "aggregate", None)


def _only_of_others(kind: str, chosen: Any, register: Register[Any], given: Mapping[str, Any]) -> Iterator[Fault]:
    """Options that only others of a kind take than the one that is chosen."""
    takers: dict[str, list[str]] = {}
    for name, other in register.items():
        for option in other.takes:
            takers.setdefault(option, []).append(name)
    for option, names in takers.items():
        if given.get(option) is not None and option not in chosen.takes:
            why = f"the {kind} {chosen.name} does not use this option, only {' and '.join(names)}; leave it out"
            yield Fault((option,), why, True)


def _metric_faults(metric: Any, given: Mapping[str, Any]) -> Iterator[Fault]:
    """What a metric needs, and what it does not take."""
    for option, what in metric.takes.items():
        if given.get(option) is None:
            yield Fault((), f"missing {option!r}: {what}", True)
    yield from _only_of_others("metric", metric, QUALITY_METRICS, given)
    if given.get("monotone") and metric.never_monotone is not None:
        yield Fault(("monotone",), metric.never_monotone, True)
    if given.get("aggregate") is not None and _aggregate_of(metric.name) is None:
        having = ", ".join(name for name in QUALITY_METRICS if _aggregate_of(name) is not None)
        yield Fault(
            ("aggregate",), f"{metric.name} has no loss per column to aggregate, unlike {having}; leave this out", True
        )
    if given.get("gs_factor", 0.5) != 0.5 and not metric.weighs:
        weighing = ", ".join(name for name, other in QUALITY_METRICS.items() if other.weighs)
        why = f"{metric.name} does not weigh generalization against suppression, unlike {weighing}; leave this out"
        yield Fault(("gs_factor",), why, True)


# --- Utility -------------------------------------------------------------------------------

MOST_FOLDS = 10


class Utility(Part):
    """A classifier that is trained on the release and tested on the source (Fung, Wang, Yu 2007; Iyengar 2002).

    Attributes:
        classify: the column that is told from the quasi-identifiers, one of sensitive or keep.
        folds: this many times a part of the rows is held out, and told by what the others teach.
    """

    expected: ClassVar[str] = "{classify: diagnosis}"

    classify: ColumnName = Field(description="The column that is told from the quasi-identifiers.")
    folds: Annotated[int, integer("a number of folds", 2, MOST_FOLDS)] = Field(
        default=5, description="How many times a part of the rows is held out."
    )


# --- What specs of all kinds have in common -------------------------------------------------


class Origin(Protocol):
    """What reads and publishes knows no more of a spec: rows to anonymize and tables to tabulate are alike to it."""

    @property
    def source(self) -> Source:
        """What is read."""

    @property
    def release(self) -> tuple[str, ...] | None:
        """The name parts of what is published; None where nothing is."""

    @property
    def hash(self) -> str:
        """What distinguishes specs."""

    def resolve(self, path: str | Path) -> Path:
        """A path of the spec; relative paths are relative to its file."""


class Generalized(Origin, Protocol):
    """What builds lookup tables knows of a spec, or of one of its tables."""

    @property
    def quasi_identifiers(self) -> Mapping[str, QuasiIdentifier]:
        """Column -> hierarchy."""

    @property
    def nulls(self) -> str:
        """What becomes of NULL in a quasi-identifier."""
