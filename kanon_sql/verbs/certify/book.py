"""The files of a certificate while it is written: statements in the engine's SQL, and what they said when they ran."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from kanon_sql.engines import Workspace
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Document, Keywords
from kanon_sql.sql import Relation, Statement, laid_out
from kanon_sql.verbs.certify.verify_certificate import SETUP, doing_more, plain

__all__ = ["Book", "Claim", "Digest", "Must", "as_json", "digest"]

MOST_ROWS = 5_000
"""Rows that a claim may have: aggregates, one for each node of a batch at most."""

MOST_LAID_OUT = 12_000
"""Characters of a statement that is laid out in lines; longer ones ask the same of many nodes, with a line for each."""

Part = Literal["release", "optimality", "provenance", "recorded"]
Digest = Annotated[str, Keywords(pattern="^[0-9a-f]{64}$")]
"""SHA-256."""
Cell = Annotated[Any, Keywords(type=["string", "number", "null", "object"])]
Must = tuple[str, Literal["=", "<=", ">="], Annotated[Any, Keywords(type=["number", "string"])]]
"""A column, how it is compared (``=``, ``<=``, ``>=``), and with what."""


@dataclass(frozen=True)
class Claim(Document):
    """What a statement says, and what must hold of it.

    Attributes:
        id: its name in the certificate.
        part: of the certificate that it belongs to.
        says: what is claimed, in words, without a figure of its own.
        sql: the file with the statement.
        sha256: the digest of that file.
        columns: what the statement returns.
        rows: what it returned.
        must: what must hold in each row: a column, a comparison, and with what.
    """

    id: str
    part: Part
    says: str
    sql: str
    sha256: Digest
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    must: Sequence[Must] = ()


@dataclass
class Book:
    """The statements of a certificate, in the order in which they run.

    Attributes:
        workspace: where they run.
        files: path in the certificate's directory -> text.
        setup: the paths of those that make the tables of the session.
        claims: what was claimed so far.
        problems: what does not hold, and is no claim's.
    """

    workspace: Workspace
    files: dict[str, str] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def table(self, what: str) -> Relation:
        """A new table of the session: its name has the run's id, so that it is no other user's."""
        return self.workspace.table(f"certified_{what}")

    def make(self, target: Relation, what: str, statement: Statement) -> Relation:
        """Make a table of the session, and write down how."""
        self.workspace.run(statement)
        self.setup.append(self._write(f"setup_{what}", "setup", statement))
        return target

    def rows(self, statement: Statement) -> list[list[Any]]:
        """The rows of a statement, as JSON has them."""
        return [[plain(value) for value in row] for row in self.workspace.query(statement, MOST_ROWS)]

    def claim(
        self,
        part: Part,
        name: str,
        says: str,
        statement: Statement,
        columns: Sequence[str],
        must: Sequence[Must] = (),
        *,
        rows: Sequence[Sequence[Any]] | None = None,
    ) -> Claim:
        """Run a statement, and write down what it says.

        Args:
            part: of the certificate.
            name: of the claim, unlike all others.
            says: what it says, in words.
            statement: it.
            columns: what it returns.
            must: what must hold in each row.
            rows: what it returned, where it has run already.
        """
        found = self.rows(statement) if rows is None else rows
        path = self._write(name, "claim", statement)
        made = Claim(name, part, says, path, digest(self.files[path]), tuple(columns), found, tuple(must))
        self.claims.append(made)
        return made

    def _write(self, name: str, kind: str, statement: Statement) -> str:
        path = f"sql/{len(self.files):03d}_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}.sql"
        text = statement.sql.removesuffix(";")
        if len(text) < MOST_LAID_OUT:
            text = laid_out(text, self.workspace.dialect.sqlglot)
        setup = re.fullmatch(SETUP, text, re.DOTALL) if kind == "setup" else None
        assert (kind == "setup") == (setup is not None), text
        found = doing_more(text if setup is None else setup.group(2), self.workspace.dialect.name)
        if found is not None:
            raise UnsupportedError(
                f"certify: the verifier runs only queries that surely just read, but a query of {name!r} has "
                f"{found!r}; remove comments, keywords that write, and string literals directly after a word from the "
                "queries of the spec"
            )
        self.files[path] = text + "\n"
        return path


def digest(text: str) -> str:
    """SHA-256 of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def as_json(value: Mapping[str, Any]) -> str:
    """The text of a certificate."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
