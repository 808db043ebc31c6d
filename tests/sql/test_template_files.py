"""Templates that share a file: each by its own name, on its own lines, and none that nothing renders."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from kanon_sql.errors import TemplateError
from kanon_sql.sql import add_template_directory, remove_template_directory, render
from kanon_sql.sql.template_files import SUFFIX, TemplateLoader, names_in, template_directory, template_names
from tests import ROOT

SUBJECT = """\
{# What the subject is. #}
{% macro named(text) %}{{ text | name }}{% endmacro %}

{# == own/subject/first == #}
{# The first one. #}
SELECT {{ named("a") }}

{# == own/subject/second == #}
SELECT
  {{ named("b") }}, {% include "own/subject/first" %}


{# == own/broken == #}
SELECT {{ named("c")
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A directory whose templates share a file, and one with a file of its own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "subject.sql.j2").write_text(SUBJECT)
    (tmp_path / "own" / "alone.sql.j2").write_text("SELECT 1\n  + {{ value }}")
    add_template_directory(tmp_path)
    yield tmp_path / "own"
    remove_template_directory(tmp_path)


def test_templates_of_a_file_are_rendered_by_their_names(own: Path) -> None:
    assert names_in(own.parent) == ["own/alone", "own/broken", "own/subject/first", "own/subject/second"]
    assert render("own/subject/first") == 'SELECT "a"'
    assert render("own/subject/second").split() == ["SELECT", '"b",', "SELECT", '"a"']


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [("own/broken", "subject", 14), ("own/alone", "alone", 2), ("own/subject/second", "subject", 10)],
)
def test_an_error_has_the_file_and_its_line(own: Path, name: str, file: str, line: int) -> None:
    text = (own / "subject.sql.j2").read_text()
    (own / "subject.sql.j2").write_text(text.replace('{{ named("b") }}', "{{ named(4) }}"))
    with pytest.raises(TemplateError) as caught:
        render(name, value="text")
    error: BaseException | None = caught.value
    places = []
    while error is not None:
        places += [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        error = error.__cause__
    assert (str(own / f"{file}.sql.j2"), line) in places


def test_a_file_that_is_added_later_is_found(own: Path) -> None:
    with pytest.raises(TemplateError, match="no SQL template 'own/later'"):
        render("own/later")
    (own / "later.sql.j2").write_text("SELECT 2")
    assert render("own/later") == "SELECT 2"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("other", "{# == own/alone == #}\nSELECT 1", "another template 'own/alone'"),
        ("twice", "{# == own/twice/a == #}\nSELECT 1\n{# == own/twice/a == #}\nSELECT 2", "another .*'own/twice/a'"),
        ("other", "{# == others/a == #}\nSELECT 1", "'others/a' is not looked for there"),
        ("other", "{# == own/subject/deep/a == #}\nSELECT 1", "'own/subject/deep/a' is not looked for there"),
    ],
)
def test_no_name_is_given_twice_or_where_it_is_not_looked_for(own: Path, file: str, text: str, message: str) -> None:
    (own / f"{file}.sql.j2").write_text(text)
    with pytest.raises(TemplateError, match=message):
        names_in(own.parent)


def test_every_beginning_in_the_packages_files_begins_a_template_that_is_found() -> None:
    loader = TemplateLoader([template_directory()])
    begun = 0
    for file in template_directory().rglob(f"*{SUFFIX}"):
        text = file.read_text("utf-8")
        begun += len(re.findall(r"\{#-? *=", text)) or 1
        common = text.partition("{# ==")[0] if "{# ==" in text else ""
        assert not re.sub(r"\{#.*?#\}|\{% macro.*?endmacro %\}", "", common, flags=re.DOTALL).strip(), file
    names = template_names()
    assert begun == len(names)
    for name in names:
        loader.get_source(None, name)  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_template_is_named_by_the_package() -> None:
    """In one text, or after the folder that a formatted text begins with."""
    texts: set[str] = set()
    folders: set[str] = set()
    for file in (ROOT / "kanon_sql").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(first := node.values[0], ast.Constant):
                folders.add(first.value)
    for file in template_directory().rglob(f"*{SUFFIX}"):
        texts |= set(re.findall(r'{% include "(.*?)" %}', file.read_text("utf-8")))
    folders = {folder for folder in folders if re.fullmatch(r"[a-z/]+/", folder)}
    folders |= {f"{one}{other}" for one in folders for other in folders}
    assert [
        name
        for name in template_names()
        if name not in texts
        and not any(name.removeprefix(folder) in texts for folder in folders if name.startswith(folder))
    ] == []
