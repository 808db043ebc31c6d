"""The spec of one release of several tables: persons, and what other tables say of each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from html import escape
from math import floor
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import (
    Check,
    Fault,
    Faults,
    Part,
    choice,
    chosen,
    fail,
    kind,
    quote,
    shaped,
    text,
    the_number,
)
from kanon_sql.spec.checks import integer as whole_number
from kanon_sql.spec.checks import items as list_of
from kanon_sql.spec.document import SpecDocument, first_version, in_kind, only_kind, redacted_source
from kanon_sql.spec.fields import TABLE_NAME, ColumnName, ColumnNames, table_name
from kanon_sql.spec.hierarchy import QuasiIdentifier, hierarchies_by_column
from kanon_sql.spec.json_schema import tidied, titled
from kanon_sql.spec.ledger import LedgerOptions
from kanon_sql.spec.masking import MOST_DAYS
from kanon_sql.spec.names import folded, format_table_name
from kanon_sql.spec.redact import sha256
from kanon_sql.spec.registry import parse_requirement
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.secret import derived_key, secret_in
from kanon_sql.spec.sections import Source, share_or_percent
from kanon_sql.spec.warning_options import RelatedWarnings

__all__ = [
    "PERSON",
    "ChildTable",
    "Coherence",
    "ItemColumn",
    "KmAnonymity",
    "PersonTable",
    "RelatedTable",
    "RelationalSpec",
]

PERSON = "person"
"""What a table without ``parent`` hangs below: the table of persons."""

MOST_ITEMS = 3
"""More known items than this are compared as whole sets, ``m: all``."""


# --- Keys ----------------------------------------------------------------------------------


@shaped(
    {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        ]
    }
)
def _key(value: object) -> tuple[str, ...]:
    found = (value,) if isinstance(value, str) else value
    named = list_of("column names", text("a column name"), least=1)(found)
    if len({name.casefold() for name in named}) < len(named):
        fail("a column stands in the key twice; name each column once")
    return named


Key = Annotated[tuple[str, ...], _key]
"""One column, or the columns of a composite key."""


@Check
def _quasi_identifiers(value: object) -> dict[str, QuasiIdentifier]:
    return {} if value == {} else hierarchies_by_column(value)


# --- Tables --------------------------------------------------------------------------------


class RelatedTable(Part):
    """A table of the release: where it is, what identifies its rows, and what becomes of its columns.

    Attributes:
        table: the table, view, query or file.
        name: what it is released as; by default the name of the table.
        quasi_identifiers: column -> hierarchy.
        sensitive: columns that the requirements protect; released as they are.
        keep: columns to release as they are.
        replace: columns whose values get new keys; columns of one name, keys among them, have the same in all tables.
        shift: dates to release moved by the same number of days for all rows of a person.
    """

    table: Source | None = Field(default=None, description="The table or view, {query: ...} or {file: ...}.")
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], _quasi_identifiers] = Field(
        default_factory=dict, description="The columns to generalize, each with its hierarchy."
    )
    sensitive: ColumnNames = Field(
        default=(), description="Sensitive columns, which the requirements protect; they are released unchanged."
    )
    keep: ColumnNames = Field(default=(), description="Insensitive columns to release unchanged.")
    replace: ColumnNames = Field(
        default=(),
        description="Natural keys, such as an e-mail address: each value becomes one new key, the same wherever a "
        "column of this name is a key or is replaced.",
    )
    shift: ColumnNames = Field(
        default=(),
        description="Dates to release untrue on purpose: all dates of a person, in all tables, are moved by one secret "
        "number of days. They are not protected by it, and count as kept columns.",
    )

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this table."""
        return {
            "table": None if self.table is None else self.table.to_dict(),
            "quasi_identifiers": {name: column.to_dict() for name, column in self.quasi_identifiers.items()},
            "sensitive": list(self.sensitive),
            "keep": list(self.keep),
            **({"replace": list(self.replace)} if self.replace else {}),
            **({"shift": list(self.shift)} if self.shift else {}),
        }

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: no literals of SQL, no labels, no passwords."""
        return {
            **self.to_dict(),
            "table": None if self.table is None else redacted_source(self.table),
            "quasi_identifiers": {name: column.redacted() for name, column in self.quasi_identifiers.items()},
        }

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The columns of its keys, which are replaced by new ones."""
        return ()

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role for each column."""
        if value is None:
            return
        seen = {name.casefold(): "key" for name in value.own_keys}
        roles: dict[str, Iterable[str]] = {
            "quasi_identifiers": value.quasi_identifiers,
            "sensitive": value.sensitive,
            "keep": value.keep,
            "replace": value.replace,
            "shift": value.shift,
        }
        for role, names in roles.items():
            for position, name in enumerate(names):
                where: tuple[str | int, ...] = (role, name) if role == "quasi_identifiers" else (role, position)
                if name.casefold() in seen:
                    why = f"the column is also {_ROLES[seen[name.casefold()]]}; give each column one role"
                    yield Fault(where, why, role == "quasi_identifiers")
                seen[name.casefold()] = role
        for name, item in value.quasi_identifiers.items():
            if item.as_ != "text":
                yield Fault(("quasi_identifiers", name, "as"), "tables that are released together have labels as text")
            if item.point is not None:
                yield Fault(
                    ("quasi_identifiers", name), "a point is not supported in tables that are released together"
                )
            if item.by_counts:
                why = "rare values are not counted in tables that are released together; name a file of labels"
                yield Fault(("quasi_identifiers", name, "rare"), why)
            if item.parents == "several":
                why = "several parents are not supported in tables that are released together; give each value one row"
                yield Fault(("quasi_identifiers", name, "parents"), why)


_ROLES = {
    "key": "part of a key",
    "quasi_identifiers": "a quasi-identifier",
    "sensitive": "sensitive",
    "keep": "kept",
    "replace": "replaced by new keys",
    "shift": "shifted",
}


class PersonTable(RelatedTable):
    """The table of persons, a row each.

    Attributes:
        key: the columns that identify a person, to which other tables refer.
        name: what it is released as.
    """

    expected: ClassVar[str] = "{table: patients, key: patient_id, quasi_identifiers: {age: {intervals: [5, 10]}}}"

    key: Key = Field(description="The column, or columns, that identify a person.")
    name: Annotated[str | None, text("a table name")] = Field(
        default=None, description="The name of the released table; the name of the source table by default."
    )

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The key of persons."""
        return self.key

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A table, and a name for what is released of it."""
        yield from super().cross(given, value)
        if "table" not in given:
            yield Fault((), "missing 'table': the table of persons, such as table: patients", True)
        elif value is not None and value.name is None and value.table is not None and value.table.table is None:
            yield Fault((), "missing 'name': a query or a file has no name to be released under; add one", True)

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this table."""
        return {**super().to_dict(), "key": list(self.key), **({} if self.name is None else {"name": self.name})}

    @property
    def released_as(self) -> str:
        """The name of the released table."""
        if self.name is not None:
            return self.name
        assert self.table is not None
        assert self.table.table is not None
        return self.table.table[-1]


class ChildTable(RelatedTable):
    """A table below that of persons, or below another one: any number of rows for each of its parent's.

    Attributes:
        key: the columns that identify a row; None where no table refers to it, and it has none.
        parent: the name of the table above it, or ``person``.
        by: the columns that refer to the parent's key.
        most_rows: rows of one person beyond this many are left out, by random choice; None for no limit.
        row_count: ``known`` if how many rows a person has here is a quasi-identifier of the person.
    """

    expected: ClassVar[str] = "{key: visit_id, person: patient_id, quasi_identifiers: {day: {dates: [month, year]}}}"

    key: Key | None = Field(default=None, description="The column, or columns, that identify a row.")
    parent: Annotated[str | None, text("the name of a table")] = Field(
        default=None, description="The table above this one, by its name in this spec."
    )
    by: Key | None = Field(default=None, description="The column, or columns, that refer to the parent's key.")
    person: Key | None = Field(
        default=None, description="The column, or columns, that refer to the person, where persons are the parent."
    )
    most_rows: Annotated[int | None, whole_number("most_rows", 1)] = Field(
        default=None, description="The most rows of one person; others are left out by random choice."
    )
    row_count: Annotated[Literal["unknown", "known"], chosen("knowledge of how many rows a person has")] = Field(
        default="unknown",
        description="known: an attacker knows how many rows a person has here, so that it is a quasi-identifier of the "
        "person.",
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A reference to persons, or to a parent."""
        yield from super().cross(given, value)
        if "person" in given and ("parent" in given or "by" in given):
            yield Fault(("person",), "a table has one parent: give person, or parent and by; leave one out", True)
        elif "person" not in given and ("parent" in given) != ("by" in given):
            missing = "by: the columns that refer to the parent" if "parent" in given else "parent: the table above"
            yield Fault((), f"missing {missing}", True)
        elif "person" not in given and "parent" not in given:
            why = "missing 'person': the column that refers to the person; or parent and by, for a table below another"
            yield Fault((), why, True)

    @property
    def above(self) -> str:
        """The name of the parent; ``person`` for the table of persons."""
        return self.parent or PERSON

    @property
    def refers_by(self) -> tuple[str, ...]:
        """The columns that refer to the parent."""
        found = self.person or self.by
        assert found is not None
        return found

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The columns of its key, and of the reference to its parent, each once."""
        return tuple(dict.fromkeys((*(self.key or ()), *(self.person or self.by or ()))))

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this table."""
        refers = {"person": list(self.person)} if self.person else {"parent": self.parent, "by": list(self.refers_by)}
        limits = {} if self.most_rows is None else {"most_rows": self.most_rows}
        known = {} if self.row_count == "unknown" else {"row_count": self.row_count}
        return {**super().to_dict(), "key": None if self.key is None else list(self.key), **refers, **limits, **known}


class ItemColumn(Part):
    """A column that holds several items.

    Items in one text are released as a table of their own, a row for each item; a column of lists is one again.

    Attributes:
        table: the name of the table that has it; ``person`` by default.
        column: the column.
        split: what stands between two items of a text; None for a column of lists.
        hierarchy: of the items.
    """

    expected: ClassVar[str] = '{table: visits, column: codes, split: ";", hierarchy: {prefix: [3, 1]}}'

    table: Annotated[str, text("the name of a table")] = Field(
        default=PERSON, description="The table that has the column, by its name in this spec."
    )
    column: ColumnName = Field(description="The column of items.")
    split: Annotated[str | None, text("what stands between two items")] = Field(
        default=None,
        description="What stands between two items of a text, such as ';', so that a table is released with a row for "
        "each; left out for a column of lists, which is released as one.",
    )
    hierarchy: QuasiIdentifier = Field(
        default_factory=lambda: QuasiIdentifier.model_validate({}), description="The hierarchy of the items."
    )

    @property
    def above(self) -> str:
        """The name of the parent; ``person`` for the table of persons."""
        return self.table

    @property
    def is_list(self) -> bool:
        """Whether the column holds lists, and is released as one of its table."""
        return self.split is None

    @property
    def quasi_identifiers(self) -> dict[str, QuasiIdentifier]:
        """The items."""
        return {self.column: self.hierarchy}

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    @property
    def keep(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    @property
    def replace(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    @property
    def shift(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    @property
    def key(self) -> None:
        """None: nothing refers to an item."""
        return

    @property
    def own_keys(self) -> tuple[str, ...]:
        """None that are in its column."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this column."""
        return {
            "table": self.table,
            "column": self.column,
            **({} if self.split is None else {"split": self.split}),
            "hierarchy": self.hierarchy.to_dict(),
        }

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: no labels."""
        return {**self.to_dict(), "hierarchy": self.hierarchy.redacted()}


@Check
def _item_columns(value: object) -> dict[str, ItemColumn]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of names to columns, such as {{codes: {ItemColumn.expected}}}, got {kind(value)}")
    faults, found = Faults(), dict[str, ItemColumn]()
    for name, item in value.items():
        if str(name).casefold() == PERSON:
            faults.add((name,), f"{quote(str(name))} stands for the table of persons; choose another name", at_key=True)
            continue
        column = faults.attempt((name,), ItemColumn.model_validate, item)
        if column is not None and faults.attempt((name,), text("a table name"), name) is not None:
            found[name] = column
    faults.finish()
    return found


@Check
def _children(value: object) -> dict[str, ChildTable]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of names to tables, such as {{visits: {ChildTable.expected}}}, got {kind(value)}")
    faults, found = Faults(), dict[str, ChildTable]()
    for name, item in value.items():
        if faults.attempt((name,), text("a table name"), name) is None:
            continue
        if str(name).casefold() == PERSON:
            faults.add((name,), f"{quote(str(name))} stands for the table of persons; choose another name", at_key=True)
            continue
        child = faults.attempt((name,), ChildTable.model_validate, item)
        if child is not None:
            found[name] = child
    faults.finish()
    return found


# --- Requirements and limits ---------------------------------------------------------------


@shaped({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST_ITEMS}, {"const": "all"}]})
def _known_items(value: object) -> int | str:
    if isinstance(value, str):
        return choice("number of items", ("all",))(value)
    return whole_number("m", 0, MOST_ITEMS)(value)


class _KnownItems(Part):
    """A requirement about what is known of a person, written as a mapping with its name as the only key.

    Attributes:
        name: the key.
    """

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this requirement."""
        return {self.name: self.model_dump(mode="json", exclude_none=True)}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict`: it names no values."""
        return self.to_dict()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {cls.name: handler.resolve_ref_schema(handler(core))},
            "required": [cls.name],
            "additionalProperties": False,
        }


class KmAnonymity(_KnownItems):
    """``km_anonymity``: an attacker who knows a person's own values and any m of their items finds at least k persons.

    Terrovitis, Mamoulis, Kalnis (VLDB 2008), section 2, within each class of persons (Poulis et al., ECML PKDD 2013).

    Attributes:
        k: how many persons share what is known.
        m: how many items are known, from 0 (the person's own values alone) to 3; ``all`` for any number of them.
    """

    name: ClassVar[str] = "km_anonymity"
    expected: ClassVar[str] = "{k: 5, m: 1}"

    k: Annotated[int, whole_number("k", 1)] = Field(description="The fewest persons who share what is known.")
    m: Annotated[int | Literal["all"], _known_items] = Field(
        default=1, description="How many items of a person an attacker knows: 0 to 3, or all."
    )

    @property
    def notation(self) -> str:
        """Such as ``km_anonymity (k = 5, m = 1)``."""
        return f"km_anonymity (k = {self.k}, m = {self.m})"


class Coherence(_KnownItems):
    """``coherence``: of the persons who share what is known, at most a share h has any one sensitive value.

    Xu, Wang, Fu, Yu (KDD 2008), within each class of persons, without their bound on who shares it, which
    ``km_anonymity`` is.

    Attributes:
        h: the largest share.
        m: how many items are known, from 0 to 3; None for as many as ``km_anonymity`` says.
    """

    name: ClassVar[str] = "coherence"
    expected: ClassVar[str] = "{h: 0.8}"

    h: Annotated[float, the_number("h, above 0 and at most 1", above=0, most=1)] = Field(
        description="The largest share of the persons who share what is known that may have one sensitive value."
    )
    m: Annotated[int | None, whole_number("m", 0, MOST_ITEMS)] = Field(
        default=None, description="How many items of a person an attacker knows: 0 to 3; as km_anonymity by default."
    )

    @property
    def notation(self) -> str:
        """Such as ``coherence (h = 0.8)``."""
        return f"coherence (h = {self.h:g}{'' if self.m is None else f', m = {self.m}'})"

    @property
    def bound(self) -> tuple[int, int]:
        """H as numerator and denominator, rounded down to nine digits, so that counts are compared in whole numbers."""
        return floor(Fraction(str(self.h)) * 10**9), 10**9


_OF_CLASSES = ("l_diversity", "t_closeness")
"""Requirements of a single table that hold for the classes of persons too."""


def _requirement(value: object) -> KmAnonymity | Coherence | Requirement:
    if not isinstance(value, Mapping) or len(value) != 1:
        fail("expected one requirement, such as km_anonymity: {k: 5, m: 1}")
    ((name, options),) = value.items()
    faults = Faults()
    faults.attempt((name,), choice("requirement", ("km_anonymity", "coherence", *_OF_CLASSES)), name)
    faults.finish()
    found: KmAnonymity | Coherence | Requirement | None
    if name in _OF_CLASSES:
        found = parse_requirement(value)
        _refuse_unsupported(found)
    elif name == "km_anonymity":
        found = faults.attempt((name,), KmAnonymity.model_validate, options)
    else:
        found = faults.attempt((name,), Coherence.model_validate, options)
    faults.finish()
    assert found is not None
    return found


def _refuse_unsupported(found: Requirement) -> None:
    """Refuse what is defined for a single table only."""
    faults = Faults()
    for key, supported in (
        ("variant", ("distinct", "entropy", "recursive")),
        ("estimator", (None, "shannon")),
        ("distance", ("equal",)),
        ("reference", ("original",)),
        ("quasi_identifiers", (None,)),
        ("others_as_quasi_identifiers", (False,)),
    ):
        if getattr(found, key, supported[0]) not in supported:
            named = [item for item in supported if item]
            instead = f"expected {' or '.join(map(str, named))}" if named else "leave it out"
            why = f"not supported for several tables; {instead}"
            faults.add((found.name, key), why, at_key=True)
    faults.finish()


class PersonSuppression(Part):
    """How much may be left out: persons with all of their rows, and rows of the other tables.

    Attributes:
        max_persons: the largest share of the persons.
        max_rows: the largest share of the rows of all other tables, without those of persons who are left out.
    """

    expected: ClassVar[str] = "{max_persons: 0.02, max_rows: 0.05}"

    max_persons: Annotated[float, share_or_percent("the persons")] = Field(
        default=0.0, description="The largest share of the persons to leave out."
    )
    max_rows: Annotated[float, share_or_percent("the rows")] = Field(
        default=0.0, description="The largest share of the other tables' rows to leave out; for recoding: local."
    )

    def most_persons(self, persons: int) -> int:
        """The most persons that may be left out; exact, rounded down."""
        return floor(Fraction(str(self.max_persons)) * persons)

    def most_rows(self, rows: int) -> int:
        """The most rows that may be left out; exact, rounded down."""
        return floor(Fraction(str(self.max_rows)) * rows)


@shaped(TABLE_NAME)
def _schema(value: object) -> tuple[str, ...]:
    found = table_name(value)
    if len(found) > 2:
        fail(f"expected a schema of one or two parts, got {len(found)}")
    return found


_ENVIRONMENT = "env:"


@shaped({"type": "string", "pattern": f"^{_ENVIRONMENT}."})
def _variable(value: object) -> str:
    found = text("env: and the name of an environment variable")(value)
    if not found.startswith(_ENVIRONMENT) or not found.removeprefix(_ENVIRONMENT).strip():
        fail("a secret is never written into a spec; expected env: and the name of the variable that holds it")
    return found


@Check
def _new_keys(value: object) -> object:
    if isinstance(value, Mapping | SecretKeys):
        return SecretKeys.model_validate(value)
    return choice("kind of keys", ("random", SecretKeys.expected))(value)


class SecretKeys(Part):
    """New keys that are the same in every release made with one secret: HMAC-SHA-256 of the old ones.

    Attributes:
        secret: ``env:`` and the name of the environment variable that holds the secret.
    """

    expected: ClassVar[str] = "{secret: env:KANON_SECRET}"

    secret: Annotated[str, _variable] = Field(description="env:NAME, the environment variable that holds the secret.")

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return self.secret.removeprefix(_ENVIRONMENT)


class ReleasedTables(Part):
    """Where the tables are published.

    Attributes:
        schema_: the schema; its tables have the names that this spec gives them.
        keys_: the new keys: ``random`` numbers, other ones in each release, and the same in all of its tables; or made
            of the old ones with a secret, so that releases join each other.
        shift_days: the most days by which the dates of a person are moved, earlier or later.
        publish: ``at_once``, or refused where the engine cannot; or ``in_steps`` there: all old tables are put aside
            before the first new one gets its name, so that for a moment some are missing.
    """

    expected: ClassVar[str] = "{schema: released}"

    schema_: Annotated[tuple[str, ...], _schema] = Field(
        alias="schema", description="The schema to publish the tables in."
    )
    keys_: Annotated[Literal["random"] | SecretKeys, _new_keys] = Field(
        alias="keys",
        default="random",
        description="The new keys: random numbers, different in each release; or {secret: env:NAME}, the same in every "
        "release.",
    )
    shift_days: Annotated[int, whole_number("shift_days", 1, MOST_DAYS)] = Field(
        default=365,
        description="The most days by which the dates under shift are moved, earlier or later.",
    )
    publish: Annotated[Literal["at_once", "in_steps"], chosen("way to publish")] = Field(
        default="at_once",
        description="at_once: all tables in one transaction or statement, refused where the engine has none; in_steps: "
        "there, old tables are put aside before the first new one gets its name: for a moment some are missing.",
    )

    @property
    def in_steps(self) -> bool:
        """Whether tables may be missing for a moment."""
        return self.publish == "in_steps"


# --- The spec ------------------------------------------------------------------------------


class RelationalSpec(SpecDocument):
    """The spec of one release of several tables. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        kind: ``release``.
        person: the table of persons; k of them share what is known of each.
        tables: the other tables, each below that of persons or below another one.
        items: columns of these that hold several items, each released as a table of its own.
        privacy: the requirements.
        suppression: how much may be left out.
        recoding: ``local``, in which events are generalized within each class of persons; or ``full_domain``, one
            level for each column; None for the one that the requirements allow, see :attr:`method`.
        release: where the tables are published; None where nothing is.
        ledger: where releases are recorded and compared with earlier ones; None for no ledger.
        warnings: what becomes of each warning.

    Examples:
        >>> spec = kanon_sql.RelationalSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "person": {"table": "patients", "key": "id", "quasi_identifiers": {"age": {"intervals": [5, 10]}}},
        ...         "tables": {"stays": {"person": "patient", "quasi_identifiers": {"ward": {}}}},
        ...         "privacy": [{"km_anonymity": {"k": 5, "m": 1}}],
        ...     }
        ... )
        >>> list(spec.tables), spec.method
        (['stays'], 'local')
    """

    expected: ClassVar[str] = "a mapping with version, person, tables and privacy"
    called: ClassVar[str] = "spec of several tables"
    of_several: ClassVar[bool] = True
    elsewhere: ClassVar[Mapping[str, str]] = {
        "source": "several tables are named under 'person' and 'tables'; write person: {table: patients, key: id}",
        "unit": "the table of persons has a row for each person; write person: {table: patients, key: id}",
        "quasi_identifiers": "each table has its own; write them below person or below a table of 'tables'",
        "dimensions": in_kind("table"),
        "position": in_kind("positions"),
        "perturb": in_kind("perturbed"),
    }

    version: Annotated[Literal[1], first_version("spec")] = Field(description="The version of this format, 1.")
    kind: Annotated[Literal["release"], only_kind("release")] = Field(
        default="release", description="The kind of spec; release is the default."
    )
    person: PersonTable = Field(description="The table of persons: table, key and quasi_identifiers.")
    tables: Annotated[dict[str, ChildTable], _children] = Field(
        default_factory=dict, description="The other tables, by the names that they are released under."
    )
    items: Annotated[dict[str, ItemColumn], _item_columns] = Field(
        default_factory=dict,
        description="Columns that hold several items, by the names that their tables are released under.",
    )
    privacy: Annotated[
        tuple[KmAnonymity | Coherence | Requirement, ...], list_of("requirements", _requirement, least=1)
    ] = Field(description="The requirements, such as '- km_anonymity: {k: 5, m: 1}'.", min_length=1)
    suppression: PersonSuppression = Field(
        default=PersonSuppression(), description="How many persons and rows may be left out."
    )
    recoding: Annotated[Literal["local", "full_domain"] | None, chosen("recoding")] = Field(
        default=None,
        description="local: generalize events within each class of persons; full_domain: one level per column. The "
        "default is local for m of at most 1.",
    )
    release: ReleasedTables | None = Field(default=None, description="Where to publish the tables.")
    ledger: LedgerOptions | None = Field(
        default=None, description="The ledger, where releases are recorded and compared; for recoding: full_domain."
    )
    warnings: RelatedWarnings = Field(default=RelatedWarnings(), description="For each warning: error, warn or allow.")

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Tables that form a tree below persons, under names of their own."""
        if value is None:
            return
        unrooted = list(value._parent_faults())
        yield from unrooted
        if unrooted:  # what follows goes from parent to parent
            return
        yield from value._item_faults()
        yield from value._key_faults()
        yield from value._replaced_faults()
        if not value.person.quasi_identifiers and not any(item.quasi_identifiers for item in value.below.values()):
            yield Fault(("person",), "expected at least one quasi-identifier in one of the tables, got none", True)
        names = [value.person.released_as, *value.tables, *value.items]
        for name in (*value.tables, *value.items):
            if [other.casefold() for other in names].count(name.casefold()) > 1:
                where = ("tables" if name in value.tables else "items", name)
                yield Fault(where, "another table is released under this name; choose another one", True)
        yield from value._requirement_faults()
        if value.ledger is not None:
            yield from value._ledger_faults(value.ledger)
        if value.method == "full_domain" and value.suppression.max_rows:
            why = "full_domain leaves out whole persons only; use max_persons, or recoding: local"
            yield Fault(("suppression", "max_rows"), why)
        if value.recoding == "local" and any(item.m == "all" for item in value.km):
            why = "local generalizes until combinations of at most 3 items are shared; for m: all use full_domain"
            yield Fault(("recoding",), why)
        for name, child in value.tables.items():
            parent = value.parent_of(child)
            if parent is not None and parent.key is not None and len(parent.key) != len(child.refers_by):
                why = f"{len(child.refers_by)} columns refer to a key of {len(parent.key)}; name as many"
                yield Fault(("tables", name, "person" if child.person else "by"), why)

    def _parent_faults(self) -> Iterator[Fault]:
        for name, child in self.tables.items():
            if child.above != PERSON and child.above not in self.tables:
                known = ", ".join([PERSON, *self.tables])
                yield Fault(("tables", name, "parent"), f"there is no table of this name here; expected one of {known}")
                continue
            seen, above = {name}, child.above
            while above != PERSON and above in self.tables:
                if above in seen:
                    yield Fault(("tables", name, "parent"), "the tables are below each other in a circle; one of them "
                                "has to be below person")  # fmt: skip
                    break
                seen.add(above)
                above = self.tables[above].above
            if child.above in self.tables and self.tables[child.above].key is None:
                why = f"missing 'key': the table {quote(name)} refers to it"
                yield Fault(("tables", child.above), why, True)

    def _key_faults(self) -> Iterator[Fault]:
        """Columns of one name, old keys that are kept, and releases in the place of a source."""
        sources = {
            folded(source.table): name for name in (PERSON, *self.tables) if (source := self.source_of(name)).table
        }
        for name in (PERSON, *self.tables, *self.items):
            where: tuple[str | int, ...] = (PERSON,)
            if name != PERSON:
                where = ("items" if name in self.items else "tables", name)
            columns = [column.casefold() for column in self._released_columns(name)]
            if doubled := sorted({column for column in columns if columns.count(column) > 1}):
                why = f"two columns of the released table would be called {quote(doubled[0])}; rename one in a query"
                yield Fault(where, f"{why}. A key of several columns becomes one, whose name joins theirs", True)
            yield from self._old_keys(name, where)
            if self.release is not None and folded(self.released(name)) in sources:
                yield Fault(
                    where, "the released table has the name of a source table; release into another schema", True
                )

    def _released_columns(self, name: str) -> list[str]:
        """The columns of a released table: keys, then the others."""
        if name in self.items:
            if self.items[name].is_list:
                return []
            above = self.parent_of(self.items[name])
            return ["_".join((above and above.key) or ()), self.items[name].column]
        table: PersonTable | ChildTable = self.person if name == PERSON else self.tables[name]
        refers = table.refers_by if isinstance(table, ChildTable) else ()
        keys = ["_".join(key) for key in dict.fromkeys((table.key or (), refers)) if key]
        lists = [item.column for item in self.lists_of(name).values()]
        return [*keys, *table.quasi_identifiers, *table.sensitive, *table.keep, *table.replace, *table.shift, *lists]

    def _requirement_faults(self) -> Iterator[Fault]:
        """Requirements without what they are about, and sensitive columns without a requirement."""
        if not self.km:
            why = "missing 'km_anonymity', such as km_anonymity: {k: 5, m: 1}: how many persons share what is known"
            yield Fault(("privacy",), why, True)
        tables = {name: table.sensitive for name, table in {PERSON: self.person, **self.tables}.items()}
        for position, item in enumerate(self.privacy):
            where = ("privacy", position)
            if isinstance(item, Coherence):
                if not any(tables.values()):
                    yield Fault(where, "there is no sensitive column; add sensitive: [diagnosis] to a table", True)
                if item.m is None and any(other.m == "all" for other in self.km):
                    yield Fault(where, "missing 'm': km_anonymity is for m: all; write m, from 0 to 3", True)
                if self.recoding == "local" and self.known_items > 1 and item.m != 0:
                    why = "local makes single items coherent, where km_anonymity is for m: 1 too; use full_domain"
                    yield Fault(where, why, True)
            elif isinstance(item, Requirement) and item.attribute not in self.person.sensitive:
                why = f"{quote(str(item.attribute))} is not sensitive in the table of persons, whose classes are judged"
                yield Fault(where, f"{why}; add it there, or use coherence", True)
        if self.counted_tables and self.of_classes:
            why = "l_diversity and t_closeness are not judged in classes by known numbers of rows; use coherence"
            yield Fault(("tables", self.counted_tables[0], "row_count"), why)
        if self.counted_tables and self.coherence and self.method == "local":
            why = "local leaves out persons for known numbers of rows after coherence was judged; use full_domain"
            yield Fault(("tables", self.counted_tables[0], "row_count"), why)
        if self.coherence:
            return
        judged = [item.attribute for item in self.of_classes]
        for name, columns in tables.items():
            place: tuple[str | int, ...] = (PERSON,) if name == PERSON else ("tables", name)
            for position, column in enumerate(columns):
                if name != PERSON or column not in judged:
                    why = "no requirement protects this column; add coherence: {h: 0.8}, or list it under keep"
                    yield Fault((*place, "sensitive", position), why)

    def _ledger_faults(self, ledger: LedgerOptions) -> Iterator[Fault]:
        """What a spec with a ledger cannot have: an earlier release is made again from the source, to be compared."""
        names = (PERSON, *self.tables)
        named = [source.table for name in names if (source := self.source_of(name)).table is not None]
        named += [] if self.release is None else [self.released(name) for name in (PERSON, *self.below)]
        if folded(ledger.table) in map(folded, named):
            yield Fault(("ledger",), "the ledger has the name of a source or of a released table; choose another", True)
        if ledger.on_conflict == "coarsen":
            why = "no coarser levels are looked for in several tables; use refuse, and raise minimum_level yourself"
            yield Fault(("ledger", "on_conflict"), why)
        if self.method == "local":
            why = (
                "recoding: local chooses levels by class and row, so that no ledger can make an earlier release again "
                "from the source; with a ledger, use recoding: full_domain"
            )
            yield Fault(("ledger",), why, True)
        if self.key_variable is not None:
            why = (
                "keys of a secret join releases row by row, and a ledger does not compare which row has which key: if "
                "two rows of the source were exchanged since, readers join what it did not judge; use keys: random"
            )
            yield Fault(("release", "keys"), why, True)
        for position, item in enumerate(self.privacy):
            if not isinstance(item, KmAnonymity):
                why = (
                    "a ledger compares how many persons share what is known, and not yet their sensitive values; leave "
                    "out the requirement and the column, or the ledger"
                )
                yield Fault(("privacy", position), why, True)
        for name in names:
            table: PersonTable | ChildTable = self.person if name == PERSON else self.tables[name]
            where: tuple[str | int, ...] = (PERSON,) if name == PERSON else ("tables", name)
            if table.shift:
                why = "a ledger cannot make moved dates again from the source; leave them out, or the ledger"
                yield Fault((*where, "shift"), why, True)
            if isinstance(table, ChildTable) and table.most_rows is not None:
                why = "rows are left out at random, which a ledger cannot make again from the source; leave out one"
                yield Fault((*where, "most_rows"), why, True)
        for name in (*names, *self.items):
            columns = (self.person if name == PERSON else self.below[name]).quasi_identifiers
            for column, quasi_identifier in columns.items():
                hierarchy = quasi_identifier.hierarchy
                if hierarchy.never_in_ledger is not None:
                    inner = ("hierarchy",) if name in self.items else ("quasi_identifiers", column)
                    place = (PERSON,) if name == PERSON else ("items" if name in self.items else "tables", name)
                    yield Fault((*place, *inner, hierarchy.name), hierarchy.never_in_ledger, True)

    def _old_keys(self, name: str, where: tuple[str | int, ...]) -> Iterator[Fault]:
        """Columns that are released as they are, and called like the key of a table above."""
        if name == PERSON or name in self.items:
            return
        keys: set[str] = set()
        above = self.parent_of(self.tables[name])
        for _ in range(1 + len(self.tables)):
            if above is None:
                break
            keys |= {column.casefold() for column in above.key or ()}
            above = self.parent_of(above) if isinstance(above, ChildTable) else None
        table = self.tables[name]
        for role, columns in (("keep", table.keep), ("sensitive", table.sensitive), ("shift", table.shift)):
            for position, column in enumerate(columns):
                if column.casefold() in keys:
                    why = "this is the name of a key of a table above, which the new keys are to replace; leave it out"
                    yield Fault((*where, role, position), why)

    def _item_faults(self) -> Iterator[Fault]:
        for name, item in self.items.items():
            parent = self.person if item.table == PERSON else self.tables.get(item.table)
            if parent is None:
                known = ", ".join([PERSON, *self.tables])
                yield Fault(("items", name, "table"), f"there is no table of this name here; expected one of {known}")
                continue
            if parent.key is None:
                yield Fault(("tables", item.table), f"missing 'key': the items {quote(name)} refer to it", True)
            unlabelled = (*parent.sensitive, *parent.keep, *parent.replace, *parent.shift)
            others = (*parent.own_keys, *parent.quasi_identifiers, *unlabelled)
            if item.column.casefold() in {other.casefold() for other in others}:
                why = "the column has another role in its table, and would be released twice; leave it out there"
                yield Fault(("items", name, "column"), why)
            if item.hierarchy.as_ != "text":
                yield Fault(("items", name, "hierarchy", "as"), "items are released with labels as text")

    def _replaced_faults(self) -> Iterator[Fault]:
        """Names of which it is not known which key is meant."""
        owners: dict[str, list[str]] = {}
        for name in (PERSON, *self.tables):
            key = (self.person if name == PERSON else self.tables[name]).key
            if key is not None and len(key) == 1 and not self.is_key_of_parent(name):
                owners.setdefault(key[0].casefold(), []).append(name)
        for name in (PERSON, *self.tables):
            for position, column in enumerate((self.person if name == PERSON else self.tables[name]).replace):
                if len(named := owners.get(column.casefold(), [])) > 1:
                    where = (PERSON,) if name == PERSON else ("tables", name)
                    why = f"this is the name of the keys of {' and of '.join(named)}; rename one of them in a query"
                    yield Fault((*where, "replace", position), why)

    def is_key_of_parent(self, name: str) -> bool:
        """Whether a table's key is its reference to the parent, so that a row has at most one row here."""
        table = self.tables.get(name)
        return table is not None and table.key == table.refers_by

    @property
    def replaced(self) -> frozenset[str]:
        """The names, in lower case, of columns that have one new key for each value in all tables."""
        return frozenset(column.casefold() for item in (self.person, *self.tables.values()) for column in item.replace)

    def shared_key(self, name: str) -> str | None:
        """The name of a table's key where others have the same new keys, see :attr:`replaced`; None for no such."""
        if name in self.items or self.is_key_of_parent(name):
            return None
        key = (self.person if name == PERSON else self.tables[name]).key or ()
        return key[0].casefold() if len(key) == 1 and key[0].casefold() in self.replaced else None

    @property
    def shifted(self) -> dict[str, tuple[str, ...]]:
        """The columns whose dates are moved, by the table."""
        tables = {PERSON: self.person, **self.tables}
        return {name: table.shift for name, table in tables.items() if table.shift}

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the secret of the keys; None where these are random."""
        keys = None if self.release is None else self.release.keys_
        return keys.variable if isinstance(keys, SecretKeys) else None

    def key_for(self, purpose: str) -> str:
        """What decides the new keys of one kind, see :func:`kanon_sql.spec.secret.derived_key`.

        Raises:
            SpecError: the environment variable holds no secret.
        """
        assert self.key_variable is not None
        return derived_key(secret_in(self.key_variable, "release.keys.secret"), purpose)

    def parent_of(self, child: ChildTable | ItemColumn) -> PersonTable | ChildTable | None:
        """The table above one; None where the spec has no such table."""
        return self.person if child.above == PERSON else self.tables.get(child.above)

    @property
    def ordered(self) -> dict[str, ChildTable]:
        """The tables below persons, each after its parent."""
        found: dict[str, ChildTable] = {}
        left = dict(self.tables)
        while left:
            ready = [name for name, child in left.items() if child.above == PERSON or child.above in found]
            for name in ready:
                found[name] = left.pop(name)
        return found

    @property
    def method(self) -> Literal["local", "full_domain"]:
        """The recoding: the one that is written, or else ``local`` where at most one item is known."""
        return self.recoding or ("local" if self._is_local else "full_domain")

    @property
    def _is_local(self) -> bool:
        return all(item.m in (0, 1) for item in self.km) and all((item.m or 0) <= 1 for item in self.coherence)

    @property
    def km(self) -> tuple[KmAnonymity, ...]:
        """The requirements on how many persons share what is known."""
        return tuple(item for item in self.privacy if isinstance(item, KmAnonymity))

    @property
    def requirements(self) -> tuple[KmAnonymity | Coherence | Requirement, ...]:
        """The requirements, each coherence with the number of items that it is about."""
        most = max((item.m for item in self.km if item.m != "all"), default=None)
        return tuple(
            item.model_copy(update={"m": most}) if isinstance(item, Coherence) and item.m is None else item
            for item in self.privacy
        )

    @property
    def coherence(self) -> tuple[Coherence, ...]:
        """The requirements on sensitive values of persons who share what is known."""
        return tuple(item for item in self.requirements if isinstance(item, Coherence))

    @property
    def known_items(self) -> int:
        """The most items that an attacker is taken to know: more than can be counted for all of them."""
        asked = [MOST_ITEMS + 1 if item.m == "all" else item.m for item in self.km]
        return max([*asked, *(item.m or 0 for item in self.coherence)])

    @property
    def counted_tables(self) -> list[str]:
        """The tables of which an attacker is taken to know how many rows a person has."""
        return [name for name, table in self.ordered.items() if table.row_count == "known"]

    @property
    def of_classes(self) -> tuple[Requirement, ...]:
        """The requirements on the classes of persons alone."""
        return tuple(item for item in self.privacy if isinstance(item, Requirement))

    @property
    def below(self) -> dict[str, ChildTable | ItemColumn]:
        """All that is released below persons, each after its parent: the tables, then the columns of items."""
        return {**self.ordered, **self.items}

    @property
    def k(self) -> int:
        """The largest k that is asked for."""
        return max(item.k for item in self.km)

    def released(self, name: str) -> tuple[str, ...]:
        """The full name of a released table, by its name in the spec; of a column of lists, its table's."""
        assert self.release is not None
        if self.is_list(name):
            return self.released(self.items[name].table)
        return (*self.release.schema_, self.person.released_as if name == PERSON else name)

    def lists_of(self, name: str) -> dict[str, ItemColumn]:
        """The columns of a table that hold lists, by their names in this spec."""
        return {key: item for key, item in self.items.items() if item.table == name and item.is_list}

    def is_list(self, name: str) -> bool:
        """Whether what has this name is a column of its parent's table, in which lists are released."""
        return name in self.items and self.items[name].is_list

    def source_of(self, name: str) -> Source:
        """Where a table is, by its name in the spec."""
        if name in self.items:
            return self.source_of(self.items[name].table)
        table = self.person.table if name == PERSON else self.tables[name].table
        return Source(table=(name,)) if table is None else table

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        return {
            **self._shared(),
            "person": self.person.to_dict(),
            "tables": _each(self.tables, "to_dict"),
            "items": _each(self.items, "to_dict"),
        }

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest: no literals of SQL, no labels, no passwords."""
        return {
            **self._shared(),
            "privacy": [item.redacted() for item in self.privacy],
            "person": self.person.redacted(),
            "tables": _each(self.tables, "redacted"),
            "items": _each(self.items, "redacted"),
        }

    def _shared(self) -> dict[str, Any]:
        release = self.release
        return {
            "version": self.version,
            "kind": self.kind,
            "person": None,
            "tables": None,
            "items": None,
            "privacy": [item.to_dict() for item in self.privacy],
            "suppression": self.suppression.model_dump(mode="json"),
            "recoding": self.recoding,
            "release": None
            if release is None
            else {
                "schema": format_table_name(release.schema_),
                "keys": release.keys_ if isinstance(release.keys_, str) else release.keys_.model_dump(mode="json"),
                **({"shift_days": release.shift_days} if self.shifted else {}),
                **({"publish": release.publish} if release.in_steps else {}),
            },
            **(
                {}
                if self.ledger is None
                else {"ledger": {"table": format_table_name(self.ledger.table), "on_conflict": self.ledger.on_conflict}}
            ),
            **({"warnings": dict(self.warnings.given())} if self.warnings.given() else {}),
        }

    def _repr_html_(self) -> str:
        """What a notebook shows: the text."""
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        return sha256(self.to_dict())

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a spec of several tables may be written in."""
        about = "Which tables to release together, below a table of persons, and how."
        schema = tidied(cls)
        others = {"type": "object", "properties": {name: {} for name in _OF_CLASSES}, "additionalProperties": False}
        schema["$defs"][Requirement.__name__] = {**others, "minProperties": 1, "maxProperties": 1}
        return titled(schema, "kanon_sql spec of several tables", about)


def _each(tables: Mapping[str, ChildTable] | Mapping[str, ItemColumn], how: str) -> dict[str, Any]:
    return {name: getattr(table, how)() for name, table in tables.items()}
