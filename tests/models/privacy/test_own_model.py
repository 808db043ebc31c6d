"""A privacy model of one's own: one file with its requirement and its declaration, one template, one oracle."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import pytest
from pydantic import Field

import kanon_sql
from kanon_sql.models import Monotonicity, PrivacyModel, forget, model_of, register, registered
from kanon_sql.spec import Requirement, requirements
from kanon_sql.sql import add_template_directory, remove_template_directory
from tests.conftest import Database

TEMPLATE = """
{% if part == "measure" %}
MAX(CASE WHEN value_code IS NOT NULL THEN value_count ELSE 0 END)
{% elif part == "condition" %}
{{ measure | name }} <= {{ most | literal }}
{% endif %}
"""


class AtMostRequirement(Requirement):
    """No sensitive value stands more than so often in a class."""

    name: ClassVar[str] = "at_most"
    expected: ClassVar[str] = "{attribute: ..., most: 3}"

    attribute: str = Field(description="The sensitive attribute to protect.")
    most: Annotated[int, Field(ge=1)] = Field(description="How often a value may stand in a class.")


@dataclass(frozen=True)
class AtMostModel(PrivacyModel):
    """The requirement as the evaluator judges it."""

    name: ClassVar[str] = "at_most"
    requirement: ClassVar = AtMostRequirement
    worst: ClassVar = "MAX"
    sensitive: str
    most: int

    @classmethod
    def of(cls, requirement: AtMostRequirement) -> Self:
        return cls(requirement.attribute, requirement.most)

    @property
    def attribute(self) -> str:
        return self.sensitive

    @property
    def notation(self) -> str:
        return f"at most {self.most} of a value of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        return Monotonicity.NEVER  # merged classes hold more of each value

    def parameters(self) -> dict[str, Any]:
        return {"most": self.most}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        return {"most": None if worst is None else int(worst)}


ROWS = [(age, value) for age in range(20, 32) for value in ("flu", "cold", "ache")[: 1 + age % 3]]


def oracle(rows: list[tuple[str, str]]) -> int:
    """The most often that a value stands in a class."""
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for age, value in rows:
        classes[age][value] += 1
    return max(max(counts.values()) for counts in classes.values())


@pytest.fixture
def own_model(tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "models" / "privacy"
    folder.mkdir(parents=True)
    (folder / "at_most.sql.j2").write_text(TEMPLATE)
    add_template_directory(tmp_path)
    register(AtMostModel)
    yield
    forget(AtMostModel)
    remove_template_directory(tmp_path)


@pytest.fixture
def visits(database: Database) -> Database:
    database.table("visits", {"age": "INTEGER", "diagnosis": "VARCHAR"}, ROWS)
    return database


def spec(most: int, k: int = 1, **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {"age": {"intervals": [2, 4, 12]}},
            "sensitive": ["diagnosis"],
            "privacy": [{"k_anonymity": k}, {"at_most": {"attribute": "diagnosis", "most": most}}],
            **more,
        }
    )


@pytest.mark.usefixtures("own_model")
def test_check_judges_it(visits: Database) -> None:
    reached = oracle([(str(age), value) for age, value in ROWS])
    for most in (reached - 1, reached, reached + 1):
        if most >= 1:
            result = kanon_sql.check(visits.engine, spec(most), "visits")
            assert result.passed == (most >= reached)
            assert result.achieved["at_most(diagnosis)"]["most"] == reached


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.usefixtures("own_model")
@pytest.mark.parametrize(("k", "most", "passes"), [(2, 2, True), (3, 4, True), (4, 1, False)])
def test_anonymize_satisfies_it_or_publishes_nothing(visits: Database, k: int, most: int, passes: bool) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(most, k))
    assert result.passed == passes
    assert ("visits_release" in visits.tables()) == passes
    if passes:
        released = visits.rows("visits_release")
        assert oracle(released) == result.achieved["at_most(diagnosis)"]["most"] <= most
        assert min(Counter(age for age, _ in released).values()) >= k


@pytest.mark.slow
@pytest.mark.usefixtures("own_model")
def test_audit_and_report_take_it_along(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(2, 2), details=True)
    assert "at most 2 of a value of diagnosis" in kanon_sql.html_report(result)
    found = kanon_sql.audit(visits.engine, spec(2, 2), attacks=["homogeneity", "background"])
    assert {attack.name for attack in found.attacks} == {"homogeneity", "background"}


@pytest.mark.usefixtures("own_model")
def test_specs_know_it_and_say_what_is_wrong() -> None:
    assert AtMostRequirement in requirements()
    assert "AtMost" in kanon_sql.Spec.json_schema()["$defs"]
    assert isinstance(model_of(spec(2).privacy[1]), AtMostModel)
    with pytest.raises(kanon_sql.SpecError, match=r"privacy\[1\].*'illness' is not listed under sensitive"):
        spec(2, privacy=[{"k_anonymity": 2}, {"at_most": {"attribute": "illness", "most": 2}}])


@pytest.mark.usefixtures("own_model")
def test_a_name_is_given_once() -> None:
    class Another(AtMostModel):
        name: ClassVar[str] = "k_anonymity"

    class Requirement2(AtMostRequirement):
        name: ClassVar[str] = "k_anonymity"

    class Third(AtMostModel):
        name: ClassVar[str] = "third"
        requirement: ClassVar = Requirement2

    before = registered()
    with pytest.raises(ValueError, match="there is already a privacy model 'k_anonymity'"):
        register(Another)
    with pytest.raises(ValueError, match="requirement 'k_anonymity' already"):
        register(Third)
    assert registered() == before


def test_it_is_gone_afterwards() -> None:
    assert AtMostModel not in registered()
    with pytest.raises(kanon_sql.SpecError, match="unknown requirement"):
        spec(2)


@pytest.mark.slow
def test_a_name_that_a_file_of_ours_has_is_taken_before_that_is_imported() -> None:
    """Else a model of one's own would be asked in its place, and the file could not be imported any more."""
    program = (
        "from kanon_sql.models import PrivacyModel, register\n"
        "from kanon_sql.spec import Requirement\n"
        "class Own(Requirement):\n    name = 'beta_likeness'\n"
        "class Model(PrivacyModel):\n    name = 'own'\n    requirement = Own\n"
        "register(Model)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "there is a requirement 'beta_likeness' already" in done.stderr
