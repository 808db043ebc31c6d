"""What an ARX project file says: a zip with XML, the input as CSV and a CSV file for each hierarchy.

The file comes from elsewhere, so nothing in it is trusted: entries are read up to a size, no name of an entry becomes
a path, and XML with a document type is refused, which is where entities would be declared. Java objects (``.dat``),
in which ARX keeps all that the XML does not have, are never read.
"""

from __future__ import annotations

import codecs
import csv
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Literal, NoReturn, cast, get_args
from xml.parsers import expat

from kanon_sql.errors import Problem, SpecError

__all__ = ["ArxProject", "Attribute", "Element", "opened_project"]

DEFINITION = "input/definition.xml"
CONFIG = "input/config.xml"
INPUT = "data/input.csv"

MOST_XML = 4 << 20
"""The most bytes of an XML file that is read."""

MOST_HIERARCHY = 64 << 20
MOST_INPUT = 16 << 30
MOST_ENTRIES = 100_000

EXPANDS = 300
"""Compressed text of a table grows by less than this; what grows more, and beyond :data:`MOST_HIERARCHY`, is a bomb."""

DEEPEST = 20
"""How far elements are nested at most; ARX needs four."""

_CHUNK = 1 << 20

ArxRole = Literal[
    "IDENTIFYING_ATTRIBUTE", "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE", "INSENSITIVE_ATTRIBUTE"
]
_ROLES: tuple[str, ...] = get_args(ArxRole)


@dataclass
class Element:
    """An element of an XML file.

    Attributes:
        name: its tag.
        line: where it begins.
        text: in it, without that of the elements in it.
        children: the elements in it.
    """

    name: str
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def one(self, name: str) -> Element | None:
        """The first element in it with a name."""
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> list[Element]:
        """The elements in it with a name."""
        return [child for child in self.children if child.name == name]

    def value(self, name: str) -> str | None:
        """The text of the first element in it with a name, without spaces around it."""
        found = self.one(name)
        return None if found is None else found.text.strip()


@dataclass(frozen=True)
class Attribute:
    """A column of the project.

    Attributes:
        name: of the column.
        line: where ``definition.xml`` describes it.
        role: what ARX takes it for.
        data_type: ARX's name of its type.
        date_format: of its dates, as Java writes it; None for another type.
        hierarchy: the rows of its hierarchy; None where it has none.
        least: the lowest level that ARX may choose; None for any.
        most: the highest one.
        response: ARX predicts it, to measure accuracy.
        aggregated_by: the function of micro-aggregation; None where it is generalized.
    """

    name: str
    line: int
    role: ArxRole
    data_type: str
    date_format: str | None
    hierarchy: list[tuple[str, ...]] | None
    least: int | None
    most: int | None
    response: bool
    aggregated_by: str | None


class ArxProject:
    """A project file that is open.

    Args:
        path: of the file.
        archive: its content.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._archive = archive
        self._entries = self._by_name()
        about = self._xml("metadata.xml", "metadata")
        self.version = about.value("version") or "of an unknown version"
        project = self._xml("project.xml", "project")
        separator = project.one("separator")
        self.delimiter = "" if separator is None else separator.text
        if self.delimiter not in (",", ";", "\t", "|"):
            what = "element <separator>: the delimiter is none of , ; | and tab; save the project with one of them"
            self.fail("project.xml", what, None if separator is None else separator.line)
        self.config = self._xml(CONFIG, "config")
        self.attributes = self._attributes(self._xml(DEFINITION, "definition"))

    def fail(self, entry: str, message: str, line: int | None = None) -> NoReturn:
        """Refuse the project.

        Raises:
            SpecError: always; with the file, the entry and the line.
        """
        raise SpecError([Problem(message, f"{self.path}: {entry}", line)])

    def write_input(self, target: Path) -> bool:
        """Write the rows to a new file that its owner alone can read.

        Returns:
            Whether they are UTF-8; other projects are of an old ARX, and have the encoding of its machine.

        Raises:
            SpecError: they are too many, or damaged, or there is no room.
        """
        info = self._entry(INPUT, MOST_INPUT)
        if info.file_size > shutil.disk_usage(target.parent).free:
            self.fail(INPUT, f"it has {info.file_size:,} bytes, and there is no room for them beside the spec")
        decoder, is_utf8 = codecs.getincrementaldecoder("utf-8")(), True
        try:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                for chunk in self._chunks(info):
                    file.write(chunk)
                    is_utf8 = is_utf8 and _decodes(decoder, chunk, final=False)
        except OSError as error:
            self.fail(INPUT, f"it cannot be written to {target}: {error.strerror or type(error).__name__}")
        return is_utf8 and _decodes(decoder, b"", final=True)

    def _by_name(self) -> dict[str, zipfile.ZipInfo]:
        entries = self._archive.infolist()
        if len(entries) > MOST_ENTRIES:
            raise SpecError(
                [Problem(f"it has more than {MOST_ENTRIES:,} entries; save it with ARX again", str(self.path))]
            )
        found = {}
        for info in entries:
            if info.filename in found:
                self.fail(info.filename, "the project has this entry twice")
            found[info.filename] = info
        return found

    def _entry(self, name: str, most: int) -> zipfile.ZipInfo:
        info = self._entries.get(name)
        if info is None:
            self.fail(name, "the project has no such entry; save it with ARX again")
        if info.flag_bits & 1:
            self.fail(name, "it is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.fail(name, "it is compressed in a way that ARX does not use")
        if info.file_size > most:
            self.fail(name, f"it has {info.file_size:,} bytes; at most {most:,} are read")
        if info.file_size > max(MOST_HIERARCHY, EXPANDS * info.compress_size):
            self.fail(name, f"it would grow from {info.compress_size:,} to {info.file_size:,} bytes, unlike any table")
        return info

    def _chunks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content; never more than the size that the entry says, which zipfile stops at."""
        try:
            with self._archive.open(info) as content:
                while chunk := content.read(_CHUNK):
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            self.fail(info.filename, f"it is damaged ({type(error).__name__}); save the project with ARX again")

    def _text(self, name: str, most: int) -> str:
        """A text: UTF-8, or Latin-1 where an old ARX wrote it so."""
        content = b"".join(self._chunks(self._entry(name, most)))
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("latin-1")

    def _xml(self, name: str, root: str) -> Element:
        found = self._parsed(name, self._text(name, MOST_XML))
        if found.name != root:
            self.fail(name, f"expected the element <{root}>, got <{found.name[:100]}>", found.line)
        return found

    def _parsed(self, name: str, text: str) -> Element:
        parser = expat.ParserCreate()
        outermost = Element("", 0)
        stack = [outermost]

        def start(tag: str, _: object) -> None:
            if len(stack) > DEEPEST:
                self.fail(name, f"elements are nested more than {DEEPEST} deep", parser.CurrentLineNumber)
            element = Element(tag, parser.CurrentLineNumber)
            stack[-1].children.append(element)
            stack.append(element)

        def refuse(*_: object) -> None:
            self.fail(name, "it has a document type, which ARX never writes", parser.CurrentLineNumber)

        def add(data: str) -> None:
            stack[-1].text += data

        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = lambda _: stack.pop()
        parser.CharacterDataHandler = add
        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            self.fail(name, f"it is no XML: {expat.ErrorString(error.code)}", error.lineno)
        return outermost.children[0]

    def _attributes(self, definition: Element) -> list[Attribute]:
        found = [self._attribute(item) for item in definition.all("assigment")]
        names = [item.name for item in found]
        header = self._header()
        if header != names:
            unlike = [name for name in (*header, *names) if (name in header) != (name in names)]
            what = f"differing: {', '.join(map(repr, unlike[:5]))}" if unlike else "their order differs"
            self.fail(DEFINITION, f"its attributes are not the columns of {INPUT}; {what}")
        if len({name.casefold() for name in names}) < len(names) or not all(name.strip() for name in names):
            self.fail(DEFINITION, "two attributes have one name, or one has none; rename them in ARX")
        return found

    def _header(self) -> list[str]:
        first = next(self._chunks(self._entry(INPUT, MOST_INPUT)), b"")
        try:
            text = first.decode("utf-8-sig", errors="ignore" if len(first) == _CHUNK else "strict")
        except UnicodeDecodeError:
            text = first.decode("latin-1")
        return next(iter(self._rows(INPUT, text, most=1)), [])

    def _rows(self, name: str, text: str, most: int | None = None) -> list[list[str]]:
        reader = csv.reader(StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
        rows: list[list[str]] = []
        try:
            for row in reader:
                if row:
                    rows.append(row)
                if most is not None and len(rows) == most:
                    break
        except csv.Error:
            self.fail(name, f"it is no CSV with {self.delimiter!r} between cells", reader.line_num)
        return rows

    def _attribute(self, item: Element) -> Attribute:
        name = item.one("name")
        if name is None:
            self.fail(DEFINITION, "element <assigment>: it has no <name>", item.line)
        role = item.value("type")
        if role not in _ROLES:
            self.fail(DEFINITION, f"element <type> of {name.text!r}: expected one of {', '.join(_ROLES)}", item.line)
        ref = item.value("ref")
        hierarchy = None if ref is None else self._hierarchy(ref, name.text)
        levels = 1 if hierarchy is None else len(hierarchy[0])
        data_type = item.value("datatype") or "String"
        return Attribute(
            name.text,
            item.line,
            cast(ArxRole, role),
            data_type,
            item.value("format") if data_type.startswith("Date") else None,
            hierarchy,
            self._level(item, "min", name.text, levels),
            self._level(item, "max", name.text, levels),
            item.value("response") == "true",
            item.value("microaggregationFunction"),
        )

    def _level(self, item: Element, which: str, name: str, levels: int) -> int | None:
        text = item.value(which)
        if text in (None, "All"):
            return None
        if text is None or not re.fullmatch(r"\d{1,4}", text) or int(text) >= levels:
            what = f"element <{which}> of {name!r}: expected All, or a level from 0 to {levels - 1}"
            self.fail(DEFINITION, what, item.line)
        return int(text)

    def _hierarchy(self, ref: str, name: str) -> list[tuple[str, ...]] | None:
        """The rows of a hierarchy; None where it has the values alone."""
        entry = f"input/{ref}"
        rows = self._rows(entry, self._text(entry, MOST_HIERARCHY))
        if not rows:
            self.fail(entry, f"the hierarchy of {name!r} has no rows")
        widths: Sequence[int] = sorted({len(row) for row in rows})
        if len(widths) > 1:
            self.fail(entry, f"the hierarchy of {name!r} has rows of {widths[0]} and of {widths[-1]} cells")
        return [tuple(row) for row in rows] if widths[0] > 1 else None


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def opened_project(path: Path) -> Iterator[ArxProject]:
    """Open a project file and read what its XML and its hierarchies say.

    Raises:
        SpecError: it is no project, is damaged, or asks for too much.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise SpecError([Problem("there is no such file; expected a project that ARX saved", str(path))]) from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        raise SpecError([Problem("it is no ARX project: expected a zip file that ARX wrote", str(path))]) from None
    with archive:
        yield ArxProject(path, archive)
