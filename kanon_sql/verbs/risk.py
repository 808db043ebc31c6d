"""``risk``: how easily persons can be found again in a table as it stands. No DDL, read-only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kanon_sql.disclosure.risk import (
    ESTIMATORS,
    Combination,
    Estimate,
    Histogram,
    JournalistRisk,
    KMapEstimate,
    Matches,
    Risk,
    RiskFrames,
    combination_count,
    combination_measures,
    combinations,
    histogram_of,
    journalist,
    k_map_estimate,
    largest_at_risk,
    marketer,
    population_matches,
    prosecutor,
)
from kanon_sql.engines import Column, Deadline, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import Problem, SpecError
from kanon_sql.frequency import OpenTable, open_table, source_of, unknown_columns
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import Displayed, Spec, parse_table_name
from kanon_sql.verbs.result import Cost, redacted_log
from kanon_sql.verbs.run import refuse_perturbed
from kanon_sql.verbs.target_table import Judged, judged, release_stands
from kanon_sql.verbs.year import as_published

__all__ = ["RiskResult", "risk"]

MOST_COMBINATIONS = 5_000
"""More combinations of columns are refused, not begun."""
LEAST_FRACTION = 1e-15
"""No population is larger by more, and the estimators' numbers would not fit into a float for long."""
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True, repr=False)
class RiskResult(Displayed):
    """The re-identification risk of a table, and what its columns distinguish.

    Attributes:
        table: the table's name.
        population: the population table's name; None without one.
        unit: the column that identifies persons; None where rows are counted.
        columns: the columns that others may know.
        threshold: a record with a risk above it is at risk.
        histogram: the table's classes by size.
        prosecutor: the risk of an attacker who knows that the person is in the table.
        journalist: the risk of an attacker who knows that the person is in the population; None without a population.
        marketer: the expected share of records matched right, with the population or else with the table itself.
        estimates: the population's uniques, estimated; empty unless a sampling fraction is given.
        k_map: how many persons of the population classes stand for, estimated; None without a sampling fraction.
        combinations: what the columns distinguish, alone and together; the last one is all of them.
        minimal_unique: the smallest combinations that distinguish all records, by position in ``columns``.
        largest_combination: combinations of more columns were not looked for.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        sql: every statement that ran, in order, with values redacted.
    """

    table: str
    population: str | None
    unit: str | None
    columns: Sequence[str]
    threshold: float
    histogram: Histogram
    prosecutor: Risk
    journalist: JournalistRisk | None
    marketer: float | None
    estimates: Sequence[Estimate]
    k_map: KMapEstimate | None
    combinations: Sequence[Combination]
    minimal_unique: Sequence[tuple[int, ...]]
    largest_combination: int
    cost: Cost
    notes: Sequence[str] = ()
    sql: Sequence[str] = field(default=(), repr=False)

    @property
    def message(self) -> str:
        """The result in a sentence."""
        records, what = self.histogram.records, "rows" if self.unit is None else "persons"
        if not records:
            return f"{self.table} has no {what}: no person is in it"
        if self.journalist is None:
            knows, found = "that a person is in it", self.prosecutor
        else:
            knows, found = f"that a person is in {self.population}", self.journalist
        return (
            f"{self.table}: an attacker who knows {knows} finds the person with a probability of up to "
            f"{found.highest:.4g}; {found.at_risk:,} of {records:,} {what} have a risk above {self.threshold:g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        names = self.columns

        def named(columns: Sequence[int]) -> list[str]:
            return [names[position] for position in columns]

        return {
            "verb": "risk",
            "message": self.message,
            "table": self.table,
            "population": self.population,
            "counted": "rows" if self.unit is None else "persons",
            "rows": self.histogram.rows,
            "records": self.histogram.records,
            "classes": self.histogram.classes_dict(),
            "threshold": self.threshold,
            "prosecutor": asdict(self.prosecutor),
            "journalist": None if self.journalist is None else asdict(self.journalist),
            "marketer": {"average": self.marketer, "population": self.population},
            "uniqueness": {
                "sample": self.histogram.uniques,
                "population": [item.to_dict() for item in self.estimates],
            },
            "k_map_estimate": None if self.k_map is None else asdict(self.k_map),
            "columns": list(names),
            "combinations": [
                {
                    "columns": named(item.columns),
                    "distinction": item.distinction,
                    "separation": item.separation,
                    "uniques": item.uniques,
                }
                for item in self.combinations
            ],
            "largest_combination": self.largest_combination,
            "minimal_unique": [named(item) for item in self.minimal_unique],
            "cost": self.cost.to_dict(),
            "notes": list(self.notes),
        }


@accepts_objects
def risk(
    engine: Engine,
    spec: Spec,
    table: str | Any | None = None,
    *,
    population: str | Any | None = None,
    threshold: float = 0.05,
    sampling_fraction: float | None = None,
    columns: Sequence[str] = (),
    largest_combination: int = 3,
    count_rows: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> RiskResult:
    """Measure the re-identification risk of a table as it stands.

    Args:
        engine: from :func:`kanon_sql.connect`, where SELECT rights are enough; or a table or an open connection of the
            program's own. Beside a table, ``table`` and ``population`` are tables too.
        spec: the spec that names the source, the unit and the quasi-identifiers.
        table: the table to measure; by default the spec's release, or its source where the release is not there,
            which a note then says.
        population: a table of all the persons among which the table's persons are sought, with the same columns in the
            same form. It counts persons where it has the spec's unit, else rows.
        threshold: from 0 to 1; a record with a risk above it is at risk.
        sampling_fraction: records of the table per record of the population, above 0 and up to 1: estimate how
            many of the population's records are unique there, and how many persons a class stands for there.
        columns: what others may know; the quasi-identifiers by default.
        largest_combination: the most columns in a combination that is looked at, 1 or more.
        count_rows: count rows although the spec names a unit.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        The risks, the uniques, and what the columns distinguish. It is a measurement and no verdict.

    Raises:
        SpecError: a column or an option does not fit, or a person of the table is not in the population.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> measured = kanon_sql.risk(db, spec, threshold=0.1)
        >>> measured.prosecutor.highest, measured.prosecutor.at_risk
        (0.2, 600)
    """
    started = time.perf_counter()
    _check_options(threshold, sampling_fraction, columns, largest_combination)
    names = list(columns) or list(spec.quasi_identifiers)
    if combination_count(len(names), largest_combination) > MOST_COMBINATIONS:
        raise SpecError(
            f"{len(names)} columns have {combination_count(len(names), largest_combination):,} combinations of up to "
            f"{largest_combination}; at most {MOST_COMBINATIONS:,} are looked at: name fewer columns, or ask for "
            "smaller combinations"
        )
    unit = None if count_rows else spec.unit
    with engine.run(Deadline(timeout)) as meter, _measured(engine, spec, table) as (asked, absent):
        refuse_perturbed(engine, spec.source.table if asked is None else asked.parts)
        spec = spec if asked is None else as_published(engine, spec, asked.parts)
        with open_workspace(engine, source_of(engine, spec), report) as workspace:
            opened = _opened(engine, spec, asked, names, unit)
            frames = RiskFrames(opened.relation, _of(opened, names), None if unit is None else opened.columns[unit])
            opened.refuse_inexact(workspace, [*names, *([] if unit is None else [unit])])
            workspace.report(f"grouping {opened.shown} by what others may know", None)
            histogram = histogram_of(workspace, frames)
            matches = None
            notes = [*absent, *_notes(histogram, unit, sampling_fraction)]
            if population is not None:
                workspace.report(f"grouping {population} likewise", None)
                others = _population(workspace, spec, population, opened, names, unit)
                matches = _matches(workspace, frames, others, opened.shown, population, threshold)
                if unit is not None and others.unit is None:
                    notes.append(f"{population} has no column {unit!r}: each of its rows is counted as a person")
            workspace.report("measuring how well the columns distinguish records", None)
            measured, minimal = _combinations(workspace, frames, largest_combination)
        return RiskResult(
            table=opened.shown,
            population=population,
            unit=unit,
            columns=names,
            threshold=threshold,
            histogram=histogram,
            prosecutor=prosecutor(histogram, threshold),
            journalist=None if matches is None else journalist(matches),
            marketer=marketer(histogram, matches),
            estimates=[]
            if sampling_fraction is None
            else [estimator(histogram, sampling_fraction) for estimator in ESTIMATORS.values()],
            k_map=None if sampling_fraction is None else k_map_estimate(histogram, sampling_fraction, threshold),
            combinations=measured,
            minimal_unique=minimal,
            largest_combination=largest_combination,
            cost=Cost.of(meter, time.perf_counter() - started),
            notes=[*engine.read_notes, *notes],
            sql=redacted_log(meter),
        )


def _check_options(threshold: float, fraction: float | None, columns: Sequence[str], largest: int) -> None:
    problems = []
    if not 0 <= threshold <= 1:
        problems.append(Problem(f"threshold: expected a number from 0 to 1, got {threshold:g}"))
    if fraction is not None and not LEAST_FRACTION <= fraction <= 1:
        what = f"a number from {LEAST_FRACTION:g} to 1"
        problems.append(Problem(f"sampling_fraction: expected {what}, got {fraction:g}"))
    if largest < 1:
        problems.append(Problem(f"largest_combination: expected a whole number of at least 1, got {largest}"))
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    problems += [Problem(f"columns: {name!r} is named twice; name it once") for name in repeated]
    if problems:
        raise SpecError(problems)


@contextmanager
def _measured(engine: Engine, spec: Spec, table: str | None) -> Iterator[tuple[Judged | None, list[str]]]:
    """The table to measure, None for the source; and a note where it is not the one that one would expect."""
    if table is None and not release_stands(engine, spec):
        why = f"the release {spec.shown!r} is not there, so the source was measured; publish it and measure again"
        yield None, [] if spec.shown is None else [why]
        return
    with judged(engine, spec, table, "measure") as asked:
        yield asked, []


def _opened(engine: Engine, spec: Spec, asked: Judged | None, names: Sequence[str], unit: str | None) -> OpenTable:
    opened = open_table(engine, spec, None if asked is None else asked.parts)
    if asked is not None:
        opened = replace(opened, shown=asked.shown)
    problems = unknown_columns(opened.shown, opened.columns, names, "which is to be looked at")
    if unit is not None and unit not in opened.columns:
        why = "so persons cannot be counted; look at the source instead, or count rows with --rows"
        problems.append(Problem(f"{opened.shown}: there is no column {unit!r}, {why}"))
    if unit in names:
        problems.append(Problem(f"columns: {unit!r} is the unit, which identifies all persons; leave it out"))
    if problems:
        raise SpecError(problems)
    return opened


def _of(table: OpenTable, names: Sequence[str]) -> list[Column]:
    return [table.columns[name] for name in names]


def _population(
    workspace: Workspace, spec: Spec, name: str, table: OpenTable, names: Sequence[str], unit: str | None
) -> RiskFrames:
    """Where the population's records are counted, once it is sure that its values can be compared."""
    opened = open_table(workspace.engine, spec, parse_table_name(name))
    problems = unknown_columns(opened.shown, opened.columns, names, "so its records cannot be matched")
    for column in names:
        ours, theirs = table.columns[column], opened.columns.get(column)
        if theirs is not None and not _comparable(ours, theirs):
            problems.append(
                Problem(
                    f"{opened.shown}: column {column!r} is {theirs.type}, and in {table.shown} it is {ours.type}: "
                    "nothing would match; cast one of them in a view"
                )
            )
    if problems:
        raise SpecError(problems)
    person = opened.columns.get(unit) if unit is not None else None
    opened.refuse_inexact(workspace, [*names, *([] if person is None else [person.name])])
    return RiskFrames(opened.relation, _of(opened, names), person)


def _comparable(first: Column, second: Column) -> bool:
    return first.kind == second.kind or {first.kind, second.kind} <= set(_NUMBERS)


def _matches(
    workspace: Workspace, frames: RiskFrames, others: RiskFrames, table: str, population: str, threshold: float
) -> Matches:
    matches = population_matches(workspace, frames, others, largest_at_risk(threshold))
    if matches.missing_classes:
        raise SpecError(
            f"{population}: {matches.missing_classes:,} classes of {table} ({matches.missing_records:,} records) have "
            "fewer records there than in the table; a population holds every person who is in the table, with the same "
            "values: generalize both alike, or compare the sources"
        )
    return matches


def _combinations(
    workspace: Workspace, frames: RiskFrames, largest: int
) -> tuple[list[Combination], list[tuple[int, ...]]]:
    """All combinations up to a size without a unique part, then that of all columns."""

    def measure(asked: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], Combination]:
        return combination_measures(workspace, frames, asked)

    measured, minimal = combinations(len(frames.columns), largest, measure)
    everything = tuple(range(len(frames.columns)))
    if measured[-1].columns != everything:
        measured += measure([everything]).values()
    return measured, minimal


def _notes(histogram: Histogram, unit: str | None, fraction: float | None) -> list[str]:
    notes = []
    if fraction is not None:
        notes.append(
            "what is estimated of the population is not proven: each estimator has a model of it, and all believe that "
            f"the table is a random sample of {fraction:g} of it"
        )
    if histogram.rows_without_records:
        notes.append(
            f"{histogram.rows_without_records:,} rows stand in classes where {unit!r} is NULL: they count for no person"
        )
    if unit is not None:
        notes.append("a person counts once in every class that holds a row of theirs")
    return notes
