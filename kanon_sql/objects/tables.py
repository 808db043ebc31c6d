"""Tables of a program as those that a verb reads by their names."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from kanon_sql.engines import (
    LAKES,
    Engine,
    FrameDatabase,
    FrameKind,
    connect,
    open_frames,
    shown_kind,
    table_kind,
)
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.objects.release_tables import Released
from kanon_sql.spec import NO_SOURCE, Displayed, Source, Spec, format_table_name

__all__ = ["ProgramTables", "program_tables"]

SOURCE, RELEASE = "source", "release"
"""What the source is called in a database of its own, and its release where the spec does not name one."""

OTHERS = ("table", "population", "external", "earlier", "other_views")
"""Parameters of verbs that name tables."""


class _Place(Protocol):
    """Where the tables of a call are read."""

    engine: Engine

    def source(self, given: Any) -> Source:
        """The first table, as a spec names it."""

    def named(self, name: str, given: Any) -> str:
        """A table, as a verb names it; ``name`` is free for it."""

    def release(self, parts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Where ``anonymize`` publishes, of what the spec names."""

    def released(self, parts: tuple[str, ...]) -> Released:
        """What was published there."""


@dataclass
class ProgramTables:
    """What a verb gets in the place of tables.

    Attributes:
        verb: its name.
        place: where the tables are read.
        arguments: parameter -> what stands for the table that was given.
    """

    verb: str
    place: _Place
    arguments: dict[str, Any] = field(default_factory=dict)

    def finished(self, result: Any) -> Any:
        """What the verb returns, with the release as a table; a spec that it wrote names no source."""
        if isinstance(result, str):
            return _without_source(result, names_release=isinstance(self.place, _InIbis))
        if self.verb != "anonymize" or result.manifest is None:
            return result
        spec = self.arguments["spec"]
        if spec.release_file is not None:
            return result
        return replace(result, released=self.place.released(spec.release))


@contextmanager
def program_tables(verb: str, given: Any, arguments: Mapping[str, Any]) -> Iterator[ProgramTables]:
    """What stands for the tables of a call while it lasts.

    Args:
        verb: its name.
        given: the first table.
        arguments: what the verb was called with, by parameter.

    Raises:
        SpecError: the spec names a source beside the table, or asks for what needs earlier releases, or a table of
            another kind is given by its name or object.
        UnsupportedError: the table cannot be read where it is.
    """
    if verb == "refresh":
        raise UnsupportedError(
            "refresh: a release grows where it is, with its state, and a table of a program has neither; give what "
            "kanon_sql.connect returns or a connection, and name the new rows by inserted"
        )
    specs = [arguments.get("spec"), *arguments.get("specs", {}).values()]
    if any(isinstance(spec, Displayed) and not isinstance(spec, Spec) for spec in specs):
        raise UnsupportedError(
            f"{verb}: one table was given, and the spec names several tables of a database; give what "
            "kanon_sql.connect returns or a connection"
        )
    with _place(given) as place:
        tables = ProgramTables(verb, place, {"engine": place.engine})
        checked = verb == "check" and arguments.get("table") is None
        if verb == "audit" and arguments.get("table") is None:
            raise SpecError(
                "audit: the release is missing; give it beside the source: audit(source, spec, table=release)"
            )
        if checked or verb == "init":
            tables.arguments["table"] = place.named("table" if checked else SOURCE, given)
        source = NO_SOURCE if checked or verb == "init" else place.source(given)
        for name in OTHERS:
            value = arguments.get(name)
            if isinstance(value, list | tuple):
                tables.arguments[name] = [
                    _other(place, f"{name}_{number}", item) for number, item in enumerate(value, start=1)
                ]
            elif value is not None:
                tables.arguments[name] = _other(place, name, value)
        if "spec" in arguments:
            spec = _about(
                arguments["spec"], given, source, place, contradicts=not checked, publishes=verb == "anonymize"
            )
            if verb == "anonymize" and spec.release_view is not None:
                raise UnsupportedError(
                    "release.view: a guarded view is for readers of a database, and this table is given by a program; "
                    "connect to the database where it is, or name a table"
                )
            if verb == "anonymize" and spec.release_file is None:
                spec = spec.model_copy(update={"release": place.release(arguments["spec"].release)})
            tables.arguments["spec"] = spec
        if "specs" in arguments:
            tables.arguments["specs"] = {
                name: _about(spec, given, source, place) for name, spec in arguments["specs"].items()
            }
        yield tables


def _about(
    spec: Spec, given: Any, source: Source, place: _Place, *, contradicts: bool = True, publishes: bool = False
) -> Spec:
    """The spec about a table that was given.

    Args:
        spec: the user's.
        given: the table.
        source: what stands for it.
        place: where that is.
        contradicts: a source of the spec's own would be read in its place.
        publishes: a release is made, and recorded where the spec says so.

    Raises:
        SpecError: it names a source, or asks for what a table without a name cannot have.
    """
    if contradicts and spec.source.given:
        raise SpecError(
            f"source: the spec names one, and {shown_kind(given)} was given as the source as well; take the key "
            "'source' out of the spec, or give the connection that its source is read by"
        )
    named = isinstance(place, _InIbis) and source.table is not None
    compared = spec.m_invariance is not None or (publishes and spec.ledger is not None)
    if compared and not named:
        what = "ledger" if spec.ledger is not None else "m_invariance"
        raise SpecError(
            f"{what}: a release is compared with earlier ones of the same table, and {shown_kind(given)} has no name "
            "to know it by; put it into a table of a database, and give the connection"
        )
    if publishes and spec.recoding.save_as is not None and isinstance(place, _InMemory):
        raise SpecError(
            "recoding.save_as: the recoding would be saved in memory, and be gone with it; leave it out, or put "
            "the table into a database, and give the connection"
        )
    if publishes and spec.state is not None and not named:
        raise SpecError(
            f"state: a release that grows is a table of a database, and {shown_kind(given)} has no name by which "
            "later rows would be found; put it into a table, and give the connection"
        )
    release = None if isinstance(place, _InMemory) else spec.release
    return spec.model_copy(update={"source": source, "release": release})


def _other(place: _Place, name: str, given: Any) -> str:
    if isinstance(given, str) and isinstance(place, _InMemory):
        raise SpecError(f"{name}: the source is a table in memory, and there are no others by name; give a table")
    return given if isinstance(given, str) else place.named(name, given)


@contextmanager
def _place(given: Any) -> Iterator[_Place]:
    kind = table_kind(given)
    if kind == "spark":
        with connect(given.sparkSession) as engine, _InSpark.opened(engine, given.sparkSession) as place:
            yield place
    elif kind == "ibis" and (backend := _backend(given)) is not None:
        with connect(backend) as engine:
            yield _InIbis(engine, backend)
    else:
        with open_frames() as database:
            yield _InMemory(database)


def _without_source(spec: str, *, names_release: bool) -> str:
    """What ``init`` wrote, about a table that has no name of its own."""
    spec = re.sub("^source: .*$", "# source: the table that is given beside this spec", spec, count=1, flags=re.M)
    if names_release:
        return spec
    return re.sub(
        "^release: .*$", "# release: its name, where it is published in a database", spec, count=1, flags=re.M
    )


# --- In memory -------------------------------------------------------------------------------------------------------


class _InMemory:
    """Copies in a DuckDB of the call's own, and tables of lakes, which it reads where they are."""

    def __init__(self, database: FrameDatabase) -> None:
        self.engine: Engine = database.engine
        self._database = database
        self._kind = ""

    def source(self, given: Any) -> Source:
        """A copy under the source's name."""
        return Source(table=(self.named(SOURCE, given),))

    def named(self, name: str, given: Any) -> str:
        """A copy under that name."""
        kind = table_kind(given)
        self._kind = self._kind or ("arrow" if kind in LAKES else str(kind))
        if kind in LAKES:
            self._database.attach(name, given, kind)
            return name
        if kind == "ibis":  # it holds tables of memory itself
            kind, given = "arrow", given.to_pyarrow()
        if kind in (None, "spark"):
            raise UnsupportedError(
                f"{name}: cannot read {shown_kind(given)} beside a table in memory; give one of pandas, polars or Arrow"
            )
        self._database.load(name, given, cast(FrameKind, kind))
        return name

    def release(self, parts: tuple[str, ...] | None) -> tuple[str, ...]:
        """The last part of the spec's name: there is no schema here."""
        return (RELEASE,) if parts is None else parts[-1:]

    def released(self, parts: tuple[str, ...]) -> Released:
        """The release, which needs the database no more."""
        kind = "arrow" if self._kind == "ibis" else self._kind
        return Released(kind, self._database.released(parts))


# --- In the database of the table ------------------------------------------------------------------------------------


class _InSpark:
    """Temporary views of the session, for the time of the call."""

    def __init__(self, engine: Engine, session: Any) -> None:
        self.engine = engine
        self._session = session
        self._views: list[str] = []

    @classmethod
    @contextmanager
    def opened(cls, engine: Engine, session: Any) -> Iterator[_InSpark]:
        """Its views are dropped at the end."""
        place = cls(engine, session)
        try:
            yield place
        finally:
            for view in place._views:
                session.catalog.dropTempView(view)

    def source(self, given: Any) -> Source:
        """A view."""
        return Source(table=(self.named(SOURCE, given),))

    def named(self, name: str, given: Any) -> str:
        """A view whose name no other user has."""
        if table_kind(given) != "spark" or given.sparkSession is not self._session:
            raise UnsupportedError(
                f"{name}: cannot read {shown_kind(given)} beside a DataFrame of Spark; give one of its SparkSession"
            )
        view = f"kanon_{secrets.token_hex(4)}_{name}"
        given.createTempView(view)
        self._views.append(view)
        return view

    def release(self, parts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The spec's own."""
        return parts

    def released(self, parts: tuple[str, ...]) -> Released:
        """The published table."""
        return Released("spark", self._session.table(self.engine.dialect.relation(parts)))


class _InIbis:
    """Tables and queries of a backend."""

    def __init__(self, engine: Engine, backend: Any) -> None:
        self.engine = engine
        self._backend = backend

    def source(self, given: Any) -> Source:
        """The table's name, or the query that ibis writes."""
        parts = _table_of_ibis(given)
        return Source(table=parts) if parts is not None else Source(query=str(self._backend.compile(given)))

    def named(self, name: str, given: Any) -> str:
        """The table's name."""
        parts = _table_of_ibis(given) if table_kind(given) == "ibis" else None
        if parts is None or _backend(given) is not self._backend:
            raise UnsupportedError(
                f"{name}: cannot read {shown_kind(given)} by a name in the backend of the source; give a table of that "
                "backend, and no query, or all of them as to_pyarrow() makes them"
            )
        return format_table_name(parts)

    def release(self, parts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The spec's own."""
        return parts

    def released(self, parts: tuple[str, ...]) -> Released:
        """The published table."""
        *place, name = parts
        database = None if not place else place[0] if len(place) == 1 else tuple(place)
        return Released("ibis", self._backend.table(name, database=database))


def _backend(table: Any) -> Any:
    """The backend that an ibis table is read by; None where it holds rows of this process, or belongs to none.

    Raises:
        UnsupportedError: it belongs to none.
    """
    from ibis.common.exceptions import IbisError
    from ibis.expr.operations import InMemoryTable

    if table.op().find(InMemoryTable):
        return None
    try:
        return table.get_backend()
    except IbisError:
        raise UnsupportedError(
            f"{shown_kind(table)} is not bound to one database; give a table that its backend returned"
        ) from None


def _table_of_ibis(table: Any) -> tuple[str, ...] | None:
    """The name of a table of a database; None for what is computed of some."""
    from ibis.expr.operations import DatabaseTable

    found = table.op()
    if not isinstance(found, DatabaseTable):
        return None
    place = found.namespace
    return tuple(part for part in (place.catalog, place.database, found.name) if part is not None)
