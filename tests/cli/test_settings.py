"""Defaults of the command line in a file: which file, what comes before what, and no password in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.cli import settings
from kanon_sql.cli.dbt_profiles import dbt_database
from kanon_sql.cli.options import KEYS
from kanon_sql.cli.settings import settings_of
from kanon_sql.errors import SpecError
from tests.support.command_line import VERBS, command_of, run

SPEC = "version: 1\nsource: people\nquasi_identifiers: {q: }\nprivacy: [k_anonymity: 2]\n"
SECRET = "tr0ub4dor"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One database for each way of naming it, known by its table's rows."""
    for name in ("KANON_SQL_DATABASE", "KANON_SQL_PROFILE", "DBT_PROFILES_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for rows, name in enumerate(("flag", "environment", "profile", "file", "variable", "dbt"), 2):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as connection:
            connection.execute(f"CREATE TABLE people AS SELECT 'a' AS q FROM range({rows * 10})")
    (tmp_path / "spec.yml").write_text(SPEC)
    (tmp_path / "deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ROWS = {"flag": 20, "environment": 30, "profile": 40, "file": 50, "variable": 60, "dbt": 70}


def used(*arguments: str) -> str:
    """Which database a run read."""
    shown = run("check", "spec.yml", "--table", "people", "--format", "json", *arguments)
    assert shown.exit_code == 0, shown.output
    rows = json.loads(shown.stdout)["rows"]["source"]
    return next(name for name, count in ROWS.items() if count == rows)


FILE = 'database = "file.duckdb"\n[profiles.other]\ndatabase = "profile.duckdb"\n'


@pytest.mark.slow
def test_what_comes_before_what(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kanon-sql.toml").write_text(FILE)
    assert used() == "file"
    assert used("--profile", "other") == "profile"
    monkeypatch.setenv("KANON_SQL_PROFILE", "other")
    assert used() == "profile"
    monkeypatch.delenv("KANON_SQL_PROFILE")
    monkeypatch.setenv("KANON_SQL_DATABASE", "environment.duckdb")
    assert used() == "environment"
    assert used("-d", "flag.duckdb") == "flag"
    monkeypatch.delenv("KANON_SQL_DATABASE")
    assert used("-d", "flag.duckdb", "--profile", "other") == "flag"


def test_a_profile_does_not_lose_against_the_environment_in_silence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("kanon-sql.toml").write_text(FILE)
    monkeypatch.setenv("KANON_SQL_DATABASE", "environment.duckdb")
    shown = run("check", "spec.yml", "--profile", "other", env={"COLUMNS": "300"})
    assert shown.exit_code == 2
    assert "KANON_SQL_DATABASE is set and overrides the profile's database" in shown.output


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["kanon-sql.toml", "pyproject.toml"])
def test_the_nearest_file_counts_and_paths_are_relative_to_it(folder: Path, name: str) -> None:
    begin = "[tool.kanon_sql]\n" if name == "pyproject.toml" else ""
    Path(name).write_text(begin + 'database = "file.duckdb"\n')
    Path("deep/pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert settings_of(folder / "deep/er", None).file == folder / name
    assert settings_of(folder / "deep/er", None).values["database"] == str(folder / "file.duckdb")
    os.chdir("deep/er")
    assert (
        json.loads(run("check", "../../spec.yml", "--table", "people", "--format", "json").stdout)["rows"]["source"]
        == ROWS["file"]
    )
    (folder / "deep/kanon-sql.toml").write_text("threads = 1\n")
    assert settings_of(folder / "deep/er", None).values == {"threads": 1}


@pytest.mark.slow
def test_of_two_in_one_directory_our_own_counts(folder: Path) -> None:
    Path("kanon-sql.toml").write_text('database = "file.duckdb"\n')
    Path("pyproject.toml").write_text('[tool.kanon_sql]\ndatabase = "profile.duckdb"\n')
    assert used() == "file"


def test_a_broken_file_of_others_is_none_of_ours(folder: Path) -> None:
    Path("pyproject.toml").write_text("[tool\n")
    assert settings_of(folder, None).file is None
    Path("pyproject.toml").write_text("[tool.kanon_sql\n")
    with pytest.raises(SpecError, match="expected a valid TOML file"):
        settings_of(folder, None)


def test_a_file_of_another_user_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kanon-sql.toml").write_text(FILE)
    monkeypatch.setattr(settings.os, "getuid", lambda: os.stat("kanon-sql.toml").st_uid + 1)
    if os.stat("kanon-sql.toml").st_uid == 0:
        os.chown("kanon-sql.toml", 4321, -1)
    with pytest.raises(SpecError, match="belongs to another user"):
        settings_of(folder, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f'database = "postgresql://ann:{SECRET}@host/db"',
            "other users may read this file, so a password is not read from it",
        ),
        (
            f'database = "postgresql://ann@host/db?password={SECRET}"',
            "other users may read this file, so a password is not read from it",
        ),
        (
            f'database = "clickhouse://host/db?access_token={SECRET}"',
            "other users may read this file, so a password is not read from it",
        ),
        (
            f'database = "postgresql://ann:{SECRET}@[host/db"',
            "other users may read this file, so a password is not read from it",
        ),
        (f'password = "{SECRET}"', "other users may read this file, so a password is not read from it"),
        (
            f'[profiles.p]\ndatabase = "postgresql://ann:{SECRET}@host/db"',
            "profiles.p.database: other users",
        ),
        (f'[profiles.p]\ntoken = "{SECRET}"', "profiles.p.token: other users"),
        ('databse = "x"', "databse: unknown key; did you mean 'database'?"),
        ("frob = 1", "frob: unknown key; expected one of database, threads"),
        ("database = 3", "database: expected a DuckDB file"),
        ('database = ""', "database: expected a DuckDB file"),
        ("database = {}", "database: expected a DuckDB file"),
        ('database = {url = "x"}', "database: expected a DuckDB file"),
        ('database = {variable = "X", dbt = "y"}', "database: expected a DuckDB file"),
        ('database = {variable = "X", target = "y"}', "database.target: target belongs to a dbt profile"),
        ("database = {variable = 3}", "database: expected a DuckDB file"),
        ("threads = 0", "threads: expected a whole number"),
        ("threads = true", "threads: expected a whole number"),
        ('timeout = "soon"', "timeout: expected a number of seconds"),
        ("memory_limit = 4", "memory_limit: expected a size"),
        ("profiles = 3", "profiles: expected tables"),
        ("[profiles]\np = 3", "profiles: expected tables"),
        ("x = [", "expected a valid TOML file"),
    ],
)
@pytest.mark.sampled(21)
def test_what_a_file_cannot_say(folder: Path, text: str, said: str) -> None:
    Path("kanon-sql.toml").write_text(text)
    with pytest.raises(SpecError) as refused:
        settings_of(folder, None)
    assert said in str(refused.value)
    assert SECRET not in str(refused.value)
    shown = run("doctor", "-d", ":memory:", env={"COLUMNS": "300"})
    assert shown.exit_code == 2
    assert SECRET not in shown.output


def test_a_user_without_a_password_may_be_named(folder: Path) -> None:
    Path("kanon-sql.toml").write_text('database = "postgresql://ann@host:5432/db?sslmode=require"')
    assert settings_of(folder, None).values == {"database": "postgresql://ann@host:5432/db?sslmode=require"}


def test_a_profile_that_is_not_there(folder: Path) -> None:
    with pytest.raises(SpecError, match=r"expected a kanon-sql\.toml"):
        settings_of(folder / "deep", "other")
    Path("kanon-sql.toml").write_text(FILE)
    with pytest.raises(SpecError, match="no such profile; did you mean 'other'"):
        settings_of(folder, "othr")
    with pytest.raises(SpecError, match="no such profile; expected one of other"):
        settings_of(folder, "zzz")


def test_a_profile_comes_before_what_stands_outside_and_keeps_the_rest(folder: Path) -> None:
    Path("kanon-sql.toml").write_text(f"threads = 1\ntimeout = 60\n{FILE}threads = 2\n")
    found = settings_of(folder, "other")
    assert found.values == {"database": str(folder / "profile.duckdb"), "threads": 2, "timeout": 60}
    assert found.origins["timeout"] == str(folder / "kanon-sql.toml")
    assert found.origins["threads"] == f"{folder / 'kanon-sql.toml'}, profile other"


@pytest.mark.slow
def test_a_variable_is_looked_at_when_it_is_needed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kanon-sql.toml").write_text('database = {variable = "CLINIC"}\n')
    shown = run("check", "spec.yml", env={"COLUMNS": "300"})
    assert (shown.exit_code, "the environment variable CLINIC is not set" in shown.output) == (2, True)
    assert used("-d", "flag.duckdb") == "flag"
    monkeypatch.setenv("CLINIC", "variable.duckdb")
    assert used() == "variable"


def test_every_option_of_a_file_reaches_its_verb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: dict[str, Any] = {}

    def connect(database: str, **options: Any) -> None:
        got.update(database=database, **options)
        raise SpecError("enough")

    monkeypatch.setattr("kanon_sql.engines.connect", connect)
    Path("kanon-sql.toml").write_text(
        'database = "file.duckdb"\nthreads = 2\nmemory_limit = "2GB"\ntimeout = 9\nscratch = "inline"\n'
    )
    run("plan", "spec.yml")
    assert {name: got.get(name) for name in ("database", "threads", "memory_limit", "scratch")} == {
        "database": str(folder / "file.duckdb"), "threads": 2, "memory_limit": "2GB", "scratch": "inline",
    }  # fmt: skip
    Path("kanon-sql.toml").write_text('memory_limit = "lots"\n')
    shown = run("plan", "spec.yml", env={"COLUMNS": "300"})
    assert (shown.exit_code, "expected a size such as" in shown.output) == (2, True)


def test_every_verb_with_a_database_has_profiles() -> None:
    for name in VERBS:
        options = {parameter.name for parameter in command_of(name).params}
        assert ("profile" in options) == ("database" in options), name
    assert {"database", "threads", "memory_limit", "timeout", "scratch"} == set(KEYS)


@pytest.mark.slow
def test_doctor_says_what_is_set_where(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kanon-sql.toml").write_text(f"timeout = 60\nscratch = 'temp'\n{FILE}")
    file = str(folder / "kanon-sql.toml")

    def set_where(*arguments: str) -> dict[str, str]:
        found: dict[str, str] = json.loads(run("doctor", "--format", "json", *arguments).stdout)["settings"]
        return found

    assert set_where() == {"database": file, "timeout": file, "scratch": file}
    assert set_where("--profile", "other")["database"] == f"{file}, profile other"
    assert set_where("-d", "flag.duckdb", "--set", "threads=1") == {
        "database": "the command line", "threads": "the command line", "timeout": file, "scratch": file,
    }  # fmt: skip
    monkeypatch.setenv("KANON_SQL_DATABASE", "environment.duckdb")
    assert set_where()["database"] == "the environment variable KANON_SQL_DATABASE"
    monkeypatch.delenv("KANON_SQL_DATABASE")
    monkeypatch.setenv("CLINIC", "variable.duckdb")
    Path("kanon-sql.toml").write_text('database = {variable = "CLINIC"}\n')
    shown = run("doctor", env={"COLUMNS": "300"})
    assert "from the environment variable CLINIC" in " ".join(shown.stdout.split())
    os.unlink("kanon-sql.toml")
    assert set_where("-d", "flag.duckdb") == {"database": "the command line"}
    assert "\nSet\n" not in run("doctor").stdout


# --- dbt --------------------------------------------------------------------------------------

DBT = """\
clinic:
  target: dev
  outputs:
    dev: {type: duckdb, path: dbt.duckdb, schema: main, threads: 4}
    prod:
      type: postgres
      host: db.example.org
      user: "ann@home"
      password: "{{ env_var('DBT_TEST_PASSWORD') }}"
      port: "{{ env_var('DBT_TEST_PORT', '6543') | int }}"
      dbname: clinic
      schema: public
      sslmode: require
      keepalives_idle: 0
"""


def dbt(text: str = DBT, folder: str = ".") -> None:
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / "profiles.yml").write_text(text)


@pytest.mark.slow
def test_a_dbt_profile_names_the_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dbt()
    Path("kanon-sql.toml").write_text('database = {dbt = "clinic"}\n')
    assert used() == "dbt"
    monkeypatch.setenv("DBT_TEST_PASSWORD", "p/w:@ä")
    assert dbt_database("clinic", "prod") == (
        "postgresql://ann%40home:p%2Fw%3A%40%C3%A4@db.example.org:6543/clinic?sslmode=require"
    )
    shown = json.loads(run("doctor", "--format", "json").stdout)["settings"]["database"]
    assert shown == f"{folder / 'kanon-sql.toml'}, from the dbt profile clinic"


def test_where_dbt_looks_for_profiles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match=r"there is no profiles\.yml of dbt in"):
        dbt_database("clinic", None)
    (folder / "home").mkdir()
    dbt(DBT.replace("dbt.duckdb", "home.duckdb"), str(folder / "home/.dbt"))
    assert dbt_database("clinic", None) == "home.duckdb"
    dbt()
    assert dbt_database("clinic", None) == "dbt.duckdb"
    dbt(DBT.replace("dbt.duckdb", "named.duckdb"), "named")
    monkeypatch.setenv("DBT_PROFILES_DIR", "named")
    assert dbt_database("clinic", None) == "named.duckdb"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("clinic:", "other:", "there is no profile 'clinic'"),
        ("target: dev", "target: none", "there is no output 'none'"),
        ("type: duckdb", "type: snowflake", "expected duckdb or postgres"),
        ("schema: main", "attach: [{path: other.duckdb}]", "attach: this option may change what names mean"),
        ("path: dbt.duckdb", "path: ':memory:'", "expected a database file"),
        ("path: dbt.duckdb", "path: 'md:clinic'", "expected a database file"),
        ("path: dbt.duckdb", "path: \"{{ var('x') }}\"", "other expressions of dbt are not read"),
        ("path: dbt.duckdb", "path: \"{% if x %}a{% endif %}\"", "other expressions of dbt are not read"),
        ("target: dev", "target: prod", "the environment variable DBT_TEST_PASSWORD is not set"),
        (
            "{{ env_var('DBT_TEST_PASSWORD') }}\"", f"{SECRET}\"\n      role: admin",
            "role: this option may change what names mean or what is allowed",
        ),
        ("{{ env_var('DBT_TEST_PASSWORD') }}\"", f"{SECRET}\"\n      search_path: a", "search_path: this option"),
        ("{{ env_var('DBT_TEST_PASSWORD') }}\"\n", f"{SECRET}\"\n      port: many\n", "expected"),
        ("clinic:\n", f"clinic: [{SECRET}\n", "expected the profiles of dbt in YAML"),
    ],
)  # fmt: skip
@pytest.mark.sampled(14)
def test_what_is_not_taken_over_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    text = DBT.replace(old, new, 1)
    dbt(text)
    with pytest.raises(SpecError) as refused:
        dbt_database("clinic", "prod" if SECRET in text else None)
    assert said in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_value_that_looks_like_an_expression_after_it_was_filled_in_is_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dbt()
    monkeypatch.setenv("DBT_TEST_PASSWORD", "{{ x }}")
    assert "%7B%7B%20x%20%7D%7D" in dbt_database("clinic", "prod")
