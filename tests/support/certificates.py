"""A small table, its release and its certificate: what the tests of ``certify`` start from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import kanon_sql
from kanon_sql.spec import Spec
from kanon_sql.verbs.certify import verify_certificate
from kanon_sql.verbs.certify.open_database import cursor_of
from kanon_sql.verbs.certify.verify_certificate import verify
from tests.conftest import Database

VERIFIER = Path(verify_certificate.__file__)


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"intervals": [5, 10, 20]},
        "zip": {"prefix": [4, 3]},
        "sex": {"tree": {"anybody": ["fem", "masc", "lonely"]}},
    },
    "sensitive": ["illness"],
    "keep": ["cost"],
    "privacy": [{"k_anonymity": 3}, {"t_closeness": {"attribute": "illness", "t": 0.6}}],
    "suppression": {"max_share": 0.1},
}


COLUMNS = {
    "name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "illness": "VARCHAR", "cost": "INTEGER",
}  # fmt: skip


def people(count: int = 60, seed: int = 7) -> list[tuple[Any, ...]]:
    """Neighbours, and one of whom everything is told apart."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = [
        (
            f"person {number}", draw.choice((20, 30, 40)) + draw.randrange(2),
            f"9411{draw.randrange(3)}" if draw.random() < 0.8 else "94205", draw.choice(("fem", "masc")),
            draw.choice(("flu", "cold", None)), draw.randrange(4),
        )
        for number in range(count)
    ]  # fmt: skip
    return [*rows, ("Ada Only", 97, "11111", "lonely", "unheard-of", 987654)]


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**SPEC, **changes})


def released(database: Database, spec: Spec) -> None:
    database.table("people", COLUMNS, people())
    assert kanon_sql.anonymize(database.engine, spec).passed


def says(directory: Path, database: Database, **options: Any) -> tuple[bool, list[str]]:
    """Whether the verifier is content, and the claims that it is not content with."""
    said: list[str] = []
    verified = verify(directory, database.connection, say=said.append, **options)
    return verified, [line for line in said if line.startswith("FAILED")]


def forged(directory: Path, content: Any) -> None:
    """A certificate whose digest was made anew."""
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    (directory / "certificate.json").write_text(text)
    (directory / "certificate.sha256").write_text(f"{verify_certificate.hashlib.sha256(text.encode()).hexdigest()}\n")


def where(name: str, subject: Any) -> Any:
    """The cursor that the verifier opens by itself, where a database has an address."""
    if name == "duckdb":
        return subject.connection
    url = getattr(subject, "url", "spark")
    return cursor_of(name, url if "unix_socket" not in url else url.split("unix_socket=")[0] + "unix_socket=" + quote(
        url.split("unix_socket=")[1], safe=""))  # fmt: skip
