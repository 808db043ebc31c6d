"""BigQuery and Snowflake as far as their emulators go: the real drivers, answered by DuckDB behind them.

They have environments of their own: ``KANON_WAREHOUSES`` names the Python with the drivers, and ``KANON_BIGQUERY`` that
of BigQuery's emulator (``.ci/warehouses.txt``, ``.ci/bigquery.txt``). What they cannot show is in ``docs/engines.md``.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.engines.emulated.run import answers

pytestmark = pytest.mark.slow

RUN = Path(__file__).parent / "emulated" / "run.py"

VISITS = {"PID": "int", "AGE": "int", "ZIP": "str", "DX": "str"}
ROWS = [
    [i // 2, 20 + i // 2 * 37 % 40, str(94100 + i // 2 * 13 % 30), ("flu", "cold", "asthma", "ulcer")[i * 7 // 3 % 4]]
    for i in range(320)
]
SPEC = {
    "version": 1,
    "quasi_identifiers": {"AGE": {"intervals": [10, 20]}, "ZIP": {"prefix": [4, 3]}},
    "sensitive": ["DX"],
    "suppression": {"max_share": 0.2},
}
TEXTS = ["a", "A", "á", "a ", "", "%", "it's", "日本"]
CASES: dict[str, dict[str, Any]] = {
    "PERSONS": {
        "columns": VISITS, "rows": ROWS, "verbs": ["check source", "anonymize", "function", "policies"],
        "spec": {**SPEC, "unit": "PID", "privacy": [
            {"k_anonymity": 4}, {"l_diversity": {"attribute": "DX", "l": 2}},
            {"t_closeness": {"attribute": "DX", "t": 0.4}}]},
    },
    "TEXTS": {
        "columns": {"Q": "str", "DX": "str"}, "verbs": ["anonymize", "anonymize"],
        "rows": [[text, dx] for position, text in enumerate(TEXTS) for dx in ["x", "y", "z"][: 1 + position % 3]],
        "spec": {"version": 1, "quasi_identifiers": {"Q": None}, "sensitive": ["DX"], "privacy": [{"k_anonymity": 2}],
                 "suppression": {"max_share": 0.5}},
    },
    "LOCAL": {
        "columns": VISITS, "rows": ROWS[:80], "verbs": ["anonymize"],
        "spec": {**SPEC, "recoding": "local", "privacy": [{"k_anonymity": 5}]},
    },
    "NULLS": {
        "columns": {"Q": "str", "DX": "str"}, "verbs": ["check source", "anonymize"],
        "rows": [[q, dx] for q in ("a", None, "null") for dx in ("x", "x", None)],
        "spec": {"version": 1, "quasi_identifiers": {"Q": None}, "sensitive": ["DX"],
                 "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "DX", "l": 1}}]},
    },
    "MINE": {
        "columns": VISITS, "rows": ROWS[:40], "verbs": ["foreign", "anonymize"],
        "spec": {**SPEC, "privacy": [{"k_anonymity": 2}]},
    },
}  # fmt: skip
for _name, _case in CASES.items():
    _case["name"] = _name

LACKS = {
    # Its JSON text of NULL is NULL, and BigQuery's, by which NULL is joined, is the word null: rows are missed.
    "bigquery": {("NULLS", 1): "not equal to themselves on this engine"},
    # A table's comment is lost by a rename, so that a release cannot be known by its mark and replaced.
    "snowflake": {("TEXTS", 1): "has lost its mark"},
}
"""Case and the position of its verb that an emulator cannot show -> the refusal there."""


def in_duckdb(case: dict[str, Any]) -> Any:
    with duckdb.connect() as connection:
        return answers(
            lambda: kanon_sql.connect(connection), lambda sql: connection.execute(sql).fetchall(), "", case,
            {"int": "BIGINT", "str": "VARCHAR"},
        )  # fmt: skip


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"emulated {name}")) for name in ("bigquery", "snowflake")
    ],
)
def said(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """What each case that is asked about says on the emulator."""
    name = request.param
    asked = [item.name for item in request.session.items if item.name.startswith("test_the_same_as_duckdb[")]
    given = [case for case in CASES if case in ("PERSONS", "TEXTS") or any(f"-{case}]" in name for name in asked)]
    python = os.environ.get("KANON_WAREHOUSES")
    if python is None or (name == "bigquery" and "KANON_BIGQUERY" not in os.environ):
        pytest.skip("KANON_WAREHOUSES and KANON_BIGQUERY do not name the environments of the emulators")
    pipe = subprocess.PIPE
    with subprocess.Popen([python, str(RUN), name], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as running:
        try:
            out, errors = running.communicate(json.dumps([CASES[case] for case in given]), timeout=550)
        except BaseException:
            running.terminate()  # it stops the server
            raise
    assert running.returncode == 0, errors[-3000:]
    return name, dict(zip(given, json.loads(out), strict=True))


@pytest.mark.campaign_on("PERSONS", "LOCAL")
@pytest.mark.parametrize("case", CASES)
def test_the_same_as_duckdb(case: str, said: tuple[str, dict[str, Any]]) -> None:
    name, found = said
    expected = json.loads(json.dumps(in_duckdb(CASES[case])))
    assert len(found[case]) == len(expected)
    for position, (there, here) in enumerate(zip(found[case], expected, strict=True)):
        if (case, position) in LACKS[name]:
            assert LACKS[name][case, position] in there["error"]
        elif "error" in here:
            assert "that kanon_sql did not publish" in there["error"]
            assert "that kanon_sql did not publish" in here["error"]
        else:
            assert rounded(there) == rounded(here)


def rounded(value: Any) -> Any:
    """Sums of floating-point numbers may be added in another order."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_classes_by_brute_force(said: tuple[str, dict[str, Any]]) -> None:
    """Texts that differ are different, and classes have as many persons as were asked for."""
    _, found = said
    texts, *_ = found["TEXTS"]
    sizes = Counter(row[0] for row in CASES["TEXTS"]["rows"])
    expected = Counter((text, dx) for text, dx in CASES["TEXTS"]["rows"] if sizes[text] >= 2)
    assert texts["node"] == {"Q": 0}
    assert Counter(map(tuple, texts["released"])) == expected
    check, first, *_ = found["PERSONS"]
    persons = Counter((age, zip_) for pid, age, zip_ in {(row[0], row[1], row[2]) for row in ROWS})
    assert (check["verdict"], check["achieved"]["k_anonymity"]["k"]) == ("fail", min(persons.values()))
    assert min(Counter((row[0], row[1]) for row in first["released"]).values()) >= 2 * 4
    assert first["rows"]["source"] == len(ROWS) == len(first["released"]) + first["rows"]["suppressed"]
