"""Time every privacy model as a requirement of ``check`` against one bare GROUP BY of the same columns.

    python benchmarks/checks.py                              # every model, 1,000,000 rows
    python benchmarks/checks.py k_anonymity t_closeness      # some by name
    python benchmarks/checks.py --rows 10000000 --repeat 5 --json checks.json
    python benchmarks/checks.py --list

The table is the Adult extract resampled as in ``bench.py``: with ``--table release``, the default, a full-domain
generalization of it, with ``--table raw`` the rows as they are (many small classes). Both sides run in this process on
one connection, in turns, and the medians of ``--repeat`` turns are compared. The bare query counts the rows of every
combination of the columns that the requirement looks at, and returns one row:

    SELECT COUNT(*), MIN(n) FROM (SELECT columns, COUNT(*) AS n FROM table GROUP BY columns)

``columns`` are the quasi-identifiers, and the sensitive attribute where the model has one: how often each class has
each value is what such a model is made of, and no check of it can group by less. The bare query reads the checked
table alone, also where the model compares it with the source (one column of it, grouped) or with a population (all its
quasi-identifiers, grouped); the column ``reads`` says so. ``check`` also looks at types, and compiles its statements
in the first turn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, load, machine

import kanon_sql

RELEASED = {"age": 2, "education": 1, "marital-status": 1, "native-country": 1, "workclass": 1, "race": 1}
"""The levels of the release; attributes that are not named are at 0."""

NUMERIC = "income"


def cases(adult: Path) -> dict[str, dict[str, Any]]:
    """Requirement by name. Their thresholds decide the verdict, not the time."""
    about = {"attribute": "occupation"}
    by_hierarchy = {"file": str(adult / "hierarchy_occupation.csv")}
    values = ["Sales", "Tech-support"]
    return {
        "k_anonymity": {"k_anonymity": {"k": 5}},
        "distinct_l_diversity": {"l_diversity": {**about, "l": 3}},
        "entropy_l_diversity": {"l_diversity": {**about, "l": 3, "variant": "entropy"}},
        "recursive_cl_diversity": {"l_diversity": {**about, "l": 3, "variant": "recursive", "c": 2}},
        "npd_recursive_diversity": {
            "l_diversity": {**about, "l": 3, "variant": "npd_recursive", "c": 2, "allow_positive": values}
        },
        "t_closeness": {"t_closeness": {**about, "t": 0.3}},
        "ordered_t_closeness": {"t_closeness": {"attribute": NUMERIC, "t": 0.3, "distance": "ordered"}},
        "hierarchical_t_closeness": {
            "t_closeness": {**about, "t": 0.3, "distance": "hierarchical", "hierarchy": by_hierarchy}
        },
        "alpha_k_anonymity": {"alpha_k_anonymity": {**about, "alpha": 0.5, "k": 5}},
        "p_sensitive_k_anonymity": {"p_sensitive_k_anonymity": {**about, "p": 3, "k": 5}},
        "basic_beta_likeness": {"beta_likeness": {**about, "beta": 2, "variant": "basic"}},
        "enhanced_beta_likeness": {"beta_likeness": {**about, "beta": 2}},
        "delta_disclosure": {"delta_disclosure": {**about, "delta": 2}},
        "k_map": {"k_map": {"population": "population", "k": 5}},
        "delta_presence": {"delta_presence": {"population": "population", "delta_max": 0.9}},
    }


def make_tables(database: Path, adult: Path, rows: int) -> None:
    """``adult``, its generalization ``release``, and a ``population`` of which the rows are a part."""
    load(database, adult, rows)
    con = duckdb.connect(str(database))
    con.execute(f"SET threads = {THREADS}")
    con.execute(f"ALTER TABLE adult ADD COLUMN {NUMERIC} INTEGER")
    con.execute(f"UPDATE adult SET {NUMERIC} = 1000 * (hash(age, occupation) % 60)::INTEGER")
    joins, columns = [], []
    for index, name in enumerate(QUASI_IDENTIFIERS):
        level = RELEASED.get(name, 0)
        if level:
            file = adult / f"hierarchy_{name}.csv"
            joins.append(
                f"JOIN (SELECT column0 AS value, column{level} AS label FROM "
                f"read_csv('{file}', delim=';', header=false, all_varchar=true)) AS h{index} "
                f'ON h{index}.value = adult."{name}"'
            )
        columns.append(f'h{index}.label AS "{name}"' if level else f'adult."{name}"')
    con.execute(f"CREATE TABLE release AS SELECT {', '.join(columns)}, {NUMERIC} FROM adult {' '.join(joins)}")
    con.execute("CREATE TABLE population AS SELECT * FROM adult UNION ALL SELECT * FROM adult WHERE sex = 'Male'")
    con.close()


def rows_in(database: Path) -> int:
    """Rows of the table that a kept file holds."""
    with duckdb.connect(str(database), read_only=True) as con:
        return int(con.execute("SELECT COUNT(*) FROM adult").fetchall()[0][0])


def specification(adult: Path, requirement: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The spec of one requirement, and the columns that it looks at."""
    ((_, parameters),) = requirement.items()
    attribute = parameters.get("attribute")
    quasi = [name for name in QUASI_IDENTIFIERS if name not in ("occupation", NUMERIC)]
    spec = {
        "version": 1,
        "source": "adult",
        "release": "release",
        "quasi_identifiers": {name: {"file": str(adult / f"hierarchy_{name}.csv")} for name in quasi},
        "sensitive": [] if attribute is None else [attribute],
        "privacy": [requirement],
    }
    return spec, [*quasi, *([] if attribute is None else [attribute])]


def reads(requirement: dict[str, Any]) -> str:
    """What a check reads besides the table that the bare GROUP BY reads."""
    ((name, parameters),) = requirement.items()
    if "population" in parameters:
        return "+ population"
    return "+ source" if name in ("t_closeness", "beta_likeness", "delta_disclosure") else "table"


def bare_seconds(engine: Any, table: str, columns: Sequence[str]) -> float:
    """One GROUP BY on the same database."""
    listed = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT COUNT(*), MIN(n) FROM (SELECT {listed}, COUNT(*) AS n FROM {table} GROUP BY {listed})"
    started = time.perf_counter()
    engine.execute(query).fetchall()
    return time.perf_counter() - started


def run_case(adult: Path, database: Path, table: str, requirement: dict[str, Any], repeat: int) -> dict[str, Any]:
    """Medians of a check and of the bare GROUP BY, in turns."""
    data, columns = specification(adult, requirement)
    spec = kanon_sql.Spec.from_dict(data)
    con = duckdb.connect(str(database))
    con.execute(f"SET threads = {THREADS}")
    bare, checked, result = [], [], None
    engine = kanon_sql.connect(con)
    for _ in range(repeat):
        bare.append(bare_seconds(con, table, columns))
        started = time.perf_counter()
        result = kanon_sql.check(engine, spec, table)
        checked.append(time.perf_counter() - started)
    engine.close()
    con.close()
    assert result is not None
    limit, seconds = statistics.median(bare), statistics.median(checked)
    return {
        "verdict": result.verdict,
        "reads": reads(requirement),
        "group_by": columns,
        "rows": result.rows["source"],
        "classes": result.classes["count"],
        "seconds": round(seconds, 3),
        "first_seconds": round(checked[0], 3),
        "group_by_seconds": round(limit, 3),
        "ratio": round(seconds / limit, 2),
        "statements": result.cost.statements,
        "rows_fetched": result.cost.rows_fetched,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="models to check; all by default")
    parser.add_argument("--list", action="store_true", help="print the models' names and stop")
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--database", type=Path, help="keep the tables in this file, and use them if it is there")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--table", choices=("release", "raw"), default="release")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    requirements = cases(adult)
    if options.list:
        print("\n".join(requirements))
        return
    unknown = sorted(set(options.cases) - set(requirements))
    if unknown:
        parser.error(f"unknown model {unknown[0]!r}; expected one of {', '.join(requirements)}")
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    table = "adult" if options.table == "raw" else "release"
    figures = {}
    shown = ["seconds", "group_by_seconds", "ratio", "classes", "statements", "verdict", "reads"]
    print("ratio: check / GROUP BY the quasi-identifiers, and the sensitive attribute where there is one")
    print(f"{'model':<26}" + "".join(f"{name:>18}" for name in shown))
    with tempfile.TemporaryDirectory() as directory:
        database = options.database or Path(directory) / "checks.duckdb"
        if not database.is_file():
            make_tables(database, adult, options.rows)
        elif (kept := rows_in(database)) != options.rows:
            parser.error(f"{database} holds {kept:,} rows: give --rows {kept}, or another --database")
        for name in options.cases or requirements:
            figures[name] = run_case(adult, database, table, requirements[name], options.repeat)
            print(f"{name:<26}" + "".join(f"{figures[name][column]:>18}" for column in shown), flush=True)
    if options.json:
        about = {
            "machine": machine(),
            "version": kanon_sql.__version__,
            "table": options.table,
            "repeat": options.repeat,
        }
        options.json.write_text(json.dumps({**about, "cases": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
