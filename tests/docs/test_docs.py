"""The documentation is true: every command and snippet of it runs, every link leads somewhere, nothing is left out."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
from markdown_it import MarkdownIt
from ruamel.yaml import YAML

import kanon_sql.errors
import kanon_sql.results
import kanon_sql.testing
from kanon_sql.cli import app
from kanon_sql.disclosure.attacks import ATTACKS
from kanon_sql.errors import ExitCode
from kanon_sql.models.quality import METRICS
from kanon_sql.registers import HIERARCHIES, RECODINGS
from kanon_sql.search import STRATEGIES
from kanon_sql.spec import (
    CloakSpec,
    PerturbSpec,
    RelationalSpec,
    Spec,
    TableSpec,
    parse_requirement,
    requirements,
)
from kanon_sql.spec.checks import Part
from tests import ROOT
from tests.servers import subject_of
from tests.support.command_line import GROUPS, VERBS, command_of
from tests.support.pages import (
    DECISIONS,
    DOCS,
    NOT_RUN,
    PAGES,
    Block,
    Run,
    blocks_of,
    needs_of,
    parse_only,
    tidy,
    unshown_figures,
)

sys.path.append(str(DOCS / "hooks"))

import models_reference
import python_reference
import references
import spec_reference

README = ROOT / "README.md"
MINUTES = {"spark", "dbt"}
"""What a page may need that takes minutes."""

SECONDS = {
    "architecture",
    "legal",
    "tutorial",
    "choosing",
    "how-to/duckdb",
    "how-to/evidence",
    "how-to/ledger",
    "how-to/new-rows",
    "how-to/parties",
    "how-to/python",
    "reference/attacks",
    "reference/cli",
    "reference/positions",
    "reference/recoding",
    "reference/tables",
}
"""Pages that are left to the slow tests, so that the quick ones stay quick."""


def named(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def text_of(name: str) -> str:
    """A page as the site shows it, with its generated parts."""
    return references.on_page_markdown((DOCS / f"{name}.md").read_text("utf-8"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What ``kanon-sql demo`` prints, and the directory it was run in; pages get copies."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return Run(folder, monkeypatch).command("kanon-sql demo"), folder


# --- Every block of every page ---------------------------------------------------------------


def pages() -> list[Any]:
    found = []
    for page in PAGES:
        needs = needs_of(page)
        marks = [pytest.mark.slow] if needs in MINUTES or named(page) in SECONDS else []
        if needs in MINUTES:
            marks.append(pytest.mark.xdist_group(needs))
        if "$ kanon-sql demo\n" in page.read_text("utf-8"):
            marks.append(pytest.mark.xdist_group("demo's pages"))
        found.append(pytest.param(page, id=named(page), marks=marks))
    return found


@pytest.mark.parametrize("page", pages())
def test_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    needs, blocks = needs_of(page), blocks_of(page)
    shown = [block for block in blocks if block.language == "console" and "not run" not in block.said]
    ready = {}
    if any("$ kanon-sql demo\n" in block.text for block in shown):
        ready["kanon-sql demo"] = request.getfixturevalue("demo")
    if needs == "dbt":
        if "KANON_DBT" not in os.environ:
            pytest.skip("KANON_DBT does not name dbt's executable")
        for name in ("dbt", "examples"):
            shutil.copytree(ROOT / name, tmp_path / name)
        run_all(blocks, Run(tmp_path, monkeypatch))
    elif needs is not None:
        with subject_of(needs) as subject:
            run_all(blocks, Run(tmp_path, monkeypatch, subject))
    else:
        run_all(blocks, Run(tmp_path, monkeypatch, ready=ready))


def run_all(blocks: list[Block], run: Run) -> None:
    for block in blocks:
        if "not run" in block.said:
            parse_only(block)
        else:
            run.block(block)


def test_only_what_cannot_run_here_is_left_out() -> None:
    reasons = {
        block.said["not run"]: block.place for page in PAGES for block in blocks_of(page) if "not run" in block.said
    }
    print("\n".join(f"{place}: {reason}" for reason, place in reasons.items()))
    assert reasons.keys() == NOT_RUN


def test_a_block_that_lies_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of this file would be worth nothing if they passed whatever a page says."""
    run = Run(tmp_path, monkeypatch)

    def block(language: str, text: str, **said: str) -> Block:
        return Block(DOCS / "index.md", 1, language, None, text, said)

    run.block(block("console", "$ kanon-sql --version\nkanon-sql ...\n"))
    wrong: Mapping[str, Block] = {
        "printed": block("console", "$ kanon-sql --version\nkanon-sql 99\n"),
        "ended with 2": block("console", "$ kanon-sql check nothing.yml\n"),
        "echo": block("console", "$ kanon-sql check nothing.yml\n...\n$ echo $?\n1\n"),
        "nobody knows": block("text", "PASS\n"),
        "neither": block("sql", "SELECT 1"),
        "not understood": block("sql", "CREATE ROLE reader", dialect="snowflake"),
    }
    for words, lie in wrong.items():
        run.code = 0
        with pytest.raises(AssertionError, match=words):
            run.block(lie)
    with pytest.raises(Exception, match="unknown requirement"):
        run.block(block("yaml", "privacy: [{k_anonimity: 5}]\n"))
    with pytest.raises(Exception, match="No such option"):
        parse_only(block("console", "$ kanon-sql doctor --nowhere\n"))


FIGURES = ["tutorial", "index", *(named(page) for page in PAGES if page.parent.name == "how-to")]


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_in_prose_are_those_that_are_shown(name: str) -> None:
    """What is shown is what the commands print, as the test of the page sees to."""
    assert unshown_figures(DOCS / f"{name}.md") == []


def test_a_figure_that_is_not_shown_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.pages.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\nIn PostgreSQL 12 (Sweeney 2002) 39 % of 30,000 rows are unique, and 110 came back.\n\n"
        "```console\n$ count\n30,000 rows, 147 of them fetched, 39.48 % unique\n```\n\n## Two\n\n147 came back.\n"
    )
    assert unshown_figures(page) == ["page.md:3: 110", "page.md:12: 147"]


# --- README ----------------------------------------------------------------------------------


def readme() -> dict[str, list[Block]]:
    """The README's blocks by how they begin; one that begins otherwise has no test, and must not be there."""
    kinds: dict[str, list[Block]] = {"python3 -m venv": [], "PASS": [], "version: 1": [], "import": []}
    for block in blocks_of(README):
        (kind,) = (kind for kind in kinds if block.text.startswith(kind))
        kinds[kind].append(block)
    return kinds


def test_the_readme_has_a_command_for_the_demo_and_one_for_the_tests() -> None:
    """Each is for a fresh machine, and CI runs the tests by what the second one ends with."""
    demo, tests = (block.text.strip().split(" && ") for block in readme()["python3 -m venv"])
    assert (demo[0], demo[-1]) == (tests[0], "kanon-sql demo")
    assert f"\n{tests[-1]}\n" in (ROOT / ".ci" / "run").read_text()


def test_the_extras_that_pages_install_are_there() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    texts = [page.read_text("utf-8") for page in (README, ROOT / "CONTRIBUTING.md", *PAGES)]
    named = {name for text in texts for names in re.findall(r"\.\[([\w,]+)\]", text) for name in names.split(",")}
    assert len(named) > 5
    assert named <= extras.keys()


@pytest.mark.xdist_group("demo's pages")
def test_the_readme_shows_what_the_demo_prints(demo: tuple[str, Path]) -> None:
    """Shortened: every line is there, in this order. Bytes differ by a digit of the seconds, which are fetched too."""
    (block,) = readme()["PASS"]
    printed = iter(tidy(demo[0]).splitlines())
    for line in filter(None, block.text.splitlines()):
        wanted = re.escape(line).replace(r"bytes\ fetched", r"bytes\ fetched.*")
        wanted = re.sub(r"/\\ [\d,]+\\ bytes", r"/\\ [\\d,]+\\ bytes", wanted)
        assert any(re.fullmatch(wanted, other) for other in printed), f"the demo does not print: {line}"


def test_the_readmes_spec_is_one() -> None:
    (block,) = readme()["version: 1"]
    spec = Spec.parse(block.text)
    assert {item.name for item in spec.privacy} == {"k_anonymity", "l_diversity"}


def commands() -> list[str]:
    """Those that stand in the text."""
    return re.findall(r"`(kanon-sql [^`]+)`", README.read_text("utf-8"))


def test_the_readme_names_every_verb() -> None:
    assert set(re.findall(r"`([a-z]+(?: [a-z]+)?)`[,|]", README.read_text("utf-8"))) == set(VERBS)


@pytest.mark.slow
def test_the_readmes_commands_and_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, on the spec that it shows, in the database that its first command has made."""
    (tmp_path / "visits.yml").write_text(readme()["version: 1"][0].text)
    run = Run(tmp_path, monkeypatch)
    first = readme()["python3 -m venv"][0].text.strip().split(" && ")[-1]
    assert [command.split()[1] for command in (first, *commands())] == ["demo", "init", "anonymize"]
    for command in (first, *commands()):
        output = run.command(command)
        assert run.code == 0, f"{command}\n{output}"
    (block,) = readme()["import"]
    run._python(block)
    assert run.names["result"].passed


def test_the_readmes_figures_are_those_of_the_benchmarks() -> None:
    shown = re.findall(r"^\|.*\|([\d.]+\|[\d.]+ x [\d.]+ s)\|$", README.read_text("utf-8"), re.MULTILINE)
    assert shown
    measured = {"|".join(cell for cell in cells[1:3]) for cells in rows_of("benchmarks")}
    assert set(shown) <= measured


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 700


def test_the_documentation_is_short() -> None:
    assert len(PAGES) <= 32
    words = {named(page): len(page.read_text("utf-8").split()) for page in [*PAGES, *DECISIONS]}
    assert sum(words.values()) <= 51_600, sorted(words.items(), key=lambda item: -item[1])[:8]


def test_every_page_begins_with_its_task_and_a_block() -> None:
    """A title, a paragraph, and a block."""
    for page in PAGES:
        kinds = [token.type for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")) if token.level == 0]
        begins = [kind for kind in kinds if kind not in ("html_block", "heading_close", "paragraph_close")]
        assert begins[:3] == ["heading_open", "paragraph_open", "fence"], named(page)


# --- Links and the site ----------------------------------------------------------------------


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    text = page.read_text("utf-8") if page == README else text_of(named(page))
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("page", [README, *PAGES, *DECISIONS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text("utf-8") if page == README else text_of(named(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert page == README or found.is_relative_to(DOCS), f"{target} is not on the site"
        if anchor:
            assert anchor in anchors_of(found), target


def test_what_agents_are_told_is_there() -> None:
    text = (DOCS / "llms.txt").read_text("utf-8")
    pages = re.findall(r"\]\(([^)]+)\)", text)
    assert len(pages) > 5
    assert [page for page in pages if not (DOCS / page).is_file()] == []
    commands = re.findall(r"`kanon-sql ([^`]+)`", text)
    assert len(commands) > 5
    for command in commands:
        words = command.split()
        verb = " ".join(words[:2]) if words[0] in GROUPS else words[0]
        assert verb in VERBS, command
        options = {item for parameter in command_of(verb).params for item in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, command


def test_the_literature_names_tests_that_exist() -> None:
    named = set(re.findall(r"tests/[\w/]+\.py", (DOCS / "literature.md").read_text("utf-8")))
    assert len(named) > 20
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []


def test_every_page_is_in_the_navigation_once() -> None:
    def entries(item: Any) -> Iterator[str]:
        if isinstance(item, str):
            yield item
        for inner in item.values() if isinstance(item, dict) else item if isinstance(item, list) else ():
            yield from entries(inner)

    config = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert sorted(entries(config["nav"])) == sorted(f"{named(page)}.md" for page in PAGES)


def test_the_architecture_lists_every_decision_once() -> None:
    listed = re.findall(r"\]\(decisions/([\w-]+)\.md\)", (DOCS / "architecture.md").read_text("utf-8"))
    assert sorted(listed) == [page.stem for page in DECISIONS]
    for page in DECISIONS:
        assert len(page.read_text("utf-8").split()) <= 170, page.name
        assert not blocks_of(page), page.name


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_builds_and_fetches_nothing(site: Path) -> None:
    for file in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img|link|iframe)[^>]*(?:src|href)="?((?:https?:)?//[^" >]+)', file.read_text("utf-8")
        )
        assert not fetched, f"{file.name}: {fetched}"
    shown = (site / "reference/python.html").read_text("utf-8")
    results = kanon_sql.results.__all__
    names = [f"kanon_sql.{name}" for name in python_reference.objects().keys() - {*kanon_sql.errors.__all__, *results}]
    names += [f"kanon_sql.results.{name}" for name in results]
    names += [f"kanon_sql.testing.{name}" for name in kanon_sql.testing.__all__]
    names += [f"kanon_sql.errors.{name}" for name in python_reference.errors()]
    assert [name for name in names if f'id="{name}"' not in shown] == []
    assert ":func:" not in shown, "the roles of docstrings are not links"


# --- References say everything ---------------------------------------------------------------


def test_every_key_of_the_spec_is_in_its_reference() -> None:
    shown = spec_reference.markdown()
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", shown, re.MULTILINE | re.DOTALL))
    listed = spec_reference.parts_of(Spec)
    assert len(sections) == len(listed)
    for part, text in zip(listed, sections.values(), strict=True):
        rows = re.findall(r"^\| `(\w+)` \| \S.+? \| \S.*? \| \S.* \|$", text, re.MULTILINE)
        # A release that is a file has a field of its own, and is written under the key of the table.
        keys = list(part.keys())
        assert rows == [key for key in keys if key not in ("release_file", "release_view")], part.__name__

    def below(model: type[Part]) -> Iterator[type[Part]]:
        for inner in model.__subclasses__():
            if inner.__module__.startswith("kanon_sql."):  # not those that other tests make
                yield from below(inner) if inner.__subclasses__() else [inner]

    # The tests of tabulate, perturb and cloak read the references of these.
    of_others = (
        part for spec in (TableSpec, PerturbSpec, CloakSpec, RelationalSpec) for part in spec_reference.parts_of(spec)
    )
    others = set(of_others) - set(listed)
    kinds = set(HIERARCHIES.values())  # whose keys are those of a quasi-identifier
    assert set(listed) | others | kinds == set(below(Part)), "a model that the walk through the fields does not find"
    assert "None" not in shown
    assert "Undefined" not in shown
    anchors = {re.sub(r"[^\w]+", "-", title.lower()) for title in sections}
    assert set(re.findall(r"\]\(#([^)]*)\)", shown)) <= anchors


def test_every_verb_and_option_is_in_the_reference_of_the_command_line() -> None:
    shown = text_of("reference/cli")
    group: Any = typer.main.get_command(app)
    assert set(group.commands) == {name.partition(" ")[0] for name in VERBS}
    for name in VERBS:
        command = command_of(name)
        (section,) = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", shown, re.MULTILINE | re.DOTALL)
        for item in command.params:
            for option in item.opts if item.param_type_name == "option" else [item.metavar]:
                assert re.search(rf"\| `[^`]*{re.escape(option)}\b", section), f"{name} {option}"


def rows_of(name: str) -> list[list[str]]:
    """The cells of a page's tables, but for heads and rules."""
    text = text_of(name)
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def test_every_requirement_is_in_the_table_of_models_with_when_it_prunes() -> None:
    rows = [line.strip("| ").split(" | ") for line in models_reference.markdown().splitlines()[2:]]
    assert all(len(cells) == 5 and all(cells) for cells in rows)
    listed = {parse_requirement(YAML(typ="safe").load(cells[0].strip("`"))).name for cells in rows}
    assert listed == {item.name for item in requirements()}
    prunes = [(cells[0].strip("`"), *cells[3:]) for cells in rows]
    assert ("k_anonymity: {k: 5}", "always", "always") in prunes
    assert ("alpha_k_anonymity: {attribute: diagnosis, alpha: 0.5, k: 5}", "without suppression", "rows only") in prunes
    others = [found for name, *found in prunes if name.startswith(("differential_privacy:", "m_invariance:"))]
    assert others == [["not searched", "rows only"], ["not searched", "persons only"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", python_reference.objects())
def test_every_public_name_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the table and the spec that the reference begins with."""
    (ready,) = (block for block in blocks_of(DOCS / "reference/python.md") if block.language == "python")
    run = Run(tmp_path, monkeypatch)
    run.block(ready)
    shown = inspect.getdoc(python_reference.objects()[name]) or ""
    assert "\nExamples:\n" in shown
    example = doctest.DocTestParser().get_doctest(shown, run.names, name, None, 0)
    assert example.examples
    printed: list[str] = []
    assert doctest.DocTestRunner().run(example, out=printed.append).failed == 0, "".join(printed)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("reference/attacks", [*ATTACKS]),
        ("reference/algorithms", [*STRATEGIES, "k_optimize"]),
        ("reference/algorithms", [*METRICS]),
        ("reference/cli", [str(int(code)) for code in ExitCode] + ["130"]),
    ],
)
def test_every_name_is_in_a_table(page: str, names: list[str]) -> None:
    first = {cells[0].strip("`") for cells in rows_of(page)}
    assert set(names) <= first, set(names) - first


def keys_in(schema: Any) -> set[str]:
    """The keys of mappings in a part of a JSON Schema."""
    if isinstance(schema, list):
        return {key for item in schema for key in keys_in(item)}
    if not isinstance(schema, dict):
        return set()
    return {*schema.get("properties", ()), *(key for item in schema.values() for key in keys_in(item))}


@pytest.mark.parametrize(
    ("page", "model", "some"),
    [
        ("tables", kanon_sql.TableSpec, {"levels", "margin_difference", "key_variable"}),
        ("positions", kanon_sql.CloakSpec, {"neighbours", "origin", "between", "weekdays", "default"}),
        ("masking", kanon_sql.PerturbSpec, {"noise", "retain", "within", "most", "decimals"}),
    ],
)
def test_every_key_of_a_spec_of_another_kind_is_in_its_reference(page: str, model: Any, some: set[str]) -> None:
    schema, shared = model.json_schema(), Spec.json_schema()["$defs"]
    own = keys_in({**schema, "$defs": {name: part for name, part in schema["$defs"].items() if name not in shared}})
    assert some <= own
    assert own <= {cells[0].strip("`") for cells in rows_of(f"reference/{page}")}


def test_what_is_generated_is_asked_for_by_one_page() -> None:
    asked = [name for page in PAGES for name in re.findall(r"<!-- generated: (\w+) -->", page.read_text("utf-8"))]
    assert sorted(asked) == sorted(references.GENERATED)


def test_the_matrix_of_recodings_says_what_a_run_is_refused_for() -> None:
    found = {cells[0]: cells[1:] for cells in rows_of("reference/recoding")}
    with_ledger = dict(zip(RECODINGS, found["`ledger`"], strict=True))
    assert {name for name, cell in with_ledger.items() if cell == "yes"} == {"full_domain"}
    by_class = next(cells for head, cells in found.items() if "`l_diversity: {attribute: diagnosis, l: 3}`" in head)
    assert {"local", "mondrian", "subtree"} <= {
        name for name, cell in zip(RECODINGS, by_class, strict=True) if cell == "yes"
    }
    of_population = next(cells for head, cells in found.items() if "`k_map: {population: census, k: 5}`" in head)
    assert dict(zip(RECODINGS, of_population, strict=True))["local"] == ""
    assert found["duckdb"] == ["yes"] * 8
    assert found["oracle"][1:4] == [""] * 3
