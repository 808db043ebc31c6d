"""Every template is used: all verbs are run, and what they render is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import SpecError
from kanon_sql.sql import templates
from kanon_sql.sql.template_files import template_names
from kanon_sql.verbs.certify import optimality
from tests.support.suppressions import suppressing


def _models(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """A requirement of every kind that compares with a population or tells values apart."""
    listed = {"allow_positive": ["0"], "forbid_negative": ["1"]}
    return [
        {"k_map": {"population": "census", "k": 2}},
        {"delta_presence": {"population": "census", "delta_max": 1}},
        {"t_closeness": {"attribute": "s", "t": 0.5, "distance": "ordered"}},
        {"t_closeness": {"attribute": "s", "t": 0.5, "distance": "hierarchical", "hierarchy": tree}},
        {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.9, "k": 2, "values": ["1"]}},
        {"p_sensitive_k_anonymity": {"attribute": "s", "p": 2, "k": 2}},
        {"beta_likeness": {"attribute": "s", "beta": 4, "variant": "basic"}},
        {"beta_likeness": {"attribute": "s", "beta": 4, "variant": "enhanced"}},
        {"delta_disclosure": {"attribute": "s", "delta": 5}},
        {"l_diversity": {"attribute": "s", "variant": "npd_recursive", "l": 2, "c": 4, "c2": 0.01, **listed}},
    ]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The templates that have been rendered."""
    names: set[str] = set()
    original = templates.Environment.get_template

    def noted(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        names.add(name)
        return original(self, name, *args, **kwargs)

    monkeypatch.setattr(templates.Environment, "get_template", noted)
    templates._remembered.cache_clear()  # what was rendered before is not rendered again
    return names


BASE: dict[str, Any] = {
    "version": 1, "source": "t", "release": "r", "sensitive": ["s"], "suppression": {"max_share": 0.2},
}  # fmt: skip


BY_AGE = {**BASE, "quasi_identifiers": {"n": {"intervals": [7, 21, 42]}}}


TREE = {"tree": {"x": ["0", "1"], "y": ["2"]}}


def spec_of(base: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**base, **changes})


def run_on_the_demo(folder: Path) -> None:
    from kanon_sql.verbs.clean import clean
    from kanon_sql.verbs.demo import demo
    from kanon_sql.verbs.doctor import doctor
    from kanon_sql.verbs.init import init

    demo(folder)
    engine = kanon_sql.connect(folder / "demo.duckdb")
    init(engine, "visits")
    doctor(engine)
    clean(engine, drop=True)
    engine.close()


def run_anonymize(connection: duckdb.DuckDBPyConnection) -> None:
    """By every metric of classes, with NULLs, persons, masks and every model."""
    from kanon_sql.release.manifest import published_manifest

    coarse = {"n": {"intervals": [7, 21, 42], "maximum_level": 2}}
    masked = {"max_share": 0.5, "style": "mask"}
    models = [
        {"k_anonymity": 19},
        {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}},
        {"l_diversity": {"attribute": "s", "l": 2, "variant": "recursive", "c": 3}},
        {"t_closeness": {"attribute": "s", "t": 0.9}},
    ]
    extras: tuple[dict[str, Any], ...] = (
        {"quasi_identifiers": {"n": {"table": "h"}, "m": None}, "privacy": [{"k_anonymity": 2}]},
        {"quasi_identifiers": {"n": {"table": "h"}}, "privacy": [{"k_anonymity": 2}], "sensitive": []},
        # The masked persons would violate, so they are dropped.
        {"unit": "person", "quasi_identifiers": coarse, "suppression": masked, "privacy": models[:1]},
        {"quasi_identifiers": coarse, "suppression": masked, "privacy": models},
    )
    for metric in ("loss", "entropy", "discernibility", "ambiguity"):
        for extra in extras:
            spec = spec_of(BASE, **extra, search={"metric": metric})
            published = kanon_sql.anonymize(kanon_sql.connect(connection), spec, details=True)
            if published.manifest is not None:
                engine = kanon_sql.connect(connection)
                with engine.run(Deadline(None)):
                    published_manifest(engine, published.manifest["run_id"])
            kanon_sql.check(kanon_sql.connect(connection), spec, count_rows=True)


def run_searches(connection: duckdb.DuckDBPyConnection) -> None:
    tree = {"tree": {"low": ["0", "1"], "high": ["2"]}}
    few = {**BASE, "sensitive": [], "quasi_identifiers": {"n": {"table": "h"}, "s": tree}}
    for options in (
        {"algorithm": "samarati", "distance_vectors": True},
        {"metric": "publisher_payout", "prices": {"benefit": 12, "loss": 30, "gain": 15, "cost": 2}},
        {"algorithm": "k_optimize", "cuts": 4},
        {"algorithm": "k_optimize", "cuts": 4, "metric": "discernibility"},
    ):
        kanon_sql.plan(kanon_sql.connect(connection), spec_of(few, privacy=[{"k_anonymity": 5}], search=options))
    chain = [{"k_anonymity": 2}, {"k_anonymity": {"k": 9, "quasi_identifiers": ["n"]}}]
    sets = {"quasi_identifiers": {"n": {"intervals": [7, 21, 42]}, "s": None}, "sensitive": [], "privacy": chain}
    kanon_sql.plan(kanon_sql.connect(connection), spec_of(BASE, **sets))
    kanon_sql.plan(kanon_sql.connect(connection), spec_of(few, privacy=[{"k_anonymity": 5}]), matrix=True)


def run_models_of_values(connection: duckdb.DuckDBPyConnection) -> None:
    listed = {"allow_positive": ["0"], "forbid_negative": ["1"], "c2": 0.1}
    hierarchical = {"attribute": "s", "t": 0.5, "distance": "hierarchical"}
    every = [
        {"t_closeness": {"attribute": "s", "t": 0.5, "distance": "ordered"}},
        {"t_closeness": {**hierarchical, "hierarchy": TREE}},
        {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 3, "values": ["0"]}},
        {"p_sensitive_k_anonymity": {"attribute": "s", "p": 2, "k": 3}},
        {"beta_likeness": {"attribute": "s", "beta": 1, "variant": "basic"}},
        {"beta_likeness": {"attribute": "s", "beta": 1, "variant": "enhanced"}},
        {"delta_disclosure": {"attribute": "s", "delta": 1}},
        {"l_diversity": {"attribute": "s", "variant": "npd_recursive", "l": 2, "c": 2, **listed}},
        {"ck_safety": {"attribute": "s", "c": 0.9, "k": 1}},
        {"privacy_skyline": {"attribute": "s", "l": 1, "m": 1, "c": 0.9}},
        {"epsilon_privacy": {"attribute": "s", "epsilon": 3, "stubbornness": 10}},
    ]
    plain = {**BASE, "quasi_identifiers": {"n": None}}
    kanon_sql.check(kanon_sql.connect(connection), spec_of(plain, privacy=every), "t", reveal=3)
    by_rule = [{"t_closeness": {**hierarchical, "hierarchy": {"intervals": [2, 4]}}}]
    kanon_sql.check(kanon_sql.connect(connection), spec_of(plain, privacy=by_rule), "t")


def run_ledger(connection: duckdb.DuckDBPyConnection) -> None:
    lasting = {**BASE, "quasi_identifiers": {"n": {"intervals": [7, 21]}}, "privacy": [{"k_anonymity": 2}]}
    for release in ("r1", "r2"):
        spec = spec_of(lasting, release=release, ledger="l")
        assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed
    again = kanon_sql.Republication("t", "person", 2)
    kanon_sql.check(kanon_sql.connect(connection), spec, "t", republication=again)


def run_recodings(connection: duckdb.DuckDBPyConnection) -> None:
    """Local ones and cells, by rows and by persons, of sizes alone and of more, with the bound; medians; a tree."""
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE few AS SELECT * FROM t WHERE n % 7 = 0")
    two = {"privacy": [{"k_anonymity": 2}]}
    for changes in (
        two,
        {**two, "unit": "person"},
        {"sensitive": ["s"], "privacy": [{"l_diversity": {"attribute": "s", "l": 2}}]},
    ):
        for recoding in ({"method": "local", "variant": "best"}, {"method": "cells"}):
            spec = spec_of(BY_AGE, recoding=recoding, **changes)
            kanon_sql.plan(engine, spec, bound=True)
            kanon_sql.anonymize(engine, spec)
        kanon_sql.anonymize(engine, spec_of(BY_AGE, recoding={"method": "local", "ranges": ["n"]}, **changes))
    kanon_sql.anonymize(engine, spec_of(BY_AGE, recoding={"method": "local", "resist": "refinement"}, **two))
    for recoding in (
        {"save_as": "kept_levels"}, {"method": "cells", "save_as": "kept_cells"},
        {"method": "local", "save_as": "kept_classes"},
    ):  # fmt: skip
        spec = spec_of(BY_AGE, recoding=recoding, **two)
        kanon_sql.anonymize(engine, spec)
        assert kanon_sql.apply(engine, spec, recoding["save_as"], source="t", release="again").passed
        kanon_sql.apply(engine, spec, recoding["save_as"], source="few", release="again")
    of_numbers = {"method": "microaggregation", "columns": {"n": "mean"}, "save_as": "kept_numbers"}
    for recoding in ({"method": "mondrian", "save_as": "kept_cuts"}, of_numbers):
        spec = spec_of(BY_AGE, quasi_identifiers={"n": None}, recoding=recoding, **two)
        kanon_sql.anonymize(engine, spec)
        assert kanon_sql.apply(engine, spec, recoding["save_as"], source="t", release="again").passed
    kanon_sql.anonymize(engine, spec_of(BY_AGE, recoding={"method": "subtree", "ranges": ["n"]}, **two))
    wishes = {"privacy": [{"k_anonymity": {"column": "s", "default": 2}}, {"risk": {"average": 0.5}}]}
    kanon_sql.anonymize(engine, spec_of(BY_AGE, sensitive=["s"], **wishes))
    for variant in ("strict", "relaxed"):
        spec = spec_of(BY_AGE, recoding={"method": "mondrian", "variant": variant}, **two)
        kanon_sql.anonymize(engine, spec)
        kanon_sql.audit(engine, spec, attacks=["consistency"])
    connection.execute("CREATE TABLE likes AS SELECT * FROM (VALUES ('p', 'a'), ('q', 'a'), ('r', 'a')) AS v(v, w)")
    connection.execute("CREATE TABLE kinds AS SELECT * FROM (VALUES ('p', 'q'), ('q', 's'), ('r', 's')) AS v(l0, l1)")
    kinds = {"quasi_identifiers": {"v": {"table": "kinds"}}, "source": "likes", "keep": ["w"], "sensitive": []}
    by_class = {"recoding": {"method": "subtree", "variant": "bottom_up", "classify": "w"}}
    assert kanon_sql.anonymize(engine, spec_of(BY_AGE, **{**two, **kinds, **by_class})).recoding
    connection.execute(
        "CREATE TABLE graph AS SELECT * FROM (VALUES ('p', 'x'), ('q', 'x'), ('q', 'y'), ('r', 'y')) AS v"
    )
    graph = {"quasi_identifiers": {"v": {"table": "graph", "parents": "several"}}, "recoding": "subtree"}
    assert kanon_sql.anonymize(engine, spec_of(BY_AGE, **{**two, **kinds, **graph})).recoding
    split = {"recoding": {"method": "subtree", "ranges": ["n"], "classify": "s"}}
    kanon_sql.anonymize(engine, spec_of(BY_AGE, **{**changes, **split}))
    run_approximations(connection)
    run_numbers(connection)
    connection.execute("CREATE TABLE pairs AS SELECT * FROM (VALUES (1, 1), (1, 1), (1, 1), (2, 1), (2, 2)) AS v(n, s)")
    pairs = {"quasi_identifiers": {"n": None, "s": None}, "sensitive": [], "source": "pairs"}
    spec = spec_of(BY_AGE, recoding={"method": "cells", "save_as": "kept_pairs"}, **{**two, **pairs})
    assert kanon_sql.anonymize(engine, spec).recoding
    assert kanon_sql.apply(engine, spec, "kept_pairs", source="pairs", release="again").passed


def run_approximations(connection: duckdb.DuckDBPyConnection) -> None:
    """By trees and sets of vectors that are few, and by matching with k = 2 and k = 3."""
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE bits AS SELECT n % 2 AS a, n // 2 % 2 AS b, n // 4 AS c FROM range(8) AS v(n)")
    for method, k in (("forest", 3), ("cover", 3), ("matching", 2), ("matching", 3)):
        changes = {"source": "bits", "recoding": method, "privacy": [{"k_anonymity": k}], "sensitive": []}
        columns = dict.fromkeys(["a", "b", "c"])
        assert kanon_sql.anonymize(engine, spec_of(BY_AGE, quasi_identifiers=columns, **changes)).recoding


def run_numbers(connection: duckdb.DuckDBPyConnection) -> None:
    """Ranges beside labels, where sizes decide everything and where not; numbers of one column, and of two."""
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE wages AS SELECT n % 7 AS a, n * n % 11 AS b, n % 3 AS s FROM range(24) AS v(n)")
    columns: dict[str, Any] = {"a": None, "b": {"intervals": [4]}}
    diverse = [{"l_diversity": {"attribute": "s", "l": 2}}]
    for privacy in ([{"k_anonymity": 2}], diverse):
        for recoding in (
            {"method": "local", "variant": "best", "ranges": ["a"]},
            {"method": "local", "ranges": ["a", "b"], "start": "optimum"},
            {"method": "microaggregation", "columns": {"a": "mean", "b": "mode"}},
            {"method": "microaggregation", "columns": {"a": "median"}},
        ):
            changes = {"source": "wages", "sensitive": ["s"], "privacy": privacy, "recoding": recoding}
            assert kanon_sql.anonymize(engine, spec_of(BY_AGE, quasi_identifiers=columns, **changes)).passed


def run_references(connection: duckdb.DuckDBPyConnection) -> None:
    """Models that compare with a population or with beliefs; the release is what the attacks are made on."""
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE census AS SELECT n, person FROM t")
    spec = spec_of(BY_AGE, privacy=_models(TREE))
    assert kanon_sql.anonymize(engine, spec).passed
    kanon_sql.check(engine, spec, "t", reveal=1)
    at_least = {"delta_presence": {"population": "census", "delta_min": 0.1, "delta_max": 1}}
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[at_least], unit="person"), "t")
    kanon_sql.plan(engine, spec_of(BY_AGE, privacy=[at_least]))
    for population in ({}, {"population": "census"}):
        kanon_sql.check(engine, spec_of(BY_AGE, privacy=[{"no_attack": {"gain": 9, "cost": 2, **population}}]), "t")
        earning = {"profitability": {"benefit": 9, "loss": 9, "gain": 9, "cost": 2, **population}}
        earns = spec_of(BY_AGE, privacy=[earning], suppression={"max_rows": 1})
        kanon_sql.check(engine, earns, kanon_sql.anonymize(engine, earns).release)
    estimated = {"attribute": "s", "l": 1, "variant": "entropy", "estimator": "grassberger"}
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[{"l_diversity": estimated}]), "t")
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[{"k_map": {"population": "census", "k": 2}}]))
    believed = {"attribute": "s", "background": "t", "weight": "n", "theta": 0.5}
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[{"bayes_optimal": believed}]), "t")
    for kind in ("kk", "1k", "k1", "global_1k"):
        kanon_sql.check(engine, spec_of(BY_AGE, privacy=[{"kk_anonymity": {"k": 2, "variant": kind}}]))


def run_populations(connection: duckdb.DuckDBPyConnection) -> None:
    """Persons of a population, journalists and marketers, and estimates of a population that there is no table of."""
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE positions AS SELECT n, person % 30 AS who FROM t")
    by_person = {"k_map": {"population": "positions", "person": "who", "k": 2}}
    journalist = {"risk": {"attacker": "journalist", "population": "census", "highest": 0.9, "average": 0.9}}
    marketer = {"risk": {"attacker": "marketer", "population": "census", "average": 0.9}}
    sampled = {"k_map": {"sampling_fraction": 0.5, "k": 2}}
    for asked in (by_person, journalist, marketer, sampled):
        spec = spec_of(BY_AGE, privacy=[asked], suppression={"max_share": 0.5})
        kanon_sql.anonymize(engine, spec)
        kanon_sql.check(engine, spec, "t")
    unique = {"population_uniqueness": {"sampling_fraction": 0.5, "share": 0.5}}
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[unique]), "t")
    learned = {"metric": "classification", "classify": "s"}
    kanon_sql.plan(engine, spec_of(BY_AGE, search=learned, privacy=[{"k_anonymity": 2}]))


def run_rows_and_records(connection: duckdb.DuckDBPyConnection) -> None:
    """(k,k)-anonymous rows, the assignments of rows to records, and rows that are drawn."""
    engine = kanon_sql.connect(connection)
    connection.execute(
        "CREATE TABLE pupils AS SELECT substr(v, 1, 1) AS n, substr(v, 2, 1) AS s"
        " FROM (VALUES ('ru'), ('qu'), ('qv'), ('qw'), ('qu'), ('pv'), ('pv')) AS pupils(v)"
    )
    columns: dict[str, Any] = {"quasi_identifiers": {"n": None, "s": None}, "sensitive": [], "release": "lowered"}
    for limit in (0, 0.2):
        asked = {"recoding": "kk", "privacy": [{"kk_anonymity": 2}], "suppression": suppressing(limit)}
        spec = spec_of(BY_AGE, **columns, **asked, source="pupils")
        kanon_sql.plan(engine, spec)
        assert kanon_sql.anonymize(engine, spec).recoding
    every = {"kk_anonymity": {"k": 2, "variant": "global_1k"}}
    assert kanon_sql.anonymize(
        engine, spec_of(BY_AGE, recoding="kk", privacy=[every], source="pupils", **columns)
    ).passed
    kanon_sql.check(engine, spec_of(BY_AGE, privacy=[every], source="pupils", **columns))
    drawn = {"epsilon": 2, "delta": 0.01, "generalization": {"n": 1, "s": 1}, "total": {"epsilon": 9, "delta": 0.1}}
    searched = {**drawn, "search": {"epsilon": 1}}
    del searched["generalization"]
    scored = {**searched, "search": {"epsilon": 1, "score": "entropy"}}
    for release, asked in (("drawn", drawn), ("chosen", searched), ("scored", scored)):
        own = {**columns, "release": release, "privacy": [{"differential_privacy": asked}], "ledger": "spent"}
        bare = {key: value for key, value in BY_AGE.items() if key != "suppression"}
        kanon_sql.anonymize(engine, spec_of(bare, **own))


def run_attacks(connection: duckdb.DuckDBPyConnection) -> None:
    engine = kanon_sql.connect(connection)
    connection.execute("CREATE TABLE a_view AS SELECT n, s FROM r")
    others: dict[str, Any] = {"earlier": ["r"], "other_views": ["a_view"]}
    every = spec_of(BY_AGE, privacy=_models(TREE))
    kanon_sql.audit(engine, every, external="census", hierarchies={"s": TREE}, reveal=1, **others)
    two = [{"l_diversity": {"attribute": "s", "l": 2}}]
    strict = spec_of(BY_AGE, privacy=two, suppression={"max_rows": 0}, release="strict")
    assert kanon_sql.anonymize(engine, strict).passed
    kanon_sql.audit(engine, strict, attacks=["minimality", "definetti"])
    by_size = spec_of(BY_AGE, privacy=[{"k_anonymity": 2}], release="strict", recoding="local")
    kanon_sql.audit(engine, by_size, attacks=["downcoding", "refinement"])
    connection.execute(
        "CREATE TABLE cells AS SELECT CASE WHEN n < 9 THEN '*' ELSE CAST(n AS VARCHAR) END AS n, s FROM t"
    )
    kanon_sql.audit(engine, strict, "cells", attacks=["consistency"])
    connection.execute("CREATE TABLE masked AS SELECT '*' AS n, s FROM t")  # which may stand beside any level
    kanon_sql.audit(engine, strict, "masked", attacks=["consistency"])
    kanon_sql.audit(engine, strict, external="census", on=["n"], attacks=["mapping"])
    kanon_sql.audit(engine, strict, earlier=["strict"], attacks=["correspondence", "correspondence_backward"])


def run_guarded(connection: duckdb.DuckDBPyConnection) -> None:
    """A view of labels of a tree that lists what occurs, and once more in the place of the first."""
    connection.execute("CREATE TABLE guarded AS SELECT range AS n, 'c' || (range % 2) AS city FROM range(60)")
    columns: dict[str, Any] = {
        "n": {"intervals": [10], "minimum_level": 1},
        "city": {"tree": {"east": ["c0"], "west": ["c1"]}, "minimum_level": 1, "maximum_level": 1},
    }
    view = {"view": "seen", "accept_sequence_risk": True}
    given = {"version": 1, "source": "guarded", "release": view, "quasi_identifiers": columns}
    for k in (2, 3):
        spec = kanon_sql.Spec.from_dict({**given, "privacy": [{"k_anonymity": k}]})
        assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed


def run_sequence(connection: duckdb.DuckDBPyConnection) -> None:
    engine = kanon_sql.connect(connection)
    asked = [{"m_invariance": {"attribute": "s", "m": 2, "history": "history", "ranges": ["n"]}}]
    base = {**BY_AGE, "unit": "person", "release": "sequence", "suppression": None}
    for _ in range(2):
        assert kanon_sql.anonymize(engine, spec_of(base, privacy=asked)).passed


def run_growth(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TABLE g AS SELECT 1 AS day, '11' || (range // 3) AS zip, 'p' || range AS who FROM range(9)"
    )
    engine = kanon_sql.connect(connection)
    given = {"source": "g", "version": 1, "privacy": [{"k_anonymity": 3}], "state": "kanon_state"}
    given |= {"quasi_identifiers": {"zip": {"prefix": [2, 1]}}, "warnings": {"rows_not_persons": "allow"}}
    growing = {"watermark": "day", "on_drift": "coarsen"}
    spec = kanon_sql.Spec.from_dict({**given, "release": "g_release", "increments": growing})
    persons = kanon_sql.Spec.from_dict({**given, "release": "g_persons", "increments": growing, "unit": "who"})
    for each in (spec, persons):
        assert kanon_sql.anonymize(engine, each).passed
    gone, late = "SELECT '110' AS zip", "SELECT 1 AS day, '11' || range AS zip FROM range(3)"
    result = kanon_sql.refresh(engine, spec, inserted=late, deleted=gone, batch="coarser")
    assert result.node == {"zip": 1}
    connection.execute("INSERT INTO g SELECT 2, '11' || range, 'q' || range FROM range(3)")
    for each in (spec, persons):
        assert kanon_sql.refresh(engine, each).refresh["added"] == 3  # type: ignore[index]
    assert kanon_sql.refresh(engine, spec, deleted=gone, batch="gone").refresh["removed"] > 0  # type: ignore[index]
    connection.execute("INSERT INTO g VALUES (3, '999', 'r')")
    assert kanon_sql.refresh(engine, spec).refresh["waiting"] == 1  # type: ignore[index]
    valued = {**given, "release": "g_valued", "increments": growing, "unit": "who", "sensitive": ["value"]}
    valued |= {"source": "g_values", "privacy": [{"l_diversity": {"attribute": "value", "l": 2}}]}
    connection.execute("CREATE TABLE g_values AS SELECT *, zip AS value FROM g WHERE false")
    connection.execute("INSERT INTO g_values VALUES (1, '110', 'a', 'x'), (1, '110', 'b', 'y')")
    valued_spec = kanon_sql.Spec.from_dict(valued)
    assert kanon_sql.anonymize(engine, valued_spec).passed
    connection.execute("INSERT INTO g_values VALUES (2, '111', 'c', 'x'), (2, '112', 'd', 'y')")
    assert kanon_sql.refresh(engine, valued_spec).node == {"zip": 1}


def run_certificates(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Hierarchies of all forms, persons, several models; labels that differ by class, and a risk of the whole table."""
    tree = {"s": {"tree": {"any": ["0", "1", "2"]}}}
    models = [{"k_anonymity": 1}, {"t_closeness": {"attribute": "s", "t": 1}}]
    average = {"privacy": [{"k_anonymity": 1}, {"risk": {"average": 1}}], "sensitive": [], "keep": ["person"]}
    ranked = {"attribute": "s", "t": 1, "distance": "ordered"}
    by_class = {"privacy": [{"k_anonymity": 1}], "recoding": "local", "sensitive": [], "keep": ["person"]}
    for number, changes in enumerate(
        (
            {"quasi_identifiers": {"n": {"table": "h"}, "person": {"intervals": [2]}}, "privacy": models},
            {"quasi_identifiers": {"n": {"intervals": [7, 21]}}, "unit": "person", "privacy": [{"k_anonymity": 1}]},
            {"quasi_identifiers": {"n": {"intervals": [7, 21], "as": "bounds"}}, "privacy": [{"k_anonymity": 1}]},
            {"quasi_identifiers": tree, **average},
            {"quasi_identifiers": tree, **by_class},
            {"quasi_identifiers": {"n": {"intervals": [60]}}, "privacy": [{"t_closeness": ranked}]},
        )
    ):
        spec = spec_of(BASE, **{**changes, "release": f"certified{number}"})
        assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed
        # Tables with fewer rows for the nodes of a lattice are made for this small one, too.
        with patch.object(optimality, "ENOUGH", 1):
            kanon_sql.certify(kanon_sql.connect(connection), spec, folder / f"certificate{number}")


def run_other_verbs(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    in_a_file = {
        "version": 1,
        "source": {"query": "SELECT n, 'a' AS m FROM t"},
        "release": {"file": str(folder / "released.csv")},
        "quasi_identifiers": {"n": None},
        "keep": ["m"],
        "privacy": [{"k_anonymity": 1}],
    }
    kanon_sql.anonymize(kanon_sql.connect(connection), kanon_sql.Spec.from_dict(in_a_file))
    from kanon_sql.verbs.functions import check_function
    from kanon_sql.verbs.init import init
    from kanon_sql.verbs.policies import ENGINES, policies
    from kanon_sql.verbs.sqlmesh import audits

    engine = kanon_sql.connect(connection)
    spec = spec_of(BY_AGE, unit="person", privacy=_models(TREE)[:2])
    kanon_sql.check(engine, spec, "t")
    audits(engine, spec_of(BY_AGE, privacy=[{"k_anonymity": 2}]), "t")
    for dialect in ENGINES:
        policies(spec_of(BY_AGE, privacy=[{"k_anonymity": 2}]), dialect, "group:analysts@example.org")
    check_function(engine, spec_of(BY_AGE, source="h", identifiers=["id"], privacy=[{"k_anonymity": 2}]), "t")
    kanon_sql.risk(engine, spec, "t", population="census")
    run_certificates(connection, folder)
    kanon_sql.plan(engine, spec_of(BY_AGE, privacy=[{"k_anonymity": 2}]), distributions=True)
    kanon_sql.hierarchy(engine, spec, reveal=1)
    kanon_sql.hierarchy(engine, spec, values={"n": ["1", "2"]})
    given = {
        "version": 1,
        "kind": "table",
        "source": "t",
        "release": "t_table",
        "dimensions": {"s": None},
        "rules": {"threshold": 3},
    }
    kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(given))
    run_cloakings(engine, connection)
    run_points(engine)
    run_computed_columns(engine)
    changes = {"rules": {"margin_difference": 1}, "protection": "collapsing"}
    kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**given, **changes}))
    steps = {"sample": {"fraction": 0.9, "by": "person"}, "columns": {"person": {"round": 2, "top": 50}}}
    kanon_sql.plan(engine, spec_of(BY_AGE, keep=["person"], privacy=[{"k_anonymity": 1}], steps=steps))
    kanon_sql.plan(engine, spec_of(BY_AGE, privacy=[{"k_anonymity": 1}], utility={"classify": "s"}, sensitive=["s"]))
    methods: dict[str, dict[str, Any]] = {"noise": {"n": {"noise": 0.5}}, "rank_swap": {"n": {"rank_swap": 0.5}}}
    methods |= {"swap": {"s": {"swap": 0.5}}, "pram": {"s": {"pram": 0.5}}}
    methods["matrix"] = {"letter": {"pram": {"matrix": {"a": {"b": 1}, "b": {"a": 1}}}}}
    connection.execute("CREATE TABLE lettered AS SELECT *, CASE WHEN s = 0 THEN 'a' ELSE 'b' END AS letter FROM t")
    for number, perturbed in enumerate(methods.values()):
        given = {
            "version": 1,
            "kind": "perturbed",
            "source": "lettered",
            "release": f"masked{number}",
            "key": "person",
            "perturb": perturbed,
        }
        kanon_sql.perturb(engine, kanon_sql.PerturbSpec.from_dict({**given, "keep": ["m"]}))
    with pytest.raises(SpecError, match="perturbed"):
        kanon_sql.check(engine, spec, "masked0")
    connection.execute("CREATE TABLE sizes AS SELECT i / 7.0 AS height, 'c' || (i % 9) AS city FROM range(99) r(i)")
    init(engine, "sizes", skeleton_directory=folder / "skeletons")
    connection.execute("CREATE TABLE areas AS SELECT '10001' AS zip, 30000 AS population")
    init(engine, "sizes", preset="hipaa-safe-harbor", population="areas")


def run_points(engine: Any) -> None:
    point = {"columns": ["x", "y"], "bounds": [0, 0, 16, 16], "depths": [4, 2]}
    given = {"version": 1, "source": "places", "quasi_identifiers": {"place": {"point": point}}}
    assert kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**given, "privacy": [{"k_anonymity": 2}]})).passed


def run_computed_columns(engine: Any) -> None:
    """Numbers and dates beside labels that sort; and persons by label, of the release alone."""
    held = {"minimum_level": 1, "maximum_level": 1}
    sortable = {"intervals": [7], "bottom": 0, "top": 90, "labels": "sortable", "as": "bounds", **held}
    quasi = {"n": sortable, "d": {"dates": ["month"], "as": "bounds", **held}}
    source = {"query": "SELECT n, DATE '2024-01-01' + CAST(n AS INTEGER) AS d, s FROM t"}
    beside = spec_of(BY_AGE, source=source, release="t_beside", quasi_identifiers=quasi, privacy=[{"k_anonymity": 1}])
    assert kanon_sql.anonymize(engine, beside).passed
    assert kanon_sql.check(engine, beside).passed
    few = {"quasi_identifiers": {"n": {"intervals": [7], **held}}, "suppression": {"max_share": 0.2}}
    by_person = spec_of(BY_AGE, unit="person", privacy=[{"k_anonymity": 5}], **few)
    assert kanon_sql.plan(engine, by_person, distributions=True).passed


def run_parties() -> None:
    columns: dict[str, Any] = {"quasi_identifiers": {"n": {"sql": ["x % 2"]}, "s": {}}, "release": "together"}
    asked: dict[str, Any] = {"search": {"metric": "precision"}, "identifiers": ["id"], "sensitive": ["d"]}
    privacy = [{"k_anonymity": 3}, {"l_diversity": {"attribute": "d", "l": 2}}]
    spec = spec_of(BY_AGE, **columns, **asked, privacy=privacy, suppression={"max_share": 0.5})
    with duckdb.connect() as one, duckdb.connect() as other:
        values = "i AS id, i % 7 AS n, CASE WHEN i = 4 THEN 'odd' ELSE 'even' END AS s, i % 3 AS d"
        one.execute(f"CREATE TABLE t AS SELECT {values} FROM range(20) r(i)")
        other.execute(f"CREATE TABLE t AS SELECT {values} FROM range(9) r(i)")
        assert kanon_sql.anonymize_parties([kanon_sql.connect(one), kanon_sql.connect(other)], spec).passed
        one.execute("ALTER TABLE t DROP COLUMN s")
        one.execute("ALTER TABLE t DROP COLUMN d")
        other.execute("ALTER TABLE t DROP COLUMN n")
        engines = [kanon_sql.connect(one), kanon_sql.connect(other)]
        assert kanon_sql.anonymize_parties(engines, spec, split="vertical", key="id").passed


def run_cloakings(engine: Any, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TABLE places AS SELECT range % 20 AS who, range % 9 AS x, range % 9 AS y, range % 2 AS y_kept, "
        "TIMESTAMP '2024-01-01' + INTERVAL (range) HOUR AS at FROM range(60)"
    )
    element = {"area": [0, 0, 8, 8], "between": ["00:00", "24:00"]}
    given = {
        "version": 1, "kind": "positions",
        "source": "places", "release": "places_cloaked", "unit": "who", "k": 2,
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 2, "outside": "suppress"},
        "time": {"column": "at", "widths": [86400]}, "suppression": {"max_share": 0.9},
    }  # fmt: skip
    for changes in (
        {"keep": ["y_kept"]},
        {"anonymity_set": "present"},
        {"lbqids": {"p": {"elements": [element, element]}}},
    ):
        kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict({**given, **changes}))


@pytest.mark.campaign
def test_every_template_is_used(used: set[str], tmp_path: Path) -> None:
    run_on_the_demo(tmp_path)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT range AS n, range % 3 AS s, range AS person, now() AS m FROM range(60)"
        )
        connection.execute("CREATE TABLE h AS SELECT range AS v, range % 2 AS w FROM range(60)")
        run_anonymize(connection)
        run_searches(connection)
        run_models_of_values(connection)
        run_ledger(connection)
        run_recodings(connection)
        run_references(connection)
        run_populations(connection)
        run_rows_and_records(connection)
        run_attacks(connection)
        run_guarded(connection)
        run_sequence(connection)
        run_growth(connection)
        run_other_verbs(connection, tmp_path)
    run_parties()
    # A rollup is built only when it pays, which no small run does; it has a test of its own. The
    # others serve engines whose DDL cannot be rolled back, scratch tables in a schema, and padded texts.
    rare = {"hierarchies/blank_ends", "hierarchies/forms", "hierarchies/forms_of_values", "hierarchies/form_counts"}
    rare |= {"evaluate/rollup", "engines/scratch/forget_run", "evaluate/there"}
    # Rows that positions expose: by other tests.
    rare.add("disclosure/attacks/position_revealed")
    rare.add("verbs/evidence/zip_codes")  # tests/verbs/evidence/test_evidence_columns.py, where columns are called so
    # Enumerations, numbers that are rounded, CSV files, texts of several forms, digits, several tables: by other tests.
    rare |= {"evaluate/partitions/strangers", "frequency/place", "frequency/unrounded", "verbs/init/csv_values"}
    rare |= {"verbs/render/several_texts", "verbs/warnings/digits", "release/manifest/joined"}
    rare |= {"verbs/demo/of_patients", "verbs/demo/of_visits", "verbs/demo/prescriptions"}
    rare |= {"verbs/init/orphans", "verbs/init/other_ways", "verbs/init/repeated"}
    rare.add("evaluate/examine/counted")  # tests/release/test_counted_releases.py, on engines that read rows
    rare |= {f"release/manifest/{name}" for name in ("withdraw", "settle", "settled", "pending", "named")}
    # dbt runs its own; a model, a metric and a recoding have tests of their own, and so have several tables.
    rare |= {name for name in template_names() if name.startswith(("verbs/dbt/", "models/", "recode/", "relations/"))}
    assert sorted(set(template_names()) - used - rare) == []
