"""The figures of docs/two-minutes.md: what ``benchmarks/public_tables.py`` counts and computes, by hand."""

from __future__ import annotations

import csv
import math
import random
import statistics
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT


@pytest.fixture(scope="module")
def figures() -> Any:
    spec = spec_from_file_location("public_tables", ROOT / "benchmarks" / "public_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patched:  # what dataclasses look for
        patched.setitem(__import__("sys").modules, "public_tables", module)
        spec.loader.exec_module(module)
        yield module


def table(figures: Any, *names: str) -> Any:
    return figures.Table("people.csv", names, (), {"age": 1}, [])


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("[20, 25)", 1, 22), ("[20, 25)", 0, 22.5), ("[0.5, 1.5)", 0.1, 0.95), ("31", 1, 31), ("*", 1, math.nan),
     (">= 90", 1, math.nan)],
)  # fmt: skip
def test_a_band_stands_for_the_middle_of_its_values(figures: Any, text: str, unit: float, value: float) -> None:
    assert figures.number(text, unit) == pytest.approx(value, nan_ok=True)


def test_what_a_cell_loses_is_how_many_other_values_its_label_has(figures: Any, tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("20;[20, 22);*\n21;[20, 22);*\n22;[22, 24);*\n30;[30, 32);*\n31;[30, 32);*\n")
    assert figures.spreads(tmp_path, ["age"])["age"] == pytest.approx(
        {"20": 0, "21": 0, "22": 0, "30": 0, "31": 0, "[20, 22)": 0.25, "[22, 24)": 0, "[30, 32)": 0.25, "*": 1}
    )


def test_rows_without_a_value_are_suppressed_and_lose_all(figures: Any) -> None:
    """Seven rows, of which two were left out and one has no value: 4 and 1 are in the classes of the others."""
    losses = {"age": {"[20, 22)": 0.25, "*": 1.0}, "sex": {"f": 0.0, "*": 1.0}}
    rows = [{"age": "[20, 22)", "sex": "f"}] * 3 + [{"age": "*", "sex": "f"}, {"age": "*", "sex": "*"}]
    suppressed, loss, smallest, small = figures.measured(table(figures, "age", "sex"), 7, rows, losses)
    assert (suppressed, smallest, small) == ("3", "1", "4")
    assert float(loss) == pytest.approx((3 * 0.125 + 0.5 + 3) / 7, abs=5e-5)


def test_an_analysis_leaves_out_rows_that_are_suppressed_where_it_looks(figures: Any) -> None:
    rows = [
        {"age": "20", "sex": "f", "ill": "yes"}, {"age": "[20, 25)", "sex": "f", "ill": "no"},
        {"age": "40", "sex": "*", "ill": "yes"}, {"age": "*", "sex": "f", "ill": "yes"},
        {"age": "60", "sex": "m", "ill": "*"},
    ]  # fmt: skip
    found = figures.Analyses(rows, {"age": 1})
    assert found.mean("age", sex="f") == "21"
    assert found.mean("ill=yes", sex="f") == "0.667"
    assert found.mean("ill=yes", sex="m") == figures.ABSENT
    assert found.quantile("age", 0.5) == "31", "between 22 and 40"


def test_a_slope_is_that_of_least_squares_with_its_interval(figures: Any) -> None:
    draw = random.Random(3)
    ages = [draw.randrange(20, 60) for _ in range(30)]
    costs = [3 * age + draw.gauss(0, 5) for age in ages]
    rows = [{"age": str(age), "cost": repr(cost)} for age, cost in zip(ages, costs, strict=True)]
    line = statistics.linear_regression(ages, costs)
    left = [cost - line.intercept - line.slope * age for age, cost in zip(ages, costs, strict=True)]
    mean = statistics.fmean(ages)
    error = math.sqrt(sum(one * one for one in left) / 28 / sum((age - mean) ** 2 for age in ages))
    slope, _, interval = figures.Analyses([*rows, {"age": "*", "cost": "1"}], {}).slope("cost", "age").split()
    assert float(slope) == pytest.approx(line.slope, rel=5e-3)
    assert float(interval) == pytest.approx(1.96 * error, rel=5e-2)
    one_label = [{**row, "age": "[20, 60)"} for row in rows]
    assert figures.Analyses(one_label, {"age": 1}).slope("cost", "age") == figures.ABSENT


@pytest.mark.campaign
def test_the_program_releases_and_compares(
    figures: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(5)
    names = ["age", "gender", "region", "education", "earnings"]
    people = [[draw.randrange(20, 60), draw.choice(["male", "female"]), draw.choice(["West", "South"]),
               draw.choice([12, 16]), round(draw.uniform(5, 40), 2)] for _ in range(300)]  # fmt: skip
    for folder in (tmp_path, tmp_path / "others" / "as it is"):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "CPSSW8.csv").open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([names, *people])
    words = ["public_tables.py", str(tmp_path), "--only", "wages", "--others", str(tmp_path / "others")]
    monkeypatch.setattr("sys.argv", words)
    figures.main()
    shown = capsys.readouterr().out.splitlines()
    released = [line.split() for line in shown if line.strip().startswith(("one level", "local", "as it is"))]
    assert [line[-1] for line in released[:3]] == ["0", "0", "0"], "no row in a class of fewer than five"
    assert all(int(line[-2]) >= 5 for line in released[:3])
    unique = sum(1 for one in people if sum(one[:4] == other[:4] for other in people) < 5)
    assert released[3][-4:-2] == ["0", "0.0000"]
    assert int(released[3][-1]) == unique
    assert shown[-2].count("|") == 5
