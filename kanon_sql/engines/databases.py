"""What is given as a database, as text: which kind it is, and what of it may be shown.

Passwords and tokens come in many forms: in URLs, in keywords of libpq or ODBC, behind the ``?`` of MotherDuck. So this
is decided in one place, from what is allowed: a text that is neither the name of a file nor a URL of a known form is
refused, and a refusal never repeats it. What an engine is called in messages, results and manifests (its label) is made
of the parts of a URL that tell where a database is: never of a user, a password or an option.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from kanon_sql.errors import SpecError

__all__ = ["SECRETS", "DatabaseKind", "cloud_label", "database_kind", "holds_password", "place"]

DatabaseKind = Literal["memory", "cloud", "url", "file"]

SECRETS = re.compile(r"pass|pwd|token|secret|credential|(private|api|access)_?key", re.IGNORECASE)
"""Names of keys whose value is never shown."""

FORMS = "expected a DuckDB file, :memory:, or a URL such as postgresql://user@host:port/database"

_CLOUD = re.compile(r"(?:md|motherduck):[\w-]*(\?[^?]*)?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+._-]*")
_ROOTED = re.compile(r"\.{0,2}[/\\]|~[/\\]|[A-Za-z]:[/\\]")
_NO_NAME = re.compile(r"[=@?&;:]")
_NO_PATH = re.compile(rf"[?]|:.*@|^[/\\]{{2}}.*@|(?:{SECRETS.pattern})[\w ]*[=:]", re.IGNORECASE)


def database_kind(database: str) -> DatabaseKind:
    """What a text names.

    Raises:
        SpecError: neither a file nor a URL; the message does not repeat it.
    """
    if database.startswith(":memory:") and re.fullmatch(r"\w*", database.removeprefix(":memory:")):
        return "memory"
    if not database or not database.isprintable():
        raise SpecError(f"this names no database; {FORMS}")
    if "://" in database:
        _refuse_uncertain(database)
        return "url"
    if _CLOUD.fullmatch(database):
        return "cloud"
    _refuse_no_file(database)
    if not _ROOTED.match(database) and _NO_NAME.search(database):
        raise SpecError(
            "this is neither a file nor a URL, and is not shown since it may hold a password; "
            f"{FORMS}. Write a file whose name has one of = @ & ; : as ./NAME"
        )
    return "file"


def _refuse_no_file(path: str) -> None:
    if _NO_PATH.search(path):
        raise SpecError(f"this is not the name of a file, and is not shown since it may hold a password; {FORMS}")


def _refuse_uncertain(url: str) -> None:
    """Refuse a URL whose password may end elsewhere than it seems: the rest would be shown as a host or a database."""
    scheme, rest = url.split("://", 1)
    if not _SCHEME.fullmatch(scheme):
        raise SpecError(f"the database URL does not parse, and is not shown since it may hold a password; {FORMS}")
    if scheme.split("+")[0] == "sqlite":
        _refuse_no_file(rest.partition("?")[0])
    elif "@" in rest and (rest.count("@") > 1 or "/" in rest.partition("@")[0]):
        raise SpecError(
            "the database URL has an @ or a / in its user or its password, or an @ after these; write them as %40 and "
            "%2F"
        )


def holds_password(database: str) -> bool:
    """Whether there is a password or a token in a text, or may be."""
    try:
        if database_kind(database) in ("memory", "file"):
            return False
        parsed = urlsplit(database)
        return parsed.password is not None or any(SECRETS.search(key) for key, _ in parse_qsl(parsed.query))
    except (SpecError, ValueError):  # no telling where it would be
        return "@" in database or SECRETS.search(database) is not None


def cloud_label(database: str) -> str:
    """A database of MotherDuck without its options, which hold the token."""
    return database.partition("?")[0]


def place(host: str | None, port: int | None, database: str | None) -> str:
    """Where a database is, for its label; a name that may hold more than a name is left out."""
    name = database or ""
    return f"{host or ''}{f':{port}' if port else ''}/{'...' if re.search('[=@?&;#]', name) else name}"
