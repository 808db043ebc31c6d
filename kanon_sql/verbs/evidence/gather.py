"""``evidence``: what check, audit and risk say of a release, together, for a person who signs it. Read-only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.disclosure.attacks import AN_EXTERNAL_TABLE, ON_REQUEST, methods
from kanon_sql.engines import Engine, Reporter, now
from kanon_sql.errors import SpecError, UnsupportedError, refuse
from kanon_sql.frequency import OpenTable, open_table, plain_source_of
from kanon_sql.models import models_of
from kanon_sql.objects import refuse_unread
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.verbs.audit import AuditResult, audit
from kanon_sql.verbs.check import check
from kanon_sql.verbs.evidence.columns import column_entries
from kanon_sql.verbs.evidence.opinion import NotMeasured, opinion
from kanon_sql.verbs.evidence.published import Published, published
from kanon_sql.verbs.evidence.records import EMA_THRESHOLD, records_of
from kanon_sql.verbs.evidence.result import AgainstPopulation, Asked, Evidence, Made
from kanon_sql.verbs.evidence.safe_harbor import is_zip_code, safe_harbor
from kanon_sql.verbs.evidence.standard import clauses
from kanon_sql.verbs.evidence.zip_codes import ZipCodes, ZipPopulation, count_zip_codes
from kanon_sql.verbs.preflight import file_release_obstacles
from kanon_sql.verbs.result import Check, Cost, Warned
from kanon_sql.verbs.risk import RiskResult, risk
from kanon_sql.verbs.run import running
from kanon_sql.verbs.target_table import as_published
from kanon_sql.version import __version__

__all__ = ["evidence"]


def evidence(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    external: str | None = None,
    external_is_sample: bool = False,
    on: Sequence[str] = (),
    earlier: Sequence[str] = (),
    attacks: Sequence[str] = (),
    population: str | None = None,
    sampling_fraction: float | None = None,
    zip_population: str | None = None,
    zip_people: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> Evidence:
    """Measure a release with ``check``, ``audit`` and ``risk``, and say what of it answers whose question.

    Args:
        engine: from :func:`kanon_sql.connect`; SELECT rights are enough, and no more than temporary tables are created.
        spec: the spec that the release is to be judged by.
        table: the release; the spec's by default.
        external: a table that an attacker has besides, for the attack ``linking``.
        external_is_sample: it is a random sample of those that an attacker may look for, so that what linking finds is
            told with a confidence interval (95 %, Clopper and Pearson 1934).
        on: the columns to link on; all that the two tables share by default.
        earlier: other releases of the same people.
        attacks: attacks to run besides those that an audit runs by itself, such as ``minimality``.
        population: a table of all the persons among which an attacker searches, with the same columns in the same form
            as the release.
        sampling_fraction: the release's share of the population, above 0 and up to 1.
        zip_population: a table of how many people live where, with a column of ZIP codes that has the release's name.
        zip_people: its column of how many; by default each of its rows is a person.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        The evidence. It measures the table; context, harms and governance are for people to judge.

    Raises:
        SpecError: a table lacks a column, or an option does not fit.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> found = kanon_sql.evidence(db, spec)
        >>> [(entry.column, entry.became, entry.meaning) for entry in found.columns][:2]
        [('age', 'generalized', 'intervals of 5'), ('zip', 'generalized', 'the first 4 characters')]
    """
    started = time.perf_counter()
    refuse_unread("evidence", spec)
    parts = parse_table_name(table) if table is not None else spec.release
    if table is None:
        refuse(file_release_obstacles(spec, "evidence"))
    if parts is None:
        raise SpecError("release: missing; name the table to measure with --table")
    _refuse_misfits(external, external_is_sample, attacks, zip_population, zip_people)
    left = _Clock(started, timeout)
    with running(engine, left(), report) as opening:
        spec = as_published(engine, spec, parts)
        opened = open_table(engine, spec, parts)
        if opened.is_source:
            raise SpecError(f"{opened.shown} is the source, but evidence is for a release; name one with --table")
        source = [column.name for column in engine.columns(plain_source_of(engine, spec))]
        counted = _zip_codes(engine, spec, opened, zip_population, zip_people)
        logs, costs = opening.sql, [opening.cost]
    without_unit = spec.unit is not None and spec.unit not in opened.columns
    shown = ".".join(parts)
    checked = check(engine, spec, shown, count_rows=without_unit, timeout=left(), report=report)
    audited, why_not = _audited(
        engine, spec, shown, external=external, on=on, earlier=earlier, attacks=attacks,
        count_rows=spec.unit is not None, timeout=left(), report=report,
    )  # fmt: skip
    measured = risk(
        engine, spec, shown, population=population, threshold=EMA_THRESHOLD, sampling_fraction=sampling_fraction,
        largest_combination=1, count_rows=without_unit, timeout=left(), report=report,
    )  # fmt: skip
    run = published(engine, spec, parts, checked)
    records = records_of(measured, run, spec.unit)
    entries = column_entries(spec, source, opened.columns, _labels(measured), run)
    vouched = not without_unit or (run is not None and run.vouches and run.counts_persons)
    problems = list(_problems(checked, audited, run, vouched=vouched, unit=spec.unit))
    asked = _asked(spec, checked, run, without_unit=without_unit)
    attacked = [] if audited is None else [attack.label for attack in audited.attacks]
    of_opinion = opinion(records, audited, why_not, sampled=external_is_sample)
    costs += [checked.cost, measured.cost, *([] if audited is None else [audited.cost])]
    return Evidence(
        verdict="fail" if problems else "pass",
        problems=tuple(problems),
        release=shown,
        rows=checked.rows["source"],
        made=Made(now(), __version__, f"{engine.dialect.name} {engine.version}".strip(), spec.hash),
        run=run,
        columns=entries,
        requirements=asked,
        records=records,
        journalist=_journalist(measured),
        population_uniques=measured.uniqueness["population"],
        class_sizes=checked.class_sizes,
        attacks=attacked,
        wp216=of_opinion,
        safe_harbor=safe_harbor(spec, entries, {item.column: item for item in counted}),
        zip_codes=counted,
        iso_27559=clauses(
            records, measured, [item.requirement for item in asked],
            attacked,
            (sum(entry.informative for entry in entries), len(entries)),
        ),
        not_measured=list(_not_measured(spec, measured, earlier)),
        warnings=_warnings(run, checked),
        notes=list(dict.fromkeys(_notes(checked, measured, audited, run))),
        spec=spec.redacted(),
        cost=_together(costs, time.perf_counter() - started),
        sql=(*logs, *checked.sql, *(audited.sql if audited is not None else ()), *measured.sql),
    )  # fmt: skip


@dataclass(frozen=True)
class _Clock:
    """What is left of the time for the whole run, for each of the verbs that it consists of."""

    started: float
    timeout: float | None

    def __call__(self) -> float | None:
        return None if self.timeout is None else max(0.0, self.timeout - (time.perf_counter() - self.started))


def _refuse_misfits(
    external: str | None, sampled: bool, attacks: Sequence[str], zip_population: str | None, zip_people: str | None
) -> None:
    if sampled and external is None:
        raise SpecError("external_is_sample: describes the external table; name one with --external")
    unknown = [name for name in attacks if name not in ON_REQUEST]
    if unknown:
        raise SpecError(
            f"attack: {unknown[0]!r} is not an attack that runs on request ({', '.join(ON_REQUEST)}); leave it out, "
            "since the others always run"
        )
    if zip_people is not None and zip_population is None:
        raise SpecError("zip_people: a column of the zip_population table; give both")


def _zip_codes(
    engine: Engine, spec: Spec, opened: OpenTable, population: str | None, people: str | None
) -> list[ZipCodes]:
    if population is None:
        return []
    names = [name for name in spec.quasi_identifiers if is_zip_code(spec, name) and name in opened.columns]
    if not names:
        raise SpecError(
            f"zip_population: {opened.shown} has no quasi-identifier that is named like a ZIP code and generalized by "
            "prefix; leave the option out"
        )
    given = ZipPopulation(population, people)
    return [count_zip_codes(engine, spec, opened, name, given) for name in names]


def _audited(
    engine: Engine, spec: Spec, shown: str, *, attacks: Sequence[str], **options: Any
) -> tuple[AuditResult | None, str | None]:
    """What an audit runs by itself, and the attacks that were named besides; or why no attack could be run."""
    try:
        found = audit(engine, spec, shown, **options)
    except (SpecError, UnsupportedError) as error:
        if attacks or any(options[name] for name in ("external", "on", "earlier")):
            raise
        return None, str(error)
    if not attacks:
        return found, None
    used = {"count_rows": options["count_rows"], "timeout": options["timeout"], "report": options["report"]}
    if any(AN_EXTERNAL_TABLE in method.needs for method in methods() if method.name in attacks):
        used |= {"external": options["external"], "on": options["on"]}
    more = audit(engine, spec, shown, attacks=attacks, **used)
    return _joined(found, more, attacks), None


def _joined(found: AuditResult, more: AuditResult, names: Sequence[str]) -> AuditResult:
    """Two audits of one table as one; attacks on request are estimates, and change no verdict."""
    left_out = {name: why for name, why in found.left_out.items() if name not in names}
    costs = _together([found.cost, more.cost], found.cost.seconds + more.cost.seconds)
    failed = not found.passed or not more.passed
    return replace(
        found,
        verdict="fail" if failed else "pass",
        message=found.message if more.passed else f"{found.message}; {more.message}",
        attacks=[*found.attacks, *more.attacks],
        left_out={**left_out, **more.left_out},
        cost=costs,
        notes=[*found.notes, *more.notes],
        sql=(*found.sql, *more.sql),
    )


def _together(costs: Sequence[Cost], seconds: float) -> Cost:
    return Cost(
        statements=sum(item.statements for item in costs),
        source_scans=sum(item.source_scans for item in costs),
        rows_fetched=sum(item.rows_fetched for item in costs),
        bytes_fetched=sum(item.bytes_fetched for item in costs),
        seconds=round(seconds, 3),
    )


def _journalist(measured: RiskResult) -> AgainstPopulation | None:
    """The risk against the population that was named."""
    found = measured.journalist
    return None if found is None else AgainstPopulation(**found.to_dict(), population=measured.population)


def _labels(measured: RiskResult) -> dict[str, int]:
    """Quasi-identifier -> how many different labels it has."""
    return {item.columns[0]: item.classes for item in measured.combinations if len(item.columns) == 1}


def _problems(
    checked: Check, audited: AuditResult | None, run: Published | None, *, vouched: bool, unit: str | None
) -> Iterator[str]:
    """Why the evidence does not speak for the release."""
    if not checked.passed:
        yield checked.message
    if audited is not None and not audited.passed and (audited.rows or checked.passed):  # a check says that none are
        yield audited.message
    if vouched:
        return
    if run is None:
        why = "it has no manifest of a run"
    elif not run.unchanged:
        why = f"it has other rows or classes than the run {run.run_id} verified"
    elif not run.same_spec:
        why = f"the run {run.run_id} published it with another spec"
    else:
        why = f"the run {run.run_id} counted rows"
    yield (
        f"the spec protects persons ({unit}), which the release does not identify, so classes may have too few of "
        f"them: {why}. Publish it with kanon-sql anonymize and this spec"
    )


def _asked(spec: Spec, checked: Check, run: Published | None, *, without_unit: bool) -> list[Asked]:
    """The requirements: as counted in the table as it is, or in persons by the run that published it."""
    by_run = run is not None and run.vouches and run.counts_persons and without_unit
    names = {model.key: asked.name for asked, model in zip(spec.privacy, models_of(spec), strict=True)}
    found = []
    for key, now_found in checked.achieved.items():
        part = run.achieved.get(key) if by_run and run is not None else None
        item = now_found if part is None else part
        found.append(
            Asked(
                name=names.get(key, key),
                requirement=str(item["requirement"]),
                counted="persons" if part is not None or (spec.unit is not None and not without_unit) else "rows",
                achieved={name: value for name, value in item.items() if name not in _NOT_REACHED},
                violating_classes=max(item["violating_classes"], now_found["violating_classes"]),
                violating_rows=max(item["violating_rows"], now_found["violating_rows"]),
            )
        )
    return found


_NOT_REACHED = ("requirement", "violating_classes", "violating_rows")


def _not_measured(spec: Spec, measured: RiskResult, earlier: Sequence[str]) -> Iterator[NotMeasured]:
    """Risks that this says nothing of, those first that an option would have measured."""
    if measured.journalist is None:
        yield NotMeasured("the risk against a population", "no population table was named (--population)")
    if spec.ledger is None and not earlier:
        yield NotMeasured("several releases together", "no ledger in the spec, no earlier release named (--earlier)")
    if spec.keep:
        yield NotMeasured(
            f"an attacker's knowledge of {', '.join(spec.keep)}",
            "kept columns do not define classes; an attacker who knows a value of one may find the row by it",
        )
    if spec.sensitive:
        yield NotMeasured(
            f"re-identification by {', '.join(spec.sensitive)}",
            "sensitive attributes do not define classes; an attacker who knows one may find the row by it, and learn "
            "the others",
        )
    yield NotMeasured(
        "columns that should have been quasi-identifiers", "the spec decides which columns an attacker may know"
    )
    yield NotMeasured("free text, images and codes inside of values", "values are compared, not interpreted")
    yield NotMeasured("whether a person is in the release", "k-anonymity and related models do not hide this")
    yield NotMeasured(
        "attacks that are not described yet", "an audit does not prove that no other attack exposes persons"
    )
    yield NotMeasured("the context", "who receives the release, under which agreements, with which motives")
    yield NotMeasured("harms", "the harm to persons who are re-identified")
    yield NotMeasured("governance", "roles, procedures, monitoring, and what is done after an incident")


def _warnings(run: Published | None, checked: Check) -> list[Warned]:
    """Those of the run, and those of the check that are of another kind."""
    of_run = [] if run is None else [
        Warned(item["code"], item["message"], item.get("columns", ()), item.get("figures", {})) for item in run.warnings
    ]  # fmt: skip
    known = {item.code for item in of_run}
    return [*of_run, *(item for item in checked.warnings if item.code not in known)]


def _notes(checked: Check, measured: RiskResult, audited: AuditResult | None, run: Published | None) -> Iterator[str]:
    if run is not None and not run.unchanged:
        yield "the table has other rows or classes than its run verified: it has changed since"
    elif run is not None and not run.same_spec:
        yield "the table was published with another spec than this one"
    yield from (f"the run: {note}" for note in (() if run is None else run.notes))
    yield from (f"check: {note}" for note in checked.notes)
    yield from (f"risk: {note}" for note in measured.notes)
    if audited is not None:
        yield from (f"{attack.label}: {note}" for attack in audited.attacks for note in attack.notes)
        yield from (f"audit: {note}" for note in audited.notes)
