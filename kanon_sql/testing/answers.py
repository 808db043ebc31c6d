"""The same answers as DuckDB's, verb by verb."""

from __future__ import annotations

import random
from collections import Counter
from math import isclose
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.cases import CASES, L_AND_T
from kanon_sql.testing.clinic import FEW, SPEC, VISITS, visits
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Made, Reference, assert_equal, made, multiset, same
from kanon_sql.testing.subject import Subject
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.init import init
from kanon_sql.verbs.result import AppliedRelease, Check

__all__ = ["Answers"]


class Answers(Fixtures):
    """The same answers as DuckDB's, verb by verb."""

    @pytest.mark.parametrize("case", CASES)
    def test_the_same_release_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, case: str
    ) -> None:
        spec = kanon_sql.Spec.from_dict({**SPEC, **CASES[case]})

        def answered(where: Reference | Subject, own: Engine) -> tuple[Made, Check, Check]:
            release = made(where, own, spec)
            by_rows = spec.unit is not None
            return release, kanon_sql.check(own, spec, count_rows=by_rows), kanon_sql.check(own, spec, "visits")

        (theirs, rows), of_release, of_source = reference.once(case, lambda: answered(reference, reference.engine))
        (ours, found), checked, source = answered(with_visits, engine)
        same(ours, theirs)
        assert found == rows
        compared = 3 * (spec.recoding.method == "kk")  # rows with records, when they are verified
        looked_for = 5 * (spec.unit is None)  # persons: by names, in each class by two of them, in a panel
        reveals = bool(spec.keep or spec.sensitive)  # what such columns reveal is counted in the source
        most = 2 + compared + looked_for + reveals
        assert ours.cost.source_scans <= most, "one less where the release can be written from the frequency set"
        same(checked, of_release)
        same(source, of_source)

    def test_the_same_bound_of_local_recoding_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """What no recoding loses less than, with persons and NULLs; it is whole numbers that are added up."""
        spec = kanon_sql.Spec.from_dict({**SPEC, **CASES["local, best, persons, NULLs suppressed"]})
        ours = kanon_sql.plan(engine, spec, bound=True).recoding
        theirs = reference.once("bound", lambda: kanon_sql.plan(reference.engine, spec, bound=True).recoding)
        assert ours is not None
        assert theirs is not None
        assert ours["bound"] == theirs["bound"]
        assert ours["bound"] is not None
        assert 0 < ours["bound"]["mean_loss"] <= ours["mean_loss"]

    def test_ranges_are_audited_as_by_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Numbers, dates, text and the rows of a hierarchy, with NULLs: who may be behind a range."""
        listed = {"tree": {"x": ["ulcer", "flu"], "y": ["asthma", "Flu"]}}
        columns = {"age": None, "born": None, "zip": None, "illness": listed}
        asked = {**SPEC, "quasi_identifiers": columns, "sensitive": [], "recoding": "mondrian"}
        audits = []
        for where, own in ((reference, reference.engine), (with_visits, engine)):
            where.drop("visits_release")
            assert kanon_sql.anonymize(own, kanon_sql.Spec.from_dict(asked)).passed
            more = kanon_sql.Spec.from_dict({**asked, "privacy": [{"k_anonymity": 6}]})
            audits.append(kanon_sql.audit(own, more, attacks=["consistency"]).attacks)
        theirs, ours = audits
        assert [attack.to_dict() for attack in ours] == [attack.to_dict() for attack in theirs]
        assert ours[0].examined == len(visits())
        assert ours[0].exposed

    def test_a_parent_is_chosen_as_by_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Of several parents, labels with characters that engines like to merge, with NULLs and persons."""
        values = {"94130": "AÁ", "94131": "Áa", "9423": "aA", "94230": "aá", "x": "A"}
        rows = [(value, label, label.upper()) for value, labels in values.items() for label in labels]
        spec = {
            **SPEC,
            "quasi_identifiers": {
                **SPEC["quasi_identifiers"],
                "zip": {"table": "zip_graph", "parents": "several", "minimum_level": 1},
            },
            "unit": "person",
            "keep": [],
            "privacy": [{"k_anonymity": 7}],
            "suppression": {"max_share": 0.9},
            "recoding": {"method": "subtree", "variant": "bottom_up"},
        }
        found = []
        for where, own in ((reference, reference.engine), (with_visits, engine)):
            where.table("zip_graph", {"value": "text", "level_1": "text", "level_2": "text"}, rows)
            where.drop("visits_release")
            result = kanon_sql.anonymize(own, kanon_sql.Spec.from_dict(spec))
            assert result.passed, result.message
            found.append((result, multiset(where.rows("visits_release"))))
            where.drop("zip_graph")
        (theirs, expected), (ours, released) = found
        same(ours, theirs)
        assert released == expected

    @pytest.mark.parametrize("method", ["full_domain", "local", "cells", "mondrian", "microaggregation"])
    def test_a_kept_recoding_is_applied_as_by_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, method: str
    ) -> None:
        """The same classes or cuts are kept, and put the same new rows together, NULLs and similar texts among them."""
        recoding: dict[str, Any] = {"method": method, "save_as": "learned"}
        kept = {**SPEC, "recoding": recoding, "suppression": {"max_share": 0.7}, "privacy": [{"k_anonymity": 2}]}
        if method == "microaggregation":
            recoding["columns"] = {"age": "mean", "born": "median", "weight": "mean"}
            kept["quasi_identifiers"] = dict.fromkeys(recoding["columns"])
        spec = kanon_sql.Spec.from_dict(kept)

        def answered(where: Reference | Subject, own: Engine) -> tuple[AppliedRelease, Counter[Any], Counter[Any]]:
            where.table("newer", VISITS, visits(seed=8, persons=60))
            for name in ("visits_release", "learned", "newer_release"):
                where.drop(name)
            assert kanon_sql.anonymize(own, spec).passed
            result = kanon_sql.apply(own, spec, "learned", source="newer", release="newer_release")
            assert result.passed, result.message
            found = multiset(where.rows("learned")), multiset(where.rows("newer_release"))
            assert clean(own, drop=False).objects == ()
            for name in ("learned", "newer", "newer_release"):
                where.drop(name)
            return result, *found

        theirs, *expected = reference.once(("kept", method), lambda: answered(reference, reference.engine))
        ours, *rows = answered(with_visits, engine)
        same(ours, theirs)
        assert rows == expected
        assert (ours.rows["suppressed"] > 0) == (method in ("full_domain", "local", "cells"))

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_the_same_details_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """What a report shows: histograms of classes, losses, the lattice."""
        spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": L_AND_T, "suppression": {"max_share": 1.0}})
        ours, theirs = (kanon_sql.plan(used, spec, details=True).details for used in (engine, reference.engine))
        assert ours is not None
        assert theirs is not None
        assert ours.tables == theirs.tables
        assert ours.lattice == theirs.lattice
        for mine, yours in zip(ours.attributes, theirs.attributes, strict=True):
            assert isclose(mine.loss, yours.loss, rel_tol=1e-9, abs_tol=1e-9)

    @pytest.mark.parametrize("mode", ["temp", "inline", "schema"])
    def test_every_scratch_mode_gives_the_same_and_leaves_nothing(
        self, with_visits: Subject, reference: Reference, mode: str
    ) -> None:
        if mode in with_visits.lacks:
            pytest.skip(with_visits.lacks[mode])
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": FEW, "search": {"metric": "height"}})
        scratch = mode
        if mode == "schema":
            scratch = f"schema:{'.'.join(with_visits.schema('kanon_scratch'))}"
        with_visits.drop("visits_release")
        engine = with_visits.connect(scratch=scratch)
        try:
            before = set(with_visits.tables())
            same(kanon_sql.plan(engine, spec), kanon_sql.plan(reference.engine, spec))
            assert set(with_visits.tables()) == before, "plan writes nothing"
            ours = kanon_sql.anonymize(engine, spec)
            assert set(with_visits.tables()) - before <= {"visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}
            assert engine.scratch.mode == mode
            most = 5  # two of them look for persons, and one for what released columns reveal
            assert ours.cost.source_scans <= most or mode == "inline"
            assert clean(engine, drop=False).objects == ()
        finally:
            engine.close()
            with_visits.drop("visits_release")

    def test_the_same_downcoding_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """With NULLs and labels of every level; the labels are read as if local recoding had chosen them."""
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": FEW, "suppression": {"max_share": 0.2}})
        local = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": "local"})
        reference.drop("visits_release")
        audits = []
        for own in (reference.engine, engine):
            assert kanon_sql.anonymize(own, spec).passed
            audits.append(kanon_sql.audit(own, local, attacks=["downcoding"]))
        theirs, ours = audits
        assert [attack.label for attack in ours.attacks] == [attack.label for attack in theirs.attacks]
        for attack, expected in zip(ours.attacks, theirs.attacks, strict=True):
            assert (attack.examined, attack.exposed, attack.notes) == (
                expected.examined, expected.exposed, expected.notes,
            ), attack.label  # fmt: skip
            assert attack.risk is not None
            assert expected.risk is not None
            assert isclose(attack.risk, expected.risk, abs_tol=1e-9)

    def test_rows_are_mapped_to_persons_as_by_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """Rows that fit no person, that are about no person who fits, and that fit k: a release of other rows."""
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": FEW, "suppression": {"max_share": 0.2}})
        release = {"age": "text", "sex": "text", "illness": "text"}
        rows = [
            ("[20, 40)", "x", "flu"),
            ("[20, 40)", "y", None),
            ("[40, 60)", "z", "flu"),
            (None, "x", "ulcer"),
            ("0", "M", "Flu"),
        ]
        found = []
        for where, own in ((reference, reference.engine), (with_visits, engine)):
            where.table("made_up", release, [row for row in rows for _ in range(20)])
            found.append(
                kanon_sql.audit(own, spec, "made_up", external="visits", on=["age", "sex"], attacks=["mapping"])
            )
            where.drop("made_up")
        theirs, ours = found
        assert_equal(ours.to_dict()["attacks"], theirs.to_dict()["attacks"])
        assert ": 0 fit no person" not in ours.attacks[0].notes[0]
        assert "at least 0 fit" not in ours.attacks[0].notes[0]

    def test_the_same_audit_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        spec = kanon_sql.Spec.from_dict({**SPEC, "suppression": {"max_share": 0.2, "style": "mask"}})
        reference.drop("visits_release")
        meanings = {"illness": {"tree": {"Infection": ["flu", "Flu"], "Other": ["ulcer", "asthma"]}}}
        before, audits = set(with_visits.tables()), []
        for own in (reference.engine, engine):
            assert kanon_sql.anonymize(own, spec).passed
            audits.append(
                kanon_sql.audit(
                    own, spec, external="visits", on=["age", "zip", "charge"], earlier=["visits_release"],
                    hierarchies=meanings, negations=2,
                )
            )  # fmt: skip
        assert set(with_visits.tables()) - before <= {"visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}
        theirs, ours = audits
        assert ours.verdict == theirs.verdict == "fail"
        assert not any("CREATE" in sql for sql in ours.sql)
        expected = {attack.label: attack for attack in theirs.attacks if attack.name != "unsorted"}
        found = {attack.label: attack for attack in ours.attacks if attack.name != "unsorted"}
        assert found.keys() == expected.keys()
        for label, attack in expected.items():
            same_one = found[label]
            assert (same_one.examined, same_one.exposed, same_one.beyond) == (
                attack.examined, attack.exposed, attack.beyond,
            ), label  # fmt: skip
            assert attack.risk is not None
            assert same_one.risk is not None
            assert isclose(same_one.risk, attack.risk, abs_tol=1e-9), label

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_a_population_protects_as_by_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """k-map and delta-presence while searching, in the release, and in check, where labels find their people."""
        census = [
            (*row[2:6], None if number % 11 == 0 else f"keeper {number % 40}")
            for number, row in enumerate([*visits(), *visits(9), *visits(10)])
        ]
        columns = {name: VISITS[name] for name in ("age", "zip", "born", "sex")} | {"keeper": "text"}
        with_visits.table("census", columns, census)
        reference.table("census", columns, census)
        asked = [
            {"k_map": {"population": "census", "k": 4}},
            {"k_map": {"population": "census", "person": "keeper", "k": 3}},
            {"delta_presence": {"population": "census", "delta_max": 0.6}},
            {"risk": {"attacker": "journalist", "population": "census", "average": 0.5, "highest": 0.25}},
            {"risk": {"attacker": "marketer", "population": "census", "average": 0.45}},
            {"profitability": {"population": "census", "benefit": 12, "loss": 30, "gain": 15, "cost": 2}},
        ]
        spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": asked})
        reference.drop("visits_release")
        theirs = kanon_sql.anonymize(reference.engine, spec)
        assert theirs.passed
        same(kanon_sql.anonymize(engine, spec), theirs)
        assert multiset(with_visits.rows("visits_release")) == multiset(reference.rows("visits_release"))
        for table in ("visits_release", "visits"):
            same(
                kanon_sql.check(engine, spec, table, count_rows=True),
                kanon_sql.check(reference.engine, spec, table, count_rows=True),
            )
        lower = {"delta_presence": {"population": "census", "delta_min": 0.02, "delta_max": 1}}
        spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": [lower]})
        same(
            kanon_sql.plan(engine, spec, compare_recoding=None),
            kanon_sql.plan(reference.engine, spec, compare_recoding=None),
        )
        with_visits.drop("census")

    def test_the_same_beliefs_and_consistency_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """A release and a source judged against a weighted background; rows that several classes may be behind."""
        draw = random.Random(5)
        columns = {name: VISITS[name] for name in ("age", "zip", "born", "sex", "illness")} | {"share": "double"}
        values = ("flu", "Flu", "ulcer", "asthma", None)
        survey = [(*row[2:6], value, draw.randint(1, 9) / 4) for row in visits() for value in values]
        for database in (with_visits, reference):
            database.table("survey", columns, survey)
        believed = {"attribute": "illness", "background": "survey", "weight": "share", "theta": 0.3, "epsilon": 0.01}
        spec = kanon_sql.Spec.from_dict(SPEC)
        reference.drop("visits_release")
        for item in (reference.engine, engine):
            assert kanon_sql.anonymize(item, spec).passed
        labels = dict.fromkeys(("age", "zip", "born", "sex", "illness"), "text")
        released = sorted(reference.rows("visits_release"), key=str)
        masked = [(*(["*"] * 4 if draw.random() < 0.3 else row[:4]), row[4]) for row in released]
        for database in (with_visits, reference):
            database.table("masked", labels, masked)
        judged = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"bayes_optimal": believed}]})
        same(kanon_sql.check(engine, judged), kanon_sql.check(reference.engine, judged))
        for table in ("visits_release", "masked"):
            ours, theirs = (
                kanon_sql.audit(item, spec, table, attacks=["consistency"]).to_dict()
                for item in (engine, reference.engine)
            )
            assert len(theirs["attacks"]) == 3
            assert_equal(ours["attacks"], theirs["attacks"])
        with_visits.drop("survey")
        with_visits.drop("masked")

    def test_rows_and_records_are_compared_as_by_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """All notions of k-anonymity revisited, of rows that overlap, with NULLs; assignments are found by a flow."""
        case = {**SPEC, **CASES["kk, levels limited, NULLs, rows suppressed"]}
        case["suppression"] = {"max_rows": 0}
        age, illness = ({**case["quasi_identifiers"][name], "maximum_level": None} for name in ("age", "illness"))
        case["quasi_identifiers"] = {**case["quasi_identifiers"], "age": age, "illness": illness}
        reference.drop("visits_release")
        assert kanon_sql.anonymize(reference.engine, kanon_sql.Spec.from_dict(case)).passed
        rows = [row[:-1] for row in sorted(reference.rows("visits_release"), key=str)]
        labels = dict.fromkeys(("age", "zip", "sex", "illness"), "text")
        for database in (with_visits, reference):
            database.table("overlapping", labels, rows)
        kinds = [{"kk_anonymity": {"k": 3, "variant": kind}} for kind in ("kk", "1k", "k1", "global_1k")]
        spec = kanon_sql.Spec.from_dict({**case, "privacy": kinds, "recoding": "full_domain"})
        ours, theirs = (kanon_sql.check(item, spec, "overlapping") for item in (engine, reference.engine))
        same(ours, theirs)
        assert [item["k"] >= 3 for item in theirs.achieved.values()][:3] == [True] * 3
        assert theirs.cost.rows_fetched > 20
        with_visits.drop("overlapping")

    def test_the_same_hierarchies_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Rules and a tree that lacks a value; nothing but SELECT and temporary tables."""
        tree = {"tree": {"chronic": ["asthma", "ulcer"], "acute": ["flu"]}}
        hierarchies = {"age": {"intervals": [5, 20], "top": 60}, "zip": {"prefix": [3, 1]}, "illness": tree}
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": hierarchies, "sensitive": []})
        before = set(with_visits.tables())
        ours, theirs = (kanon_sql.hierarchy(item, spec, reveal=500).to_dict() for item in (engine, reference.engine))
        assert set(with_visits.tables()) == before
        assert ours["cost"]["source_scans"] == 1 or engine.scratch.mode == "inline"
        for found in (ours, theirs):
            del found["cost"]
            for item in found["hierarchies"]:  # equally frequent values come in the engine's own order
                item["examples"].sort(key=str)
                item["missing_values"].sort()
        assert_equal(ours, theirs)

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_the_same_risk_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """Two tables, NULL among the values, combinations of columns; nothing but SELECT."""
        residents = [*visits(), *visits(9)]
        with_visits.table("residents", VISITS, residents)
        reference.table("residents", VISITS, residents)
        spec = kanon_sql.Spec.from_dict(
            {**SPEC, "unit": unit, "quasi_identifiers": {"age": {"intervals": [20]}, "sex": None, "illness": None},
             "sensitive": []}
        )  # fmt: skip
        before = set(with_visits.tables())
        ours, theirs = (
            kanon_sql.risk(item, spec, "visits", population="residents", sampling_fraction=0.5).to_dict()
            for item in (engine, reference.engine)
        )
        assert set(with_visits.tables()) == before
        del ours["cost"], theirs["cost"]
        assert_equal(ours, theirs)
        estimated = {"population_uniqueness": {"share": 0.01, "sampling_fraction": 0.2}}
        asked = kanon_sql.Spec.from_dict({**spec.to_dict(), "privacy": [estimated]})
        same(kanon_sql.check(engine, asked, "visits"), kanon_sql.check(reference.engine, asked, "visits"))
        with_visits.drop("residents")

    def test_init_suggests_the_same_spec(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        def without_comments(text: str) -> list[str]:
            return [line.split("  #")[0] for line in text.splitlines() if not line.lstrip().startswith("#")]

        ours = init(engine, "visits")
        kanon_sql.Spec.parse(ours)
        assert without_comments(ours) == without_comments(init(reference.engine, "visits"))
