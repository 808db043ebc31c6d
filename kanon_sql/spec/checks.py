"""Checks of single values, and the base of every model of a spec.

Pydantic stops at the first kind of problem and words it for programmers. Here every check
says what was expected and what kind of thing was found, never the value itself, and a model
reports all its problems at once: unknown keys, missing keys, wrong values, and keys that
do not fit together.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_core.core_schema import no_info_wrap_validator_function

from kanon_sql.registers import Register
from kanon_sql.spec.renamed_keys import new_key, renamed_key

__all__ = [
    "AT_KEY",
    "LARGEST",
    "Check",
    "Declared",
    "Fault",
    "Faults",
    "FieldType",
    "ListOr",
    "Loc",
    "Part",
    "choice",
    "chosen",
    "did_you_mean",
    "fail",
    "flag",
    "integer",
    "items",
    "kind",
    "number",
    "one_of",
    "or_null",
    "plain_number",
    "quote",
    "shaped",
    "share",
    "text",
    "the_number",
]

T = TypeVar("T")

Loc = tuple[str | int, ...]
"""Where in a spec: the keys and list positions that lead there."""

AT_KEY = "spec_key"
"""Error type of a problem with a key rather than with its value."""

MAX_HINTS = 100
"""How many unknown keys of a mapping are compared with those that there are, which takes longer than all else."""

LARGEST = 10**15
"""Larger numbers are refused: beyond it not every engine counts exactly."""


# --- Problems ------------------------------------------------------------------------------


class Fault(NamedTuple):
    """A problem found by a check: where, the message, and whether it is about the key."""

    loc: Loc
    message: str
    at_key: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.loc))}: {self.message}"


class Faults:
    """Collects problems, then raises them all as one validation error."""

    def __init__(self) -> None:
        self._lines: list[InitErrorDetails] = []

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, loc: Loc, message: str, at_key: bool = False) -> None:
        """Add one problem; ``loc`` is relative to the value being checked."""
        error = PydanticCustomError(AT_KEY if at_key else "spec_value", "{message}", {"message": message})
        # The input is left out on purpose: a validation error must not carry values.
        self._lines.append(InitErrorDetails(type=error, loc=loc, input=None))

    def attempt(self, loc: Loc, check: Callable[[Any], T], value: object) -> T | None:
        """The result of a check, or None after adding the problems it raised."""
        try:
            return check(value)
        except ValidationError as error:
            for line in error.errors(include_url=False, include_input=False):
                if line["type"] != "missing":  # reported by Part, in better words
                    self.add(loc + tuple(line["loc"]), line["msg"], line["type"] == AT_KEY)
            return None

    def finish(self) -> None:
        """Raise everything collected, if anything."""
        if self._lines:
            raise ValidationError.from_exception_data("spec", self._lines)


def fail(message: str) -> NoReturn:
    """Raise one problem about the value being checked."""
    faults = Faults()
    faults.add((), message)
    faults.finish()
    raise AssertionError("unreachable")


# --- Words ---------------------------------------------------------------------------------


def kind(value: object) -> str:
    """What kind of thing a value is, in words a user knows; never the value."""
    names: list[tuple[type | tuple[type, ...], str]] = [
        (type(None), "nothing"),
        (bool, "true or false"),
        (int, "a whole number"),
        ((float, Decimal), "a number"),
        (str, "text"),
        ((date, datetime, time), "a date"),
        (Mapping, "a mapping"),
        ((list, tuple), "a list"),
    ]
    return next((name for types, name in names if isinstance(value, types)), f"a {type(value).__name__}")


def quote(name: str) -> str:
    """A key or column name for a message: one line, not endless."""
    shown = name if len(name) <= 80 else name[:77] + "..."
    return "'" + "".join(ch if ch.isprintable() else repr(ch)[1:-1] for ch in shown) + "'"


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or what is allowed when nothing is close."""
    names = list(allowed)
    folded = {name.casefold(): name for name in reversed(names)}
    close = difflib.get_close_matches(word[:100].casefold(), list(folded), n=1, cutoff=0.6)
    if close:
        return f"; did you mean {quote(folded[close[0]])}?"
    return f"; expected {one_of(names)}" if names else ""


def one_of(names: Sequence[str]) -> str:
    """The allowed words, for a message."""
    return names[0] if len(names) == 1 else "one of " + ", ".join(names)


def lower_first(sentence: str) -> str:
    """A sentence continued after a colon: no capital, no full stop."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")


# --- Values --------------------------------------------------------------------------------


class FieldType(ABC):
    """What a field is annotated with: it checks a value, and has its JSON Schema; where it has none, the type does."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """What passes; None where the field's own type describes it."""
        return None

    @abstractmethod
    def __call__(self, value: object) -> object:
        """Check a value."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_wrap_validator_function(lambda value, _: self(value), handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        if self.schema is None:
            return handler(core)
        optional = core.get("schema", {}).get("type") == "nullable"
        return or_null(self.schema) if optional else dict(self.schema)


@dataclass(frozen=True, eq=False)
class Check(FieldType, Generic[T]):
    """A check of a value, and the JSON Schema of what passes it; a decorator of a function, if its type shapes it.

    Attributes:
        run: returns the value as the spec keeps it, or raises every problem of it.
        schema: None where the type of the field shapes it.
    """

    run: Callable[[Any], T]
    schema: Mapping[str, Any] | None = None

    def __call__(self, value: object) -> T:
        """Check a value."""
        return self.run(value)


def shaped(schema: Mapping[str, Any]) -> Callable[[Callable[[Any], T]], Check[T]]:
    """A decorator of a function that checks a value: the JSON Schema of what passes it."""
    return lambda run: Check(run, schema)


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of what passes, or nothing."""
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}


def text(what: str) -> Check[str]:
    """A check for non-empty text that a database can hold."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            hint = ""
            if isinstance(value, int | float | Decimal):
                hint = "; write it in quotes"
            fail(f"expected {what}, got {kind(value)}{hint}")
        if not value.strip():
            fail(f"expected {what}, got empty text")
        if "\x00" in value or any("\ud800" <= ch <= "\udfff" for ch in value):
            fail(f"expected {what}, got text with a zero byte or a broken character")
        return value

    return Check(check, {"type": "string", "minLength": 1})


def integer(what: str, least: int, most: int | None = None) -> Check[int]:
    """A check for a whole number from ``least`` on, up to ``most`` where there is such a bound."""
    bound = {} if most is None else {"maximum": most}

    def check(value: object) -> int:
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        expected = f"expected {what}, a whole number {bounds}"
        if not isinstance(value, int) or isinstance(value, bool):
            fail(f"{expected}, got {kind(value)}")
        if not least <= value <= (LARGEST if most is None else most):
            fail(f"{expected}, got {'one that is too large' if value > LARGEST else value_of(value)}")
        return value

    return Check(check, {"type": "integer", "minimum": least, **bound})


def value_of(value: int) -> str:
    """A small number for a message: a setting, not data."""
    return str(value) if abs(value) <= LARGEST else "one out of range"


def number(what: str) -> Check[Decimal]:
    """A check for a finite number that is exact as a decimal and as a float's text."""

    def check(value: object) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            fail(f"expected {what}, a number, got {kind(value)}")
        found = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
        if not found.is_finite() or found.copy_abs() > LARGEST:
            fail(f"expected {what}, a number, got one that is not finite or too large")
        if found == found.to_integral_value():
            return Decimal(int(found))
        if Decimal(str(float(found))) != found:
            fail(f"expected {what}, a number, got one with too many digits")
        return found.normalize()

    return Check(check, {"type": "number"})


def plain_number(value: Decimal) -> int | float:
    """A decimal as JSON holds it; exact, see :func:`number`."""
    return int(value) if value == value.to_integral_value() else float(value)


def the_number(
    what: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> Check[float]:
    """A check for a number as a float.

    Args:
        what: words it, and its bounds.
        least: the least that passes.
        above: all that passes is above this.
        most: the most that passes.
        below: all that passes is below this.
    """
    bounds = {"minimum": least, "exclusiveMinimum": above, "maximum": most, "exclusiveMaximum": below}

    def check(value: object) -> float:
        found = float(number(what)(value))
        if (
            (least is not None and found < least)
            or (above is not None and found <= above)
            or (most is not None and found > most)
            or (below is not None and found >= below)
        ):
            fail(f"expected {what}, got {found:g}")
        return found

    return Check(check, {"type": "number", **{key: bound for key, bound in bounds.items() if bound is not None}})


def share(what: str) -> Check[float]:
    """A check for a number between 0 and 1."""
    return the_number(f"{what} between 0 and 1", least=0, most=1)


@Check
def flag(value: object) -> bool:
    """A check for true or false."""
    if not isinstance(value, bool):
        fail(f"expected true or false, got {kind(value)}")
    return value


def choice(what: str, allowed: Sequence[str]) -> Callable[[object], str]:
    """A check for one of a few words."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            fail(f"expected {what}: {one_of(allowed)}, got {kind(value)}")
        if value not in allowed:
            fail(f"unknown {what}{did_you_mean(value, allowed)}")
        return value

    return check


@dataclass(frozen=True, eq=False)
class Declared(FieldType):
    """A check for the name of something that has a file of its own, see :mod:`kanon_sql.registers`."""

    register: Register[Any]

    def __call__(self, value: object) -> str:
        """Check a value; only the file of that name is imported."""
        if isinstance(value, str) and value in self.register:
            return value
        return choice(self.register.what, list(self.register))(value)

    @property
    def schema(self) -> dict[str, Any]:
        """Those that there are."""
        return {"type": "string", "enum": list(self.register)}


@dataclass(frozen=True, eq=False)
class chosen:
    """An annotation of a ``Literal``: one of its words, which an error lists."""

    what: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        check = choice(self.what, _words_of(source))
        return no_info_wrap_validator_function(lambda value, _: check(value), handler(source))


def _words_of(source: Any) -> list[str]:
    """The words of a ``Literal``, or of one that may also be None."""
    if isinstance(source, str):
        return [source]
    return [word for argument in get_args(source) for word in _words_of(argument)]


def items(what: str, check: Callable[[Any], T], least: int = 0) -> Check[tuple[T, ...]]:
    """A check for a list, each of its items by ``check``."""

    def check_all(value: object) -> tuple[T, ...]:
        if not isinstance(value, list | tuple):
            fail(f"expected a list of {what}, got {kind(value)}")
        if len(value) < least:
            fail(f"expected a list of at least {least} {what}, got {len(value)}")
        faults = Faults()
        found = [faults.attempt((position,), check, item) for position, item in enumerate(value)]
        faults.finish()
        return tuple(item for item in found if item is not None)

    each = getattr(check, "schema", None)
    some = {} if least == 0 else {"minItems": least}
    return Check(check_all, None if each is None else {"type": "array", "items": each, **some})


# --- Models --------------------------------------------------------------------------------


class Part(BaseModel):
    """A frozen model that refuses unknown keys and lists everything wrong with it."""

    # Built when one is first read: a spec has few of the parts that there are.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    expected: ClassVar[str] = "a mapping"
    """What the value is, for messages."""
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Keys that belong into another kind of spec -> why, and where they go."""
    not_written: ClassVar[frozenset[str]] = frozenset()
    """Fields that another key fills, which messages do not propose."""

    @classmethod
    def keys(cls) -> dict[str, FieldInfo]:
        """The keys that may be written. One that Python has as a word of its own is the alias of its field."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def never_empty(cls) -> tuple[str, ...]:
        """Keys that must not be written without a value; for others that means the default."""
        return ()

    @classmethod
    def made(cls, handler: ModelWrapValidatorHandler[Self], given: Mapping[str, Any]) -> Self:
        """Check each value of a mapping, and make the model of it.

        Raises:
            ValidationError: lists all that is wrong.
        """
        return handler(given)

    @classmethod
    def written(cls, value: Any) -> Any:
        """Turn the short forms a user may write into a mapping; others pass unchanged."""
        return value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Problems between keys.

        Args:
            given: what was written, unchecked, without keys that have no value.
            value: the checked model, or None when single values are wrong already.
        """
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _check(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, cls):
            return data
        data = cls.written(data)
        if not isinstance(data, Mapping):
            fail(f"expected {cls.expected}, got {kind(data)}")
        faults = Faults()
        fields, never_empty = cls.keys(), cls.never_empty()
        unknown = [key for key in data if key not in fields]
        for position, key in enumerate(unknown):
            renamed = renamed_key(cls.__name__, key, data[key])
            if renamed is not None:
                faults.add((key,), renamed, at_key=True)
                new = new_key(cls.__name__, key, data[key])
                data = data if new is None else {new: data[key], **data}  # for the other checks it is there
                continue
            if key in cls.elsewhere:
                faults.add((key,), cls.elsewhere[key], at_key=True)
                continue
            written = [name for name in fields if name not in cls.not_written]
            hint = did_you_mean(str(key), written) if position < MAX_HINTS else "; see the first ones"
            faults.add((key,), f"unknown key{hint}", at_key=True)
        given = {key: data[key] for key in data if key in fields and (data[key] is not None or key in never_empty)}
        for name, field in fields.items():
            if field.is_required() and name in cls.model_fields and name not in given:
                found = (name,) if name in data else ()
                faults.add(found, f"missing {quote(name)}: {lower_first(field.description or '')}", at_key=True)
        value = faults.attempt((), partial(cls.made, handler), given)
        for loc, message, at_key in cls.cross(given, value):
            faults.add(loc, message, at_key)
        faults.finish()
        assert value is not None
        return value


@dataclass(frozen=True, eq=False)
class ListOr(FieldType):
    """A check for a part that a list alone may stand for.

    Attributes:
        part: its model.
        key: the one that the list is of.
    """

    part: type[Part]
    key: str

    def __call__(self, value: object) -> Part:
        """Check a value; what is wrong with an item of a list that stands alone is found where it stands."""
        if not isinstance(value, list | tuple):
            return self.part.model_validate(value)
        try:
            return self.part.model_validate({self.key: value})
        except ValidationError as error:
            faults = Faults()
            for line in error.errors(include_url=False, include_input=False):
                faults.add(tuple(line["loc"])[1:], line["msg"], line["type"] == AT_KEY)
            faults.finish()
            raise AssertionError("unreachable") from None

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        whole = handler(core)
        listed = handler.resolve_ref_schema(whole)["properties"][self.key]
        return {"anyOf": [{name: item for name, item in listed.items() if name != "description"}, whole]}
