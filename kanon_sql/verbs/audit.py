"""``audit``: try to break a release as an attacker would, and count whom that exposes. No DDL, read-only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, Literal

from kanon_sql.disclosure.attacks import (
    ATTACKS,
    FEWEST,
    ON_REQUEST,
    Attack,
    Cases,
    Reading,
    Scene,
    Target,
    Unmeasured,
    attributes_of,
    background,
    cannot_read_order,
    complementary,
    composition,
    consistency,
    definetti,
    homogeneity,
    linking,
    measured,
    minimality,
    promised_k,
    promised_values,
    similarity,
    skewness,
    unsorted_matching,
    views,
    worst_of,
)
from kanon_sql.engines import Deadline, Engine, Reporter, Scratch, Workspace, open_workspace
from kanon_sql.errors import Problem, RequirementNotMet, SpecError, UnsupportedError
from kanon_sql.frequency import open_table, source_of, unknown_columns
from kanon_sql.models import PrivacyModel, models_of
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql import source_relation
from kanon_sql.verbs.audit_options import AuditOptions, parsed_hierarchies
from kanon_sql.verbs.result import Cost, redacted_log

__all__ = ["AuditResult", "audit"]

MOST_READINGS = 32
"""So often an attack runs at most, where labels may be of several levels."""


@dataclass(frozen=True)
class AuditResult:
    """What the attacks on a release achieve.

    Attributes:
        verdict: ``pass`` when no attack exposes anybody beyond what the requirements allow; estimates do not count.
        message: the verdict in a sentence.
        release: the table that was attacked.
        rows: how many rows that table has.
        attacks: what each attack achieves.
        left_out: attacks, or parts of one, that were not run -> the reason.
        cost: what the audit asked of the database.
        notes: what the user should know besides.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> result = kanon_sql.audit(db, spec)
        >>> [(attack.name, attack.beyond) for attack in result.attacks if attack.beyond]
        [('homogeneity', 80), ('background', 80)]
    """

    verdict: Literal["pass", "fail"]
    message: str
    release: str
    rows: int
    attacks: Sequence[Attack]
    left_out: Mapping[str, str]
    cost: Cost
    notes: Sequence[str] = ()
    sql: Sequence[str] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    def raise_for_failure(self) -> AuditResult:
        """Return this result, or raise :class:`RequirementNotMet` if the verdict is ``fail``."""
        if not self.passed:
            raise RequirementNotMet(self.message, self)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object; ``kanon-sql schema --audit`` prints its schema."""
        return {
            "verb": "audit",
            "verdict": self.verdict,
            "message": self.message,
            "release": self.release,
            "rows": self.rows,
            "attacks": [attack.to_dict() for attack in self.attacks],
            "left_out": dict(self.left_out),
            "cost": self.cost.to_dict(),
            "notes": list(self.notes),
        }


def audit(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    external: str | None = None,
    on: Sequence[str] = (),
    earlier: Sequence[str] = (),
    other_views: Sequence[str] = (),
    negations: int = 1,
    hierarchies: Mapping[str, Any] | None = None,
    attacks: Sequence[str] | None = None,
    count_rows: bool = False,
    reveal: int = 0,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> AuditResult:
    """Attack a release in every way that the given tables allow.

    Args:
        engine: from :func:`kanon_sql.connect`; SELECT rights are enough, and nothing is created.
        spec: its quasi-identifiers, hierarchies, source and requirements.
        table: the table to attack; the spec's release by default.
        external: a table that an attacker has besides, for linking.
        on: the columns to link on; all that the release and ``external`` share by default.
        earlier: other releases of the same people.
        other_views: other projections of the same rows that were published, for ``views``: with that attack alone the
            table need not have every quasi-identifier and sensitive attribute.
        negations: how many values the attacker of ``background`` can rule out, at least 1.
        hierarchies: sensitive attribute -> a hierarchy of its values, as a spec writes one, for ``similarity``.
        attacks: names of the attacks to run; one that cannot be run is then an error. By default all run that can,
            except ``minimality`` and ``definetti``.
        count_rows: count rows although the spec names a unit.
        reveal: show so many exposed cases per attack, with their values; 0 for none.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        The figures of every attack, and the verdict on all of them.

    Raises:
        SpecError: a table lacks a column, or an option does not fit.
        UnsupportedError: an attack that was asked for by name cannot be run here.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> result = kanon_sql.audit(db, spec, external="visits", on=["age", "zip"])
        >>> result.message
        'visits_release: homogeneity of diagnosis exposes 80 of 600; background of diagnosis exposes 80 of 600'
        >>> result.left_out["complementary"]
        'it needs an earlier release (--earlier)'
    """
    started = time.perf_counter()
    parts = parse_table_name(table) if table is not None else spec.release
    if parts is None:
        raise SpecError("release: missing; name the table to audit with --table")
    parsed = parsed_hierarchies(spec, hierarchies or {})
    given = AuditOptions(external, tuple(on), tuple(earlier), tuple(other_views), negations, parsed, attacks, reveal)
    given.check(spec, count_rows)
    with engine.run(Deadline(timeout)) as meter, _creating_nothing(engine):
        run = _Run(engine, spec, given, report, parts)
        found = run.attacks()
        with open_workspace(engine, run.form) as workspace:
            (rows,) = workspace.row("release/count", table=run.scene(workspace).release.relation, mark=None, unit=None)
        notes = [] if spec.unit is None else [
            f"rows were counted, not persons ({spec.unit}): every number of matching rows is an upper bound"
        ]  # fmt: skip
        if not rows:
            notes.append("the table has no rows: nobody is in it")
        notes += _defaults(spec, run.models, {attack.name for attack in found})
        failed = any(attack.failed for attack in found)
        return AuditResult(
            verdict="fail" if failed else "pass",
            message=_message(".".join(parts), found),
            release=".".join(parts),
            rows=int(rows),
            attacks=found,
            left_out=run.left_out,
            cost=Cost.of(meter, time.perf_counter() - started),
            notes=[*notes, "attacks that expose nobody do not prove that no other attack does"],
            sql=redacted_log(meter),
        )


def _defaults(spec: Spec, models: Sequence[PrivacyModel], ran: Set[str]) -> list[str]:
    """What the attacks took where no requirement says how much is enough."""
    notes = []
    if ran & {"linking", "complementary"} and promised_k(spec, models) is None:
        notes.append(f"no requirement promises a k to every class: fewer than {FEWEST} rows expose a person here")
    unsaid = [name for name in spec.sensitive if promised_values(spec, models, name) is None]
    if ran & {"background", "composition"} and unsaid:
        notes.append(f"no requirement says how many values of {', '.join(unsaid)} a class has: {FEWEST} is taken")
    return notes


def _message(shown: str, found: Sequence[Attack]) -> str:
    failed = [f"{attack.label} exposes {attack.beyond:,} of {attack.examined:,}" for attack in found if attack.failed]
    if failed:
        return f"{shown}: {'; '.join(failed)}"
    return f"{shown}: no attack exposes anybody beyond what the requirements allow ({len(found)} measured)"


@contextmanager
def _creating_nothing(engine: Engine) -> Iterator[None]:
    """Whatever the connection may create, the audit creates nothing."""
    before, engine.scratch = engine.scratch, Scratch("inline", (), "an audit creates nothing")
    try:
        yield
    finally:
        engine.scratch = before


class _Run:
    """The tables of a run, and the attacks on them, a workspace each: scratch names would meet otherwise."""

    def __init__(
        self, engine: Engine, spec: Spec, given: AuditOptions, report: Reporter | None, parts: tuple[str, ...]
    ) -> None:
        self.engine, self.spec, self.given, self.report = engine, spec, given, report
        self.form = source_of(engine, spec)
        self.models = models_of(spec)
        self.left_out: dict[str, str] = {}
        self._looked_at: set[tuple[str, str, bool]] = set()
        opened = open_table(engine, spec, None)
        self.source = Target(source_relation(), opened.columns, "the source", spec.source.table or ())
        self.release = self._target(parts)
        if set(given.attacks or ATTACKS) != {"views"}:
            self._need(self.release, [*spec.quasi_identifiers, *spec.sensitive])
        self.external = None if given.external is None else self._target(parse_table_name(given.external))
        self.earlier = [self._target(parse_table_name(name)) for name in given.earlier]
        self.views = [self.release, *(self._target(parse_table_name(name)) for name in given.other_views)]
        self._refuse_other_case()

    def _target(self, parts: tuple[str, ...]) -> Target:
        opened = open_table(self.engine, self.spec, parts)
        return Target(opened.relation, opened.columns, opened.shown, parts)

    def _refuse_other_case(self) -> None:
        """Tables are joined on columns of one name: whoever writes it otherwise would be attacked without the column.

        Raises:
            SpecError: a table has a column whose name differs from ours in case alone.
        """
        named = [*self.spec.quasi_identifiers, *self.spec.sensitive, *self.spec.keep]
        problems = []
        for table in (self.external, *self.earlier, *self.views):
            if table is None or (table is self.external and self.given.on):
                continue
            known = {name.casefold(): name for name in [*self.release.columns, *named]}
            problems += [
                f"{table.shown}: the column {name!r} would not be joined with {known[name.casefold()]!r}, whose name "
                "differs in case; rename it in a view"
                for name in table.columns
                if name.casefold() in known and known[name.casefold()] not in table.columns
            ]
        if problems:
            raise SpecError([Problem(problem) for problem in problems])

    def _need(self, table: Target, names: Sequence[str]) -> None:
        problems = unknown_columns(table.shown, table.columns, names, "which the audit needs")
        if problems:
            raise SpecError(problems)

    def scene(self, workspace: Workspace, reading: Reading | None = None) -> Scene:
        """What an attack is given."""
        return Scene(
            workspace, self.spec, self.models, self.release, self.given.reveal, self._looked_at, reading or Reading()
        )

    def attacks(self) -> list[Attack]:
        """Run what can be run; note why the rest cannot.

        Raises:
            UnsupportedError: one of the attacks that were named cannot be run.
            SpecError: none can.
        """
        reasons = self._reasons()
        wanted = ATTACKS if self.given.attacks is None else [name for name in ATTACKS if name in self.given.attacks]
        for name in wanted:
            if name in reasons and self.given.attacks is not None:
                raise UnsupportedError(f"attack {name}: {reasons[name]}")
        self.left_out = {name: reasons[name] for name in wanted if name in reasons}
        found = [attack for name in wanted if name not in reasons for attack in self._attack(name)]
        if not found:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.left_out.items())
            raise SpecError(f"there is nothing to attack {self.release.shown} with: {why}")
        return found

    def _reasons(self) -> dict[str, str]:
        """Why attacks cannot be run with what is given."""
        given, reasons = self.given, {}
        if self.external is None:
            reasons["linking"] = "it needs an external table (--external)"
        if not self.spec.sensitive:
            for name in ("homogeneity", "background", "skewness", "composition", "views", *ON_REQUEST):
                reasons[name] = "the spec lists no sensitive attribute"
        if given.attacks is None:
            reasons |= dict.fromkeys(ON_REQUEST, "an estimate that costs more than the others; name it with --attack")
        if not given.hierarchies:
            reasons["similarity"] = "it needs a hierarchy of a sensitive attribute (--hierarchy)"
        if not self.earlier:
            for name in ("complementary", "composition"):
                reasons.setdefault(name, "it needs an earlier release (--earlier)")
        if len(self.views) < 2:
            reasons.setdefault("views", "it needs another view of the same rows (--view)")
        unordered = cannot_read_order(self.engine, self.spec, self.release, self.source)
        if unordered is not None:
            reasons["unsorted"] = unordered
        return reasons

    def _attack(self, name: str) -> Iterator[Attack]:
        sensitive, given, source = self.spec.sensitive, self.given, self.source
        if name in ("complementary", "composition", "unsorted", *ON_REQUEST):
            self._need(source, [*self.spec.quasi_identifiers, *sensitive])
        if name == "unsorted":
            row_id = self.engine.capabilities.row_id or ""
            yield from self._measured(name, lambda scene: [unsorted_matching(scene, source, row_id)])
        elif name == "linking":
            assert self.external is not None
            external, shared = self.external, self._shared(self.external)
            yield from self._measured(name, lambda scene: linking(scene, external, shared, source))
        elif name == "consistency":
            self._need(source, list(self.spec.quasi_identifiers))
            yield from self._measured(name, lambda scene: consistency(scene, source))
        elif name == "complementary":
            yield from self._measured(name, lambda scene: [complementary(scene, source, self.earlier)])
        else:
            about = {"similarity": list(given.hierarchies)}.get(name, sensitive)
            if name == "views":
                about = attributes_of(self.spec, self.views)
            for attribute in about:
                yield from self._measured(name, partial(self._about, name, attribute))

    def _about(self, name: str, attribute: str, scene: Scene) -> Sequence[Cases | Attack | Unmeasured]:
        """An attack on one sensitive attribute."""
        if name == "homogeneity":
            return [homogeneity(scene, attribute)]
        if name == "background":
            return [background(scene, attribute, self.given.negations)]
        if name == "skewness":
            return [skewness(scene, attribute, self.source)]
        if name == "similarity":
            return [similarity(scene, attribute, self.given.hierarchies[attribute])]
        if name in ON_REQUEST:
            return [(minimality if name == "minimality" else definetti)(scene, self.source, attribute)]
        if name == "views":
            return [views(scene, self.views, attribute)]
        for table in self.earlier:
            self._need(table, [attribute])
        return [composition(scene, self.source, self.earlier, attribute)]

    def _measured(
        self, name: str, attack: Callable[[Scene], Sequence[Cases | Attack | Unmeasured]]
    ) -> Iterator[Attack]:
        first = Reading()
        found = [self._read(name, attack, first)]
        readings = [
            Reading(dict(zip(first.levels, levels, strict=True)))
            for levels in product(*(reversed(levels) for levels in first.levels.values()))
        ]
        found += [self._read(name, attack, reading) for reading in readings[1:MOST_READINGS]]
        for item in worst_of(found):
            if isinstance(item, Unmeasured):
                if self.given.attacks is not None:
                    raise UnsupportedError(f"attack {item.name}: {item.why}")
                self.left_out[item.name] = item.why
            elif len(readings) == 1:
                yield item
            else:
                columns = ", ".join(dict.fromkeys(column for _, column in first.levels))
                tried = f"{len(found)} of {len(readings):,} readings were tried" if len(found) < len(readings) else (
                    "each was tried")  # fmt: skip
                note = f"labels of {columns} may be of several levels: {tried}, and the one that exposes most counts"
                yield replace(item, notes=[*item.notes, note])

    def _read(
        self, name: str, attack: Callable[[Scene], Sequence[Cases | Attack | Unmeasured]], reading: Reading
    ) -> list[Attack | Unmeasured]:
        """What an attack achieves that takes labels to be of some levels."""
        with open_workspace(self.engine, self.form, self.report) as workspace:
            workspace.report(f"attacking {self.release.shown}: {name}", None)
            scene = self.scene(workspace, reading)
            return [measured(scene, item) if isinstance(item, Cases) else item for item in attack(scene)]

    def _shared(self, external: Target) -> tuple[str, ...]:
        """The columns to link on."""
        if self.given.on:
            for table in (self.release, external):
                self._need(table, self.given.on)
            return tuple(dict.fromkeys(self.given.on))
        shared = tuple(name for name in self.release.columns if name in external.columns)
        if not shared:
            raise SpecError(
                f"{external.shown} has no column in common with {self.release.shown} to link on; give another one, or "
                "rename its columns in a view"
            )
        return shared
