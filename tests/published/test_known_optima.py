"""The optima and losses that ARX's own tests assert for the Adult extract, in the forms of its metrics.

`adult_answers` has half of those that ARX's developers wrote for this table. Each is asked here if a spec can say it:
which cannot, and why, is `why_not`, and their number is asserted. Losses are compared, not levels: several nodes may
share the lowest one.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.evaluate.search import searched
from kanon_sql.release.differential.parameters import Sampling, sampling_for
from kanon_sql.search import Ranked
from tests.support.literature import adult_answers, adult_dir, adult_hierarchy
from tests.support.suppressions import suppressing

ADULT = adult_dir()
pytestmark = [
    pytest.mark.skipif(ADULT is None, reason="the Adult extract is not here; KANON_SHARED names its folder"),
    pytest.mark.xdist_group("known optima"),  # one worker reads the tables once
]
FOLDER = ADULT or Path()
ANSWERS: dict[str, Any] = adult_answers(FOLDER) if ADULT else {}
CASES: list[dict[str, Any]] = ANSWERS.get("optimum_cases", [])
ALL = bool(os.environ.get("KANON_ALL_KNOWN_ANSWERS"))
EVERY = 1 if ALL else 24
"""Of the searches every n-th runs; KANON_ALL_KNOWN_ANSWERS=1 runs all of them (half an hour)."""
COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip

Case = Mapping[str, Any]

METRICS = {
    "MetricMDHeight": "height",
    "MetricMDNMLoss": "loss",
    "MetricMDNMLossPotentiallyPrecomputed": "loss",
    "MetricMDNMPrecision": "precision",
    "MetricMDPrecision": "precision",
    "MetricMDNUEntropyPotentiallyPrecomputed": "entropy",
    "MetricMDNUNMEntropy": "entropy",
    "MetricMDNUNMEntropyPotentiallyPrecomputed": "entropy",
    "MetricSDAECS": "average_class_size",
    "MetricSDDiscernability": "discernibility",
    "MetricSDNMDiscernability": "discernibility",
    "MetricSDNMEntropyBasedInformationLoss": "publisher_payout",
    "MetricSDNMPublisherPayout": "publisher_payout",
}
MONOTONE = {"MetricMDPrecision", "MetricMDNUEntropyPotentiallyPrecomputed", "MetricSDDiscernability"}
AGGREGATES = {
    "Sum": "sum",
    "Rank": "rank",
    "Maximum": "maximum",
    "Arithmetric mean": "arithmetic_mean",
    "Geometric mean": "geometric_mean",
}

PRICES = {
    1: {"gain": 120, "cost": 20, "loss": 3000, "benefit": 1200},
    3: {"gain": 120, "cost": 20, "loss": 3000, "benefit": 120},
    5: {"gain": 1000, "cost": 20, "loss": 3000, "benefit": 120},
}
"""By the number of the case in TestAnonymizationProfitability, which has what the answers leave out."""
AT_GIVEN_LEVELS = (0, 2, 4, 18)
"""Cases of TestAnonymizationDifferentialPrivacy that choose no levels by chance. A release is then of drawn rows."""
ROWS = 30162
NO_ATTACK = {"gain": 0, "cost": 1, "loss": 0, "benefit": 1}
"""What a record earns then is the detail that it has: ARX's entropy-based information loss."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with duckdb.connect(config={"threads": 2}) as connection:
        for table, file in (("adult", "adult.csv"), ("subset", "adult_subset.csv")):
            connection.execute(
                f"CREATE TABLE {table} AS SELECT * FROM read_csv(?, delim = ';', header = true, all_varchar = true)",
                [str(FOLDER / file)],
            )
        # The order of texts, which is what ARX's ordered distance goes by here, as numbers.
        connection.execute(
            "CREATE TABLE ranked AS SELECT * EXCLUDE occupation, DENSE_RANK() OVER (ORDER BY occupation) AS occupation "
            "FROM adult"
        )
        for case in CASES:
            for rows in included_rows(case):
                connection.execute(
                    f"CREATE OR REPLACE TABLE {source_of(case)} AS SELECT * EXCLUDE place FROM "
                    "(SELECT *, row_number() OVER () - 1 AS place FROM adult) WHERE list_contains(?, place)",
                    [rows],
                )
        yield kanon_sql.connect(connection)


def included_rows(case: Case) -> list[list[int]]:
    """The numbers of the rows that a case is about, where it lists some, or says how they are drawn."""
    listed = [criterion["subset_rows"] for criterion in case["criteria"] if "subset_rows" in criterion]
    drawn = [criterion for criterion in case["criteria"] if criterion["model"] == "EDDifferentialPrivacy"]
    return listed + [drawn_rows(float(sampling_of(criterion).probability)) for criterion in drawn]


def sampling_of(criterion: Case) -> Sampling:
    """The probability and the k that epsilon and delta allow. ARX's k is one larger."""
    return sampling_for(Fraction(criterion["epsilon"]), Fraction(str(criterion["delta"])))


def drawn_rows(probability: float) -> list[int]:
    """The rows that ARX draws where its generator is not to be random: java.util.Random, seeded with 0xDEADBEEF.

    Its documentation says how: a linear congruential generator of 48 bits, of which a double takes 26 and 27.
    """
    state = (0xDEADBEEF - 2**32 ^ 0x5DEECE66D) % 2**48

    def bits(count: int) -> int:
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        return state >> 48 - count

    return [number for number in range(ROWS) if (bits(26) * 2**27 + bits(27)) / 2**53 < probability]


def source_of(case: Case) -> str:
    """The table that a case is about."""
    if included_rows(case):
        return f"included_{case['test_class']}_{case['case_index']}"
    if any(criterion["model"] == "OrderedDistanceTCloseness" for criterion in case["criteria"]):
        return "ranked"
    return "subset" if any("subset_size" in criterion for criterion in case["criteria"]) else "adult"


# --- What a spec can say -------------------------------------------------------------------------


def requirement_of(criterion: Case, folder: Path, number: int) -> dict[str, Any] | str:
    """A criterion of a case as a requirement here, empty where the source alone says it; or why it is none."""
    match criterion["model"]:
        case "KAnonymity":
            return {"k_anonymity": {"k": criterion["k"]}}
        case "EntropyLDiversity" if criterion.get("estimator", "shannon").lower() == "shannon":
            return {"l_diversity": {"attribute": criterion["attribute"], "l": criterion["l"], "variant": "entropy"}}
        case "RecursiveCLDiversity":
            parameters = {"attribute": criterion["attribute"], "l": int(criterion["l"]), "c": criterion["c"]}
            return {"l_diversity": {**parameters, "variant": "recursive"}}
        case "EqualDistanceTCloseness":
            return {"t_closeness": {"attribute": criterion["attribute"], "t": criterion["t"]}}
        case "OrderedDistanceTCloseness":
            return {"t_closeness": {"attribute": criterion["attribute"], "t": criterion["t"], "distance": "ordered"}}
        case "HierarchicalDistanceTCloseness":
            file = folder / "distances.csv"
            with file.open("w", encoding="utf-8", newline="") as written:
                csv.writer(written, delimiter=";").writerows(criterion["hierarchy"])
            parameters = {"attribute": criterion["attribute"], "t": criterion["t"]}
            return {"t_closeness": {**parameters, "distance": "hierarchical", "hierarchy": {"file": str(file)}}}
        case "BasicBLikeness":
            parameters = {"attribute": criterion["attribute"], "beta": criterion["beta"]}
            return {"beta_likeness": {**parameters, "variant": "basic"}}
        case "DPresence" if criterion["dmin"] == 0:
            return {"delta_presence": {"population": "adult", "delta_max": criterion["dmax"]}}
        case "DPresence":
            bounds = {"delta_min": criterion["dmin"], "delta_max": criterion["dmax"]}
            return {"delta_presence": {"population": "adult", **bounds}}
        case "KMap" if "subset_size" in criterion:
            found = re.match(r"\((\d+)\)-map", criterion["text"])
            assert found is not None
            return {"k_map": {"population": "adult", "k": int(found[1])}}
        case "KMap" if "Zero-truncated Poisson" in criterion["text"]:
            # TestAnonymizationKMap has the level and the population, which the answers leave out: that of the USA.
            found = re.match(r"\((\d+)\)-map", criterion["text"])
            assert found is not None
            return {"k_map": {"k": int(found[1]), "sampling_fraction": 30162 / 317238626, "significance": 0.01}}
        case "ProfitabilityJournalist":
            return {"profitability": {"population": "adult", **PRICES[number]}}
        case "ProfitabilityJournalistNoAttack":
            return {"no_attack": {"population": "adult", **{key: PRICES[number][key] for key in ("gain", "cost")}}}
        case "EDDifferentialPrivacy" if number in AT_GIVEN_LEVELS:
            return {"k_anonymity": {"k": sampling_of(criterion).k + 1}}
        case "Inclusion":
            return {}
        case "EDDifferentialPrivacy":
            return "levels that ARX's generator chooses"
        case "PopulationUniqueness" | "SampleUniqueness":
            # Here a node has the share with what the other requirements keep, or does not satisfy.
            return "a share that ARX suppresses classes to reach"
    return str(criterion["model"])


def is_drawn(case: Case) -> bool:
    """Whether a case is about drawn rows. Whatever its limit is, classes of too few of them are suppressed."""
    return any(criterion["model"] == "EDDifferentialPrivacy" for criterion in case["criteria"])


def has_lower_bound(case: Case) -> bool:
    """Whether somebody must not be known to be absent. ARX suppresses classes that are, and does not mind that their
    persons then surely are; here a release leaves nobody of the population out, or there is none."""
    return any(criterion.get("dmin") for criterion in case["criteria"])


def why_not(case: Case) -> str | None:
    """Why no spec says what a case asks for; None where one does."""
    if has_lower_bound(case) and float(case["suppression_limit"]):
        return "delta_min, where ARX suppresses those whom it is to protect"
    for criterion in case["criteria"]:
        found = (
            requirement_of(criterion, Path(os.devnull).parent, case["case_index"])
            if "hierarchy" not in criterion
            else {}
        )
        if isinstance(found, str):
            return found
    return None if case["metric"]["class"] in METRICS else str(case["metric"]["class"])


OPTIMA = [case for case in CASES if why_not(case) is None]
FIXED = [case for case in ANSWERS.get("loss_per_transformation_cases", []) if why_not(case) is None]


def columns_of(case: Case) -> list[str]:
    """The quasi-identifiers of a case.

    Those with a hierarchy builder have the age alone (TestDomainShare), with a hierarchy that is not among the answers.
    Their optimum is at level 0, where its loss is the share of suppressed rows, whatever is above.
    """
    if case.get("uses_hierarchy_builder"):
        return ["age"]
    return [name for name in COLUMNS if name != case["excluded_or_sensitive_attribute"]]


def search_of(case: Case) -> dict[str, Any]:
    """The metric of a case in the form that the case gives it."""
    metric = case["metric"]
    if METRICS[metric["class"]] == "publisher_payout":
        of_payout = metric["class"] == "MetricSDNMPublisherPayout"
        return {"metric": "publisher_payout", "prices": PRICES[case["case_index"]] if of_payout else NO_ATTACK}
    options: dict[str, Any] = {"metric": METRICS[metric["class"]], "gs_factor": metric["gs_factor"]}
    if metric["class"].startswith("MetricMD"):
        options["aggregate"] = AGGREGATES[metric["aggregate"]]
    return {**options, "monotone": metric["class"] in MONOTONE}


def spec_of(case: Case, folder: Path, levels: Sequence[int] | None = None) -> kanon_sql.Spec:
    """The spec of a case; with `levels` its lattice is that one node."""
    columns = columns_of(case)
    quasi: dict[str, Any] = {name: {"file": str(FOLDER / f"hierarchy_{name}.csv")} for name in columns}
    for name, level in zip(columns, levels, strict=True) if levels else ():
        quasi[name] |= {"minimum_level": level, "maximum_level": level}
    for name, weight in case["attribute_weights"].items():
        if name in quasi:
            quasi[name]["weight"] = weight
    requirements = [requirement_of(criterion, folder, case["case_index"]) for criterion in case["criteria"]]
    written = [item for item in requirements if isinstance(item, dict) and item]
    attributes = {next(iter(item.values())).get("attribute") for item in written}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": source_of(case),
            "quasi_identifiers": quasi,
            "sensitive": sorted(name for name in attributes if name),
            "privacy": written,
            "suppression": suppressing(1.0 if is_drawn(case) else float(case["suppression_limit"])),
            "search": search_of(case),
        }
    )


def agrees(value: float | None, expected: str) -> bool:
    """Losses, or the ranks of losses, as the answers write them: floored at 10 decimals, summed in another order."""
    if not expected.startswith("["):
        return value is not None and math.isclose(value, float(expected), rel_tol=3e-9, abs_tol=1e-8)
    assert isinstance(value, Ranked)
    pairs = zip(value.losses, json.loads(expected), strict=True)
    return all(math.isclose(one, other, rel_tol=3e-9, abs_tol=1e-8) for one, other in pairs)


def test_how_many_of_the_published_cases_a_spec_can_say() -> None:
    assert len(CASES) == 128
    assert len(OPTIMA) == 111
    refused = Counter(reason for case in CASES if (reason := why_not(case)) is not None)
    assert refused == {
        "levels that ARX's generator chooses": 8,
        "delta_min, where ARX suppresses those whom it is to protect": 6,
        "a share that ARX suppresses classes to reach": 3,
    }
    assert len(FIXED) == 45


# --- The answers ---------------------------------------------------------------------------------


def case_id(case: Case) -> str:
    return f"{case['test_class']}-{case['case_index']}-{case['metric']['class']}"


@contextmanager
def measured_at(
    engine: Engine, case: Case, folder: Path, nodes: Sequence[Sequence[int]]
) -> Iterator[list[tuple[bool, float | None]]]:
    """Per node: whether it satisfies, and the metric."""
    # Searching a lattice of one node costs nothing; any other node may then be asked about.
    with searched(engine, spec_of(case, folder, nodes[0])) as found:
        verdicts = {
            v.node: v for v in found.evaluator.verdicts([tuple(node) for node in nodes], found.evaluator.metric)
        }
        yield [(verdicts[tuple(node)].satisfied, verdicts[tuple(node)].metric) for node in nodes]


def one_of_each(cases: Sequence[Case]) -> list[Any]:
    """One quick case per kind of requirement, metric and suppression; the rest are slow."""
    seen: set[tuple[Any, ...]] = set()
    marked = []
    for case in cases:
        models = "+".join(sorted(criterion["model"] for criterion in case["criteria"]))
        options = tuple(map(str, search_of(case).values())), bool(case["attribute_weights"])
        kind = (models if options[0][0] != "loss" else "", options, case["suppression_limit"] > 0)
        marked.append(pytest.param(case, id=case_id(case), marks=[pytest.mark.slow] if kind in seen else []))
        seen.add(kind)
    return marked


@pytest.mark.parametrize("case", one_of_each(OPTIMA))
@pytest.mark.sampled(40)
def test_the_loss_at_a_published_optimum(engine: Engine, tmp_path: Path, case: Case) -> None:
    if case["expected_levels"] is None:
        columns = columns_of(case)
        tops = [len(next(iter(adult_hierarchy(FOLDER, name).values()))) - 1 for name in columns]
        assert kanon_sql.plan(engine, spec_of(case, tmp_path, tops)).node is None, "not even the highest node"
        return
    with measured_at(engine, case, tmp_path, [case["expected_levels"]]) as [(satisfied, value)]:
        # Where all drawn rows are suppressed, ARX releases a table of asterisks.
        assert satisfied or (is_drawn(case) and agrees(1.0, case["expected_info_loss"]))
        assert agrees(value, case["expected_info_loss"])


def is_searched(case: Case) -> bool:
    """Whether a case has an optimum that is sure to be the best."""
    given = is_drawn(case) or case.get("uses_hierarchy_builder")
    return bool(case["guaranteed_optimal"] and case["expected_levels"] and not given)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in OPTIMA if is_searched(case)][::EVERY], ids=case_id)
def test_a_published_optimum_is_found(engine: Engine, tmp_path: Path, case: Case) -> None:
    with searched(engine, spec_of(case, tmp_path)) as found:
        assert found.outcome.proven
        assert agrees(found.outcome.best.metric, case["expected_info_loss"])


@pytest.mark.parametrize("case", FIXED, ids=case_id)
@pytest.mark.sampled(48)
def test_the_loss_of_given_nodes(engine: Engine, tmp_path: Path, case: Case) -> None:
    expected = {
        tuple(int(level) for level in text.strip("[]").split(",")): value
        for text, value in case["expected_loss_by_levels"].items()
    }
    with measured_at(engine, case, tmp_path, list(expected)) as answers:
        compared = [
            agrees(value, str(wanted))
            for wanted, (satisfied, value) in zip(expected.values(), answers, strict=True)
            if satisfied or not has_lower_bound(case)
        ]
        assert compared
        assert all(compared)
