"""``audit``: try to break a release as an attacker would, and count what it exposes. It makes temporary tables only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal

import kanon_sql.verbs as verbs
from kanon_sql.disclosure.attacks import (
    ATTACKS,
    Attack,
    AttackMethod,
    AuditInput,
    Reading,
    Scene,
    Target,
    default_notes,
    methods,
    refuse_without,
    worst_reading,
)
from kanon_sql.engines import Engine, Reporter, Scratch, open_workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.frequency import open_table, source_of
from kanon_sql.hierarchies import refuse_several_texts
from kanon_sql.models import models_of
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import HIDDEN, Count, Keywords, Spec, Text, VerdictResult
from kanon_sql.sql import source_relation
from kanon_sql.verbs.audit_options import AuditOptions, parsed_hierarchies
from kanon_sql.verbs.result import Cost
from kanon_sql.verbs.run import refuse_perturbed, running
from kanon_sql.verbs.several_tables import takes_several
from kanon_sql.verbs.target_table import TargetTable, as_published, judged, named

__all__ = ["AuditResult", "audit"]


@dataclass(frozen=True, repr=False)
class AuditResult(VerdictResult):
    """What the attacks on a release achieve.

    Attributes:
        verb: ``audit``.
        verdict: ``pass`` when there are rows, and no attack exposes any person beyond what the requirements allow;
            estimates do not count.
        message: the verdict in a sentence.
        release: the table that was attacked.
        rows: how many rows that table has.
        attacks: what each attack achieves.
        left_out: attacks, or parts of one, that were not run -> the reason.
        cost: what the audit asked of the database; where cases are revealed, the rows fetched are these too.
        notes: what the user should know besides.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> result = kanon_sql.audit(db, spec)
        >>> len(result.attacks), [attack.name for attack in result.attacks if attack.beyond]
        (7, ['homogeneity', 'background'])
    """

    verb: Literal["audit"] = field(default="audit", init=False)
    verdict: Literal["pass", "fail"]
    message: Text
    release: str
    rows: Count
    attacks: Annotated[Sequence[Attack], Keywords(minItems=1)]
    left_out: Mapping[str, str]
    cost: Cost
    notes: Sequence[str] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)


@takes_several(lambda: verbs.relational_audit.audit)
@accepts_objects
def audit(
    engine: Engine,
    spec: Spec,
    table: str | Any | None = None,
    *,
    external: str | Any | None = None,
    on: Sequence[str] = (),
    earlier: Sequence[str | Any] = (),
    other_views: Sequence[str | Any] = (),
    negations: int = 1,
    hierarchies: Mapping[str, Any] | None = None,
    attacks: Sequence[str] | None = None,
    count_rows: bool = False,
    reveal: int = 0,
    made_by: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> AuditResult:
    """Attack a release in every way that the given tables allow.

    Args:
        engine: from :func:`kanon_sql.connect`, where SELECT rights are enough, and no more than temporary tables are
            created; or an open connection of the program's own, or a table, which is then the source. Beside a table,
            ``table``, ``external``, ``earlier`` and ``other_views`` are tables too.
        spec: its quasi-identifiers, hierarchies, source and requirements. By a :class:`kanon_sql.RelationalSpec` it is
            counted who could be found by 0 to 3 items, or all, in the joined tables and in each alone; the result is a
            :class:`kanon_sql.results.RelationalAudit`, and ``timeout`` and ``report`` are the only options.
        table: the table to attack; the spec's release by default.
        external: a table that an attacker has besides, for linking.
        on: the columns to link on; all that the release and ``external`` share by default.
        earlier: other releases of the same people.
        other_views: other projections of the same rows that were published, for ``views``: with that attack alone the
            table need not have every quasi-identifier and sensitive attribute.
        negations: how many values the attacker of ``background`` can rule out, at least 1.
        hierarchies: sensitive attribute -> a hierarchy of its values, as a spec writes one, for ``similarity``.
        attacks: names of the attacks to run; one that cannot be run is then an error. By default all run that can,
            except those that have to be named.
        count_rows: count rows although the spec names a unit.
        reveal: show this many exposed cases per attack, with their values; 0 for none.
        made_by: ``arx`` for a release of its local recoding, whose rules ``refinement`` then takes; None for one that
            was made as the spec says.
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
        'visits_release: homogeneity of diagnosis exposes 50 of 600; background of diagnosis exposes 50 of 600'
        >>> result.left_out["complementary"]
        'it needs an earlier release (--earlier)'
    """
    parsed = parsed_hierarchies(spec, hierarchies or {})
    options = AuditOptions(
        external, tuple(on), tuple(earlier), tuple(other_views), negations, parsed, attacks, reveal, made_by
    )
    options.check(spec, count_rows)
    with (
        running(engine, timeout, report) as run,
        judged(engine, spec, table, "audit") as asked,
        _leaving_schemas_alone(engine),
        ExitStack() as files,
    ):
        refuse_perturbed(engine, asked.parts)
        spec = as_published(engine, spec, asked.parts)
        releases = enumerate((*earlier, *other_views), 1)
        others = {name: files.enter_context(named(engine, spec, name, number)) for number, name in releases}
        if external is not None:
            others[external] = files.enter_context(named(engine, spec, external, 0, as_source=True))
        tables = _Tables(engine, spec, options, asked, others)
        by_method = tables.attacks()
        found = [attack for achieved in by_method.values() for attack in achieved]
        rows = tables.rows()
        notes = list(engine.read_notes)
        if spec.unit is not None:
            notes.append(
                f"rows were counted, not persons ({spec.unit}): every number of matching rows is an upper bound"
            )
        noted = {method.default_noted for method, achieved in by_method.items() if achieved}
        notes += default_notes(spec, tables.given.models, noted)
        failed = any(attack.failed for attack in found)
        return AuditResult(
            verdict="fail" if failed or not rows else "pass",  # without rows, nothing was attacked
            message=_message(asked.shown, found, rows),
            release=asked.shown,
            rows=rows,
            attacks=found,
            left_out=tables.left_out,
            cost=run.cost,
            notes=[*notes, "an audit does not prove that no other attack exposes persons"],
            sql=run.sql,
        )


def _message(shown: str, found: Sequence[Attack], rows: int) -> str:
    if not rows:
        return f"{shown} has no rows, so that nothing was attacked"
    failed = [f"{attack.label} exposes {attack.beyond:,} of {attack.examined:,}" for attack in found if attack.failed]
    if failed:
        return f"{shown}: {'; '.join(failed)}"
    return f"{shown}: no attack exposes any person beyond what the requirements allow ({len(found)} measured)"


@contextmanager
def _leaving_schemas_alone(engine: Engine) -> Iterator[None]:
    """Temporary tables serve an audit; where the connection has none, it creates nothing, in no schema of a user's."""
    before = engine.scratch
    if before.mode == "schema":
        engine.scratch = Scratch(
            "inline", (), "an audit creates no tables in a schema; use --set scratch=temp or inline"
        )
    try:
        yield
    finally:
        engine.scratch = before


class _Tables:
    """The tables of an audit, and the attacks on them, a workspace each: scratch names would meet otherwise."""

    def __init__(
        self, engine: Engine, spec: Spec, options: AuditOptions, asked: TargetTable, others: Mapping[str, TargetTable]
    ) -> None:
        self.engine, self.spec, self.options = engine, spec, options
        self.form = source_of(engine, spec)
        self.left_out: dict[str, str] = {}
        self._looked_at: set[tuple[str, str, bool]] = set()
        opened = open_table(engine, spec, None)
        source = Target(source_relation(), opened.columns, "the source", spec.source.table or ())
        release = self._target(asked)
        if any(method.whole_release for method in methods() if method.name in (options.attacks or ATTACKS)):
            refuse_without(release, [*spec.quasi_identifiers, *spec.sensitive])
        self.given = AuditInput(
            engine, spec, models_of(spec), release, source,
            external=None if options.external is None else self._target(others[options.external]),
            on=options.on,
            earlier=[self._target(others[name]) for name in options.earlier],
            views=[release, *(self._target(others[name]) for name in options.other_views)],
            negations=options.negations,
            hierarchies=options.hierarchies,
            made_by=options.made_by,
        )  # fmt: skip
        refuse_several_texts(release.columns, spec.sensitive, "an attack")
        self._refuse_other_case()
        self._refuse_coordinates()

    def _target(self, table: TargetTable) -> Target:
        opened = open_table(self.engine, self.spec, table.parts)
        return Target(opened.relation, opened.columns, table.shown, table.parts)

    def _refuse_other_case(self) -> None:
        """Tables are joined on columns of one name: one that writes it otherwise would be attacked without the column.

        Raises:
            SpecError: a table has a column whose name differs from ours in case alone.
        """
        given = self.given
        named = [*self.spec.quasi_identifiers, *self.spec.sensitive, *self.spec.keep]
        known = {name.casefold(): name for name in [*given.release.columns, *named]}
        problems = [
            f"{table.shown}: the column {name!r} and {known[name.casefold()]!r} differ only in case, so they would not "
            "be joined; rename it in a view"
            for table in (given.external, *given.earlier, *given.views)
            if table is not None and not (table is given.external and given.on)
            for name in table.columns
            if name.casefold() in known and known[name.casefold()] not in table.columns
        ]
        if problems:
            raise SpecError([Problem(problem) for problem in problems])

    def _refuse_coordinates(self) -> None:
        """A table with the coordinates of a point says more than its cells, and attacks compare labels.

        Raises:
            UnsupportedError: a table has some.
        """
        given = self.given
        hidden = {name.casefold() for point in self.spec.points.values() for name in point.columns}
        for table in (given.release, given.external, *given.earlier, *given.views):
            shown = [] if table is None else [name for name in table.columns if name.casefold() in hidden]
            if table is not None and shown:
                raise UnsupportedError(
                    f"{table.shown}: it shows the coordinates {', '.join(shown)} of a point, which attacks do not use, "
                    "so results would be too low; audit views without these columns"
                )

    def rows(self) -> int:
        """The rows of the table that is attacked."""
        with open_workspace(self.engine, self.form) as workspace:
            (rows,) = workspace.row("release/count", table=self.given.release.relation, mark=None, unit=None)
        return int(rows)

    def attacks(self) -> dict[AttackMethod, list[Attack]]:
        """Run what can be run; note why the rest cannot.

        Raises:
            UnsupportedError: one of the attacks that were named cannot be run.
            SpecError: none can.
        """
        named = self.options.attacks
        reasons = {method.name: method.left_out(self.given, named=named is not None) for method in methods()}
        wanted = [method for method in methods() if named is None or method.name in named]
        self.left_out = {item.name: why for item in wanted if (why := reasons[item.name]) is not None}
        if named is not None and self.left_out:
            raise UnsupportedError(next(f"attack {name}: {why}" for name, why in self.left_out.items()))
        found = {method: self._found(method) for method in wanted if method.name not in self.left_out}
        if not any(found.values()):
            why = "; ".join(f"{name}: {reason}" for name, reason in self.left_out.items())
            raise SpecError(f"no attack on {self.given.release.shown} is possible: {why}")
        return found

    def _found(self, method: AttackMethod) -> list[Attack]:
        """What an attack achieves; what it could not measure is left out.

        Raises:
            UnsupportedError: attacks were named, and a part of one could not be measured.
        """
        for table, names in method.columns(self.given):
            refuse_without(table, names)
        found = []
        for about in method.subjects(self.given):
            for item in worst_reading(method, partial(self._scene, method, about)):
                if isinstance(item, Attack):
                    found.append(item)
                elif self.options.attacks is None:
                    self.left_out[item.name] = item.why
                else:
                    raise UnsupportedError(f"attack {item.name}: {item.why}")
        return found

    @contextmanager
    def _scene(self, method: AttackMethod, about: str | None, reading: Reading) -> Iterator[Scene]:
        """What an attack is run with, in a workspace of its own."""
        with open_workspace(self.engine, self.form) as workspace:
            workspace.report(f"attacking {self.given.release.shown}: {method.name}", None)
            yield Scene(workspace, self.given, about, self.options.reveal, self._looked_at, reading)
