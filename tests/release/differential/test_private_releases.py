"""Differentially private releases: what is written, what the rows may decide, what is spent, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from math import ceil, comb, e, floor
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.release.differential import mechanism
from kanon_sql.release.differential.parameters import Sampling
from kanon_sql.verbs import private
from kanon_sql.verbs.clean import clean
from tests.conftest import Database
from tests.support.ledgers import entries
from tests.support.private_releases import ROOM, asked, generalized, people, rows_of, searching

K = 10
"""What the requirement below implies: :func:`test_k_follows_from_epsilon_and_delta` works it out."""


@pytest.fixture
def everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins that draw every row."""
    monkeypatch.setattr(private, "operating_system", lambda count: 0)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins that draw no row."""
    monkeypatch.setattr(private, "operating_system", lambda count: (1 << count) - 1)


def release(database: Database, name: str = "r1") -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in database.rows(name))


# --- What is released ---------------------------------------------------------------------------------------


def test_k_follows_from_epsilon_and_delta(database: Database) -> None:
    """By the paper's formula, beta being 1 - 1/e: floating-point numbers will do, no sum is near 0.05."""
    beta = 1 - 1 / e
    gamma = (e - 1 + beta) / e

    def delta(k: int) -> float:
        return max(
            sum(comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(floor(gamma * n) + 1, n + 1))
            for n in range(ceil(k / gamma - 1), 200)
        )

    assert next(k for k in range(1, 100) if delta(k) <= 0.05) == K
    people(database, rows_of(1))
    found = kanon_sql.anonymize(database.engine, asked()).differential_privacy
    assert found is not None
    assert found["k"] == K


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_when_every_row_is_drawn_the_release_is_all_classes_of_k(
    database: Database, everybody: None, seed: int
) -> None:
    rows = rows_of(seed)
    people(database, rows)
    result = kanon_sql.anonymize(database.engine, asked())
    expected = {labels: size for labels, size in generalized(rows).items() if size >= K}
    assert 1 < len(expected) < len(generalized(rows)), "some classes are too small"
    assert release(database) == Counter(expected)
    assert result.rows["released"] == sum(expected.values())
    assert database.columns("r1") == ["age", "sex"]
    assert set(database.tables()) == {"kanon_sql_manifest", "kanon_sql_scratch", "ledger", "people", "r1"}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_large_classes_are_written_in_parts(database: Database, everybody: None, level: int) -> None:
    """2,345 copies are two parts of a thousand and a rest; and a table with one class has no code to join by."""
    people(database, [(30, "M", "x")] * 2345 + [(31, "M", "x")] * 1000)
    labels = {0: {"30": 2345, "31": 1000}, 1: {"[30, 40)": 3345}, 2: {"*": 3345}}[level]
    spec = asked(change={"generalization": {"age": level, "sex": 1 if level == 2 else 0}})
    kanon_sql.anonymize(database.engine, spec)
    sex = "any" if level == 2 else "M"
    assert release(database) == Counter({(label, sex): count for label, count in labels.items()})


@pytest.mark.slow
def test_a_sample_is_part_of_the_rows_and_differs_by_run(database: Database) -> None:
    rows = rows_of(4)
    people(database, rows)
    found = []
    for name in ("r1", "r2", "r3"):
        result = kanon_sql.anonymize(database.engine, asked(name, ROOM))
        assert result.passed
        assert "(1, 0.05)-differential privacy" in result.message
        found.append(release(database, name))
        assert all(K <= count <= generalized(rows)[labels] for labels, count in found[-1].items())  # type: ignore[index]
    assert found[0] != found[1] or found[1] != found[2], "three equal samples of 400 rows"


def test_nulls_that_suppress_leave_their_rows_out(database: Database, everybody: None) -> None:
    rows = rows_of(2)
    people(database, rows)
    kanon_sql.anonymize(database.engine, asked(nulls="suppress"))
    kept = generalized([row for row in rows if row[0] is not None])
    assert release(database) == Counter({labels: size for labels, size in kept.items() if size >= K})


# --- What the rows may decide ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("extra", [(33, "M", "new"), (68, "F", "new"), (None, "M", "new"), (1234, "F", "new")])
def test_one_row_more_changes_its_own_class_alone(
    database: Database, everybody: None, extra: tuple[int | None, str, str]
) -> None:
    """Not the labels of others, not their number; and nothing but the release itself tells of it."""
    rows = rows_of(7)
    found, manifests = [], []
    for name, table in (("r1", rows), ("r2", [*rows, extra])):
        people(database, table)
        result = kanon_sql.anonymize(database.engine, asked(name, ROOM))
        assert result.manifest is not None
        manifests.append(without_run(result.manifest))
        found.append(release(database, name))
    changed = (found[0] - found[1]) + (found[1] - found[0])
    assert set(changed) <= set(generalized([extra]))
    if not changed:
        assert manifests[0] == manifests[1]
    first, second = entries(database)
    assert without_run(first) == without_run(second), "what the ledger holds does not depend on the rows"


def without_run(manifest: Any) -> dict[str, Any]:
    """What does not say which run it was, nor under which name it was published, nor what others spent before."""
    text = json.loads(json.dumps(manifest, default=str))
    for key in ("run_id", "published_at", "release", "spec_hash"):
        text.pop(key, None)
    text.get("spec", {}).pop("release", None)
    text.get("differential_privacy", {}).pop("spent", None)
    return dict(text)


def test_the_manifest_holds_no_figure_of_the_source(database: Database) -> None:
    people(database, rows_of(3, 431))
    result = kanon_sql.anonymize(database.engine, asked())
    assert result.manifest is not None
    assert result.manifest["rows"] == {"released": result.rows["released"]}
    assert result.manifest["cost"] == result.manifest["metrics"] == {}
    assert "431" not in json.dumps({**result.manifest, "run_id": "", "published_at": "", "spec_hash": ""})
    assert any("the guarantee covers only the published table" in note for note in result.notes)


# --- The choice of levels -----------------------------------------------------------------------------------------


def test_the_scores_are_those_of_the_rows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the exponential mechanism is given: every node's score over all rows, by plain Python."""
    rows = [row for row in rows_of(5, 900) if row[0] is not None]
    people(database, rows)
    seen: dict[str, Any] = {}

    def choose(scores: list[Any], epsilon: Any, step: Any, coins: Callable[[int], int]) -> int:
        seen.update(scores=scores, epsilon=epsilon, step=step)
        return len(scores) - 1

    monkeypatch.setattr(mechanism, "chosen_by_score", choose)
    result = kanon_sql.anonymize(database.engine, asked(change=searching()))
    assert result.differential_privacy is not None
    least = mechanism.expected_size(
        Sampling(round(result.differential_privacy["sampling"] * 2**64), result.differential_privacy["k"])
    )
    ages: list[Callable[[int], Any]] = [lambda age: age, lambda age: age // 10, lambda age: "*"]
    sexes: list[Callable[[str], Any]] = [lambda sex: sex, lambda sex: "*"]
    expected = []
    for a, of_age in enumerate(ages):
        for b, of_sex in enumerate(sexes):
            classes = Counter((of_age(age), of_sex(sex)) for age, sex, _ in rows if age is not None)
            small = sum(size for size in classes.values() if size < least)
            expected.append(-float((a / 2 + b / 1) / 2 * (len(rows) - small) + small))
    assert [float(item) for item in seen["scores"]] == pytest.approx(expected)
    assert (float(seen["epsilon"]), seen["step"]) == (0.5, least - 1)
    assert result.node == {"age": 2, "sex": 1}, "the last one"


@pytest.mark.slow
def test_the_search_spends_its_part(database: Database) -> None:
    """The sample has what is left: a smaller probability than with all of epsilon, and another k."""
    people(database, rows_of(6, 2000))
    result = kanon_sql.anonymize(database.engine, asked(change=searching()))
    assert result.differential_privacy is not None
    assert result.differential_privacy["epsilon_of_search"] == 0.5
    assert result.differential_privacy["sampling"] == pytest.approx(0.3934693402873666, rel=1e-12)
    assert result.differential_privacy["spent"] == {"epsilon": 1.0, "delta": 0.05}
    assert result.search is not None
    assert (result.search.algorithm, result.search.nodes_evaluated) == ("exponential_mechanism", 6)


# --- The budget -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_ledger_adds_up_and_refuses(database: Database) -> None:
    people(database, rows_of(8))
    for number in (1, 2, 3):
        spent = kanon_sql.anonymize(database.engine, asked(f"r{number}", ROOM)).differential_privacy
        assert spent is not None
        assert spent["spent"] == {"epsilon": number, "delta": pytest.approx(0.05 * number)}
    with pytest.raises(SpecError, match=r"spent epsilon 3, and this one would make it 4, where at most 3"):
        kanon_sql.anonymize(database.engine, asked("r4", ROOM))
    assert "r4" not in database.tables()


@pytest.mark.slow
def test_tenths_add_up_exactly(database: Database) -> None:
    """0.1 + 0.2 is not above 0.3."""
    people(database, [(30, "M", "x")] * 3000)
    for name, epsilon in (("r1", 0.1), ("r2", 0.2)):
        spends = {"epsilon": epsilon, "total": {"epsilon": 0.3, "delta": 0.1}}
        assert kanon_sql.anonymize(database.engine, asked(name, spends)).passed


def test_a_release_without_a_total_is_the_only_one(database: Database) -> None:
    people(database, rows_of(8))
    assert kanon_sql.anonymize(database.engine, asked("r1")).passed
    with pytest.raises(SpecError, match=r"at most 1 may be spent together"):
        kanon_sql.anonymize(database.engine, asked("r2", ROOM))


def test_an_empty_sample_spends_too(database: Database, nobody: None) -> None:
    """A run that is repeated until its sample pleases would tell more than one."""
    people(database, rows_of(8))
    result = kanon_sql.anonymize(database.engine, asked("r1"))
    assert (result.verdict, result.rows["released"]) == ("fail", 0)
    assert "the privacy budget of the run stays spent" in result.message
    assert "r1" not in database.tables()
    with pytest.raises(SpecError, match="have spent epsilon 1"):
        kanon_sql.anonymize(database.engine, asked("r1"))


def test_a_run_that_fails_after_the_draw_spends(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    people(database, rows_of(8))

    def fails(*_: Any, **__: Any) -> None:
        raise UnsupportedError("stopped here")

    monkeypatch.setattr(private, "staged_release", fails)
    with pytest.raises(UnsupportedError, match="stopped here"):
        kanon_sql.anonymize(database.engine, asked("r1"))
    assert [entry["release"] for entry in entries(database)] == [["r1"]]


def test_clean_gives_nothing_back(database: Database) -> None:
    """Of a run that was cut off while it published, the ledger's row stays: its sample was drawn."""
    people(database, rows_of(8))
    assert kanon_sql.anonymize(database.engine, asked("r1")).passed
    database.connection.execute("DROP TABLE r1")
    database.connection.execute("UPDATE kanon_sql_manifest SET published_at = 'pending'")
    clean(database.engine, drop=True)
    assert database.rows("kanon_sql_manifest") == []
    assert [entry["release"] for entry in entries(database)] == [["r1"]]
    with pytest.raises(SpecError, match="have spent epsilon 1"):
        kanon_sql.anonymize(database.engine, asked("r1"))


@pytest.mark.slow
def test_a_ledger_holds_one_kind_of_release(database: Database) -> None:
    people(database, rows_of(8))
    other = {"privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 1.0}}
    assert kanon_sql.anonymize(database.engine, asked("r1", ROOM)).passed
    with pytest.raises(SpecError, match="r1 is differentially private, and a release that is not"):
        kanon_sql.anonymize(database.engine, asked("r2", **other))
    assert kanon_sql.anonymize(database.engine, asked("r2", ledger="ledger2", **other)).passed
    with pytest.raises(SpecError, match="r2 is no differentially private release"):
        kanon_sql.anonymize(database.engine, asked("r3", ROOM, ledger="ledger2"))


def test_a_release_is_not_replaced(database: Database) -> None:
    people(database, rows_of(8))
    assert kanon_sql.anonymize(database.engine, asked("r1", ROOM)).passed
    with pytest.raises(SpecError, match="publish under another name"):
        kanon_sql.anonymize(database.engine, asked("r1", ROOM))


def test_the_ledger_is_listed(database: Database) -> None:
    from kanon_sql.report.layout import print_text
    from kanon_sql.report.ledger import ledger_text

    people(database, rows_of(8))
    kanon_sql.anonymize(database.engine, asked("r1", ROOM))
    listed = kanon_sql.ledger(database.engine, "ledger")
    assert listed.entries[0].differential_privacy is not None
    print_text(ledger_text(listed))
