"""A server serves another subject only as it was when it was started."""

from __future__ import annotations

import pytest

from tests.servers import subject_of

UNDONE = {
    "postgres": (
        "CREATE TABLE left_over (a INTEGER)",
        "CREATE FUNCTION pg_catalog.left_over() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "ALTER DATABASE postgres SET work_mem = '1MB'",
    ),
    "mariadb": ("CREATE TABLE left_over (a INTEGER)", "CREATE DATABASE other"),
}
STAYS = {"postgres": "CREATE ROLE left_over", "mariadb": "SET GLOBAL sql_mode = 'ANSI'"}
FOUND = {
    "postgres": "SELECT proname FROM pg_proc WHERE proname = 'left_over'",
    "mariadb": "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'other'",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in STAYS])
def test_what_cannot_be_undone_ends_a_server(name: str) -> None:
    with subject_of(name) as first:
        for sql in UNDONE[name]:
            first.execute(sql)
        assert first.fetch(FOUND[name])
    with subject_of(name) as second:
        assert second.server is first.server  # type: ignore[attr-defined]
        assert (second.tables(), second.fetch(FOUND[name])) == ([], [])
        second.execute(STAYS[name])
    with subject_of(name) as third:
        assert third.server is not second.server  # type: ignore[attr-defined]
