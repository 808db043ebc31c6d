"""Templates that were compiled before: used where nothing changed, and never in place of what did."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from jinja2 import Environment

from kanon_sql.sql import templates


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with one template, and Python as it is by default: it keeps what it compiled beside it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "one.sql.j2").write_text("SELECT 1 AS a\n")
    templates.add_template_directory(tmp_path)
    yield tmp_path / "own"
    templates.remove_template_directory(tmp_path)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The templates that were compiled, in turn."""
    seen: list[str | None] = []
    compile_it = Environment.compile

    def remember(self: Environment, source: str, name: str | None = None, *args: object, **kwargs: object) -> object:
        seen.append(name)
        return compile_it(self, source, name, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", remember)
    return seen


def again() -> str:
    """The template as a new process renders it."""
    templates._environment.cache_clear()
    return str(templates.render("own/one"))


def test_a_template_is_compiled_once_for_all_processes(room: Path, compiled: list[str | None]) -> None:
    assert [again(), again()] == ["SELECT 1 AS a", "SELECT 1 AS a"]
    assert compiled == ["own/one"]


def test_a_template_that_changed_is_compiled_anew(room: Path) -> None:
    again()
    (room / "one.sql.j2").write_text("SELECT 2 AS a\n")
    assert again() == "SELECT 2 AS a"


def test_filters_that_changed_compile_anew(
    room: Path, compiled: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    again()
    monkeypatch.setattr("kanon_sql.sql.template_files._filters", lambda: b"others")
    again()
    assert len(compiled) == 2


@pytest.mark.parametrize("length", [0, 3, 30, -1])
def test_a_damaged_file_is_passed_over(room: Path, length: int) -> None:
    again()
    kept = Path(cache_from_source(str(room / "own.one.j2")))
    kept.write_bytes(kept.read_bytes()[:length])
    assert again() == "SELECT 1 AS a"


def test_nothing_is_written_where_python_may_not(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert again() == "SELECT 1 AS a"
    assert [path.name for path in room.iterdir()] == ["one.sql.j2"]


def test_a_directory_that_cannot_be_written_to_costs_only_the_time(room: Path) -> None:
    (room / "__pycache__").write_text("a file in the way")
    assert again() == "SELECT 1 AS a"


def test_what_cannot_be_written_whole_leaves_nothing(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", full)
    assert again() == "SELECT 1 AS a"
    assert list((room / "__pycache__").iterdir()) == []


def test_whoever_may_read_the_templates_may_read_what_was_made_of_them(room: Path) -> None:
    again()
    assert Path(cache_from_source(str(room / "own.one.j2"))).stat().st_mode & 0o444 == 0o444
