"""Who may import whom: upper rooms may import lower ones by their doors, never back. Read from the source by ast."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from kanon_sql.cli.verbs import VERBS
from tests import ROOT

pytestmark = pytest.mark.xdist_group("layers")  # one worker reads all sources once

PACKAGE = ROOT / "kanon_sql"
ARCHITECTURE = PACKAGE.parent / "docs" / "architecture.md"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

# Lowest first. A room may import itself and every room before it.
ROOMS = [
    "errors",  # with version, lazy, declared and interrupts: the sill, which every room may use
    "spec",
    "sql",
    "search",
    "engines",
    "models",
    "hierarchies",
    "frequency",
    "evaluate",
    "recode",
    "release",
    "parties",  # the protocols between several databases
    "disclosure",
    "tables",  # cells, not rows: what is released of a table of counts or sums
    "perturbation",  # untrue rows, which are no anonymization
    "relations",  # rows of several tables, joined by keys
    "positions",  # rows whose cells are those of a quad-tree, and no hierarchy's
    "objects",  # what a program has already: tables and connections
    "verbs",
    "report",
    "explore",  # a page that asks the verbs
    "cli",
    "testing",
]
LEVEL = {name: level for level, name in enumerate(ROOMS)} | {
    "version": 0,
    "registers": 0,
    "lazy": 0,
    "interrupts": 0,
    "results": len(ROOMS),  # names for users, which no room asks for
    "__main__": len(ROOMS),
}

OTHERS = ("tests", "benchmarks", "docs/hooks")

TAKEN = re.compile(r"^ *from (kanon_sql[\w.]*) import (\([^)]*\)|[^#\n]*)", re.MULTILINE)
"""What others import: enough of their text, which takes seconds to parse."""

DRIVERS = {"duckdb": "engines/duckdb.py"}


def layer(module: str) -> str:
    """``kanon_sql.search.base`` -> ``search``."""
    return module.split(".")[1] if "." in module else ""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements(body: Iterable[ast.AST], typing_only: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """All statements, and whether each only serves the type checker; expressions, where no import is, are left out."""
    for node in body:
        yield node, typing_only
        test = getattr(node, "test", None)
        checked = typing_only or getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                yield from statements(inner, checked)


@cache
def imports(path: Path) -> list[tuple[str, ast.stmt, bool]]:
    """Imported module, its statement, and whether it only serves the type checker."""
    found: list[tuple[str, ast.stmt, bool]] = []
    for node, typing_only in statements(tree_of(path).body):
        if isinstance(node, ast.Import):
            found += [(alias.name, node, typing_only) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, node, typing_only))
    return found


@cache
def doors() -> dict[str, set[str]]:
    """Every door: a module that other rooms may import, and the names that it hands out.

    A room's door is its package. Where the package's ``__all__`` names modules inside it, each of these is a door.
    """
    found: dict[str, set[str]] = {}

    def open_door(name: str) -> None:
        module = importlib.import_module(name)
        found[name] = set(module.__all__)
        for item in module.__all__:
            inside = getattr(module, item, None) or importlib.import_module(f"{name}.{item}")
            if isinstance(inside, ModuleType):
                open_door(inside.__name__)

    for room in ROOMS:
        open_door(f"kanon_sql.{room}")
    sill = {
        "kanon_sql.version": {"__version__", "how_to_install"},
        "kanon_sql.registers": {
            "DATABASES",
            "DIALECTS",
            "HIERARCHIES",
            "ATTACKS",
            "POLICY_DIALECTS",
            "PRIVACY_REQUIREMENTS",
            "QUALITY_METRICS",
            "RECODINGS",
            "Register",
            "SEARCH_ALGORITHMS",
            "declared_names",
        },
        "kanon_sql.lazy": {"imported_from"},
        "kanon_sql.interrupts": {"Interrupts", "ends_in_order", "interrupts"},
    }
    return found | sill


def each(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Hold all modules to a rule in one test, and name those that break it; a test per module and rule takes longer."""

    def of(rule: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            broken = []
            for path in paths:
                try:
                    rule(path)
                except AssertionError as error:
                    broken.append(f"{name_of(path)}: {error}")
            assert not broken, "\n".join(broken)

        test.__doc__ = rule.__doc__
        return test

    return of


def test_every_module_has_a_room_and_nothing_lies_beside_them() -> None:
    assert {layer(name_of(path)) for path in MODULES} - {""} == set(LEVEL)
    beside = {"__init__", "__main__", "registers", "errors", "interrupts", "lazy", "results", "version"}
    assert {path.stem for path in PACKAGE.glob("*.py")} == beside


def test_the_architecture_lists_the_same_rooms() -> None:
    listed = re.findall(r"^\| `(\w+)`", ARCHITECTURE.read_text(), re.MULTILINE)
    assert [name for name in reversed(listed) if name in LEVEL] == ROOMS


@each(MODULES)
def test_imports_go_down(path: Path) -> None:
    own = layer(name_of(path))
    if not own:
        return  # the package itself imports its public names, lazily
    for module, node, _ in imports(path):
        if module.split(".")[0] == "kanon_sql" and layer(module):
            assert LEVEL[layer(module)] <= LEVEL[own], f"{path.name}:{node.lineno} imports {module}"


def test_rooms_are_entered_by_their_doors() -> None:
    open_doors = doors()
    for path in MODULES:
        own = layer(name_of(path))
        for module, node, _ in imports(path):
            if module.split(".")[0] != "kanon_sql" or layer(module) in ("", own):
                continue
            where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
            assert module in open_doors, f"{where} enters {layer(module)} by {module}, which is no door"
            assert isinstance(node, ast.ImportFrom), where
            taken = {alias.name for alias in node.names}
            assert taken <= open_doors[module], f"{where}: {module} does not hand out {taken - open_doors[module]}"


def test_doors_hand_out_nothing_that_nobody_takes() -> None:
    taken: dict[str, set[str]] = {}
    for path in MODULES:
        for module, node, _ in imports(path):
            if isinstance(node, ast.ImportFrom):
                taken.setdefault(module, set()).update(alias.name for alias in node.names)
    for path in (path for folder in OTHERS for path in PACKAGE.parent.glob(f"{folder}/**/*.py")):
        for module, names in TAKEN.findall(path.read_text()):
            taken.setdefault(module, set()).update(re.findall(r"(\w+)(?: as \w+)?,?", names))
    for room in ROOMS:
        if room not in ("errors", "testing", "cli", "verbs", "report", "disclosure"):
            entered = {name for name in doors()[f"kanon_sql.{room}"] if f"kanon_sql.{room}.{name}" in taken}
            unused = doors()[f"kanon_sql.{room}"] - taken.get(f"kanon_sql.{room}", set()) - entered
            assert not unused, f"the door of {room} hands out {sorted(unused)}, which nobody takes"


def test_the_examination_knows_nothing_of_the_search() -> None:
    """Verification must not share the search's code: what one believes, the other finds out for itself."""
    seen, open_ = set(), ["kanon_sql.evaluate.examine"]
    while open_:
        name = open_.pop()
        path = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
        for module, _, _ in imports(path):
            if layer(module) == "evaluate" and module not in seen:
                seen.add(module)
                open_.append(module)
    shared = ("classes", "label_widths")  # the definition of a class query
    own = ("examination", "table_combinations")
    assert seen == {f"kanon_sql.evaluate.{name}" for name in (*shared, *own)}


def test_the_search_knows_no_sql_and_no_engine() -> None:
    for path in (PACKAGE / "search").glob("*.py"):
        for module, _, _ in imports(path):
            assert layer(module) in {"", "search", "errors", "registers"} or not module.startswith("kanon_sql")
            assert module.split(".")[0] not in {"duckdb", "sqlglot", "jinja2"}


@each([path for path in MODULES if "testing" not in path.parts])
def test_only_its_engine_imports_a_driver_and_only_when_used(path: Path) -> None:
    tree = tree_of(path)
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


def test_each_verb_of_the_command_line_has_a_file_of_its_name() -> None:
    """Those of a group are in one file of the group's name."""
    files = {path.stem for path in (PACKAGE / "cli" / "verbs").iterdir() if path.suffix == ".py"}
    assert files - {"__init__"} == set(VERBS)


def test_a_process_imports_the_verb_that_it_runs_and_no_other() -> None:
    code = (
        "import atexit, sys\nfrom kanon_sql.cli import main\nsys.argv[1:] = ['clean', '--help']\n"
        "atexit.register(lambda: print([name for name in sys.modules if name.startswith('kanon_sql.cli.verbs.')]))\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "['kanon_sql.cli.verbs.clean']", done.stdout + done.stderr


@each(MODULES)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


@each(MODULES)
def test_public_names_exist(path: Path) -> None:
    if path.name == "__main__.py":
        return  # importing it runs the command line
    module = importlib.import_module(name_of(path))
    for name in getattr(module, "__all__", []):  # ruff keeps them sorted
        assert hasattr(module, name) or find_spec(f"{module.__name__}.{name}"), f"{module.__name__} has no {name}"


SQL_TEXT = re.compile(r"\b(SELECT\s.+\sFROM|INSERT INTO|CREATE (TEMPORARY )?TABLE|DROP TABLE)\b", re.DOTALL)


@each([path for path in MODULES if not {"engines", "dialects", "testing"} & set(path.parts)])
def test_sql_text_stays_in_the_templates(path: Path) -> None:
    if not re.search(r"SELECT|INSERT|CREATE|DROP", path.read_text()):
        return
    nodes = list(ast.walk(tree_of(path)))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            assert not SQL_TEXT.search(node.value), f"{path.name}:{node.lineno} holds SQL"


def test_templates_lie_in_the_rooms_that_use_them() -> None:
    folders = {path.name for path in (PACKAGE.parent / "sql_templates").iterdir()}
    assert folders <= set(ROOMS)


MODELS = re.compile(r"isinstance\([^)]*(Model\b|Diversity|Closeness|Likeness|Requirement\b)")


@each([path for path in MODULES if layer(name_of(path)) not in ("models", "spec")])
def test_nobody_asks_which_model_or_requirement_it_has(path: Path) -> None:
    """What a model declares must answer."""
    assert not MODELS.search(path.read_text())


def test_every_door_says_in_a_paragraph_what_its_room_is_for() -> None:
    for room in ROOMS[1:]:
        said = importlib.import_module(f"kanon_sql.{room}").__doc__ or ""
        assert len(said.split()) > 30, room


def test_only_a_notebook_asks_the_package_itself() -> None:
    asking = {name_of(path) for path in MODULES for module, _, _ in imports(path) if module == "kanon_sql"}
    assert {name for name in asking if layer(name) not in ("", "testing")} == {
        "kanon_sql.spec.display",
        "kanon_sql.verbs.result",
    }


def test_a_name_that_is_imported_late_is_no_modules() -> None:
    """A package has its modules under their names, once they are imported: the module would be handed out."""
    late = {
        (name_of(path), name)
        for path in MODULES
        if path.name == "__init__.py"
        for name in getattr(importlib.import_module(name_of(path)), "_HOME", {})
        if find_spec(f"{name_of(path)}.{name}") is not None
    }
    assert late == {("kanon_sql", "results")}, "which is a module"
