"""Texts and codes by their first characters, each level keeping fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError, SpecError, counted
from kanon_sql.hierarchies.kind import Kind, value_text
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Fault, Faults, ListOr, Part, chosen, integer, items, shaped
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Prefix", "PrefixHierarchy"]

MOST_DIGITS = 15
"""The widest number that every engine holds exactly, whatever it computes with."""

MOST_STARS = 1_000
"""As many are written into a query at most, where the column is declared to have no longer texts."""

PUNCTUATION = " .,:;-_/+*!#"
"""What codes are written with and without: E11.9 and E119; ICD-10-GM marks some codes with +, * and !."""


@shaped({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1})
def _lengths(value: object) -> tuple[int, ...]:
    lengths = items("prefix lengths", integer("a prefix length", 1), least=1)(value)
    faults = Faults()
    for position in range(1, len(lengths)):
        if lengths[position] >= lengths[position - 1]:
            faults.add(
                (position,),
                f"prefixes must get shorter: {lengths[position]} comes after {lengths[position - 1]}",
            )
    faults.finish()
    return lengths


class Prefix(Part):
    """What is kept of a text or a code, per level.

    Attributes:
        lengths: characters kept per level, getting fewer.
        mask: what stands for the rest: ``stars``, one for each character; or ``none``, which makes codes of one chapter
            equal however long they are and however they are punctuated: blanks and ``. , : ; - _ / + * ! #`` are left
            out before characters are counted.
        digits: of a column of whole numbers that are codes, how many digits each has: zeros in front, which the number
            has lost, are put back before characters are counted.
    """

    expected: ClassVar[str] = "a list of lengths, or {lengths: [3, 1], mask: none}"

    lengths: Annotated[tuple[int, ...], _lengths] = Field(description="Characters kept per level, getting fewer.")
    mask: Annotated[Literal["stars", "none"], chosen("mask")] = Field(
        default="stars",
        description="What stands for the rest: a star per character, or none, for codes such as ICD: punctuation and "
        "blanks are left out first, so that E11.9, E119 and E11 share E11.",
    )
    digits: Annotated[int | None, integer("a number of digits", 1, MOST_DIGITS)] = Field(
        default=None, description="The width of codes stored as whole numbers: leading zeros are put back."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A prefix is shorter than the code."""
        if value is not None and value.digits is not None and value.lengths[0] >= value.digits:
            why = f"a prefix of {value.lengths[0]} keeps all {value.digits} digits; give shorter lengths"
            yield Fault(("digits",), why)


@HIERARCHIES.declare
class PrefixHierarchy(Kind):
    """The first characters per level, the rest masked."""

    name: ClassVar[str] = "prefix"
    place: ClassVar[int] = 2
    build_by: ClassVar[str | None] = "characters kept"
    drawn: ClassVar[bool] = True

    prefix: Annotated[Prefix, ListOr(Prefix, "lengths")] = Field(
        description="Characters kept per level, getting fewer; or a mapping with mask and digits, for codes."
    )

    @property
    def height(self) -> int:
        """A level per length, and the top."""
        return 1 + len(self.prefix.lengths)

    @property
    def assumed_type(self) -> tuple[str, str]:
        """Text, or whole numbers that are codes."""
        return ("VARCHAR", "text") if self.prefix.digits is None else ("INTEGER", "integer")

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it: a list where there are only lengths."""
        written = self.prefix.model_dump(mode="json", exclude_defaults=True)
        return {"prefix": written["lengths"] if len(written) == 1 else written}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """A prefix per length."""
        digits = self.prefix.digits
        if digits is not None and column.kind != "integer":
            raise SpecError(
                f"{where}: digits are of codes stored as whole numbers, but the column is "
                f"{column.type or 'of no type'}; leave digits out, or cast it to an integer in a source query"
            )
        text = value_text(column, Sql("value")) if column.kind == "moment" else Sql("CAST(value AS VARCHAR)")
        if digits is not None:
            text = render("hierarchies/levels/code", text=text, zeros="0" * digits, length=digits)
        if self.prefix.mask == "none":
            text = render("hierarchies/levels/unpunctuated", text=text, signs=PUNCTUATION)
        longest = column.longest
        stars = "*" * longest if longest is not None and longest <= MOST_STARS else None
        given = {"text": text, "masked": self.prefix.mask == "stars", "stars": stars}
        return [render("hierarchies/levels/prefix", keep=keep, **given) for keep in self.prefix.lengths]

    def refuse_values(self, workspace: Workspace, where: str, column: Column, raw: Relation, raw_column: str) -> None:
        """Refuse numbers that are no codes of the width."""
        digits = self.prefix.digits
        if digits is None:
            return
        (wrong,) = workspace.row("hierarchies/no_codes", raw=raw, raw_column=raw_column, end=10**digits)
        if wrong:
            raise HierarchyError(
                f"{where}: {counted(int(wrong), 'distinct value')} below 0 or of more than {digits} digits, which is "
                f"no code of {digits} digits; raise digits, or leave the rows out in a source query"
            )

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The length."""
        kept, what = self.prefix.lengths[level - 1], "character" if self.prefix.digits is None else "digit"
        return f"first {what}" if kept == 1 else f"first {kept} {what}s"

    def meaning(self, level: int) -> str:
        """The length."""
        return f"the {self.level_name(level, ())}"
