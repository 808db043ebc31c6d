"""Worked examples of the literature, and ARX's own small cases, through the public interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import kanon_sql
from tests.conftest import Database
from tests.support import literature as lit
from tests.support.suppressions import suppressing

K2 = [{"k_anonymity": {"k": 2}}]
ALGORITHMS = ["optimal", "incognito", "samarati", "exhaustive"]


def spec_of(
    database: Database,
    rows: Sequence[Mapping[str, str]],
    hierarchies: Mapping[str, Mapping[str, tuple[str, ...]]],
    privacy: list[dict[str, Any]],
    sensitive: Sequence[str] = (),
    **more: Any,
) -> kanon_sql.Spec:
    """Load a table and its hierarchies and name them in a spec."""
    database.table("people", list(rows[0]), [list(row.values()) for row in rows])
    for column, hierarchy in hierarchies.items():
        lines = list(hierarchy.values())
        database.table(f"hierarchy_{column}", [f"level{n}" for n in range(len(lines[0]))], lines)
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {column: {"table": f"hierarchy_{column}"} for column in hierarchies},
            "sensitive": list(sensitive),
            "privacy": privacy,
            **more,
        }
    )


def minimal_of(result: kanon_sql.results.Plan) -> set[tuple[int, ...]]:
    return {tuple(node) for node in result.to_dict(all_minimal=True)["search"]["minimal"]}


def released(database: Database) -> Counter[tuple[Any, ...]]:
    return Counter(database.rows("people_release"))


# --- k-anonymity: Samarati, Ciriani et al. --------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["exhaustive", "incognito"])
@pytest.mark.parametrize("limit", [lit.SAMARATI_MAX_SUP, 0.23])
def test_samarati_minimal_generalizations(database: Database, algorithm: str, limit: float | int) -> None:
    """GT[0,0] is refused, GT[1,0] and GT[0,1] are the 2-minimal generalizations."""
    spec = spec_of(
        database,
        lit.NINE_PATIENTS,
        lit.SAMARATI_HIERARCHIES,
        [{"k_anonymity": {"k": lit.SAMARATI_K}}],
        suppression=suppressing(limit),
        search={"algorithm": algorithm},
    )
    result = kanon_sql.plan(database.engine, spec)
    assert result.passed
    assert minimal_of(result) == lit.SAMARATI_MINIMAL


@pytest.mark.parametrize("criterion", lit.SAMARATI_PREFERRED)
def test_samarati_preferred_generalization(database: Database, criterion: str) -> None:
    spec = spec_of(
        database,
        lit.NINE_PATIENTS,
        lit.SAMARATI_HIERARCHIES,
        [{"k_anonymity": {"k": lit.SAMARATI_K}}],
        suppression=suppressing(lit.SAMARATI_MAX_SUP),
        search={"algorithm": "samarati", "prefer": criterion},
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.node is not None
    assert tuple(result.node.values()) in lit.SAMARATI_PREFERRED[criterion]
    assert result.rows == {"source": 9, "released": 7, "suppressed": 2}
    assert result.achieved["k_anonymity"]["k"] == 2


@pytest.mark.parametrize(("node", "suppressed"), lit.SAMARATI_SUPPRESSED.items())
def test_samarati_suppression_of_every_generalization(
    database: Database, node: tuple[int, int], suppressed: int
) -> None:
    """Level limits pin the node; it is refused exactly when it would suppress more than MaxSup."""
    spec = spec_of(
        database,
        lit.NINE_PATIENTS,
        lit.SAMARATI_HIERARCHIES,
        [{"k_anonymity": {"k": lit.SAMARATI_K}}],
        suppression=suppressing(lit.SAMARATI_MAX_SUP),
        quasi_identifiers={
            column: {"table": f"hierarchy_{column}", "minimum_level": level, "maximum_level": level}
            for column, level in zip(lit.SAMARATI_HIERARCHIES, node, strict=True)
        },
    )
    result = kanon_sql.plan(database.engine, spec)
    assert result.passed is (suppressed <= lit.SAMARATI_MAX_SUP)
    if result.passed:
        assert result.rows["suppressed"] == suppressed
    else:
        assert f"{suppressed} of 9 rows violate it" in result.message


def test_samarati_without_suppression(database: Database) -> None:
    spec = spec_of(
        database,
        lit.NINE_PATIENTS,
        lit.SAMARATI_HIERARCHIES,
        [{"k_anonymity": {"k": lit.SAMARATI_K}}],
        search={"algorithm": "incognito"},
    )
    assert minimal_of(kanon_sql.plan(database.engine, spec)) == {(1, 1), (0, 2)}


def test_samarati_table_cell_by_cell(database: Database) -> None:
    """GT[0,1]: ZIP without its last digit, two outliers left out."""
    spec = spec_of(
        database,
        lit.NINE_PATIENTS,
        lit.SAMARATI_HIERARCHIES,
        [{"k_anonymity": {"k": lit.SAMARATI_K}}],
        suppression=suppressing(lit.SAMARATI_MAX_SUP),
        search={"algorithm": "samarati", "prefer": "maximum_distribution"},
    )
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert released(database) == {("asian", "9414*"): 2, ("asian", "9413*"): 3, ("black", "9413*"): 2}


# --- Incognito --------------------------------------------------------------------------------------

WALKS = [
    (lit.NINE_PATIENTS, lit.WALK_HIERARCHIES, lit.WALK, lit.WALK_MINIMAL),
    (lit.PATIENTS, lit.PATIENTS_HIERARCHIES, lit.PATIENTS_WALK, lit.PATIENTS_MINIMAL),
]


@pytest.mark.parametrize("algorithm", ["exhaustive", "incognito"])
@pytest.mark.parametrize(("rows", "hierarchies", "walk", "minimal"), WALKS, ids=["ciriani", "lefevre"])
def test_incognito_result(
    database: Database, algorithm: str, rows: Any, hierarchies: Any, walk: Any, minimal: Any
) -> None:
    spec = spec_of(database, rows, hierarchies, K2, search={"algorithm": algorithm})
    assert minimal_of(kanon_sql.plan(database.engine, spec)) == minimal


@pytest.mark.parametrize(("rows", "hierarchies", "walk", "minimal"), WALKS, ids=["ciriani", "lefevre"])
def test_incognito_walk(database: Database, rows: Any, hierarchies: Any, walk: Any, minimal: Any) -> None:
    """The graph of every subset of the quasi-identifiers: its minimal nodes, and those that satisfy."""
    for columns, nodes in walk.items():
        chosen = {column: hierarchies[column] for column in columns}
        spec = spec_of(database, rows, chosen, K2, search={"algorithm": "incognito"})
        lowest = {
            node
            for node in nodes
            if not any(o != node and all(a <= b for a, b in zip(o, node, strict=True)) for o in nodes)
        }
        assert minimal_of(kanon_sql.plan(database.engine, spec)) == lowest, columns


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_incognito_released(database: Database, algorithm: str) -> None:
    """Of the minimal nodes of LeFevre's patients, the lowest one is <B1,S1,Z0>."""
    spec = spec_of(
        database, lit.PATIENTS, lit.PATIENTS_HIERARCHIES, K2, search={"algorithm": algorithm, "metric": "height"}
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.node == {"birthdate": 1, "sex": 1, "zipcode": 0}
    assert released(database) == {("*", "*", "53715"): 2, ("*", "*", "53703"): 2, ("*", "*", "53706"): 2}


# --- Sweeney ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "k"), lit.SWEENEY_K, ids=["T", "PT", "GT1", "GT3", "LT"])
def test_sweeney_tables(database: Database, rows: list[dict[str, str]], k: int) -> None:
    spec = spec_of(database, rows, {}, [{"k_anonymity": {"k": 2}}], quasi_identifiers=dict.fromkeys(
        lit.SWEENEY_QUASI_IDENTIFIERS
    ))  # fmt: skip
    result = kanon_sql.check(database.engine, spec, "people")
    assert result.achieved["k_anonymity"]["k"] == k
    assert result.passed is (k >= 2)


# --- l-diversity: Machanavajjhala et al. ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("hierarchies", "distinct", "entropy"),
    [(lit.INPATIENTS_4_ANONYMOUS, 1, 1.0), (lit.INPATIENTS_3_DIVERSE, 3, 2**1.5)],
    ids=["4-anonymous", "3-diverse"],
)
def test_inpatients(database: Database, hierarchies: Any, distinct: int, entropy: float) -> None:
    """Both published versions are 4-anonymous; in one of them a class holds cancer only."""
    pinned = {c: {"table": f"hierarchy_{c}", "minimum_level": 1, "maximum_level": 1} for c in hierarchies}
    spec = spec_of(
        database,
        lit.INPATIENTS,
        hierarchies,
        [
            {"k_anonymity": {"k": 4}},
            {"l_diversity": {"attribute": "condition", "l": 1, "variant": "distinct"}},
            {"l_diversity": {"attribute": "condition", "l": 1, "variant": "entropy"}},
        ],
        ["condition"],
        quasi_identifiers=pinned,
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.classes == {"count": 3, "smallest": 4, "average": 4, "largest": 4}
    assert result.achieved["k_anonymity"]["k"] == 4
    assert result.achieved["distinct_l_diversity(condition)"]["l"] == distinct
    assert result.achieved["entropy_l_diversity(condition)"]["l"] == pytest.approx(entropy)


def counted(database: Database, counts: Sequence[int] | Mapping[str, int], privacy: list[dict[str, Any]]) -> Any:
    """One class with so many rows of each sensitive value, checked."""
    named = counts if isinstance(counts, Mapping) else {f"v{i}": n for i, n in enumerate(counts)}
    rows = [{"q": "a", "s": value} for value, n in named.items() for _ in range(n)]
    spec = spec_of(database, rows, {"q": lit.flat("a")}, privacy, ["s"])
    return kanon_sql.check(database.engine, spec, "people")


@pytest.mark.parametrize("case", lit.RECURSIVE)
def test_recursive_ratio(database: Database, case: lit.Recursive) -> None:
    privacy = [{"l_diversity": {"attribute": "s", "l": case.l, "variant": "recursive", "c": 1000}}]
    result = counted(database, case.counts, privacy)
    assert result.achieved["recursive_cl_diversity(s)"]["c_above"] == pytest.approx(float(case.ratio), rel=1e-12)


@pytest.mark.parametrize(("counts", "parameters", "ok"), [*lit.RECURSIVE_VERDICTS, lit.RECURSIVE_BOUNDARY])
def test_recursive_verdict(database: Database, counts: tuple[int, ...], parameters: dict[str, float], ok: bool) -> None:
    for order in (counts, counts[::-1]):
        privacy = [{"l_diversity": {"attribute": "s", "variant": "recursive", **parameters}}]
        assert counted(database, order, privacy).passed is ok


@pytest.mark.parametrize(("counts", "l", "ok"), lit.ENTROPY_VERDICTS)
def test_entropy_verdict(database: Database, counts: tuple[int, ...], l: int, ok: bool) -> None:  # noqa: E741
    assert counted(database, counts, [{"l_diversity": {"attribute": "s", "variant": "entropy", "l": l}}]).passed is ok


# --- t-closeness ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", lit.T_CLOSENESS)
def test_equal_distance(database: Database, case: lit.Distance) -> None:
    """One class of the table is checked against the whole table."""
    left = Counter(case.of_table) - Counter(case.of_class)
    rows = [{"q": "class", "s": value} for value in Counter(case.of_class).elements()]
    rows += [{"q": "others", "s": value} for value in left.elements()]
    for t in (float(case.t), lit.T_CLOSENESS_IGNORED_THRESHOLD):
        privacy = [{"t_closeness": {"attribute": "s", "t": t}}]
        spec = spec_of(database, rows, {"q": lit.flat("class", "others")}, privacy, ["s"])
        database.connection.execute("CREATE OR REPLACE TABLE one_class AS SELECT * FROM people WHERE q = 'class'")
        result = kanon_sql.check(database.engine, spec, "one_class")
        assert result.achieved["t_closeness(s)"]["t"] == pytest.approx(float(case.t), abs=1e-12)
        assert result.passed is (float(case.t) <= t)


# --- ARX's own small cases -----------------------------------------------------------------------------------
# TestAnonymization.java and DataProvider.java of ARX 3.9.2: metric loss, no suppression.


def numbers(levels: Sequence[int], *zips: str) -> dict[str, tuple[str, ...]]:
    """ZIP codes masked from the right, one digit per level."""
    return {code: tuple(code[: 5 - n] + "*" * n for n in levels) for code in zips}


TINY7 = lit.table(
    "age | gender | zipcode",
    "34 | male | 81667",
    "45 | female | 81675",
    "66 | male | 81925",
    "70 | female | 81931",
    "34 | female | 81931",
    "70 | male | 81931",
    "45 | male | 81931",
)
TINY7_HIERARCHIES = {
    "age": lit.below({"<50": ("34", "45"), ">=50": ("66", "70")}),
    "gender": lit.flat("male", "female"),
    "zipcode": numbers(range(6), "81667", "81675", "81925", "81931"),
}
TCLOSE9 = lit.table(
    "zipcode | age | disease",
    "47677 | 29 | gastric ulcer",
    "47602 | 22 | gastritis",
    "47678 | 27 | stomach cancer",
    "47905 | 43 | gastritis",
    "47909 | 52 | flu",
    "47906 | 47 | bronchitis",
    "47605 | 30 | bronchitis",
    "47673 | 36 | pneumonia",
    "47607 | 32 | stomach cancer",
)
TCLOSE9_HIERARCHIES = {
    "zipcode": numbers(range(6), *(row["zipcode"] for row in TCLOSE9)),
    "age": lit.below({"<=40": ("29", "22", "27", "30", "36", "32"), ">40": ("43", "52", "47")}),
}


@dataclass(frozen=True)
class Arx:
    name: str
    rows: list[dict[str, str]]
    hierarchies: Mapping[str, Mapping[str, tuple[str, ...]]]
    privacy: list[dict[str, Any]]
    levels: dict[str, int]
    released: list[str]
    sensitive: tuple[str, ...] = ()


def without(column: str) -> dict[str, dict[str, tuple[str, ...]]]:
    return {name: hierarchy for name, hierarchy in TINY7_HIERARCHIES.items() if name != column}


BY_GENDER = [
    "34 | male | 81***",
    "45 | female | 81***",
    "66 | male | 81***",
    "70 | female | 81***",
    "34 | female | 81***",
    "70 | male | 81***",
    "45 | male | 81***",
]
ARX = [
    Arx(
        "k-anonymity",
        TINY7,
        TINY7_HIERARCHIES,
        K2,
        {"age": 1, "gender": 1, "zipcode": 2},
        [
            "<50 | * | 816**",
            "<50 | * | 816**",
            ">=50 | * | 819**",
            ">=50 | * | 819**",
            "<50 | * | 819**",
            ">=50 | * | 819**",
            "<50 | * | 819**",
        ],
    ),
    Arx(
        "3-anonymity",
        TINY7,
        TINY7_HIERARCHIES,
        [{"k_anonymity": {"k": 3}}],
        {"age": 2, "gender": 0, "zipcode": 3},
        [
            "* | male | 81***",
            "* | female | 81***",
            "* | male | 81***",
            "* | female | 81***",
            "* | female | 81***",
            "* | male | 81***",
            "* | male | 81***",
        ],
    ),
    *(
        Arx(
            f"{parameters['variant']} 2-diversity",
            TINY7,
            without("age"),
            [{"l_diversity": {"attribute": "age", "l": 2, **parameters}}],
            {"gender": 0, "zipcode": 3},
            BY_GENDER,
            ("age",),
        )
        for parameters in ({"variant": "distinct"}, {"variant": "entropy"}, {"variant": "recursive", "c": 3.0})
    ),
    Arx(
        "t-closeness",
        TCLOSE9,
        TCLOSE9_HIERARCHIES,
        [{"k_anonymity": {"k": 2}}, {"t_closeness": {"attribute": "disease", "t": 0.6}}],
        {"zipcode": 1, "age": 1},
        [
            "4767* | <=40 | gastric ulcer",
            "4760* | <=40 | gastritis",
            "4767* | <=40 | stomach cancer",
            "4790* | >40 | gastritis",
            "4790* | >40 | flu",
            "4790* | >40 | bronchitis",
            "4760* | <=40 | bronchitis",
            "4767* | <=40 | pneumonia",
            "4760* | <=40 | stomach cancer",
        ],
        ("disease",),
    ),
]


@pytest.mark.parametrize("algorithm", ["optimal", "incognito", "exhaustive"])
@pytest.mark.parametrize("case", ARX, ids=lambda case: case.name)
@pytest.mark.sampled(2)
def test_arx(database: Database, algorithm: str, case: Arx) -> None:
    spec = spec_of(
        database,
        case.rows,
        case.hierarchies,
        case.privacy,
        case.sensitive,
        search={"algorithm": algorithm, "metric": "loss"},
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.node == case.levels
    assert released(database) == Counter(tuple(line.split(" | ")) for line in case.released)
    assert kanon_sql.check(database.engine, spec).passed


def test_arx_without_a_step_there_is_no_solution(database: Database) -> None:
    """ARX's hierarchies of one column end where they begin; here that is a level limit."""
    spec = spec_of(
        database,
        TINY7,
        TINY7_HIERARCHIES,
        K2,
        quasi_identifiers={c: {"table": f"hierarchy_{c}", "maximum_level": 0} for c in TINY7_HIERARCHIES},
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.verdict, result.node) == ("fail", None)
    assert "people_release" not in database.tables()
