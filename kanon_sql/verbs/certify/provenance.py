"""Claims about where a release comes from: the source as it was, the run's manifest, its entry in the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from kanon_sql.hierarchies import value_text
from kanon_sql.release import MANIFEST_TABLE
from kanon_sql.sql import Relation, Sql, Statement, exact_text, identifier, render
from kanon_sql.verbs.certify.book import Book
from kanon_sql.verbs.certify.ground import Attribute, Ground

__all__ = ["FINGERPRINT", "Provenance", "claim_provenance", "recorded", "written"]

FINGERPRINT = ("column_number", "all_rows", "different", "upper_sum", "lower_sum")
"""The columns of a fingerprint."""


class Provenance(TypedDict):
    """Where a release comes from.

    Attributes:
        source_columns: the columns of the source's fingerprint, by their numbers.
        manifest: of the run that published the release.
        ledger: its entry in the ledger; None without one.
    """

    source_columns: Sequence[str]
    manifest: Mapping[str, Any] | None
    ledger: Mapping[str, Any] | None


def written(book: Book, number: int, table: Relation, names: Sequence[str]) -> Statement:
    """The fingerprint of a table's rows as a reader sees them: -0 is not 0 here, nor 1.0 what 1 is."""
    cells = [exact_text(Sql(f"CAST(listed.{identifier(name)} AS VARCHAR)")) for name in names]
    values = render("verbs/certify/written", cells=cells, table=table)
    return book.workspace.compiler.statement(
        "verbs/certify/fingerprint", number=number, text=Sql("value"), values=values
    )


def claim_provenance(book: Book, ground: Ground, manifest: Mapping[str, Any]) -> Provenance:
    """Claim the source's fingerprint, and what the database has recorded of the run.

    Args:
        book: where claims are written.
        ground: the tables of the session.
        manifest: of the run that published the release.

    Returns:
        The columns of the fingerprint, the manifest, and the entry in the ledger, if there is one.
    """
    spec = ground.spec
    compiler = book.workspace.compiler
    listed = [
        *((attribute.name, Sql("value"), attribute.values) for attribute in ground.attributes),
        *((name, identifier(column), ground.rows) for name, column in ground.others.items()),
        *([] if spec.unit is None else [(spec.unit, identifier("person"), ground.rows)]),
    ]
    fingerprints = [
        compiler.statement(
            "verbs/certify/fingerprint",
            number=number,
            text=Sql(f"COALESCE('v' || ({value_text(ground.columns[name], Sql('value'))}), 'n')"),
            values=render("verbs/certify/counted", value=value, table=table),
        )
        for number, (name, value, table) in enumerate(listed)
    ]
    # Columns alone do not tell whose value it is: who swaps those of two suppressed rows changes no column. A value's
    # number is its place among those of its column, which the column's own fingerprint tells.
    texts = [
        value_text(attribute.column, identifier(f"q{attribute.index}"))
        for attribute in ground.attributes
        if not attribute.height
    ]
    texts += [value_text(ground.columns[name], value) for name, value, table in listed if table == ground.rows]
    packed = _packed([attribute for attribute in ground.attributes if attribute.height])
    whole = render("verbs/certify/joined", packed=packed, texts=texts, table=ground.rows)
    fingerprints.append(
        compiler.statement("verbs/certify/fingerprint", number=len(listed), text=Sql("value"), values=whole)
    )
    book.claim(
        "provenance", "source",
        "the source is the one that was certified, by its columns and its rows whatever their order",
        compiler.union(fingerprints), FINGERPRINT,
    )  # fmt: skip
    tables = [
        (attribute.index, Relation(attribute.item.table))
        for attribute in ground.attributes
        if attribute.item.table is not None
    ]
    if tables:
        read = [written(book, index, table, list(book.workspace.columns(table))) for index, table in tables]
        says = "the hierarchies that are tables are those that were certified"
        book.claim("provenance", "hierarchies", says, compiler.union(read), FINGERPRINT)
    assert spec.release is not None
    found = recorded(
        book, "manifest", Relation((*spec.release[:-1], MANIFEST_TABLE)), str(manifest["run_id"]), spec.hash,
        "the database has this manifest of the run that published the release, by the spec with this hash",
    )  # fmt: skip
    entry = None
    if spec.ledger is not None:
        entry = recorded(
            book, "ledger", Relation(spec.ledger.table), str(manifest["run_id"]), spec.hash,
            "the ledger has this entry of the release",
        )  # fmt: skip
    return {"source_columns": [name for name, _, _ in listed], "manifest": found, "ledger": entry}


def _packed(attributes: Sequence[Attribute]) -> list[list[dict[str, Any]]]:
    """The numbers of several values as digits of one number each, as long as they fit into one of 63 bits.

    A digit of a text costs more than hashing it. A column with more values than it had would need other factors, and
    its own fingerprint counts them.
    """
    found: list[list[dict[str, Any]]] = []
    factor = 1
    for attribute in attributes:
        if not found or factor * (attribute.different + 1) >= 2**62:
            found.append([])
            factor = 1
        found[-1].append({"number": attribute.label(0), "factor": factor})
        factor *= attribute.different + 1
    return found


def recorded(
    book: Book, name: str, table: Relation, run_id: str, spec_hash: str, says: str, *, release_name: str | None = None
) -> Any:
    """Claim what a table says of a run; returns what it says as JSON.

    Args:
        book: where claims are written.
        name: of the claim.
        table: a manifest or a ledger.
        run_id: the run.
        spec_hash: of its spec.
        says: the claim in words.
        release_name: which of the tables that the run published, as the manifest names it; None where there is one.
    """
    statement = book.workspace.compiler.statement(
        "verbs/certify/manifest", table=table, run_id=run_id, release_name=release_name
    )
    columns = ("spec_hash", "manifest")
    rows = book.claim("recorded", name, says, statement, columns, [("spec_hash", "=", spec_hash)]).rows
    return json.loads(rows[0][1]) if rows else None
