"""``risk``: how easily persons can be found again in a table as it is. No DDL, read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from kanon_sql.disclosure.risk import (
    ESTIMATORS,
    MOST_SETS,
    Combination,
    Estimate,
    Histogram,
    JournalistRisk,
    KMapEstimate,
    Matches,
    Risk,
    RiskFrames,
    Suda,
    WeightedRisk,
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
    suda,
    weighted_risk,
)
from kanon_sql.engines import Column, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import Problem, SpecError
from kanon_sql.evaluate import CountedClasses
from kanon_sql.frequency import (
    OpenTable,
    count_of,
    open_table,
    refuse_counts,
    refuse_wrong_counts,
    source_of,
    unknown_columns,
)
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import (
    HIDDEN,
    Count,
    Displayed,
    Document,
    Names,
    Positive,
    Share,
    Spec,
    Text,
    parse_table_name,
)
from kanon_sql.verbs.result import Cost
from kanon_sql.verbs.run import refuse_perturbed, running
from kanon_sql.verbs.target_table import TargetTable, as_published, judged, release_exists

__all__ = ["Distinguished", "RiskResult", "risk"]

MOST_COMBINATIONS = 5_000
"""More combinations of columns are refused, not begun."""
LEAST_FRACTION = 1e-15
"""No population is larger by more, and the estimators' numbers would not fit into a float for long."""
_NUMBERS = ("integer", "decimal", "float")


class MarketerRisk(TypedDict):
    """The attacker wants as many right matches as possible.

    Attributes:
        average: the expected share of records that are matched right; None without a record.
        population: matched with this table; None for the table itself.
    """

    average: Share | None
    population: str | None


class Uniqueness(TypedDict):
    """The records that are unique.

    Attributes:
        sample: records that are alone in their class.
        population: estimates of the records that are alone in the population; empty without a sampling fraction.
    """

    sample: Count
    population: Sequence[Estimate]


@dataclass(frozen=True)
class Distinguished(Document):
    """How well some of the columns distinguish records.

    Attributes:
        columns: the columns.
        distinction: different vectors per record; None without a record.
        separation: the share of pairs of records that differ; None with fewer than two records.
        uniques: records with a vector of their own.
        classes: different vectors.
        records: records in them.
    """

    columns: Names
    distinction: Share | None
    separation: Share | None
    uniques: Count
    classes: int = field(metadata=HIDDEN)
    records: int = field(metadata=HIDDEN)


@dataclass(frozen=True, repr=False)
class RiskResult(Displayed, Document):
    """What ``risk`` prints: the re-identification risk of a table. A record is a row, or a person in a class.

    Attributes:
        verb: ``risk``.
        message: the result in a sentence.
        table: the table that was looked at.
        population: the population table; None without one.
        counted: what a record is.
        rows: rows of the table.
        records: records in all classes.
        classes: the classes of records with the same values in all columns, by their records.
        threshold: a record with a risk above it is at risk.
        prosecutor: the risk of an attacker who knows that the person is in the table.
        journalist: the risk of an attacker who knows that the person is in the population; None without a population.
        marketer: the risk of an attacker who wants as many right matches as possible.
        uniqueness: the records that are alone in their class, here and in the population.
        k_map_estimate: the journalist's risk, estimated without a population table; None without a sampling fraction.
        columns: what others may know.
        combinations: how well the columns distinguish records, alone and together; the last one is all of them.
        largest_combination: combinations of more columns were not looked for.
        suda: special uniques, and what each column contributes to their scores; None where they were not asked for.
        weighted: the individual risk by sampling weights; None without a column of weights.
        minimal_unique: combinations that give every record a vector of its own, and have no part that does.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        unit: the column that identifies persons; None where rows are counted.
        histogram: the table's classes by size.
        sql: every statement that ran, in order, with values redacted.
    """

    verb: Literal["risk"] = field(default="risk", init=False)
    message: Text
    table: Text
    population: str | None
    counted: Literal["rows", "persons"]
    rows: Count
    records: Count
    classes: CountedClasses
    threshold: Share
    prosecutor: Risk
    journalist: JournalistRisk | None
    marketer: MarketerRisk
    uniqueness: Uniqueness
    k_map_estimate: KMapEstimate | None
    columns: Names
    combinations: Sequence[Distinguished]
    largest_combination: Positive
    minimal_unique: Sequence[Names]
    cost: Cost
    notes: Sequence[str] = ()
    suda: Suda | None = None
    weighted: WeightedRisk | None = None
    unit: str | None = field(default=None, metadata=HIDDEN)
    histogram: Histogram = field(metadata=HIDDEN, kw_only=True)
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)


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
    special_uniques: int | None = None,
    weight: str | None = None,
    household: str | None = None,
    count_rows: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> RiskResult:
    """Measure the re-identification risk of a table as it is.

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
        special_uniques: look for minimal sample uniques of up to this many columns (SUDA), and score them; for rows.
        weight: a column of sampling weights: estimate the risk of each row by how many persons of the population its
            class stands for (Benedetti, Franconi 1998), and the re-identifications to expect; for rows.
        household: with ``weight``, a column that identifies households: also the risk that some member is found.
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
    _check_options(threshold, sampling_fraction, columns, largest_combination)
    names = list(columns) or list(spec.quasi_identifiers)
    if combination_count(len(names), largest_combination) > MOST_COMBINATIONS:
        raise SpecError(
            f"{len(names)} columns have {combination_count(len(names), largest_combination):,} combinations of up to "
            f"{largest_combination}; at most {MOST_COMBINATIONS:,} are measured: name fewer columns, or lower "
            "--combinations"
        )
    if population is not None:
        refuse_counts(spec, "a population")
    if special_uniques is not None:
        refuse_counts(spec, "a search for special uniques")
    if weight is not None:
        refuse_counts(spec, "an estimate by sampling weights")
    unit = None if count_rows else spec.unit
    if special_uniques is not None:
        _check_special_uniques(special_uniques, len(names), unit)
    _check_weight(weight, household, names, unit)
    with running(engine, timeout, report) as run, _measured(engine, spec, table) as (asked, absent):
        refuse_perturbed(engine, spec.source.table if asked is None else asked.parts)
        spec = spec if asked is None else as_published(engine, spec, asked.parts)
        with open_workspace(engine, source_of(engine, spec, counts=True)) as workspace:
            opened = _opened(engine, spec, asked, names, unit)
            refuse_wrong_counts(workspace, spec, opened.relation, opened.columns, opened.shown)
            person = None if unit is None else opened.columns[unit]
            frames = RiskFrames(opened.relation, _of(opened, names), person, count_of(spec, "checked"))
            opened.refuse_inexact(workspace, [*names, *([] if unit is None else [unit])])
            workspace.report(f"grouping {opened.shown} by the quasi-identifiers", None)
            histogram = histogram_of(workspace, frames)
            matches = None
            notes = [*absent, *_notes(histogram, unit, sampling_fraction)]
            if spec.count is not None:
                notes.append(f"rows are persons: a row stands for as many as {spec.count} says")
            if population is not None:
                workspace.report(f"grouping {population} by the same columns", None)
                others = _population(workspace, spec, population, opened, names, unit)
                matches = _matches(workspace, frames, others, opened.shown, population, threshold)
                if unit is not None and others.unit is None:
                    notes.append(f"{population} has no column {unit!r}: each of its rows is counted as a person")
            workspace.report("measuring how well the columns distinguish records", None)
            measured, minimal = _combinations(workspace, frames, largest_combination)
            special = None
            if special_uniques is not None:
                workspace.report("looking for special uniques", None)
                special = suda(workspace, frames, names, special_uniques, histogram, sampling_fraction)
            individual = None
            if weight is not None:
                workspace.report("estimating the individual risk by sampling weights", None)
                individual = _weighted(workspace, opened, frames, weight, household, threshold)
                notes.append(
                    "the individual risk is an estimate: it assumes that the weights of a class add up to about as "
                    "many persons as the population has of it"
                )
        journalist_risk = None if matches is None else journalist(matches)
        prosecutor_risk = prosecutor(histogram, threshold)
        return RiskResult(
            message=_message(opened.shown, population, unit, histogram, threshold, journalist_risk or prosecutor_risk),
            table=opened.shown,
            population=population,
            counted="rows" if unit is None else "persons",
            rows=histogram.rows,
            records=histogram.records,
            classes=histogram.classes_dict(),
            threshold=threshold,
            prosecutor=prosecutor_risk,
            journalist=journalist_risk,
            marketer={"average": marketer(histogram, matches), "population": population},
            uniqueness={
                "sample": histogram.uniques,
                "population": []
                if sampling_fraction is None
                else [estimator(histogram, sampling_fraction) for estimator in ESTIMATORS.values()],
            },
            k_map_estimate=None
            if sampling_fraction is None
            else k_map_estimate(histogram, sampling_fraction, threshold),
            columns=names,
            combinations=[
                Distinguished(
                    [names[position] for position in item.columns],
                    item.distinction,
                    item.separation,
                    item.uniques,
                    item.classes,
                    item.records,
                )
                for item in measured
            ],
            largest_combination=largest_combination,
            minimal_unique=[[names[position] for position in item] for item in minimal],
            cost=run.cost,
            notes=[*engine.read_notes, *notes],
            suda=special,
            weighted=individual,
            unit=unit,
            histogram=histogram,
            sql=run.sql,
        )


def _message(
    table: str, population: str | None, unit: str | None, histogram: Histogram, threshold: float, found: Risk
) -> str:
    """The result in a sentence."""
    what = "rows" if unit is None else "persons"
    if not histogram.records:
        return f"{table} has no {what}: no person is in it"
    knows = "that a person is in it" if population is None else f"that a person is in {population}"
    return (
        f"{table}: an attacker who knows {knows} finds the person with a probability of up to {found.highest:.4g}; "
        f"{found.at_risk:,} of {histogram.records:,} {what} have a risk above {threshold:g}"
    )


def _check_weight(weight: str | None, household: str | None, names: Sequence[str], unit: str | None) -> None:
    """Refuse weights of persons with several rows, households without weights, and weights that make classes."""
    if household is not None and weight is None:
        raise SpecError("household: the risk of a household is made of individual risks; also give a column of weights")
    if weight is not None and unit is not None:
        raise SpecError("weight: weights are of rows; count rows with --rows, although there is a unit")
    for what, name in (("weight", weight), ("household", household)):
        if name in names:
            raise SpecError(f"{what}: {name!r} is among the columns that an attacker knows; leave it out of these")


def _weighted(
    workspace: Workspace,
    opened: OpenTable,
    frames: RiskFrames,
    weight: str,
    household: str | None,
    threshold: float,
) -> WeightedRisk:
    asked = [name for name in (weight, household) if name is not None]
    if problems := unknown_columns(opened.shown, opened.columns, asked, "which weight or household names"):
        raise SpecError(problems)
    if opened.columns[weight].kind not in _NUMBERS:
        raise SpecError(
            f"weight: expected a column of numbers, and {weight!r} is {opened.columns[weight].type}; cast it"
        )
    if household is not None:
        opened.refuse_inexact(workspace, [household])
    key = None if household is None else opened.columns[household]
    return weighted_risk(workspace, frames, opened.columns[weight], key, threshold)


def _check_special_uniques(largest: int, columns: int, unit: str | None) -> None:
    """Refuse special uniques of persons, who have several rows, and of too many sets of columns."""
    if largest < 1:
        raise SpecError(f"special_uniques: expected a number of columns of at least 1, got {largest}")
    if unit is not None:
        raise SpecError("special_uniques: SUDA is defined for rows; count rows with --rows, although there is a unit")
    if (sets := combination_count(columns, largest)) > MOST_SETS:
        raise SpecError(
            f"special_uniques: {columns} columns have {sets:,} sets of up to {largest}; at most {MOST_SETS} are looked "
            "at: name fewer columns, or a smaller number"
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
def _measured(engine: Engine, spec: Spec, table: str | None) -> Iterator[tuple[TargetTable | None, list[str]]]:
    """The table to measure, None for the source; and a note where it is not the one that one would expect."""
    if table is None and not release_exists(engine, spec):
        why = f"there is no release {spec.shown!r} yet, so the source was measured; publish it and measure again"
        yield None, [] if spec.shown is None else [why]
        return
    with judged(engine, spec, table, "measure") as asked:
        yield asked, []


def _opened(engine: Engine, spec: Spec, asked: TargetTable | None, names: Sequence[str], unit: str | None) -> OpenTable:
    opened = open_table(engine, spec, None if asked is None else asked.parts, counts=True)
    if asked is not None:
        opened = replace(opened, shown=asked.shown)
    problems = unknown_columns(opened.shown, opened.columns, names, "which is to be looked at")
    if unit is not None and unit not in opened.columns:
        why = "so persons cannot be counted; measure the source, or count rows with --rows"
        problems.append(Problem(f"{opened.shown}: there is no column {unit!r}, {why}"))
    if unit in names:
        problems.append(Problem(f"columns: {unit!r} is the unit, which identifies every person; leave it out"))
    if problems:
        raise SpecError(problems)
    return opened


def _of(table: OpenTable, names: Sequence[str]) -> list[Column]:
    return [table.columns[name] for name in names]


def _population(
    workspace: Workspace, spec: Spec, name: str, table: OpenTable, names: Sequence[str], unit: str | None
) -> RiskFrames:
    """Where the population's records are counted, once it is sure that its values can be compared."""
    opened = open_table(workspace.engine, spec, parse_table_name(name), released=False)
    problems = unknown_columns(opened.shown, opened.columns, names, "so its records cannot be matched")
    for column in names:
        ours, theirs = table.columns[column], opened.columns.get(column)
        if theirs is not None and not _comparable(ours, theirs):
            problems.append(
                Problem(
                    f"{opened.shown}: column {column!r} is {theirs.type}, and in {table.shown} it is {ours.type}: so "
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
            "fewer records there than in the table; a population must contain every person of the table, with the "
            "same values: generalize both in the same way, or compare the sources"
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
            "population estimates are not proven: each estimator assumes a model of the population, and that the "
            f"table is a random sample of {fraction:g} of it"
        )
    if histogram.rows_without_records:
        notes.append(
            f"{histogram.rows_without_records:,} rows in classes have NULL as {unit!r}: they count for no person"
        )
    if unit is not None:
        notes.append("a person counts once in every class that has one of the person's rows")
    return notes
