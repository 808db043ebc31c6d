"""How long `dbt build` of a release takes on PostgreSQL, against `anonymize` of the same spec at the same levels.

    KANON_DBT=.../bin/dbt python benchmarks/dbt_build.py
    KANON_DBT=.../bin/dbt python benchmarks/dbt_build.py --rows 100000 --repeat 5

The table is generated on a server of the tests with its default settings: visits of persons with about four each, who
keep their year of birth, zip and sex. Levels are fixed, as the models of dbt need them; `kanon-sql pipeline dbt` writes
these once, and then both make the release in
turn. ``dbt`` is the whole process, and ``nodes`` is what dbt says that its
models and tests took. ``ratio`` is that of the medians of ``dbt`` and ``anonymize``, and both releases must be the
same. Measured with ``unit`` and without.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from adult import ROOT, machine

sys.path.insert(0, str(ROOT))

import kanon_sql
from kanon_sql.verbs.dbt import dbt
from tests.servers.postgres import PostgresSubject

VISITS = """
CREATE TABLE visits AS
SELECT
  person,
  1930 + ('x' || substr(hashed, 1, 6))::bit(24)::int % 80 AS born,
  (10000 + ('x' || substr(hashed, 7, 6))::bit(24)::int % 900)::text AS zip,
  CASE WHEN ('x' || substr(hashed, 13, 6))::bit(24)::int % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
  'd' || ('x' || substr(drawn, 1, 6))::bit(24)::int % 20 AS diagnosis,
  ('x' || substr(drawn, 7, 6))::bit(24)::int % 1000 AS charge
FROM (
  SELECT person, md5('person' || person) AS hashed, md5('visit' || visit) AS drawn
  FROM (SELECT visit, ('x' || substr(md5('of' || visit), 1, 6))::bit(24)::int % {persons} AS person
        FROM generate_series(1, {rows}) AS visits(visit)) AS made
) AS hashed
"""

PROFILE = """
clinic:
  target: postgres
  outputs:
    postgres: {type: postgres, host: "{{ env_var('PGHOST') }}", port: 5432, user: postgres, password: "",
               dbname: postgres, schema: public, threads: 1}
"""


def specification(unit: bool, release: str) -> kanon_sql.Spec:
    asked = {
        "version": 1,
        "source": "visits",
        "release": release,
        **({"unit": "person"} if unit else {"identifiers": ["person"], "warnings": {"rows_not_persons": "allow"}}),
        "quasi_identifiers": {
            name: {**hierarchy, "minimum_level": level, "maximum_level": level}
            for name, hierarchy, level in (
                ("born", {"intervals": [5, 10, 20]}, 2),
                ("zip", {"prefix": [4, 3, 2]}, 1),
                ("sex", {"tree": {"any": ["f", "m"]}}, 0),
            )
        },
        "sensitive": ["diagnosis"],
        "keep": ["charge"],
        "privacy": [{"k_anonymity": {"k": 5}}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}],
        "suppression": {"max_share": 0.05},
    }
    return kanon_sql.Spec.from_dict(asked)


def project_in(folder: Path) -> None:
    (folder / "dbt_project.yml").write_text("name: clinic\nprofile: clinic\nversion: '1.0'\nconfig-version: 2\n")
    (folder / "packages.yml").write_text(f"packages:\n  - local: {ROOT / 'dbt'}\n")
    (folder / "profiles.yml").write_text(PROFILE)
    (folder / "models").mkdir()


def run(folder: Path, host: str, *words: str) -> None:
    environment = {
        **os.environ, "PGHOST": host, "DBT_PROFILES_DIR": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }  # fmt: skip
    done = subprocess.run(
        [os.environ["KANON_DBT"], "--no-use-colors", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def rows_of(subject: PostgresSubject, table: str) -> list[tuple[Any, ...]]:
    columns = "born, zip, sex, diagnosis, charge"
    return subject.fetch(f"SELECT {columns}, COUNT(*) FROM {table} GROUP BY {columns} ORDER BY {columns}")


def measured(subject: PostgresSubject, folder: Path, unit: bool, repeat: int) -> dict[str, Any]:
    project_in(folder)
    with subject.connect() as engine:
        dbt(engine, specification(unit, "visits_release"), folder).plan.raise_for_failure()
    spec = specification(unit, "anonymized")
    run(folder, subject.folder, "deps")
    seconds: dict[str, list[float]] = {"anonymize": [], "dbt": []}
    steps: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeat):
        subject.drop("anonymized")
        started = time.perf_counter()
        with subject.connect() as engine:
            kanon_sql.anonymize(engine, spec).raise_for_failure()
        seconds["anonymize"].append(time.perf_counter() - started)
        started = time.perf_counter()
        run(folder, subject.folder, "build")
        seconds["dbt"].append(time.perf_counter() - started)
        for item in json.loads((folder / "target" / "run_results.json").read_text())["results"]:
            steps[item["unique_id"].split(".")[2]].append(item["execution_time"])
    assert rows_of(subject, "anonymized") == rows_of(subject, "visits_release")
    found = {name: statistics.median(times) for name, times in seconds.items()}
    return {
        "anonymize": round(found["anonymize"], 2),
        "dbt": round(found["dbt"], 2),
        "nodes": round(sum(statistics.median(times) for times in steps.values()), 2),
        "ratio": round(found["dbt"] / found["anonymize"], 2),
        "steps": {name: round(statistics.median(times), 2) for name, times in steps.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if "KANON_DBT" not in os.environ:
        parser.error("KANON_DBT must name the executable of dbt, with dbt-postgres beside it")
    figures: dict[str, Any] = {}
    subject = PostgresSubject()
    try:
        subject.execute(VISITS.format(rows=options.rows, persons=max(1, options.rows // 4)))
        subject.execute("ANALYZE visits")
        print(f"{'unit':<8}" + "".join(f"{name:>12}" for name in ("anonymize", "dbt", "nodes", "ratio")))
        for unit in (True, False):
            with tempfile.TemporaryDirectory(prefix="kanon_bench_") as folder:
                found = measured(subject, Path(folder), unit, options.repeat)
            figures["unit" if unit else "rows"] = found
            shown = "".join(f"{found[name]!s:>12}" for name in ("anonymize", "dbt", "nodes", "ratio"))
            print(f"{'person' if unit else 'none':<8}{shown}", flush=True)
            for name, taken in found["steps"].items():
                print(f"  {taken:>8.2f}  {name}")
    finally:
        subject.close()
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": options.rows, **figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
