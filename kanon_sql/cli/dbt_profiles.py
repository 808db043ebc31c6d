"""The database of a dbt profile: what ``profiles.yml`` says, where that is all that a connection needs.

What would make names mean other tables than on a plain connection, or give other rights, is refused, not left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from kanon_sql.errors import SpecError

__all__ = ["dbt_database"]

_ENV_VAR = re.compile(
    r"""\{\{\s*env_var\(\s*(['"])([^'"]+)\1\s*(?:,\s*(['"])([^'"]*)\3\s*)?\)"""
    r"""(?:\s*\|\s*(?:int|as_number|as_text))?\s*\}\}"""
)

_DUCKDB = frozenset("type path schema database threads".split())
_POSTGRES = frozenset("type host user password pass port dbname database schema threads".split())
_OF_SSL = frozenset("sslmode sslcert sslkey sslrootcert".split())
_OF_DBT = frozenset("keepalives_idle connect_timeout retries".split())
"""What says how dbt connects, but not to what, nor as which user."""


def dbt_database(profile: str, target: str | None) -> str:
    """The database of a profile, as ``--database`` takes it.

    Args:
        profile: its name in ``profiles.yml``.
        target: one of its outputs; None for the one that the profile says.

    Raises:
        SpecError: there is no such file, profile or target, or it says what cannot be taken over.
    """
    path = _file()
    where = f"{path}: {profile}"
    found = _read(path).get(profile)
    if not isinstance(found, Mapping):
        raise SpecError(f"{path}: there is no profile {profile!r}; use one of the profiles in this file")
    outputs = found.get("outputs")
    chosen = target or _text(f"{where}.target", found.get("target", "default"))
    if not isinstance(outputs, Mapping) or not isinstance(outputs.get(chosen), Mapping):
        raise SpecError(f"{where}: there is no output {chosen!r}; set target to one of the outputs of this profile")
    where = f"{where}.outputs.{chosen}"
    output = {str(key): _text(f"{where}.{key}", value) for key, value in outputs[chosen].items() if value is not None}
    kind = output.get("type")
    if kind == "duckdb":
        _refuse_others(where, output, _DUCKDB)
        return _duckdb(where, output)
    if kind == "postgres":
        _refuse_others(where, output, _POSTGRES | _OF_SSL | _OF_DBT)
        return _postgres(where, output)
    raise SpecError(
        f"{where}.type: expected duckdb or postgres; put the URL of another database into an environment variable"
    )


def _file() -> Path:
    """As dbt looks for it."""
    named = os.environ.get("DBT_PROFILES_DIR")
    places = [Path(named)] if named else [Path.cwd(), Path.home() / ".dbt"]
    for place in places:
        if (place / "profiles.yml").is_file():
            return place / "profiles.yml"
    raise SpecError(
        f"there is no profiles.yml of dbt in {' or '.join(map(str, places))}; set DBT_PROFILES_DIR to its directory"
    )


def _read(path: Path) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe").load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError):  # whose message may quote a password
        found = None
    if not isinstance(found, Mapping):
        raise SpecError(f"{path}: expected the profiles of dbt in YAML")
    return found


def _text(where: str, value: Any) -> str:
    """A value as text, with environment variables put in; another Jinja expression is refused."""
    if isinstance(value, Mapping | list):
        return "" if not value else "{nested}"

    def variable(found: re.Match[str]) -> str:
        name, default = found[2], found[4]
        filled = os.environ.get(name, default)
        if filled is None:
            raise SpecError(f"{where}: the environment variable {name} is not set; set it, as dbt needs it too")
        return filled

    text = _ENV_VAR.sub(lambda found: "", str(value))
    if "{{" in text or "{%" in text:
        raise SpecError(f"{where}: expected text or {{{{ env_var('NAME') }}}}; other expressions of dbt are not read")
    return _ENV_VAR.sub(variable, str(value))


def _refuse_others(where: str, output: Mapping[str, str], known: frozenset[str]) -> None:
    for key, value in output.items():
        if key not in known and value:
            raise SpecError(
                f"{where}.{key}: this option may change what names mean or what is allowed, so it is not used; give "
                "the database itself"
            )


def _duckdb(where: str, output: Mapping[str, str]) -> str:
    path = output.get("path", ":memory:")
    if path == ":memory:" or "://" in path or path.startswith("md:"):
        raise SpecError(f"{where}.path: expected a database file, not a database in memory")
    return str(Path(path).expanduser())


def _postgres(where: str, output: Mapping[str, str]) -> str:
    name, user, host = (output.get(key) for key in ("dbname", "user", "host"))
    name = name or output.get("database")
    if not (name and user and host):
        raise SpecError(f"{where}: expected host, user and dbname")
    password = output.get("password") or output.get("pass")
    port = output.get("port", "5432")
    if not port.isdecimal():
        raise SpecError(f"{where}.port: expected a whole number")
    login = quote(user, safe="") + ("" if password is None else f":{quote(password, safe='')}")
    options = urlencode({key: output[key] for key in sorted(_OF_SSL & {*output})})
    address = f"[{host}]" if ":" in host else quote(host, safe=".-_")
    return f"postgresql://{login}@{address}:{port}/{quote(name, safe='')}{'?' if options else ''}{options}"
