"""The shape of the command line: headings, how many options a verb has, one rule for lists and for files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.cli.options import items, named
from kanon_sql.cli.program import HEADINGS
from kanon_sql.cli.renamed_options import OPTIONS
from kanon_sql.cli.renamed_options import VERBS as MOVED
from tests.support.command_line import COMMAND, GROUPS, VERBS, command_of, refused, run

MOST_OPTIONS = 14
MOST_VERBS, MOST_GROUPS = 13, 4

WITHOUT_SPEC = {"demo", "init", "clean", "report", "release ledger", "pipeline schema"}
"""They make a spec, or read a database or a run."""

TAKES_TABLE = {"check", "plan", "anonymize"}
"""They take a table and the roles of its columns in the place of a spec."""

LISTS = {
    *((verb, option) for verb in TAKES_TABLE for option in ("--quasi-identifiers", "--l", "--t")),
    ("hierarchy", "--attribute"), ("hierarchy", "--values"), ("plan", "--show"), ("anonymize", "--show"),
    ("audit", "--on"), ("audit", "--earlier"), ("audit", "--attack"), ("risk", "--columns"), ("compare", "--k"),
    ("compare", "--recoding"), ("compare", "--columns"), ("init", "--quasi-identifiers"), ("init", "--sensitive"),
    ("init", "--identifiers"), ("release evidence", "--on"), ("release evidence", "--earlier"),
    ("release evidence", "--attack"), ("parties plan", "--database"), ("parties anonymize", "--database"),
    ("pipeline render", "--node"),
}  # fmt: skip


def options_of(verb: str) -> list[Any]:
    return [item for item in command_of(verb).params if item.param_type_name == "option"]


def test_no_more_verbs_and_groups_than_a_reader_takes_in() -> None:
    top = [verb for verb in VERBS if " " not in verb]
    assert len(top) <= MOST_VERBS
    assert len(GROUPS) <= MOST_GROUPS
    assert {*top, *GROUPS} == set(COMMAND.commands)
    found = [f"{name} {verb}" for name in GROUPS for verb in COMMAND.commands[name].commands]
    assert sorted([*top, *found]) == sorted(VERBS)


def test_every_verb_and_group_stands_under_one_heading() -> None:
    listed = [name for names in HEADINGS.values() for name in names]
    assert sorted(listed) == sorted(COMMAND.commands)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_has_more_options_than_a_screen_shows(verb: str) -> None:
    assert len(options_of(verb)) <= MOST_OPTIONS


@pytest.mark.parametrize("verb", VERBS)
def test_the_spec_comes_first(verb: str) -> None:
    arguments = [item.metavar for item in command_of(verb).params if item.param_type_name == "argument"]
    spec = "SPEC|TABLE" if verb in TAKES_TABLE else "SPEC"
    assert (spec in arguments) == (verb not in WITHOUT_SPEC)
    assert verb in WITHOUT_SPEC or arguments[0] == spec


def test_every_option_that_repeats_takes_commas_too() -> None:
    several = {(verb, item.opts[0]) for verb in VERBS for item in options_of(verb) if item.multiple}
    assert {pair for pair in several if pair[1] != "--set"} == LISTS
    for verb in VERBS:
        for item in options_of(verb):
            assert (item.metavar or "").endswith(",...") == item.multiple, (verb, item.opts)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["a,b"], ["a", "b"]), (["a", "b"], ["a", "b"]), (["a, b", "c"], ["a", "b", "c"]), (None, []),
        (['"last, first",age'], ["last, first", "age"]), (['a"b'], ['a"b']), (["age=1,zip=2"], ["age=1", "zip=2"]),
    ],
)  # fmt: skip
def test_a_list_may_repeat_its_option_or_have_commas(texts: list[str] | None, found: list[str]) -> None:
    assert named(texts) == found


@pytest.mark.parametrize("text", ["", ",", "a,", ",a", "a,,b"])
def test_a_list_has_no_empty_item(text: str) -> None:
    with pytest.raises(ValueError, match="without an empty item"):
        items([text])


@pytest.mark.slow
def test_both_forms_of_a_list_are_one(clinic: Path) -> None:
    base = ("hierarchy", "spec.yml", "-d", "clinic.duckdb")
    repeated = run(*base, "--attribute", "zip", "--attribute", "age")
    listed = run(*base, "--attribute", "zip,age")
    one = run(*base, "--attribute", "zip")
    assert repeated.exit_code == 0, repeated.output
    seconds = re.compile(r"[\d.]+ s$", re.MULTILINE)
    assert seconds.sub("", repeated.stdout) == seconds.sub("", listed.stdout) != seconds.sub("", one.stdout)


# --- --set -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("threads=none",), "--set threads: expected a whole number"),
        (("threads=1,threads=2",), "--set threads: expected one value, got 2"),
        (("thread=1",), "did you mean 'threads'?"),
        (("frob",), "expected KEY=VALUE; expected one of threads, memory_limit, timeout"),
        (("threads=",), "--set threads: expected a whole number"),
        (("threads=1,",), "without an empty item"),
        (("scratch=temp",), "--set scratch: unknown key; expected one of threads, memory_limit, timeout"),
        (("=1",), "--set: expected KEY=VALUE; expected one of threads, memory_limit, timeout"),
        (("timeout",), "--set timeout: the value is missing; write --set timeout=VALUE"),
        (("timeout=soon",), "--set timeout: expected a number of seconds"),
        (("memory_limit=much",), "--set memory_limit: expected a size such as 4GB"),
    ],
)
def test_what_cannot_be_set(clinic: Path, given: tuple[str, ...], said: str) -> None:
    more = [word for item in given for word in ("--set", item)]
    assert said in refused(run("check", "spec.yml", "-d", "clinic.duckdb", "--table", "visits", *more), 2)


def test_a_key_goes_on_with_the_values_of_its_list(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: dict[str, Any] = {}

    def audit(*_: Any, **given: Any) -> Any:
        got.update(given)
        raise KeyboardInterrupt

    monkeypatch.setattr("kanon_sql.verbs.audit.audit", audit)
    run("audit", "spec.yml", "-d", "clinic.duckdb", "--set", "view=v1,v2,timeout=10m,negations=3", "--set",
        "hierarchy=diagnosis=d.csv,zip=z.csv")  # fmt: skip
    assert got["other_views"] == ["v1", "v2"]
    assert (got["negations"], got["timeout"]) == (3, 600.0)
    assert {name: Path(item["file"]).name for name, item in got["hierarchies"].items()} == {
        "diagnosis": "d.csv", "zip": "z.csv",
    }  # fmt: skip


# --- --output --------------------------------------------------------------------------------


def test_every_verb_that_writes_has_one_output() -> None:
    without = {verb for verb in VERBS if not any("-o" in item.opts for item in options_of(verb))}
    assert without == {"explore"}
    for verb in VERBS:
        for item in options_of(verb):
            assert ("-o" in item.opts) == ("--output" in item.opts)


@pytest.mark.parametrize(
    ("name", "options", "begins"),
    [
        ("found.txt", (), "FAIL"),
        ("found.json", (), "{"),
        ("found.txt", ("--format", "json"), "{"),
        ("found.json", ("--format", "text"), "FAIL"),
        ("found.md", (), "**"),
        ("found.xml", (), "<"),
    ],
)
def test_output_takes_the_place_of_standard_output(
    clinic: Path, name: str, options: tuple[str, ...], begins: str
) -> None:
    base = ("check", "spec.yml", "-d", "clinic.duckdb", "--table", "visits")
    shown = run(*base, "-o", name, *options)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert f"result: {name}" in shown.stderr
    text = Path(name).read_text()
    assert text.lstrip("# ").startswith(begins), text[:80]
    assert Path(name).stat().st_mode & 0o777 == 0o600


def test_a_page_comes_besides_what_is_printed(clinic: Path) -> None:
    shown = run("check", "spec.yml", "-d", "clinic.duckdb", "--table", "visits", "-o", "found.html")
    assert shown.stdout.startswith("FAIL")
    assert Path("found.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("anonymize", "spec.yml", "-d", "clinic.duckdb", "-o", "out.parquet"),
            "set the file of the release in the spec",
        ),
        (("doctor", "-d", "clinic.duckdb", "-o", "found.html"), "this command writes no HTML report"),
        (("plan", "spec.yml", "-d", "clinic.duckdb", "-o", "nowhere/x"), "expected a file in an existing directory"),
        (("plan", "spec.yml", "-d", "clinic.duckdb", "--show", "node"), "--show: expected nodes, minimal, matrix"),
    ],
)
def test_what_output_cannot_be(clinic: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(run(*words), 2)
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("init", "visits", "-d", "clinic.duckdb"), "#"),
        (("pipeline", "render", "spec.yml"), "--"),
        (("pipeline", "schema", "risk"), "{"),
    ],
)
def test_a_text_goes_to_the_file_as_it_goes_to_standard_output(
    clinic: Path, words: tuple[str, ...], begins: str
) -> None:
    printed = run(*words).stdout
    shown = run(*words, "-o", "file.txt")
    assert (shown.exit_code, shown.stdout) == (0, "")
    times = re.compile(r"\d+T[\d:+]+")
    assert times.sub("", Path("file.txt").read_text()) == times.sub("", printed)
    assert printed.startswith(begins)


# --- report ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_report_takes_a_spec_a_run_and_a_manifest(clinic: Path) -> None:
    on = ("-d", "clinic.duckdb")
    assert "no manifest of visits_release" in refused(run("report", "spec.yml", *on), 2)
    assert "give the database with -d" in refused(run("report", "spec.yml"), 2)
    assert run("anonymize", "spec.yml", *on, "-o", "run.json").exit_code == 0
    pages = [run("report", *words) for words in (("spec.yml", *on), ("visits_release.manifest.json",), ("run.json",))]
    for page in pages:
        assert page.exit_code == 0, page.output
        assert page.stdout.startswith("<!DOCTYPE html>")
        assert "visits_release" in page.stdout
    of_spec, of_file = (re.sub(r"k[0-9a-f]{10}", "", page.stdout) for page in pages[:2])  # ids, by chance
    assert sorted(re.findall(r"\w+", of_spec)) == sorted(re.findall(r"\w+", of_file))


# --- Old names -------------------------------------------------------------------------------


@pytest.mark.parametrize("old", MOVED)
def test_an_old_verb_names_the_new_one(old: str) -> None:
    said = " ".join(refused(run(old, "spec.yml", env={"COLUMNS": "200"}), 2).split())
    assert f"'{old}' has moved; use kanon-sql {MOVED[old]}" in said
    assert MOVED[old] in VERBS


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        *(("plan", f"--{name}") for name in "timeout estimate party beside matrix report scratch".split()),
        ("anonymize", "--no-manifest-file"), ("report", "--evidence"), ("audit", "--view"), ("init", "--population"),
        ("release certify", "--out"), ("hierarchy", "--export"), ("publish positions", "--check"),
        ("pipeline schema", "--audit"), ("explore", "--reveal"), ("check", "--reveal"), ("check", "--earlier"),
        ("check", "--person"), ("check", "--m"), ("plan", "--max-bytes"), ("anonymize", "--max-seconds"),
        ("compare", "--max-seconds"), ("pipeline dbt", "--max-statements"), ("pipeline dbt", "--project"),
    ],
)  # fmt: skip
def test_an_old_option_names_the_new_one(verb: str, option: str) -> None:
    found = OPTIONS[option]
    new = found if isinstance(found, str) else found[verb]
    for word in (option, f"{option}=x"):
        said = " ".join(refused(run(*verb.split(), "x.yml", word, env={"COLUMNS": "200"}), 2).split())
        assert f"{option} has moved; {new}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["anonymize", "a.csv", "--sensitive", "illness"], "no such option: --sensitive; write --set sensitive=VALUE"),
        (["check", "s.yml", "--max-bytes=1GB"], "max_bytes"),
        (["audit", "out", "s.yml", "-d", "x.duckdb"], "after the spec, a table goes after --table: --table"),
        (["check", "out.csv", "s.yml"], "after the spec, a table goes after --table: --table"),
        (["check", "s.yml", "x.duckdb"], "a database goes after -d: -d clinic.duckdb"),
        (
            ["anonymize", "a.csv", "--quasi-identifiers", "age", "town"],
            "a list takes commas: --quasi-identifiers age,zip",
        ),
        (
            ["check", "--table", "a.csv", "--k", "5"],
            "without one, write the table as the argument, and not after --table",
        ),
        (["check", "--k", "5"], "Missing argument 'SPEC|TABLE'"),
        (["doctor", "s.yml", "other"], "extra argument"),
    ],
)
def test_a_wrong_word_says_where_it_belongs(words: list[str], said: str) -> None:
    assert said in " ".join(refused(run(*words, env={"COLUMNS": "200"}), 2).split())


@pytest.mark.parametrize(("verb", "option"), [("audit", "--explain"), ("explore", "--report"), ("doctor", "--bound")])
def test_an_old_option_names_no_new_one_that_the_verb_does_not_have(verb: str, option: str) -> None:
    assert f"No such option: {option}" in refused(run(verb, option, env={"COLUMNS": "200"}), 2)


def test_the_table_of_old_options_names_only_what_there_is() -> None:
    names = {name for verb in VERBS for item in options_of(verb) for name in (*item.opts, *item.secondary_opts)}
    for old, found in OPTIONS.items():
        by_verb = {"": found} if isinstance(found, str) else found
        for verb, new in by_verb.items():
            assert not verb or old not in {name for item in options_of(verb) for name in item.opts}, (verb, old)
            assert set(re.findall(r"--[a-z-]+", new)) <= names, new
            for used in re.findall(r"kanon-sql ([a-z]+ [a-z]+)", new):
                assert used in VERBS, new
