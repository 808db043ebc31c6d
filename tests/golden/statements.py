"""What every verb runs, in any dialect: the statements of the golden files."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.disclosure.risk import Pair, Records, agreement_of
from kanon_sql.engines.base import Column
from kanon_sql.engines.dry import DryEngine
from kanon_sql.engines.workspace import Workspace, open_workspace
from kanon_sql.errors import VerificationError
from kanon_sql.evaluate.class_counts import count_classes
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.distances import distances_between
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.examine import Subject, examine, failing_classes
from kanon_sql.evaluate.partitions.order import order_domains
from kanon_sql.evaluate.reach import out_of_reach
from kanon_sql.frequency import Prepared
from kanon_sql.frequency.sets import FrequencySets, build_frequency_sets
from kanon_sql.frequency.value_facts import value_facts_of
from kanon_sql.hierarchies.exact import exact_texts, exact_value
from kanon_sql.models.privacy import PrivacyModel, model_of, models_of
from kanon_sql.models.quality import METRICS
from kanon_sql.positions import assigned, cloaked, differing_labels, examined, histories, levels, points
from kanon_sql.release.joint_table import View, examine_jointly
from kanon_sql.release.publish import publish, refuse_foreign_release
from kanon_sql.search import Batch
from kanon_sql.spec import Spec
from kanon_sql.sql import exact_text
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.sql.statement import Statement, source_relation
from kanon_sql.sql.text import Relation, Sql
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.dbt.files import ADAPTERS
from kanon_sql.verbs.dbt.labels import HierarchyRows, labelled
from kanon_sql.verbs.demo import _make_visits
from kanon_sql.verbs.doctor import doctor
from kanon_sql.verbs.init import init
from kanon_sql.verbs.sqlmesh import DIALECTS as OF_SQLMESH
from kanon_sql.verbs.sqlmesh import audits

BASE: dict[str, Any] = {
    "version": 1,
    "source": "clinic.visits",
    "release": "clinic.visits_release",
    "quasi_identifiers": {
        "age": {"intervals": [2.5], "bottom": 0, "top": 80},
        "sex": {"tree": {"x": ["M", "it's"], "y": ["F\\"]}},
    },
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 3}],
}
DX = {"tree": {"x": {"y": ["a", "it's"]}, "z": {"w": ["b\\"]}}}
LISTED = {"allow_positive": ["a"], "forbid_negative": ["it's"]}
SPECS: dict[str, dict[str, Any]] = {
    "loss, rows dropped": {"suppression": {"max_share": 0.2}},
    "entropy, prefixes and dates, NULLs suppressed": {
        "source": {"query": "SELECT * FROM clinic_visits"},
        "quasi_identifiers": {"zip": {"prefix": [3]}, "born": {"dates": ["day", "month", "quarter", "decade"]}},
        "search": {"metric": "entropy"},
        "nulls": "suppress",
    },
    "codes": {
        "quasi_identifiers": {
            "zip": {"prefix": {"lengths": [3, 1], "mask": "none"}},
            "age": {"prefix": {"lengths": [1], "digits": 2}},
        },
    },
    "ambiguity, a user's expression": {
        "quasi_identifiers": {"age": {"sql": ["floor(x / 10) // 2 * 20", "CASE WHEN x < 40 THEN 'young' END"]}},
        "search": {"metric": "ambiguity"},
    },
    "discernibility, every model, masked": {
        "quasi_identifiers": {"sex": None},
        "privacy": [
            {"k_anonymity": 3},
            {"l_diversity": {"attribute": "dx", "l": 2}},
            {"l_diversity": {"attribute": "dx", "l": 2, "variant": "entropy"}},
            {"l_diversity": {"attribute": "dx", "l": 2, "variant": "recursive", "c": 3}},
            {"t_closeness": {"attribute": "dx", "t": 0.7}},
        ],
        "suppression": {"max_share": 0.3, "style": "mask"},
        "search": {"metric": "discernibility"},
    },
    "nothing released but what is counted": {
        "quasi_identifiers": {"age": {"intervals": [5]}, "sex": None},
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2}}],
        "suppression": {"max_share": 0.2},
    },
    "intervals of files and rules, by loss": {
        "quasi_identifiers": {"age": None, "sex": {"tree": {"x": ["M", "it's"], "y": ["F\\"]}}, "dx": None},
        "sensitive": [],
        "suppression": {"max_share": 0.2},
        "search": {"algorithm": "k_optimize", "cuts": 9},
    },
    "intervals, by discernibility, for persons": {
        "unit": "person",
        "search": {"algorithm": "k_optimize", "metric": "discernibility"},
    },
    "intervals, by discernibility, diverse": {
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2}}],
        "search": {"algorithm": "k_optimize", "metric": "discernibility"},
    },
    "models of single values, distances": {
        "quasi_identifiers": {"sex": None},
        "sensitive": ["dx", "charge"],
        "privacy": [
            {"t_closeness": {"attribute": "charge", "t": 0.2, "distance": "ordered"}},
            {"t_closeness": {"attribute": "dx", "t": 0.2, "distance": "hierarchical", "hierarchy": DX}},
            {"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 3, "values": ["it's", "b\\"]}},
            {"p_sensitive_k_anonymity": {"attribute": "dx", "p": 2, "k": 3}},
            {"beta_likeness": {"attribute": "dx", "beta": 1, "variant": "basic"}},
            {"beta_likeness": {"attribute": "dx", "beta": 1, "variant": "enhanced"}},
            {"delta_disclosure": {"attribute": "dx", "delta": 1}},
            {"l_diversity": {"attribute": "dx", "variant": "npd_recursive", "l": 2, "c": 2, "c2": 0.1, **LISTED}},
        ],
    },
    "what background knowledge tells": {
        "quasi_identifiers": {"sex": None},
        "privacy": [
            {"ck_safety": {"attribute": "dx", "c": 0.9, "k": 2}},
            {"privacy_skyline": {"attribute": "dx", "l": 1, "k": 1, "m": 1, "c": 0.9}},
            {"epsilon_privacy": {"attribute": "dx", "epsilon": 3, "stubbornness": 10}},
        ],
    },
    "persons, masked": {
        "quasi_identifiers": {"sex": None},
        "unit": "person",
        "privacy": [{"k_anonymity": 3}, {"t_closeness": {"attribute": "dx", "t": 0.7}}],
        "suppression": {"max_share": 0.3, "style": "mask"},
    },
    "publisher's payout, no attack": {
        "privacy": [{"no_attack": {"gain": 9, "cost": 2}}],
        "search": {"metric": "publisher_payout", "prices": {"benefit": 1200, "loss": 300, "gain": 9, "cost": 2}},
    },
    "entropy by estimate": {
        "quasi_identifiers": {"sex": None},
        "privacy": [{"l_diversity": {"attribute": "dx", "l": 2, "variant": "entropy", "estimator": "grassberger"}}],
    },
    "sets of quasi-identifiers": {
        "privacy": [{"k_anonymity": 3}, {"k_anonymity": {"k": 5, "quasi_identifiers": ["sex"]}}],
        "suppression": {"max_share": 0.2},
    },
    "an attacker who knows a few quasi-identifiers": {
        "privacy": [{"lkc_privacy": {"attribute": "dx", "l": 1, "k": 2, "c": 0.9}}],
        "suppression": {"max_rows": 0},
    },
    "k-map and delta-presence of persons": {
        "quasi_identifiers": {"sex": None},
        "unit": "person",
        "privacy": [
            {"k_map": {"population": "clinic.census", "k": 3}},
            {"delta_presence": {"population": "clinic.census", "delta_max": 0.5}},
        ],
        "suppression": {"max_share": 0.3},
    },
}
COLUMNS = [
    Column("person", "INTEGER", "integer"), Column("age", "DECIMAL(5, 1)", "decimal"),
    Column("sex", "VARCHAR", "text"), Column("weight", "DOUBLE", "float"), Column("dx", "VARCHAR", "text"),
    Column("seen", "TIMESTAMP WITH TIME ZONE", "moment"),
]  # fmt: skip
VISITS = ("clinic", "visits")


OF_CLOAKING: dict[str, tuple[int, ...]] = {
    "positions/totals": (4, 1, 0, 0), "positions/size": (1, 1), "positions/left": (0,),
    "positions/examined": (3, 1, 3, 0, 1), "positions/astray": (4, 0),
    "positions/differing": (0, 0), "positions/present": (1, 3, 0), "positions/levels": (1, 1, 3),
}  # fmt: skip
"""Counts of a source of four rows, one of them outside."""


class Published(DryEngine):
    """A database that every table exists in, a release of ours among them."""

    def shared(self, parts: tuple[str, ...]) -> bool:
        """The manifest is there, and no other role can act through it."""
        return True

    def exists(self, parts: tuple[str, ...]) -> Any:
        return "table"

    def mark(self, parts: tuple[str, ...]) -> Any:
        return "0a"

    def fetch(self, statement: Statement, limit: int) -> list[tuple[Any, ...]]:
        rows = super().fetch(statement, limit)
        if statement.name == "evaluate/node":  # a row for each of them
            return [(number, *rows[0][1:]) for number in range(limit)]
        if statement.name in OF_CLOAKING:
            return [OF_CLOAKING[statement.name]]
        if statement.name == "disclosure/attacks/position_cells":  # the one row, in its one class
            return [(*rows[0][:-2], 1, 1)]
        if statement.name == "tables/merge/sensitive":  # no group of neighbours is
            return []
        if statement.name == "release/manifest/find":
            return [("2001-01-01T00:00:00+00:00",)]
        if statement.name == "release/manifest/pending":
            return [("visits_release", "0a", '{"published_at": "2001-01-01T00:00:00+00:00"}')]
        if statement.name == "engines/scratch/recorded":
            return [("00", '["kanon_00_release"]', "2001-01-01T00:00:00+00:00")]
        if statement.name == "disclosure/attacks/level_misses":  # the release is a level above the values
            return [(1, *rows[0][1:])]
        if statement.name == "disclosure/attacks/cut_round":  # one partition is cut, and its sides are not
            return [(int("cut_steps0" in statement.sql), 0)]
        if statement.name == "disclosure/attacks/counted":  # somebody is found
            return [(*rows[0][:4], 1, *rows[0][5:])]
        if statement.name == "disclosure/attacks/consistent":
            return [(0, 0, 2, 0, *rows[0][4:])]  # two classes stand for one record
        if statement.name == "evaluate/consistency/summary":
            return [(0, 0, 0, 0, 2, 0)]  # two classes stand for one record
        if statement.name in ("disclosure/attacks/cells", "disclosure/beliefs/weights"):
            return [(0, 1)]
        if statement.name == "frequency/population/overlap":
            return [(0, 2, 1, 1)]  # two classes may stand for one person
        return rows


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**BASE, **changes})


@cache
def statements(dialect: str) -> list[Statement]:
    """What every verb would run."""
    found: list[Statement] = []
    for changes in SPECS.values():
        found += kanon_sql.render(spec_of(**changes), dialect).statements
    engine = Published(dialect, COLUMNS)
    with open_workspace(engine, engine.relation(table=VISITS, query=None, file=None)) as workspace:
        run_stages(workspace)
    run_checks_and_audits(engine)
    init(engine, "clinic.visits")
    kanon_sql.hierarchy(engine, spec_of(), reveal=3)
    kanon_sql.risk(engine, spec_of(unit="person"), population="clinic.census")
    kanon_sql.risk(engine, spec_of())
    run_tabulations(engine)
    found += run_cloakings(dialect)
    doctor(engine)
    clean(engine, drop=True)
    if dialect in OF_SQLMESH:
        texts = audits(engine, spec_of(privacy=[{"k_anonymity": 3}]), "clinic.other").removesuffix(";\n")
        found.append(
            Statement("verbs/sqlmesh/violating", texts.partition(";\n")[2].replace("@this_model", "this_model"))
        )
    if dialect in ADAPTERS:
        found += [dbt_model(dialect, nulls) for nulls in ("suppress", "error")]
    if dialect == "duckdb":  # the demo makes a DuckDB file
        _make_visits(engine)
    return found + engine.meter.log


def run_tabulations(engine: Published) -> None:
    """Counts and sums, of rows and of contributors; the dimensions have labels at several levels, and NULL."""
    given: dict[str, Any] = {
        "version": 1, "kind": "table", "source": "clinic.visits", "release": "clinic.visits_release",
        "dimensions": {
            "sex": {"hierarchy": {"tree": {"x": ["M"], "y": ["F"]}}, "levels": [0, 1]}, "age": {"total": False},
        },
        "rules": {"threshold": 3},
    }  # fmt: skip
    kanon_sql.tabulate(
        engine,
        kanon_sql.TableSpec.from_dict(
            {**given, "rules": {"threshold": 3, "margin_difference": 2}, "protection": "collapsing"}
        ),
    )
    rules = {"threshold": 3, "dominance": {"n": 2, "k": 75}, "p_percent": 10, "pq": {"p": 10, "q": 50}}
    several = {**given, "measure": "person", "rules": rules}
    for changes in ({}, {"unit": "dx"}, {"unit": "dx", "count": "rows"}):
        kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**given, **changes}))
    for unit in (None, "dx"):
        kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**several, "unit": unit}))
    trees = [{"tree": {"x": ["M"], "y": ["F"]}}, {"tree": {"z": ["M"], "v": ["F"]}}]
    both = {name: {"hierarchy": tree} for name, tree in zip("ab", trees, strict=True)}
    shown = {**given, "release": None, "dimensions": {"sex": {"hierarchies": both}}}
    kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(shown))
    neighbours = {**given, "dimensions": {"sex": {"merge": "by_value"}, "age": None}, "protection": "collapsing"}
    kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**neighbours, "release": None}))
    by_holding = {"dominance": {"n": 2, "k": 75, "by": "weight"}, "p_percent": {"p": 10, "by": "weight"}}
    kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**several, "unit": "dx", "rules": by_holding}))
    means = {**several, "release": None, "measure": "weight", "decimals": 2, "mean": True, "count": "rows"}
    for unit in (None, "dx"):
        kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**means, "unit": unit}))


def run_cloakings(dialect: str) -> list[Statement]:
    """Positions with everything: wishes, slices, both ways to count, and a pattern of movement."""
    engine = Published(dialect, [*COLUMNS, Column("at", "TIMESTAMP", "timestamp")])
    given: dict[str, Any] = {
        "version": 1, "kind": "positions",
        "source": "clinic.visits", "unit": "dx", "keep": ["sex"], "k": 3,
        "suppression": {"max_share": 1.0},
        "position": {"columns": ["age", "weight"], "bounds": [0, 0, 128, 25.6], "depth": 1, "outside": "suppress"},
    }  # fmt: skip
    element = {"area": [0, 0, 1.5, 1], "between": ["07:00", "09:00"]}
    pattern = {"elements": [element, element], "days": 2, "weekdays": True}
    timed = {"time": {"column": "at", "widths": [3600, 86400]}, "lbqids": {"commute": pattern}}
    for changes in (timed, {**timed, "k": {"column": "person", "default": 3}}, {"anonymity_set": "present"}):
        spec = kanon_sql.CloakSpec.from_dict({**given, **changes})
        with open_workspace(engine, engine.relation(table=VISITS, query=None, file=None)) as workspace:
            found = points(workspace, spec)
            cells = cloaked(workspace, spec, found)
            written = assigned(workspace, spec, found, cells)
            examined(workspace, spec, found, cells, written)
            histories(workspace, spec, found, written)
            levels(workspace, found, written)
            outputs = [{"name": "age", "value": Sql("labels.x_label")}, {"name": "sex", "value": Sql("shuffled.kept0")}]
            target = Relation(("clinic", "kanon_run_release"))
            shuffled = workspace.table("shuffled")
            workspace.execute("positions/shuffled", target=shuffled, rows=written.rows, kept=1)
            workspace.execute("positions/release", target=target, outputs=outputs, rows=shuffled, labels=written.labels)
            differing_labels(workspace, spec, written, target)
    return list(engine.meter.log)


BY_NAME = {column.name: column for column in COLUMNS}
WITH_TABLE = spec_of(
    quasi_identifiers={"weight": {"sql": ["floor(x)"]}, "sex": {"table": "clinic.sexes"}, "seen": None},
    unit="person",
)


def run_stages(workspace: Workspace) -> None:
    """What a script rendered without a connection does not show: each stage by itself."""
    models = [model_of(requirement) for requirement in WITH_TABLE.privacy]
    sets = build_frequency_sets(workspace, WITH_TABLE, models_of(WITH_TABLE), BY_NAME, ["dx"])
    run_search(workspace, sets, models)
    run_publication(workspace)
    run_verification(workspace, models)
    person, sex = exact_texts([BY_NAME["sex"], BY_NAME["dx"]], "kanon_source")
    workspace.row("verbs/init/persons", source=source_relation(), unit=person, values=[sex])
    run_ledger(workspace, sets, models)
    run_profile(workspace)


def run_search(workspace: Workspace, sets: FrequencySets, models: list[PrivacyModel]) -> None:
    evaluator = Evaluator(workspace, sets, models, METRICS["loss"], "minimum_suppression", 0)
    evaluator.rolled_up.table(sets.base, (1, 1, 0), None)
    evaluator.rolled_up.table(sets.values["dx"], (1, 1, 0), "dx")
    evaluator.losses((1, 1, 0))
    diverse = models_of(spec_of(privacy=[{"l_diversity": {"attribute": "dx", "l": 2}}]))
    out_of_reach(Prepared(workspace, {}, diverse, sets, max_suppressed=0))
    several = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    evaluator.ask(Batch(tuple(several[:2]), metrics=False))
    evaluator.ask(Batch(tuple(several), metrics=False))  # rows of one table, where that is cheaper
    counted = [evaluator.table("source", (0, 0, 0), kept_only=False)]
    count_classes(workspace, [*counted, evaluator.table("release", (1, 1, 0), kept_only=True)], models)
    DistanceMatrix(workspace, sets, 3).suppressed([(0, 1, 0), (1, 0, 1)])
    with suppress(VerificationError):  # a dry answer has a row that is in no matrix
        distances_between(workspace, sets, 3)
    order_domains(workspace, WITH_TABLE, BY_NAME, sets, most=None)


def run_publication(workspace: Workspace) -> None:
    refuse_foreign_release(workspace, WITH_TABLE)
    written = Relation(("clinic", "kanon_run_release"))
    publish(workspace, WITH_TABLE, written, {"published_at": "(the time)", "long": "x" * 2_500})
    workspace.execute("release/manifest/withdraw", table=Relation(("clinic", "kanon_sql_manifest")), run_id="run")
    workspace.fetch("release/manifest/read", 1, table=Relation(("clinic", "kanon_sql_manifest")), run_id="run")
    workspace.fetch(
        "release/manifest/named", 1, table=Relation(("clinic", "kanon_sql_manifest")), release_name="visits_release"
    )
    kept = Relation(("clinic", "learned"))
    workspace.execute("release/kept/levels", target=kept, levels=[1, 0])
    workspace.fetch("release/kept/read", 1, table=kept, names=["sex", "age"])
    paths = [{"index": 0, "share": 3}, {"index": 1, "share": 2}]
    workspace.execute("release/kept/classes", target=kept, classes=Relation(("clinic", "classes")), attributes=paths)


def run_verification(workspace: Workspace, models: list[PrivacyModel]) -> None:
    subject = Subject(
        table=Relation(VISITS),
        columns=BY_NAME,
        quasi_identifiers=["sex"],
        references={},
        facts={"dx": value_facts_of(models, BY_NAME["dx"])},
        unit="person",
        mark=("kanon_masked", 0),
    )
    examine(workspace, subject, models)
    failing_classes(workspace, subject, models, 5)


def run_ledger(workspace: Workspace, sets: FrequencySets, models: list[PrivacyModel]) -> None:
    ledger = Relation(("clinic", "ledger"))
    workspace.execute("release/ledger/turn", table=ledger, run_id="turn")
    workspace.fetch("release/ledger/entries", 9, table=ledger)
    views = [
        View("r", Relation(("clinic", name)), dict(zip(WITH_TABLE.quasi_identifiers, labels, strict=True)),
             ("person", "age", "dx"), nulls, masked)
        for name, labels, nulls, masked in (
            ("dropped", [(lookup, 0) for lookup in sets.lookups], True, False),
            ("masked", [(lookup, lookup.height) for lookup in sets.lookups], False, True),
        )
    ]  # fmt: skip
    assert examine_jointly(workspace, BY_NAME, views, models, "person", 1).changed == ()


def run_profile(workspace: Workspace) -> None:
    """What `init`, `hierarchy` and `check` ask of a column."""
    workspace.fetch("hierarchies/form_counts", 9, table=Relation(VISITS), form=Sql("checked.sex"), weighted=False)
    number, text = Sql("CAST(kanon_source.age AS DOUBLE)"), Sql("CAST(found.value AS VARCHAR)")
    workspace.row(
        "verbs/init/csv_values", source=source_relation(), dates=[Sql("CAST(kanon_source.day AS DATE)")],
        texts=[text], today="2020-02-29", digits=[str(digit) for digit in range(10)],
    )  # fmt: skip
    workspace.fetch("verbs/init/spread", 1, source=Relation(VISITS), number=number)
    workspace.fetch("verbs/init/values", 9, source=Relation(VISITS), value=Sql("kanon_source.sex"), text=text)
    areas = {"code": Sql("kanon_source.zip"), "people": Sql("kanon_source.people"), "limit": 20_000}
    workspace.fetch("verbs/init/areas", 9, population=Relation(("clinic", "census")), **areas)
    run_warnings(workspace)
    given = workspace.table("given")
    workspace.load(given, ["l0"], [("2000-12-31",)])
    dates = {"value": Sql("CAST(given.l0 AS DATE)"), "raw_column": "q0"}
    workspace.execute("verbs/hierarchy/given", target=workspace.table("given_raw"), given=given, **dates)


def run_warnings(workspace: Workspace) -> None:
    """Whether persons have several rows, and which groups lost most, of a node's classes and of a recoding's."""
    values = [exact_value(Column(name, "VARCHAR", "text"), "kanon_source") for name in ("patient_id", "charge")]
    names = ["patient_id", "charge"]
    for most in (None, 10_000):
        workspace.fetch("verbs/warnings/repeats", 1, table=Relation(VISITS), values=values, names=names, most=most)
    groups = [{"code": Sql("held.code0 & 12")}, {"code": Sql("held.code0 & 3")}]
    shared: dict[str, Any] = {"groups": groups, "vectors": Relation(("frequency",)), "least": 30, "few": 5}
    for own in (
        {
            "suppressed": Relation(("suppressed",)), "keys": [Sql("held.code0 & 15")], "classed": None,
            "words": [], "left_out": Sql("suppressed.class_rows IS NOT NULL"),
        },
        {
            "suppressed": None, "keys": [], "classed": Relation(("classed",)), "words": ["code0"],
            "left_out": Sql("classed.part IS NULL"),
        },
    ):  # fmt: skip
        workspace.fetch("verbs/warnings/suppressed", 2, **shared, **own)
    columns = {name: Column(name, "VARCHAR", "text") for name in ("charge", "zip")}
    agreement_of(workspace, Records.of_table(Relation(VISITS), columns), [Pair("charge", "zip")])
    fractions = [{"value": Sql("kanon_source.charge"), "bound": 10**15}]
    workspace.fetch("frequency/unrounded", 1, source=Relation(VISITS), columns=fractions)
    text = exact_text(Sql('CAST("lookup0".l0 AS VARCHAR)'))
    numbers = [{"table": Relation(("lookup0",)), "alias": "lookup0", "text": text}]
    workspace.fetch("verbs/warnings/digits", 1, lookups=numbers)
    workspace.fetch("verbs/warnings/codes", 20, lookups=[Relation(("lookup0",))])


def run_checks_and_audits(engine: Published) -> None:
    closeness = [{"t_closeness": {"attribute": "dx", "t": 0.5}}]
    kanon_sql.check(engine, spec_of(privacy=closeness, unit="person"), "clinic.other")
    kanon_sql.check(engine, spec_of(privacy=closeness), count_rows=True, details=True)
    engine.capabilities = replace(engine.capabilities, row_id="rowid")  # so that its template is rendered everywhere
    run_audits(engine, closeness)
    run_checks_of_references(engine)
    again = kanon_sql.Republication("clinic.before", "person", 2)
    kanon_sql.check(engine, spec_of(), "clinic.other", republication=again)
    by_size = spec_of(
        source="clinic.other", quasi_identifiers={"sex": {"prefix": [1]}, "age": None}, recoding="local",
        privacy=[{"k_anonymity": {"k": 3}}],
    )  # fmt: skip
    kanon_sql.audit(engine, by_size, attacks=["downcoding", "refinement"])
    in_cells = by_size.model_copy(update={"recoding": spec_of(recoding="cells").recoding})
    kanon_sql.audit(engine, in_cells, attacks=["refinement"])
    by_node = by_size.model_copy(update={"recoding": spec_of().recoding})
    kanon_sql.audit(engine, by_node, attacks=["refinement"], made_by="arx")
    whole = by_node.model_copy(update={"suppression": spec_of(suppression={"max_rows": 0}).suppression})
    kanon_sql.audit(engine, whole, attacks=["refinement"])
    own = spec_of(
        source="clinic.other", recoding={"method": "local", "ranges": ["age"]}, quasi_identifiers={"age": None}
    )
    kanon_sql.audit(engine, own, attacks=["refinement"])
    tree = {"tree": {"x": ["a"], "y": ["b"]}}
    in_ranges = spec_of(source="clinic.other", quasi_identifiers={"sex": tree, "age": None}, recoding="mondrian")
    followed = ["refinement"] if engine.scratch.mode == "temp" else []
    kanon_sql.audit(engine, in_ranges, attacks=["consistency", *followed])


def run_audits(engine: Published, closeness: list[dict[str, Any]]) -> None:
    audited = spec_of(
        source="clinic.other", quasi_identifiers={"sex": {"prefix": [2, 1]}, "age": None}, keep=["weight"],
        privacy=[*BASE["privacy"], *closeness],
    )  # fmt: skip
    kanon_sql.audit(
        engine, audited, external="clinic.people", on=["sex", "age", "weight"], earlier=["clinic.before"], reveal=3,
        other_views=["clinic.areas"], hierarchies={"dx": {"tree": {"x": ["a"], "y": ["b"]}}},
    )  # fmt: skip
    two = [{"l_diversity": {"attribute": "dx", "l": 2}}]
    strict = spec_of(
        source="clinic.other", quasi_identifiers={"sex": {"prefix": [1]}, "age": None}, privacy=two,
        suppression={"max_rows": 0},
    )  # fmt: skip
    kanon_sql.audit(engine, strict, attacks=["minimality", "definetti"])
    recursive = [{"l_diversity": {"attribute": "dx", "l": 2, "variant": "recursive", "c": 3}}]
    kanon_sql.audit(engine, spec_of(source="clinic.other", privacy=recursive), attacks=["background"])


def run_checks_of_references(engine: Published) -> None:
    """Models that compare with a population, with beliefs, or along a hierarchy."""
    of_population = [
        {"k_map": {"population": "clinic.census", "k": 3}},
        {"no_attack": {"population": "clinic.census", "gain": 9, "cost": 2}},
        {"profitability": {"population": "clinic.census", "benefit": 12, "loss": 3, "gain": 9, "cost": 2}},
        {"delta_presence": {"population": "clinic.other_census", "delta_max": 0.5}},
    ]
    kanon_sql.check(engine, spec_of(privacy=of_population, unit="person"), "clinic.other", count_rows=True)
    kanon_sql.check(engine, spec_of(source="clinic.other", privacy=of_population[:1]), "clinic.other")
    nobody_absent = {"delta_presence": {"population": "clinic.census", "delta_min": 0.1, "delta_max": 1}}
    kanon_sql.plan(engine, spec_of(quasi_identifiers={"sex": None}, sensitive=[], privacy=[nobody_absent]))
    kanon_sql.check(engine, spec_of(privacy=of_population[1:], unit="person"), "clinic.other")
    earning = {"profitability": {"benefit": 1200, "loss": 3000, "gain": 9, "cost": 2}}
    two_levels = {"sex": {"tree": {"x": ["M", "it's"], "y": ["F\\", "O"]}, "minimum_level": 1, "maximum_level": 1}}
    kanon_sql.plan(engine, spec_of(quasi_identifiers=two_levels, privacy=[earning]))
    of_beliefs = [
        {"bayes_optimal": {"attribute": "dx", "background": "clinic.survey", "weight": "weight", "theta": 0.2}},
        {"bayes_optimal": {"attribute": "dx", "delta": 0.1, "epsilon": 0.01}},
    ]
    kanon_sql.check(engine, spec_of(privacy=of_beliefs), "clinic.other")
    of_both_sides = [{"kk_anonymity": {"k": 2, "variant": kind}} for kind in ("kk", "1k", "k1", "global_1k")]
    kanon_sql.check(engine, spec_of(privacy=of_both_sides), "clinic.other")
    by_hierarchy = [{"t_closeness": {"attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": DX}}]
    kanon_sql.check(engine, spec_of(privacy=by_hierarchy), "clinic.other")
    by_rule = [{"t_closeness": {**by_hierarchy[0]["t_closeness"], "hierarchy": {"prefix": [2, 1]}}}]
    kanon_sql.check(engine, spec_of(privacy=by_rule), "clinic.other")


def dbt_model(dialect: str, nulls: str) -> Statement:
    """The model of labels, with tables where dbt's Jinja stands."""
    spec = spec_of(
        quasi_identifiers={
            "age": {"intervals": [2.5], "top": 80}, "sex": {"table": "sexes"}, "weight": {"sql": ["floor(x)"]},
            "seen": None, "dx": {"tree": {"x": {"y": ["z"]}}},
        },
        sensitive=[], unit="person", nulls=nulls,
    )  # fmt: skip
    given = {
        "sex": HierarchyRows("sexes", ["value", "upper", "top"], None),
        "dx": HierarchyRows("dx_seed", ["value", "level_1", "level_2", "level_3"], "*"),
    }
    node = {"age": 1, "sex": 2, "weight": 2, "seen": 0, "dx": 1}
    columns = {column.name: column for column in COLUMNS}
    model = labelled(spec, columns, node, given, "visits", dialect_named(dialect))
    return Statement("verbs/dbt/labelled", re.sub(r"\{\{ (\w+) \}\}", r"\1", model))


KEPT_AS_WORDS = ("RENAME TABLE ", "EXCHANGE TABLES ", 'CREATE INDEX "', "LOCK TABLE ")
"""Two tables at once, an index of SQLite's with its schema, a lock: sqlglot keeps these as words."""


def parsed(sql: str, dialect: str) -> exp.Expr:
    """A statement as sqlglot reads it; one that it keeps as mere words fails."""
    caught = re.fullmatch(r"BEGIN\s+EXECUTE IMMEDIATE '(.*)';\nEXCEPTION WHEN OTHERS .*END;?", sql, re.DOTALL)
    if caught:  # Oracle's block around one statement
        sql = caught.group(1).replace("''", "'").removesuffix(" PURGE")
    if sql.startswith("DECLARE @kanon_schema "):  # SQL Server's schema for the procedure after it
        sql = sql.partition("; ")[2]
    trees = sqlglot.parse(sql, read=dialect_named(dialect).sqlglot)
    assert len(trees) == 1, sql
    assert trees[0] is not None
    assert not isinstance(trees[0], exp.Command) or sql.startswith(KEPT_AS_WORDS), sql
    return trees[0]
