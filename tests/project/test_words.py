"""The words of the project are those of its field: no other ones in docs, help, messages, comments and names."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from kanon_sql.cli import app
from kanon_sql.report import json as results
from kanon_sql.spec import Spec
from tests import ROOT

pytestmark = pytest.mark.xdist_group("words")  # one worker reads all sources once

PACKAGE = ROOT / "kanon_sql"

WORDS = re.compile(
    r"""\b(?:whoever | nobody | somebody | anybody | everybody   # a reader, an attacker, a person, a user
        | anew                                                   # again
        | whom                                                   # that, which
        | wish (?: es | ed )?                                    # a k of each row
        | so \s+ many                                            # N, this many
        | (?: tells? | telling | told ) (?: \s+ \w+ ){0,4} \s+ apart  # identifies, distinguishes
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)

IN_NAMES = {
    "alike": "equal, same",
    "anew": "again, fresh",
    "anybody": "a reader, an attacker",
    "begun": "initial, started",
    "beside": "neighbours, joined, computed",
    "besides": "further, other",
    "everybody": "the persons of a population",
    "grown": "larger",
    "hopeless": "infeasible",
    "lies": "is at",
    "nobody": "without a person",
    "patience": "a deadline, a limit of time",
    "said": "text, message, a fact by its name",
    "somebody": "a user, a session",
    "telling": "revealing",
    "tells": "reveals, identifies",
    "told": "known, predicted, shown",
    "unsaid": "without, unreported",
    "untrue": "perturbed, wrong",
    "whoever": "a reader, an attacker",
    "whom": "of the person",
    "wish": "the k of a row",
    "wished": "requested",
    "wishes": "the k of each row",
}
"""Words that no name in the code or in a template has, each with what takes its place."""

NAMES = {
    "nothing_told": "an old code of a warning, whose error names the new one",
    "kept_tells_quasi_identifier": "the same",
    "values_alike": "the same",
    "_told": "the end of a name of a scratch table",
}
"""The names that may have one, each with the reason."""

IN_NO_CONTEXT = set(
    "alone apart asked beside between cautions filed found given hopeless judged kept known left made matched meant "
    "moved patience reached recoded released said seen shown sides spent taken told upkeep wanted written".split()
)
"""Participles and metaphors that no module and no class has as its whole name: what is given, or kept?"""

SHORT_NAMES = {
    "Reached": "a part of the JSON Schemas of results",
    "Asked": "a part of the JSON Schema of evidence",
    "Made": "the same",
    "Seen": "the same",
    "Released": "what a release in the memory of a program is wrapped in, and results hold",
}
"""The classes that are called so, each with the reason."""

ALSO_IN_CODE = re.compile(r"\b(?:of|to|on) whom\b")
"""Docstrings may say "n of whom have the value", as papers do."""


@cache
def suspects() -> list[tuple[str, str]]:
    """The sources that have a word anywhere, also between the parts of a literal: others need no parser."""
    sources = ((path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py")))
    return [(place, text) for place, text in sources if WORDS.search(re.sub(r'"\s*\n\s*[rf]*"', "", text))]


def found_in(text: str) -> list[str]:
    return [" ".join(match[0].split()) for match in WORDS.finditer(text)]


def prose() -> Iterator[tuple[str, str]]:
    """The README, the pages of the docs and of ``explore``, and the files beside the package that users read."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "dbt" / "README.md", ROOT / "examples" / "spec.yml"]
    explore = [*(PACKAGE / "explore").rglob("*.j2"), *(PACKAGE / "explore").rglob("*.js")]
    for path in [*pages, *explore, *(ROOT / "docs").rglob("*.md")]:
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def below(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Every verb with its name; a group comes before its verbs."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from below(command, f"{before}{name} ")


def helps() -> Iterator[tuple[str, str]]:
    """What ``--help`` says of every verb, its options and its arguments."""
    group: Any = typer.main.get_command(app)
    yield "kanon-sql", group.help or ""
    for name, command in below(group, ""):
        yield f"kanon-sql {name}", f"{command.help or ''}\n{command.epilog or ''}\n{command.short_help or ''}"
        for item in command.params:
            yield f"kanon-sql {name} {item.name}", getattr(item, "help", None) or ""


def literals() -> Iterator[tuple[str, str]]:
    """Every text in the code of these that is no docstring, with those that f-strings are made of."""
    for place, text in suspects():
        tree = ast.parse(text)
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield f"{place}:{node.lineno}", node.value


def explanations() -> Iterator[tuple[str, str]]:
    """The docstrings and comments of the package, and the comments of the templates."""
    for place, text in suspects():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield f"{place}:{node.lineno}", str(node.value.value)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield f"{place}:{token.start[0]}", token.string
    for path in sorted((ROOT / "sql_templates").rglob("*.j2")):
        comments = re.findall(r"\{#.*?#\}", path.read_text("utf-8"), re.DOTALL)
        yield path.relative_to(ROOT).as_posix(), "\n".join(comments)


def words_of(name: str) -> set[str]:
    """The words that a name is made of: ``tell_left``, ``TellLeft`` and ``sql/tell/left`` have the same."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def identifiers() -> Iterator[tuple[str, str]]:
    """Every name that the package defines or passes a value by: modules, functions, classes, parameters, variables."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        yield place, path.stem
        if not IN_NAMES.keys() & words_of(text):
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield f"{place}:{node.lineno}", name
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    yield f"{place}:{node.lineno}", name
                case ast.arg(arg=name):
                    yield f"{place}:{node.lineno}", name
                case ast.keyword(arg=str(name), value=value):
                    yield f"{place}:{value.lineno}", name
                case ast.Constant(value=str(name)) if re.fullmatch(r"[A-Za-z_][\w/]*", name):  # a key, a template
                    yield f"{place}:{node.lineno}", name


def template_names() -> Iterator[tuple[str, str]]:
    """The names of templates and all that is in them but comments: variables, and tables and columns of statements."""
    for folder in (ROOT / "sql_templates", PACKAGE / "explore" / "templates"):
        for path in sorted(folder.rglob("*.j2")):
            place = path.relative_to(ROOT).as_posix()
            yield place, path.name.partition(".")[0]
            text = re.sub(r"\{# (?!==).*?#\}", " ", path.read_text("utf-8"), flags=re.DOTALL)
            code = text if folder.name == "sql_templates" else " ".join(re.findall(r"\{[{%].*?[}%]\}", text, re.DOTALL))
            yield from ((place, name) for name in sorted(set(re.findall(r"[A-Za-z_]\w*", code))))


def schemas() -> Iterator[tuple[str, str]]:
    """The JSON Schemas, whose descriptions ``kanon-sql pipeline schema`` prints."""
    yield "kanon-sql pipeline schema", json.dumps(Spec.json_schema())
    for name in results.__all__:
        if name.endswith("_schema"):
            yield name, json.dumps(getattr(results, name)())


def test_no_page_has_another_word() -> None:
    assert {place: words for place, text in prose() if (words := found_in(text))} == {}


def test_no_help_has_another_word() -> None:
    shown = dict(helps())
    assert any("--" not in text and text for text in shown.values())
    assert {place: words for place, text in shown.items() if (words := found_in(text))} == {}


def test_nothing_that_the_program_says_has_another_word() -> None:
    assert {place: words for place, text in [*literals(), *schemas()] if (words := found_in(text))} == {}


def test_no_docstring_or_comment_has_another_word() -> None:
    shown = [(place, ALSO_IN_CODE.sub(" ", text)) for place, text in explanations()]
    assert {place: words for place, text in shown if (words := found_in(text))} == {}


def test_no_name_has_another_word() -> None:
    names = [*identifiers(), *template_names()]
    wrong = {place: f"{name}: {IN_NAMES[word]}" for place, name in names for word in IN_NAMES.keys() & words_of(name)}
    assert {place: text for place, text in wrong.items() if text.partition(":")[0] not in NAMES} == {}


def modules_and_classes() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.stem
        yield from re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE)


def test_no_module_or_class_is_called_by_a_participle_alone() -> None:
    assert {name for name in modules_and_classes() if name.strip("_").lower() in IN_NO_CONTEXT} == SHORT_NAMES.keys()


def test_every_exception_is_needed() -> None:
    assert {name for _, name in identifiers()} >= NAMES.keys()


def test_a_name_is_read_by_its_words() -> None:
    assert words_of("_told_of") == words_of("ToldOf") == words_of("told/of") == {"told", "of"}
    assert words_of("SQLText2") == {"sql", "text"}


def test_a_word_is_found_where_a_line_breaks() -> None:
    text = "Whoever,\nanew, tells two rows of it\napart; so\nmany told them apart. Wished. Apart from it, a wishlist."
    assert found_in(text) == ["Whoever", "anew", "tells two rows of it apart", "so many", "told them apart", "Wished"]
