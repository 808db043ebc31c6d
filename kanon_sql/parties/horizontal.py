"""A horizontally split table: every party has rows of its own, of the same columns. Search, write, verify, publish.

The published parts are those of one release: all of them together satisfy the requirement, and a part alone may not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Engine, Reporter
from kanon_sql.errors import DatabaseError, KanonError, SpecError, VerificationError, refuse
from kanon_sql.frequency import prepared
from kanon_sql.models import metric_for, model_of, models_of
from kanon_sql.parties.exchange import Transcript, fresh_key
from kanon_sql.parties.pooled import Classes, Columns, Demands, PooledEvaluator
from kanon_sql.parties.refusals import demands_of, party_obstacles, refuse_float_values, refuse_other_columns
from kanon_sql.parties.site import Site
from kanon_sql.release import Choice, WrittenTable, publish, staged_release
from kanon_sql.search import Node, Outcome, search
from kanon_sql.spec import KAnonymityRequirement, Spec, Suppression
from kanon_sql.sql import Relation

__all__ = ["Horizontal", "Part", "searched_horizontally"]


@dataclass(frozen=True)
class Part:
    """One party's part of the release, written and not yet published.

    Attributes:
        site: whose.
        written: it.
        rows: ``source``, ``released`` and ``suppressed`` of this party.
    """

    site: Site
    written: WrittenTable
    rows: Mapping[str, int]


@dataclass(frozen=True)
class Horizontal:
    """A search over a horizontally split table that is over.

    Attributes:
        spec: what was asked for.
        sites: the parties.
        evaluator: what pooled their answers.
        outcome: of the search.
        transcript: what crossed.
        classes: of the chosen node; none where no node satisfies.
        report: called with each stage of what parties do together.
    """

    spec: Spec
    sites: Sequence[Site]
    evaluator: PooledEvaluator
    outcome: Outcome
    transcript: Transcript
    classes: Classes
    report: Reporter
    _classes: Sequence[Relation]
    _sent: Sequence[Mapping[str, int]]

    @contextmanager
    def written(self) -> Iterator[list[Part]]:
        """Every party's part under a scratch name in its own database, verified together; dropped unless published.

        Raises:
            VerificationError: the written tables together are not what was promised.
            SpecError: two parties are one database.
        """
        assert self.outcome.best is not None
        node = self.outcome.best.node
        with ExitStack() as opened:
            parts = []
            for site, classes, sent in zip(self.sites, self._classes, self._sent, strict=True):
                self.report(f"writing the part of {site.name}", None)
                demands = self.evaluator.demands
                own = {token: rows for token, rows in sent.items() if not self.classes.satisfies(token, demands)}
                choice = _choice(self.spec, site, node, classes, own)
                written = opened.enter_context(staged_release(site.workspace, choice))
                suppressed = choice.suppressed_rows
                rows = {"source": site.sets.rows, "released": written.rows, "suppressed": suppressed}
                parts.append(Part(site, written, rows))
            _refuse_one_database(parts)
            self.report("verifying the written parts together", None)
            self._verify(parts)
            yield parts

    def _verify(self, parts: Sequence[Part]) -> None:
        """Count the classes of all written parts together, from the written tables alone."""
        key, names, demands = fresh_key(), list(self.spec.quasi_identifiers), self.evaluator.demands
        found = _none(demands)
        for part in parts:
            site, table = part.site, part.written.table
            columns = site.workspace.columns(table)
            written = site.written(table, columns, names, key)
            pairs = {
                attribute: site.written_values(table, columns, names, key, attribute) for attribute in demands.diversity
            }
            _add(found, site.send(written, part.written.rows), pairs)
        if found.counted().violating_rows(demands):
            raise VerificationError(
                "verification: the written parts together have classes that violate the requirements; they were dropped"
            )
        promised = self.classes.kept(demands)
        if sorted(found.sizes.values()) != sorted(promised.values()):
            raise VerificationError(
                "verification: the written parts do not have the classes that the search has counted (did a "
                "source change while it was read?); they were dropped"
            )

    def publish(self, parts: Sequence[Part], manifest: Callable[[Part, int], Mapping[str, Any]]) -> None:
        """Publish each part in its party's database, one after another: no transaction spans them.

        Args:
            parts: from :meth:`written`.
            manifest: part and its number, from 1 on -> what to record of it.

        Raises:
            KanonError: a party refused; the message says which parts stand.
        """
        done: list[str] = []
        for number, part in enumerate(parts, 1):
            try:
                publish(part.site.workspace, self.spec, part.written.table, manifest(part, number))
            except KanonError as error:
                if not done:
                    raise
                raise DatabaseError(
                    f"{part.site.name}: {error}. The parts of {', '.join(done)} are published, the others are "
                    "not: do not use these parts as one release, and run again"
                ) from None
            done.append(part.site.name)


@contextmanager
def searched_horizontally(
    engines: Sequence[Engine], names: Sequence[str], spec: Spec, report: Reporter
) -> Iterator[Horizontal]:
    """Prepare every party's table in its own database, and search the lattice by what they send.

    Args:
        engines: one for each party, each with a run open.
        names: what to call them.
        spec: what to anonymize and how; the same for all.
        report: called with each stage of what parties do together.

    Raises:
        UnsupportedError: the spec asks for what only a table in one place can tell.
        SpecError: the parties' columns differ.
        KanonError: whatever a stage raises.
    """
    refuse(party_obstacles(spec))
    models, transcript, label_key = models_of(spec), Transcript(), fresh_key()
    demands = demands_of(models)
    with ExitStack() as opened:
        sites = []
        for engine, name in zip(engines, names, strict=True):
            given = opened.enter_context(prepared(engine, spec, models))
            sites.append(Site(name, given, label_key, transcript))
        refuse_other_columns(names, [site.given for site in sites], demands.diversity)
        refuse_float_values([site.given for site in sites], demands.diversity)
        lookups = sites[0].sets.lookups
        columns = Columns([lookup.quasi_identifier for lookup in lookups], tuple(lookup.height for lookup in lookups))
        evaluator = PooledEvaluator(
            spec,
            metric_for(spec),
            columns,
            demands,
            sum(site.sets.rows for site in sites),
            sum(site.sets.null_rows for site in sites),
            lambda node: _pooled(sites, node, demands),
        )
        report(f"searching the lattice ({spec.search.algorithm})", 0)
        outcome = search(spec.search.algorithm, evaluator.question(), evaluator.answers, **spec.search.options).run()
        classes, sent, pooled = [], [], _none(demands)
        if outcome.best is not None:
            node, key = outcome.best.node, fresh_key()
            classes = [site.classes(node, key) for site in sites]
            sent = [site.send(own, site.sets.kept_rows) for site, own in zip(sites, classes, strict=True)]
            for site, own_rows in zip(sites, sent, strict=True):
                _add(pooled, own_rows, {name: site.values(node, key, name, None) for name in demands.diversity})
            evaluator.refuse_other(outcome.best, pooled.counted())
        yield Horizontal(spec, sites, evaluator, outcome, transcript, pooled.counted(), report, classes, sent)


@dataclass(frozen=True)
class _Pool:
    """What parties send of the same classes, before it is counted.

    Attributes:
        sizes: class -> rows.
        values: sensitive attribute -> the pairs of a class's token and a value's.
    """

    sizes: Counter[object]
    values: Mapping[str, set[tuple[str, str]]]

    def counted(self) -> Classes:
        """The classes, with how many different values each has."""
        values = {name: Counter[object](token for token, _ in pairs) for name, pairs in self.values.items()}
        return Classes(self.sizes, values)


def _none(demands: Demands) -> _Pool:
    return _Pool(Counter(), {attribute: set() for attribute in demands.diversity})


def _add(pool: _Pool, rows: Mapping[str, int], values: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Add what one party sends."""
    pool.sizes.update(rows)
    for attribute, pairs in values.items():
        pool.values[attribute].update(pairs)


def _pooled(sites: Sequence[Site], node: Node, demands: Demands) -> Classes:
    """The classes of a node by their tokens, with their rows at all parties, told by each as far as they decide."""
    key, pool = fresh_key(), _none(demands)
    most = None if demands.diversity else demands.k
    for site in sites:
        values = {name: site.values(node, key, name, least) for name, least in demands.diversity.items()}
        _add(pool, site.asked(node, key, most), values)
    return pool.counted()


def _choice(spec: Spec, site: Site, node: Node, classes: Relation, refused: Mapping[str, int]) -> Choice:
    """What to write of a party's rows: all but the classes that all parties together leave too small."""
    # Its classes may be as small as they like, and as many be suppressed: what all have together is verified.
    alone = spec.model_copy(update={"suppression": Suppression(max_share=1.0)})
    return Choice(
        spec=alone,
        columns=site.given.columns,
        sets=site.sets,
        models=[model_of(KAnonymityRequirement(k=1))],
        node=node,
        suppressed=site.suppressed(classes, node, refused) if refused else None,
        suppressed_rows=sum(refused.values()) + site.sets.null_rows,
        vectors=None,
    )


def _refuse_one_database(parts: Sequence[Part]) -> None:
    """Refuse two parties that are one database: its rows would have been counted twice.

    Raises:
        SpecError: what one of them has just written, another one sees.
    """
    for part in parts:
        for other in parts:
            if other is not part and other.site.workspace.engine.exists(part.written.table.parts) is not None:
                raise SpecError(
                    f"parties: {part.site.name} and {other.site.name} are the same database, so its rows would be "
                    "counted twice; give each database once"
                )
