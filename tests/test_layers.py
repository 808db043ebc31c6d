"""Who may import whom: upper layers may import lower ones, never back. Read from the source by ast."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "kanon_sql"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

# Lowest first. A module may import its own layer and every layer before it.
LAYERS = [
    ["errors", "version", "lattice", "packing", "additive"],
    ["spec"],
    ["sql"],
    ["codes"],
    ["engines"],
    ["connection"],
    ["search"],
    ["privacy", "quality"],
    ["workspace"],
    ["blanks", "forms"],
    ["hierarchy_file", "hierarchy_rules", "lookups", "hierarchies"],
    ["facts"],
    ["frequency", "population", "beliefs"],
    ["classes", "unions", "examination", "verify", "rollup", "matrix", "repeat", "ordering", "histograms"],
    ["nodes", "risks"],
    ["evaluate", "release", "intervals"],
    ["history", "joint"],
    ["partitions", "publish", "attacks"],
    ["pipeline"],
    ["report"],
    ["cli", "__main__", "testing"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

DRIVERS = {"duckdb": "engines/duckdb.py"}


def layer(module: str) -> str:
    """``kanon_sql.search.base`` -> ``search``."""
    return module.split(".")[1] if "." in module else ""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path) -> Iterator[tuple[str, ast.stmt, bool]]:
    """Imported module, its statement, and whether it only serves the type checker."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node, id(node) in typing_only
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node, id(node) in typing_only


def test_every_module_has_a_layer() -> None:
    assert {layer(name_of(path)) for path in MODULES} - {""} == set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    own = layer(name_of(path))
    if not own:
        return  # the package itself imports its public names, lazily
    for module, node, _ in imports(path):
        if module.split(".")[0] == "kanon_sql" and layer(module):
            assert LEVEL[layer(module)] <= LEVEL[own], f"{path.name}:{node.lineno} imports {module}"


def test_the_search_knows_no_sql_and_no_engine() -> None:
    for path in (PACKAGE / "search").glob("*.py"):
        for module, _, _ in imports(path):
            assert layer(module) in {"", "search", "lattice", "additive", "errors"} or not module.startswith(
                "kanon_sql"
            )
            assert module.split(".")[0] not in {"duckdb", "sqlglot", "jinja2"}


@pytest.mark.parametrize("path", [path for path in MODULES if "testing" not in path.parts], ids=name_of)
def test_only_its_engine_imports_a_driver_and_only_when_used(path: Path) -> None:
    tree = ast.parse(path.read_text())
    at_import = {id(inner) for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)
                 for inner in ast.walk(node)}  # fmt: skip
    for module, node, typing_only in imports(path):
        driver = module.split(".")[0]
        if driver in DRIVERS and not typing_only:
            assert str(path.relative_to(PACKAGE)) == DRIVERS[driver]
            assert id(node) not in at_import, f"{path.name}:{node.lineno} imports {driver} when it is imported"


def test_importing_the_package_and_asking_for_help_load_nothing_heavy() -> None:
    heavy = ["duckdb", "sqlglot", "pydantic", "jinja2", "ruamel"]
    for program in ("import kanon_sql", "from typer.testing import CliRunner\nfrom kanon_sql.cli import app\n"
                    "assert CliRunner().invoke(app, ['--help']).exit_code == 0"):  # fmt: skip
        code = f"{program}\nimport sys\nprint([name for name in {heavy!r} if name in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_exist(path: Path) -> None:
    if path.name == "__main__.py":
        return  # importing it runs the command line
    module = importlib.import_module(name_of(path))
    for name in getattr(module, "__all__", []):  # ruff keeps them sorted
        assert hasattr(module, name)


SQL_TEXT = re.compile(r"\b(SELECT\s.+\sFROM|INSERT INTO|CREATE (TEMPORARY )?TABLE|DROP TABLE)\b", re.DOTALL)


@pytest.mark.parametrize(
    "path", [path for path in MODULES if not {"engines", "dialects", "testing"} & set(path.parts)], ids=name_of
)
def test_sql_text_stays_in_the_templates(path: Path) -> None:
    tree = ast.parse(path.read_text())
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            assert not SQL_TEXT.search(node.value), f"{path.name}:{node.lineno} holds SQL"
