"""The documentation as a program: every block of code of a page, and what it takes to run it.

A page is run from top to bottom in a directory of its own. What a block is, is said by its language:

- ``console``: lines after ``$ `` are commands, the lines below each are what it prints; ``...`` stands for
  anything. A command succeeds, unless ``$ echo $?`` after it shows another exit code.
- ``yaml``, ``csv``: with a title, a file of that name. A spec is loaded; so is part of one, in an example.
- ``python``: runs; the blocks of a page share their names.
- ``sql``: runs in the DuckDB file that its title names, or on the page's server, or is parsed in the dialect of the
  comment ``<!-- dialect: NAME -->`` above it.

Above a block, ``<!-- not run: WHY -->`` leaves it out. On top of a page, ``<!-- needs: NAME -->`` asks for a server.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
import typer
from markdown_it import MarkdownIt
from ruamel.yaml import YAML
from sqlglot import exp
from typer.testing import CliRunner

from kanon_sql.cli import app
from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, Spec, TableSpec
from kanon_sql.testing import Subject
from tests import ROOT
from tests.servers.base import UrlSubject

DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "decisions")
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))

NOT_RUN = {
    "it needs openssl",
    "it needs a project of ARX",
    "a drawing",
    "needs a Snowflake account",
    "needs a Google Cloud project",
    "needs a cluster",
    "needs a catalog of Iceberg",
    "needs a table of ClickHouse",
    "belongs to another program",
    "takes minutes",
    "a server that runs until it is ended",
    "a part of a spec",
    "needs the public tables",
}
"""Why a block may stay out."""

EXAMPLE = {
    "version": 1,
    "source": "people",
    "quasi_identifiers": {"age": {"intervals": [10]}, "zip": {"prefix": [3]}, "sex": {}},
    "sensitive": ["diagnosis", "income"],
    "privacy": [{"k_anonymity": {"k": 5}}],
}
"""What a part of a spec is a part of."""


@dataclass(frozen=True)
class Block:
    """One block of code.

    Attributes:
        page: its file.
        line: where it begins.
        language: of a fence; empty for an indented block.
        title: of the file that it shows.
        text: the code.
        said: the comments above it, by their first word.
    """

    page: Path
    line: int
    language: str
    title: str | None
    text: str
    said: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in order."""
    found, said = [], {}
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "html_block":
            said |= comments(token.content)
        elif token.type in ("fence", "code_block"):
            assert token.map is not None
            language, _, rest = token.info.strip().partition(" ")
            title = re.search(r'title="([^"]*)"', rest)
            line = token.map[0] + 1
            found.append(Block(page, line, language, title and title[1], token.content, said))
            said = {}
        elif token.type.endswith("_open"):
            said = {}
    return found


def comments(text: str) -> dict[str, str]:
    """``<!-- not run: WHY -->`` as ``{"not run": "WHY"}``."""
    return dict(re.findall(r"<!-- ([a-z ]+): (.*?) -->", text))


_FIGURE = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
_NAMED = re.compile(r"\b(?:PostgreSQL|Spark) \d+\b|\b(?:19|20)\d\d\)")
"""Numbers that count nothing: versions, and years of papers."""


def unshown_figures(page: Path) -> list[str]:
    """The figures in a page's prose that no block of the same section shows, also not with more digits."""
    found, shown = [], []
    prose: list[tuple[int, str]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    for before, token in zip([None, *tokens], [*tokens, None], strict=True):
        if token is None or token.type == "heading_open":
            for line, text in prose:
                for figure in map(str, _FIGURE.findall(_NAMED.sub(" ", text))):
                    if not any(_shows(number, figure) for number in shown):
                        found.append(f"{page.relative_to(ROOT)}:{line}: {figure}")
            shown, prose = [], []
        elif token.type in ("fence", "code_block"):
            shown += [_number(figure) for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", token.content)]
        elif token.type == "inline" and before is not None and before.type != "heading_open":
            assert token.map is not None
            text = "".join(part.content if part.type == "text" else " " for part in token.children or ())
            prose.append((token.map[0] + 1, text))
    return found


def _shows(number: float, figure: str) -> bool:
    """Whether a number is a figure with more digits, or 0.09091 where the prose says 1 in 11."""
    value = _number(figure)
    return round(number, len(figure.partition(".")[2])) == value or (value > 1 and number == float(f"{1 / value:.4g}"))


def _number(figure: str) -> float:
    return float(figure.replace(",", ""))


def needs_of(page: Path) -> str | None:
    """The server that a page asks for in its first lines."""
    return comments("\n".join(page.read_text("utf-8").splitlines()[:3])).get("needs")


class Run:
    """A page that is being run.

    Args:
        folder: of its own.
        monkeypatch: of the test.
        subject: the page's server.
        ready: commands whose output and files are there already: command -> output and the files' directory.
    """

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        subject: Subject | None = None,
        ready: Mapping[str, tuple[str, Path]] | None = None,
    ) -> None:
        self.folder = folder
        self.subject = subject
        self.ready = ready or {}
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.code = 0
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
        monkeypatch.delenv("FORCE_COLOR", raising=False)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))

    def block(self, block: Block) -> None:
        """Run a block."""
        kind = getattr(self, f"_{block.language}", None)
        assert kind is not None, f"{block.place}: nobody knows how to run a block of {block.language or 'no language'}"
        kind(block)

    # --- Kinds of blocks ---

    def _console(self, block: Block) -> None:
        for command, expected in commands_of(block):
            if command == "echo $?":
                output, self.code = f"{self.code}\n", 0
            else:
                assert self.code == 0, f"{block.place}: the command before '{command}' ended with {self.code}"
                output = self.command(command)
            if expected:
                assert re.fullmatch(pattern(expected), tidy(output)), (
                    f"{block.place}: $ {command}\n--- shown\n{expected}\n--- printed\n{tidy(output)}"
                )
        assert self.code == 0, f"{block.place}: ended with {self.code}"

    def _toml(self, block: Block) -> None:
        """Settings: read by the commands after it."""
        assert tomllib.loads(block.text), f"{block.place}: no settings"
        self._csv(block)

    def _yaml(self, block: Block) -> None:
        data = YAML(typ="safe").load(block.text)
        assert isinstance(data, dict), f"{block.place}: not a mapping"
        if block.title is not None:
            self._csv(block)
        if {"version", "source", "dimensions"} <= data.keys():
            table = TableSpec.load(block.title) if block.title is not None else TableSpec.parse(block.text, block.place)
            assert table.rules
        elif {"version", "source", "perturb"} <= data.keys():
            masking = (
                PerturbSpec.load(block.title) if block.title is not None else PerturbSpec.parse(block.text, block.place)
            )
            assert masking.perturb
        elif {"version", "source", "position"} <= data.keys():
            cloaked = (
                CloakSpec.load(block.title) if block.title is not None else CloakSpec.parse(block.text, block.place)
            )
            assert cloaked.unit
        elif {"version", "person"} <= data.keys():
            assert RelationalSpec.parse(block.text, block.place).privacy
        elif {"version", "source"} <= data.keys():
            spec = Spec.load(block.title) if block.title is not None else Spec.parse(block.text, block.place)
            assert spec.privacy
        elif "jobs" in data:
            for job in data["jobs"].values():
                for step in job["steps"]:
                    self._script(block, step.get("run", ""))
        elif scripts := [job["script"] for job in data.values() if isinstance(job, dict) and "script" in job]:
            for script in scripts:
                self._script(block, "\n".join(script))
        elif data.keys() <= Spec.model_fields.keys():
            Spec.from_dict({**EXAMPLE, **data})
        else:
            assert block.title is not None, f"{block.place}: neither a spec, nor part of one, nor a file"

    def _script(self, block: Block, script: str) -> None:
        """The commands of a pipeline's step; what installs something is left out."""
        for line in script.splitlines():
            if "pip install" not in line and line.strip():
                self.command(line.strip())
                assert self.code == 0, f"{block.place}: '{line}' ended with {self.code}"

    def _csv(self, block: Block) -> None:
        assert block.title is not None, f"{block.place}: without the name of a file"
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")

    def _jinja(self, block: Block) -> None:
        self._csv(block)

    def _python(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, str(block.page), "exec")
        exec(code, self.names)

    def _sql(self, block: Block) -> None:
        if (dialect := block.said.get("dialect")) is not None:
            for statement in sqlglot.parse(block.text, dialect=dialect):
                assert statement is not None
                assert not isinstance(statement, exp.Command), f"{block.place}: not understood: {statement.sql()[:60]}"
        elif self.subject is not None:
            for statement in filter(str.strip, block.text.split(";\n")):
                self.subject.execute(statement.strip().rstrip(";"))
        else:
            assert block.title is not None, f"{block.place}: neither a database nor a dialect"
            with duckdb.connect(str(self.folder / block.title)) as connection:
                connection.execute(block.text)

    # --- Commands ---

    def command(self, command: str) -> str:
        """Run a command; its output, errors included. ``self.code`` is its exit code."""
        if command in self.ready:
            output, made = self.ready[command]
            shutil.copytree(made, self.folder, dirs_exist_ok=True)
            return output
        if (exported := re.fullmatch(r"export (\w+)=(.*)", command)) is not None:
            name, value = exported[1], shlex.split(exported[2])[0]
            self._monkeypatch.setenv(name, self._server(value) if self.subject is not None else value)
            return ""
        if (changed := re.fullmatch(r"cd (\S+)", command)) is not None:
            self.folder = (self.folder / changed[1]).resolve()
            self._monkeypatch.chdir(self.folder)
            return ""
        words = shlex.split(command, comments=True)
        if words[0] == "kanon-sql" and "|" not in words:
            return self._in_process([os.path.expandvars(word) for word in words[1:]])
        with shims() as path:
            self._monkeypatch.setenv("PATH", path)
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=900, check=False
            )
        self.code = done.returncode
        return done.stdout + done.stderr

    def _in_process(self, words: list[str]) -> str:
        target, mode = None, "w"
        if len(words) > 1 and words[-2] in (">", ">>"):
            mode = "w" if words[-2] == ">" else "a"
            words, target = words[:-2], words[-1]
        done = CliRunner().invoke(app, words)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        self.code = done.exit_code
        if target is None:
            return str(done.stdout + done.stderr)
        with (self.folder / target).open(mode, encoding="utf-8") as file:
            file.write(done.stdout)
        return str(done.stderr)

    def _server(self, value: str) -> str:
        """A database's address, with the page's server in place of the example's."""
        if not isinstance(self.subject, UrlSubject) or "://" not in value:
            return value
        import sqlalchemy

        url = sqlalchemy.make_url(self.subject.url).set(username=sqlalchemy.make_url(value).username)
        return url.render_as_string(hide_password=False)


def parse_only(block: Block) -> None:
    """The commands of a block that is not run: those of kanon-sql have to be ones that it understands."""
    if block.language == "console":
        for command, _ in commands_of(block):
            words = shlex.split(command)
            if words[0] == "kanon-sql":
                understood(words[1:])


def understood(words: list[str]) -> None:
    """Raise where the command line does not take these words; where its output goes is the shell's."""
    if len(words) > 1 and words[-2] in (">", ">>"):
        words = words[:-2]
    group: Any = typer.main.get_command(app)
    with group.make_context("kanon-sql", list(words)) as context:
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, rest, parent=context)


def commands_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what is shown of its output."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0][:-1]}{line.strip()}", "")
        else:
            assert found, f"{block.place}: output without a command"
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return [(command, tidy(expected)) for command, expected in found]


def tidy(output: str) -> str:
    """Without blanks at the ends of lines, and without empty lines at either end."""
    return "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")


def pattern(expected: str) -> str:
    """A regular expression of shown output: ``...`` is anything."""
    return "(?s)" + ".*?".join(re.escape(part) for part in re.split(r"\.\.\.", expected))


@contextmanager
def shims() -> Iterator[str]:
    """A PATH on which ``kanon-sql`` and ``python`` are those of this environment."""
    with tempfile.TemporaryDirectory() as folder:
        for name, command in {"kanon-sql": "-m kanon_sql ", "python": ""}.items():
            shim = Path(folder) / name
            shim.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} {command}"$@"\n')
            shim.chmod(0o755)
        if (dbt := os.environ.get("KANON_DBT")) is not None:
            (Path(folder) / "dbt").symlink_to(dbt)
        yield f"{folder}{os.pathsep}{os.environ['PATH']}"
