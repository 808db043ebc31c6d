"""Defaults of the command line in a file: ``kanon-sql.toml``, or ``[tool.kanon_sql]`` in ``pyproject.toml``.

The nearest one counts, from the working directory upwards. What an option says comes first, then the environment, then
the file. A file holds no password: it names an environment variable that holds the database's URL, or a profile of dbt.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from kanon_sql.cli.options import KEYS, resource
from kanon_sql.errors import SpecError

__all__ = ["Settings", "settings_of"]

OWN, SHARED = "kanon-sql.toml", "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """What a file says.

    Attributes:
        file: it; None where there is none.
        profile: the part of it that was chosen; None for what stands outside of all profiles.
        values: option -> its value, or what finds it once it is needed: only then its variable has to be set.
        origins: option -> where its value comes from; a value is never part of it.
    """

    file: Path | None
    profile: str | None
    values: Mapping[str, Any]
    origins: Mapping[str, str]


def settings_file(directory: Path) -> Path | None:
    """The nearest file of settings, from a directory upwards.

    Raises:
        SpecError: it cannot be read, or belongs to another user, who could have written another database into it.
    """
    for place in (directory, *directory.parents):
        for name in (OWN, SHARED):
            path = place / name
            if path.is_file() and (name == OWN or _table(path) is not None):
                if hasattr(os, "getuid") and path.stat().st_uid not in (os.getuid(), 0):
                    raise SpecError(
                        f"{path}: this file belongs to another user, so its settings are not used; become its owner, "
                        "or move it away"
                    )
                return path
    return None


def _table(path: Path) -> Mapping[str, Any] | None:
    """What a file says to us; None for a ``pyproject.toml`` that says nothing."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        if path.name == SHARED and "kanon_sql" not in path.read_text("utf-8", errors="replace"):
            return None  # whatever is wrong with it is not ours to say
        where = f": {error}" if isinstance(error, tomllib.TOMLDecodeError) and "line" in str(error) else ""
        raise SpecError(f"{path}: expected a valid TOML file{re.sub(r'[^ -~]', '?', where)}") from None
    if path.name == OWN:
        return found
    tool = found.get("tool")
    table = tool.get("kanon_sql") if isinstance(tool, Mapping) else None
    return table if isinstance(table, Mapping) else None


def settings_of(directory: Path, profile: str | None) -> Settings:
    """What the nearest file says.

    Args:
        directory: where to begin to look.
        profile: the part of it to take; it comes before what stands outside of all profiles. None for none.

    Raises:
        SpecError: the file is wrong, holds a password, or has no such profile.
    """
    path = settings_file(directory)
    if path is None:
        if profile is not None:
            raise SpecError(
                f"--profile {profile}: expected a {OWN}, or a {SHARED} with [tool.kanon_sql], here or in a directory "
                "above"
            )
        return Settings(None, None, {}, {})
    table = dict(_table(path) or {})
    profiles = table.pop("profiles", {})
    if not isinstance(profiles, Mapping) or not all(isinstance(item, Mapping) for item in profiles.values()):
        raise SpecError(f"{path}: profiles: expected tables such as [profiles.production]")
    for name, given in ((None, table), *profiles.items()):
        _refuse_unknown(path, name, given)
    if profile is not None and profile not in profiles:
        known = f"expected one of {', '.join(profiles)}" if profiles else "it has none"
        close = get_close_matches(profile, profiles, n=1)
        hint = f"did you mean {close[0]!r}?" if close else known
        raise SpecError(f"--profile {profile}: {path} has no such profile; {hint}")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    parts = [(table, str(path)), (profiles[profile] if profile else {}, f"{path}, profile {profile}")]
    for given, where in parts:
        for key, value in given.items():
            values[key] = _value(path, key, value)
            origins[key] = f"{where}{_from(value) if key == 'database' else ''}"
    return Settings(path, profile, values, origins)


def _refuse_unknown(path: Path, profile: str | None, given: Mapping[str, Any]) -> None:
    from kanon_sql.engines import SECRETS

    where = f"{path}: " if profile is None else f"{path}: profiles.{profile}."
    for key, value in given.items():
        if key not in KEYS:
            if SECRETS.search(key):
                raise SpecError(_no_password(f"{where}{key}"))
            close = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(KEYS)}, profiles"
            raise SpecError(f"{where}{key}: unknown key; {hint}")
        if key == "database":
            _refuse_other_database(f"{where}database", value)
        elif not _fits(key, value):
            raise SpecError(f"{where}{key}: expected {KEYS[key]}")


def _fits(key: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if key == "threads" else str | int | float):
        return False
    if key in ("memory_limit", "scratch") and not isinstance(value, str):
        return False
    try:
        resource(key, str(value))
    except ValueError:
        return False
    return True


def _refuse_other_database(where: str, value: Any) -> None:
    from kanon_sql.engines import database_kind, holds_password

    if isinstance(value, Mapping):
        if {*value} - {"target"} not in ({"variable"}, {"dbt"}) or not all(
            isinstance(item, str) and item for item in value.values()
        ):
            raise SpecError(f"{where}: expected {KEYS['database']}")
        if "target" in value and "dbt" not in value:
            raise SpecError(f"{where}.target: target belongs to a dbt profile; add dbt = PROFILE, or leave it out")
    elif not isinstance(value, str) or not value:
        raise SpecError(f"{where}: expected {KEYS['database']}")
    elif holds_password(value):
        raise SpecError(_no_password(where))
    else:
        try:
            database_kind(value)
        except SpecError:
            raise SpecError(f"{where}: expected {KEYS['database']}") from None


def _no_password(where: str) -> str:
    return (
        f"{where}: other users may read this file, so a password is not read from it; put the URL into an environment "
        "variable and name the variable: database"
        ' = {variable = "CLINIC_URL"}'
    )


def _value(path: Path, key: str, value: Any) -> Any:
    """The value of an option, or what finds it."""
    from kanon_sql.engines import database_kind

    if key != "database":
        return value
    if isinstance(value, Mapping):
        return partial(_named_elsewhere, path, value)
    if database_kind(value) != "file":
        return value
    return str(path.parent / Path(value).expanduser())


def _named_elsewhere(path: Path, value: Mapping[str, str]) -> str:
    """The database that an environment variable or a profile of dbt names.

    Raises:
        SpecError: it names none.
    """
    if "variable" not in value:
        from kanon_sql.cli.dbt_profiles import dbt_database

        return dbt_database(value["dbt"], value.get("target"))
    found = os.environ.get(value["variable"])
    if not found:
        raise SpecError(
            f"{path}: database: the environment variable {value['variable']} is not set; set it to the database's URL"
        )
    return found


def _from(value: Any) -> str:
    """Where a database is named that is not named in the file itself."""
    if not isinstance(value, Mapping):
        return ""
    if "variable" in value:
        return f", from the environment variable {value['variable']}"
    return f", from the dbt profile {value['dbt']}"
