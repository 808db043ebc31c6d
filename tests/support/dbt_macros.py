"""The macros of the dbt package without dbt: the part of dbt's Jinja that they use, over one connection.

It is there so that the package's SQL can be compared with the rest of the project within milliseconds. That dbt
itself understands the package is for ``test_dbt.py`` to prove.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from tests import ROOT

PACKAGE = ROOT / "dbt"

PARENTS = {"databricks": ["spark"], "redshift": ["postgres"]}
"""Adapters whose macros another one inherits."""

QUOTES = {"spark": "`", "databricks": "`", "bigquery": "`"}

STRINGS = {"bigquery": "string", "spark": "string", "databricks": "string"}


ENVIRONMENT = Environment(extensions=["jinja2.ext.do"], undefined=StrictUndefined)


@cache
def _compiled() -> Any:
    """All macros of the package; a test is a macro with a prefix."""
    text = "\n".join(path.read_text() for path in sorted((PACKAGE / "macros").rglob("*.sql")))
    text = re.sub(r"\{%(-?) test (\w+)", r"{%\1 macro test_\2", text).replace("endtest", "endmacro")
    text = re.sub(r"materialization (\w+), default", r"macro materialization_\1()", text)
    text = text.replace("endmaterialization", "endmacro")
    return ENVIRONMENT.compile(text)


class CompilerError(Exception):
    """What ``exceptions.raise_compiler_error`` raises."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Relation:
    """A table of a name; prints as it is in a query."""

    is_cte = False

    database = schema = None

    def __init__(self, rendered: str, identifier: str = "") -> None:
        self.rendered, self.identifier = rendered, identifier

    def __str__(self) -> str:
        return self.rendered


class Dbt:
    """A project with this package installed.

    Args:
        adapter: the type of the target.
        columns: the columns (name, type) of a relation's or subquery's FROM form.
        query: runs a query and returns its rows, for macros that do so themselves.
        which: dbt's command.
        full_refresh: its option.
        started: when the command began.

    Attributes:
        options: what the last model's ``config`` says.
        logged: what the macros said.
        warned: what they warned of.
    """

    def __init__(
        self,
        adapter: str,
        columns: Callable[[str], Sequence[tuple[str, str]]],
        query: Callable[[str], Sequence[Sequence[Any]]] | None = None,
        which: str = "build",
        full_refresh: bool = False,
        started: datetime.datetime = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC),
    ) -> None:
        self.adapter = adapter
        self.options: dict[str, Any] = {}
        self.logged: list[str] = []
        self.warned: list[str] = []
        self._columns = columns
        self._query = query
        self._refs: dict[str, Relation] = {}
        self.globals: dict[str, Any] = {
            "adapter": SimpleNamespace(
                dispatch=self._dispatch,
                get_relation=self._standing,
                quote=self.quote,
                get_columns_in_relation=lambda relation: self._found(str(relation)),
                get_column_schema_from_query=lambda sql: self._found(f"({sql}) AS described"),
            ),
            "api": SimpleNamespace(Relation=SimpleNamespace(create=self._relation)),
            "config": lambda **options: self.options.update(options) or "",
            "dbt": SimpleNamespace(
                type_string=lambda: STRINGS.get(adapter, "text"),
                type_bigint=lambda: "int64" if adapter == "bigquery" else "bigint",
                string_literal=lambda text: f"'{text}'",
                escape_single_quotes=lambda text: text.replace("'", "''"),
            ),
            "exceptions": SimpleNamespace(raise_compiler_error=self._refuse, warn=self.warned.append),
            "execute": True,
            "flags": SimpleNamespace(WHICH=which, FULL_REFRESH=full_refresh),
            "invocation_id": "5f3c-17",
            "kanon_sql": self,
            "log": lambda message, info: self.logged.append(message),
            "ref": lambda name: self._refs[name],
            "return": self._return,
            "run_started_at": started,
            "run_query": lambda sql: SimpleNamespace(rows=list(self._run(sql))),
            "source": lambda _, name: self._refs[name],
            "statement": lambda name, caller, **_: self._run(caller()) and "",
            "target": SimpleNamespace(type=adapter),
            "this": Relation("this model"),
            "var": lambda name, default=None: default,
        }
        self._macros: Any = Template.from_code(ENVIRONMENT, _compiled(), ENVIRONMENT.make_globals(self.globals)).module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            macro = getattr(self._macros, name)
        except AttributeError:
            raise CompilerError(f"there is no macro {name}") from None

        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return str(macro(*arguments, **named))
            except _Returned as returned:
                return returned.value

        return call

    def place(self, name: str, relation: str) -> None:
        """What ``ref`` (or ``source``) of a name stands for."""
        self._refs[name] = Relation(relation, name)

    def model(self, text: str) -> str:
        """A model's SQL, rendered."""
        return ENVIRONMENT.from_string(text, self.globals).render()

    def test(self, name: str, model: str | Relation, **arguments: Any) -> str:
        """The SQL of a generic test; a model that is text is the subquery that ``where`` makes."""
        return str(getattr(self, f"test_{name}")(model, **arguments)).strip()

    def quote(self, name: str) -> str:
        """A quoted name."""
        mark = QUOTES.get(self.adapter, '"')
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def _relation(self, identifier: str, **_: Any) -> Relation:
        return Relation(self.quote(identifier), identifier)

    def _standing(self, identifier: str, **_: Any) -> Relation | None:
        names = {row[0] for row in self._run("SELECT table_name FROM information_schema.tables")}
        return self._relation(identifier) if identifier in names else None

    def _found(self, relation: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name, dtype=dtype) for name, dtype in self._columns(relation)]

    def _run(self, sql: str) -> Sequence[Sequence[Any]]:
        assert self._query is not None
        return self._query(sql)

    def _dispatch(self, name: str, namespace: str) -> Callable[..., Any]:
        assert namespace == "kanon_sql"
        for prefix in (self.adapter, *PARENTS.get(self.adapter, []), "default"):
            if hasattr(self._macros, f"{prefix}__{name}"):
                return getattr(self, f"{prefix}__{name}")  # type: ignore[no-any-return]
        raise CompilerError(f"no {name} for {self.adapter}")

    @staticmethod
    def _return(value: Any) -> None:
        raise _Returned(value)

    @staticmethod
    def _refuse(message: str) -> None:
        raise CompilerError(message)
