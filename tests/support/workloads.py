"""Tables of which nine tenths of the rows differ, and every model, recoding, search and verb to run over them.

What a planner makes of their statements is looked at in ``test_planners.py``; how long they take is for
``benchmarks/combinations.py`` to measure.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean

KINDS = {
    "person": "INTEGER", "birth": "INTEGER", "zip": "VARCHAR(5)", "sex": "VARCHAR(1)",
    "diagnosis": "VARCHAR(9)", "detail": "VARCHAR(9)", "amount": "INTEGER", "wish": "INTEGER",
}  # fmt: skip


def rows_of(count: int, seed: int = 1) -> list[tuple[Any, ...]]:
    """Visits of which nine tenths differ in their quasi-identifiers; each person has about four."""
    draw = random.Random(seed)
    people = [(draw.randrange(20_000), f"{draw.randrange(90_000) + 10_000}", draw.choice("FM")) for _ in range(count)]
    return [
        (draw.randrange(count // 4), *draw.choice(people[index // 2 * 2 :][:1] if index % 10 == 0 else [people[index]]),
         f"d{draw.randrange(20)}", f"e{draw.randrange(count)}", draw.randrange(1000), draw.choice((2, 3, 5)))
        for index in range(count)
    ]  # fmt: skip


def fill(subject: Subject, name: str, rows: list[tuple[Any, ...]]) -> None:
    columns = ", ".join(f"{subject.dialect.quote(column)} {kind}" for column, kind in KINDS.items())
    subject.execute(subject.create(subject.dialect.quote(name), columns))
    for start in range(0, len(rows), 1000):
        values = ", ".join(
            "(" + ", ".join(str(cell) if isinstance(cell, int) else f"'{cell}'" for cell in row) + ")"
            for row in rows[start : start + 1000]
        )
        subject.execute(f"INSERT INTO {subject.dialect.quote(name)} VALUES {values}")


QUASI = {
    "birth": {"intervals": [10, 100, 1000, 10000]},
    "zip": {"prefix": [4, 3, 2, 1]},
    "sex": None,
}
FEW_LABELS = {"birth": {"intervals": [100, 1000, 10000]}, "zip": {"prefix": [2, 1]}, "sex": None}
"""Of which a step a round can be taken."""
K = {"k_anonymity": {"k": 5}}
L = {"l_diversity": {"attribute": "diagnosis", "l": 3}}
WIDE = {"l_diversity": {"attribute": "detail", "l": 3}}


def spec_dict(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1, "source": "visits", "release": "visits_release", "quasi_identifiers": QUASI,
        "sensitive": ["diagnosis"], "keep": ["amount"], "privacy": [K], "suppression": {"max_share": 0.05},
        "warnings": {"rows_not_persons": "allow"}, **changes,
    }  # fmt: skip


OF_RESIDENTS = (
    "SELECT visits.person AS person, residents.birth AS birth, residents.zip AS zip, residents.sex AS sex, "
    "visits.diagnosis AS diagnosis, visits.amount AS amount "
    "FROM visits JOIN residents ON visits.person = residents.person"
)
"""Visits under what is known of each person, whose rows are then alike; ClickHouse calls columns by their tables, too,
where both have them, unless they are named."""
DX = {"tree": {f"g{g}": [f"d{n}" for n in range(20) if n % 4 == g] for g in range(4)}}
MODELS: dict[str, dict[str, Any]] = {
    "k": {},
    "l": {"privacy": [K, L]},
    "l entropy": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "entropy"}}]},
    "l recursive": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "recursive", "c": 3}}]},  # noqa: E501
    "l npd": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "npd_recursive", "c": 3, "allow_positive": ["d1"]}}]},  # noqa: E501
    "l estimate": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "entropy", "estimator": "grassberger"}}]},  # noqa: E501
    "t": {"privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}]},
    "t ordered": {"sensitive": ["amount"], "keep": [], "privacy": [K, {"t_closeness": {"attribute": "amount", "t": 0.3, "distance": "ordered"}}]},  # noqa: E501
    "t hierarchical": {"privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6, "distance": "hierarchical", "hierarchy": DX}}]},  # noqa: E501
    "alpha": {"privacy": [{"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.5, "k": 5}}]},
    "p": {"privacy": [{"p_sensitive_k_anonymity": {"attribute": "diagnosis", "p": 2, "k": 5}}]},
    "beta": {"privacy": [K, {"beta_likeness": {"attribute": "diagnosis", "beta": 9, "variant": "enhanced"}}]},
    "delta": {"privacy": [{"delta_disclosure": {"attribute": "diagnosis", "delta": 2}}]},
    "ck 0": {"privacy": [{"ck_safety": {"attribute": "diagnosis", "c": 0.9, "k": 0}}]},
    "ck 1": {"privacy": [{"ck_safety": {"attribute": "diagnosis", "c": 0.9, "k": 1}}]},
    "skyline": {"privacy": [{"privacy_skyline": {"attribute": "diagnosis", "l": 1, "k": 1, "m": 1, "c": 0.9}}]},
    "epsilon": {"privacy": [{"epsilon_privacy": {"attribute": "diagnosis", "epsilon": 3, "stubbornness": 10}}]},
    "k map": {"privacy": [{"k_map": {"population": "census", "k": 5}}]},
    "presence": {"privacy": [K, {"delta_presence": {"population": "census", "delta_max": 0.9}}]},
    "presence persons": {"source": {"query": OF_RESIDENTS}, "unit": "person", "privacy": [K, {"delta_presence": {"population": "residents", "person": "person", "delta_max": 0.9}}]},  # noqa: E501
    "risk": {"privacy": [{"risk": {"average": 0.05, "highest": 0.2, "records_at_risk": 0.01}}]},
    "risk population": {"privacy": [{"risk": {"attacker": "journalist", "population": "census", "average": 0.05, "highest": 0.2}}]},  # noqa: E501
    "k wished": {"sensitive": ["wish"], "keep": [], "privacy": [{"k_anonymity": {"column": "wish", "default": 5}}]},
    "no attack": {"privacy": [{"no_attack": {"gain": 9, "cost": 2}}]},
    "sets": {"privacy": [K, {"k_anonymity": {"k": 9, "quasi_identifiers": ["zip", "sex"]}}]},
    "two": {"sensitive": ["diagnosis", "detail"], "keep": [], "privacy": [K, L, WIDE]},
    "k persons": {"unit": "person"},
    "l persons": {"unit": "person", "privacy": [K, L]},
    "t persons": {"unit": "person", "privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}]},
    "l entropy persons": {"unit": "person", "privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "entropy"}}]},  # noqa: E501
    "wide": {"sensitive": ["detail"], "privacy": [K, WIDE]},
    "wide t": {"sensitive": ["detail"], "privacy": [K, {"t_closeness": {"attribute": "detail", "t": 0.99}}]},
    "wide persons": {"sensitive": ["detail"], "unit": "person", "privacy": [K, WIDE]},
    "wide recursive persons": {"sensitive": ["detail"], "unit": "person", "privacy": [K, {"l_diversity": {"attribute": "detail", "l": 3, "variant": "recursive", "c": 3}}]},  # noqa: E501
    "wide beta": {"sensitive": ["detail"], "privacy": [K, {"beta_likeness": {"attribute": "detail", "beta": 9000, "variant": "basic"}}]},  # noqa: E501
    "wide alpha": {"sensitive": ["detail"], "privacy": [{"alpha_k_anonymity": {"attribute": "detail", "alpha": 0.5, "k": 5}}]},  # noqa: E501
    "wide ck 0": {"sensitive": ["detail"], "privacy": [{"ck_safety": {"attribute": "detail", "c": 0.9, "k": 0}}]},
    "wide ck 1": {"sensitive": ["detail"], "privacy": [{"ck_safety": {"attribute": "detail", "c": 0.9, "k": 1}}]},
    "wide epsilon": {"sensitive": ["detail"], "privacy": [{"epsilon_privacy": {"attribute": "detail", "epsilon": 3, "stubbornness": 10}}]},  # noqa: E501
}  # fmt: skip
RECODINGS: dict[str, dict[str, Any]] = {
    "local": {"recoding": "local"},
    "local best": {"recoding": {"method": "local", "variant": "best"}},
    "local ranges": {"recoding": {"method": "local", "ranges": ["birth"]}, "keep": []},
    "local l": {"recoding": "local", "privacy": [K, L]},
    "local l persons": {"recoding": "local", "unit": "person", "privacy": [K, L]},
    "local wide": {"recoding": "local", "sensitive": ["detail"], "privacy": [K, WIDE]},
    "mondrian": {"recoding": "mondrian"},
    "mondrian relaxed": {"recoding": {"method": "mondrian", "variant": "relaxed"}},
    "mondrian l": {"recoding": "mondrian", "privacy": [K, L]},
    "mondrian l persons": {"recoding": "mondrian", "unit": "person", "privacy": [K, L]},
    "cells": {"recoding": "cells"},
    "cells l": {"recoding": "cells", "privacy": [K, L]},
    "subtree": {"recoding": "subtree", "quasi_identifiers": FEW_LABELS},
    "subtree l persons": {"recoding": "subtree", "quasi_identifiers": FEW_LABELS, "unit": "person", "privacy": [K, L]},
    "subtree bottom": {"recoding": {"method": "subtree", "variant": "bottom_up"}, "quasi_identifiers": FEW_LABELS},
    "subtree ranges": {"recoding": {"method": "subtree", "ranges": ["birth"]}, "quasi_identifiers": FEW_LABELS, "keep": []},  # noqa: E501
    "kk": {"recoding": "kk", "sensitive": [], "privacy": [{"kk_anonymity": {"k": 5, "variant": "kk"}}]},
    "micro": {"recoding": {"method": "microaggregation", "columns": {"birth": "mean"}}, "keep": []},
}  # fmt: skip
SEARCHES: dict[str, dict[str, Any]] = {
    name: {"search": {"algorithm": name}}
    for name in ("samarati", "incognito", "exhaustive", "datafly", "bottom_up", "top_down", "greedy", "annealing", "genetic")  # noqa: E501
} | {
    "k_optimize": {"search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 9}},
    "entropy": {"search": {"metric": "entropy"}},
    "masked": {"suppression": {"max_share": 0.05, "style": "mask"}, "privacy": [K, L]},
}  # fmt: skip


# --- Verbs ---


def _spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(spec_dict(**changes))


@dataclass(frozen=True)
class Verb:
    """A verb over the table ``visits``, with ``census`` as everybody among whom persons are sought.

    Attributes:
        run: the verb.
        prepare: what must be there before, such as a release to attack.
    """

    run: Callable[[Engine], Any]
    prepare: Callable[[Engine], object] = lambda _: None


def load(subject: Subject, rows: int) -> None:
    """The tables ``visits``, ``census`` with twice as many rows, and ``residents`` with a row a person and others."""
    subject.drop("visits_view", "VIEW")  # of a run before
    drawn, others = rows_of(rows), rows_of(rows, 2)
    persons = {row[0]: row for row in [*drawn, *((row[0] + rows, *row[1:]) for row in others)]}
    for name, held in (("visits", drawn), ("census", drawn + others), ("residents", [*persons.values()])):
        subject.drop(name)
        fill(subject, name, held)
    if subject.dialect.name == "mariadb":  # which compares each visit with each resident otherwise, in anybody's query
        subject.execute("CREATE UNIQUE INDEX residents_person ON residents (person)")


def clear(subject: Subject) -> None:
    """Drop what verbs made, and what a release that grows knows of its rows."""
    subject.drop("visits_view", "VIEW")
    for name in ("visits_release", "visits_before", "visits_learned"):
        subject.drop(name)
    with subject.connect() as engine:
        clean(engine, states=True, drop=True)
        clean(engine, drop=True)


COARSE = {
    "birth": {"intervals": [1000, 10000], "minimum_level": 1},
    "zip": {"prefix": [2, 1], "minimum_level": 1},
    "sex": None,
}


def _released_by(changes: dict[str, Any]) -> Verb:
    return Verb(lambda engine: kanon_sql.anonymize(engine, _spec(**changes)))


def _released(**changes: Any) -> Callable[[Engine], object]:
    return lambda engine: kanon_sql.anonymize(engine, _spec(**changes))


def _released_twice(engine: Engine) -> None:
    kanon_sql.anonymize(engine, _spec(release="visits_before", quasi_identifiers=COARSE))
    kanon_sql.anonymize(engine, _spec(privacy=[K, L]))


def _attacked(*attacks: str, **given: Any) -> Callable[[Engine], object]:
    hierarchies = {} if attacks else {"diagnosis": DX}
    return lambda engine: kanon_sql.audit(
        engine, _spec(privacy=[K, L]), hierarchies=hierarchies, attacks=attacks or None, **given
    )


def _attacked_alone(attack: str, privacy: list[dict[str, Any]], **changes: Any) -> Verb:
    """An attack on a release of which no row may be suppressed, and that is judged by nothing else."""
    spec = _spec(privacy=privacy, suppression={"max_rows": 0}, **changes)
    return Verb(
        lambda engine: kanon_sql.audit(engine, spec, attacks=[attack]),
        lambda engine: kanon_sql.anonymize(engine, spec),
    )


def _checked(**changes: Any) -> Verb:
    """The source itself, in which nine tenths of the rows are classes."""
    return Verb(lambda engine: kanon_sql.check(engine, _spec(**changes), "visits"))


def _grown(*, leave: bool, **changes: Any) -> Verb:
    """A release that takes two batches of new rows, and then gives rows away."""
    gone = "SELECT * FROM visits WHERE wish = 3 AND birth < 5000"

    def growing(engine: Engine) -> kanon_sql.Spec:
        schema = "main" if engine.dialect.name == "sqlite" else "kanon_state"
        source = {"query": "SELECT * FROM visits WHERE wish = 2"}
        return _spec(source=source, state={"schema": schema}, **changes)

    def run(engine: Engine) -> Any:
        spec = growing(engine)
        for batch in (3, 5):
            kanon_sql.refresh(engine, spec, inserted=f"SELECT * FROM visits WHERE wish = {batch}", batch=f"of {batch}")
        return kanon_sql.refresh(engine, spec, deleted=gone, batch="gone") if leave else None

    return Verb(run, lambda engine: kanon_sql.anonymize(engine, growing(engine)))


def _learned(recoding: str, **changes: Any) -> Verb:
    """Rows of another table, by what was learned of the first."""
    spec = _spec(recoding={"method": recoding, "save_as": "visits_learned"}, **changes)
    return Verb(
        lambda engine: kanon_sql.apply(engine, spec, "visits_learned", source="census", release="visits_before"),
        lambda engine: kanon_sql.anonymize(engine, spec),
    )


def _certified(**changes: Any) -> Verb:
    def run(engine: Engine) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            return kanon_sql.certify(engine, _spec(**changes), directory + "/certificate")

    return Verb(run, _released(**changes))


TABLE: dict[str, Any] = {
    "version": 1, "kind": "table", "source": "visits", "release": "visits_release", "unit": "person",
    "dimensions": {"zip": {"hierarchy": {"prefix": [2, 1]}, "levels": [2]}, "sex": None},
}  # fmt: skip


def _tabulated(**changes: Any) -> Verb:
    return Verb(lambda engine: kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict({**TABLE, **changes})))


def _view(engine: Engine) -> Any:
    """A view that shows no class that violates a requirement, whatever the source has become."""
    spec = _spec(
        release={"view": "visits_view", "accept_sequence_risk": True}, quasi_identifiers=COARSE, privacy=[K, L]
    )
    return kanon_sql.anonymize(engine, spec)


def _risks(**given: Any) -> Verb:
    return Verb(lambda engine: kanon_sql.risk(engine, _spec(unit="person"), **given))


def _masked(**methods: Any) -> Verb:
    numbered = "SELECT ROW_NUMBER() OVER (ORDER BY person, birth, zip, sex, diagnosis, detail, amount, wish) AS visit, "
    spec: dict[str, Any] = {
        "version": 1, "kind": "perturbed",
        "source": {"query": numbered + "birth, zip, sex, diagnosis, amount FROM visits"}, "key": "visit",
        "release": "visits_release", "perturb": methods, "keep": ["zip", "sex"],
    }  # fmt: skip
    return Verb(lambda engine: kanon_sql.perturb(engine, kanon_sql.PerturbSpec.from_dict(spec)))


CLOAK: dict[str, Any] = {
    "version": 1, "kind": "positions",
    "source": "visits", "release": "visits_release", "unit": "person", "k": 5,
    "position": {"columns": ["birth", "amount"], "bounds": [0, 0, 32768, 32768], "depth": 7},
    "suppression": {"max_share": 0.5},
}  # fmt: skip

VERBS: dict[str, Verb] = {
    "audit": Verb(_attacked(), _released_twice),
    "audit linked": Verb(
        _attacked(external="census", on=["birth", "zip", "sex"], earlier=["visits_before"]), _released_twice
    ),
    "audit of rows": Verb(
        _attacked(table="visits", external="census", on=["birth", "zip", "sex"], earlier=["census"])
    ),
    **{
        f"audit {name}": Verb(_attacked(name, **given), _released_twice)
        for name, given in {
            "correspondence": {"earlier": ["visits_before"]},
            "correspondence_backward": {"earlier": ["visits_before"]},
            "mapping": {"external": "census", "on": ["birth", "zip", "sex"]},
            "definetti": {}, "consistency": {},
            "views": {"other_views": ["visits_before"]},
        }.items()
    },
    "audit minimality": _attacked_alone("minimality", [K, {"l_diversity": {"attribute": "diagnosis", "l": 2}}]),
    "audit downcoding": _attacked_alone("downcoding", [K]),
    "audit refinement": _attacked_alone("refinement", [K], recoding="local"),
    "audit refinement of a node": _attacked_alone("refinement", [K]),
    "audit refinement of ranges": _attacked_alone("refinement", [K], **RECODINGS["local ranges"]),
    "compare": Verb(lambda engine: kanon_sql.compare(
        engine, {"one": _spec(privacy=[K, L])}, [2, 5], recodings=["full_domain", "local"], classify="diagnosis"
    )),
    "risk": _risks(),
    "risk of a sample": _risks(sampling_fraction=0.5),
    "risk in a population": _risks(population="census"),
    "refresh": _grown(leave=True),
    "refresh l": _grown(leave=False, privacy=[K, L]),
    "refresh of persons": _grown(leave=True, unit="person", privacy=[K, L]),
    "check": _checked(privacy=[K, L, WIDE], sensitive=["diagnosis", "detail"]),
    "check t": _checked(privacy=[K, {"t_closeness": {"attribute": "detail", "t": 0.99}}], sensitive=["detail"]),
    "check k map": _checked(privacy=[{"k_map": {"population": "census", "k": 5}}]),
    "check presence": _checked(privacy=[K, {"delta_presence": {"population": "census", "delta_max": 0.9}}]),
    "check risk": _checked(privacy=[{"risk": {"attacker": "journalist", "population": "census", "average": 0.05, "highest": 0.2}}]),  # noqa: E501
    "check ck": _checked(privacy=[{"ck_safety": {"attribute": "detail", "c": 0.9, "k": 1}}], sensitive=["detail"]),
    "apply levels": _learned("full_domain"),
    "apply local": _learned("local"),
    "apply mondrian": _learned("mondrian"),
    "apply local l": _learned("local", privacy=[K, L]),
    "tabulate": _tabulated(rules={"threshold": 3}, count="rows", protection={"method": "conventional_rounding", "base": 5}),  # noqa: E501
    "tabulate sums": _tabulated(rules={"dominance": {"n": 2, "k": 75}}, measure="amount", protection="collapsing"),
    "certify": _certified(),
    "certify l": _certified(privacy=[K, L], quasi_identifiers=COARSE),
    "certify t": _certified(privacy=[K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}]),
    "certify local": _certified(recoding="local"),
    "view": Verb(_view),
    "perturb": _masked(amount={"noise": {"share": 0.1}}, diagnosis={"pram": {"retain": 0.8}}, birth={"rank_swap": {"share": 0.05}}),  # noqa: E501
    "cloak": Verb(lambda engine: kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict(CLOAK))),
    "plan with a report": Verb(lambda engine: kanon_sql.plan(
        engine, _spec(privacy=[K, L]), details=True, distributions=True, compare_recoding="local", explain=True
    )),
    "init": Verb(lambda engine: kanon_sql.init(engine, "visits")),
}  # fmt: skip

COMBINATIONS: dict[str, Verb] = {
    **{
        f"{what}: {name}": _released_by(changes)
        for what, cases in (("model", MODELS), ("recoding", RECODINGS), ("search", SEARCHES))
        for name, changes in cases.items()
    },
    **{f"verb: {name}": verb for name, verb in VERBS.items()},
}
"""Every model, recoding and search algorithm in ``anonymize``, and every verb."""
