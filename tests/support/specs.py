"""Specs as the tests write them, and what is said of those that are wrong."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kanon_sql.errors import SpecError
from kanon_sql.spec import QuasiIdentifier, Spec
from tests import ROOT
from tests.support.strategies import TIMES

EXAMPLE = ROOT / "examples" / "spec.yml"

MINIMAL: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "quasi_identifiers": {"age": {"intervals": [5, 10]}},
    "privacy": [{"k_anonymity": {"k": 5}}],
}

QUIET = dict.fromkeys(
    (
        "rows_not_persons",
        "nearly_unique_kept",
        "kept_reveals_quasi_identifier",
        "kept_links_rows",
        "inconsistent_spelling",
        "values_are_lists",
        "uneven_suppression",
        "numbers_as_text",
        "births_in_future",
        "leading_zeros_lost",
    ),
    "allow",
)
"""For tests that count statements: looking for warnings takes some, which have tests of their own."""

patient = settings(max_examples=150 * TIMES or 50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No limit on the time of one example: a busy machine is not a defect."""


def make(**changes: Any) -> Spec:
    return Spec.from_dict({**MINIMAL, **changes})


def column(**written: Any) -> QuasiIdentifier:
    return make(quasi_identifiers={"x": written}).quasi_identifiers["x"]


def problems(text: str) -> list[str]:
    """``line:column: message`` of each problem of a YAML text."""
    with pytest.raises(SpecError) as caught:
        Spec.parse(textwrap.dedent(text), "s.yml")
    assert all(problem.file == "s.yml" for problem in caught.value.problems)
    return [str(problem).removeprefix("s.yml:") for problem in caught.value.problems]


def refusals(**changes: Any) -> list[str]:
    with pytest.raises(SpecError) as caught:
        make(**changes)
    return [str(problem) for problem in caught.value.problems]


def column_refusals(**written: Any) -> list[str]:
    return refusals(quasi_identifiers={"x": written})


HEAD = "version: 1\nsource: visits\n"
TAIL = "quasi_identifiers: {age: {}}\nprivacy: [{k_anonymity: 2}]\n"


def schema_accepts(data: object) -> bool:
    import jsonschema  # the lowest versions are tested without it

    return bool(jsonschema.Draft202012Validator(Spec.json_schema()).is_valid(data))
