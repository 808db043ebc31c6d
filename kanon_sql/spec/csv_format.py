"""How a CSV file is written: what a spec says of it where DuckDB would not find out, or would find the wrong thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.checks import Part, chosen, fail, shaped, text
from kanon_sql.spec.fields import ColumnNames

__all__ = ["CSV_DELIMITERS", "CsvFormat", "is_csv"]

CSV_DELIMITERS = ",;\t|"
"""What stands between the cells of CSV files, the usual one first."""

_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def is_csv(file: object) -> bool:
    """Whether a file is CSV by its name; standard input is."""
    return isinstance(file, str) and (file == "-" or file.lower().endswith(_ENDINGS))


_DATES = text("a date format")


@shaped({"type": "string", "minLength": 1})
def _date_format(value: object) -> str:
    found = _DATES(value)
    if not (("%d" in found and "%m" in found) or "%b" in found or "%B" in found) or "%y" not in found.lower():
        fail("expected a date format with day, month and year, such as '%d/%m/%Y'")
    return found


class CsvFormat(Part):
    """How a CSV file is written, where DuckDB would not find out by itself.

    Attributes:
        encoding: of its text; UTF-8 if not given.
        delimiter: between its cells; found by DuckDB if not given.
        decimal: what stands before the fraction of a number; a point if not given.
        dates: the form of its dates, as strptime has it, such as ``%d/%m/%Y``; found by DuckDB if not given, which
            takes 3/4/2024 for the 4th of March where no day is above 12.
        text: the columns that are read as text, character by character: 1.50 stays 1.50, which is else the number 1.5.
    """

    expected: ClassVar[str] = "{encoding: latin-1, delimiter: ;, decimal: comma, dates: '%d/%m/%Y'}"

    encoding: Annotated[Literal["utf-8", "utf-16", "latin-1"] | None, chosen("encoding")] = Field(
        default=None, description="The encoding of the text; utf-8 if not given."
    )
    delimiter: Annotated[Literal[",", ";", "|", "tab"] | None, chosen("delimiter")] = Field(
        default=None, description="The character between cells; detected by DuckDB if not given."
    )
    decimal: Annotated[Literal["comma", "point"] | None, chosen("decimal mark")] = Field(
        default=None, description="The decimal mark: comma or point; a point if not given."
    )
    dates: Annotated[str | None, _date_format] = Field(
        default=None, description="The date format in strptime notation, such as %d/%m/%Y; detected if not given."
    )
    text: ColumnNames = Field(
        default=(),
        description="Columns to read as text, whatever type DuckDB would detect.",
    )

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Self:
        """Check what was given outside a spec.

        Raises:
            SpecError: lists all that is wrong.
        """
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            found = error.errors(include_input=False)
            raise SpecError([Problem(f"{'.'.join(map(str, item['loc']))}: {item['msg']}") for item in found]) from None

    def to_dict(self) -> dict[str, Any]:
        """What is given, as a spec is written."""
        given = {key: value for key in type(self).model_fields if (value := getattr(self, key))}
        return {**given, "text": list(self.text)} if self.text else given
