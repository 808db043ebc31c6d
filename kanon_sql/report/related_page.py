"""Several tables as an HTML page: a picture of the tables and what each lost, then every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeGuard

from kanon_sql.errors import SpecError
from kanon_sql.report.html.blocks import Block, Cells, Facts, Figure, Prose, Section
from kanon_sql.report.html.page import PageParts, sections_page, sections_parts
from kanon_sql.report.json import to_json
from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, clipped
from kanon_sql.report.words import number, percent, plural
from kanon_sql.verbs.relational import JointResult, RelationalResult, RequirementResult, TableResult
from kanon_sql.verbs.relational_audit import RelationalAudit
from kanon_sql.verbs.result import Cost, Warned

__all__ = [
    "RelatedPage",
    "audit_report",
    "is_related",
    "read_related",
    "related_report",
    "relational_parts",
    "relational_report",
]

_ROW, _INDENT, _BAR = 62, 18, 12


def read_related(data: Any, where: str) -> RelatedPage | None:
    """The page of a result or a manifest of several tables; None where it is of something else.

    Args:
        data: parsed JSON.
        where: what it came from, for messages.

    Raises:
        SpecError: it is damaged.
    """
    if not isinstance(data, Mapping):
        return None
    try:
        if "release_of_tables" in data:
            recorded = {name: data[name] for name in ("message", "notes", "requirements")}
            tables = data["release_of_tables"]["tables"]  # in the order of their names
            recorded["tables"] = {name: tables[name] for name, _ in _by_depth(tables, None, 0)}
            result = _read(RelationalResult, {**data["release_of_tables"], **recorded, "verb": "anonymize"})
            return RelatedPage(relational_report(result), _pictures(result))
        if {"together", "only_joined", "alone"} <= data.keys():
            return RelatedPage(audit_report(_read(RelationalAudit, data)), [])
        if {"tables", "persons", "left_out", "requirements"} <= data.keys():
            result = _read(RelationalResult, data)
            return RelatedPage(relational_report(result), _pictures(result))
    except (AttributeError, LookupError, TypeError, ValueError):
        raise SpecError(
            f"{where}: not a result of kanon-sql, or damaged; expected what --format json printed or a manifest, "
            "unchanged"
        ) from None
    return None


def _read(kind: type[Any], data: Mapping[str, Any]) -> Any:
    """A result from its JSON: what is not shown on its page is left out."""
    known = {"verdict": "pass", **{field.name: data[field.name] for field in fields(kind) if field.name in data}}
    if "warnings" in known:
        known["warnings"] = [Warned(item["code"], item["message"], item["columns"]) for item in known["warnings"]]
    return kind(**{**known, "cost": Cost()})


@dataclass(frozen=True)
class RelatedPage:
    """What is shown of a result that was read.

    Attributes:
        html: the page.
        pictures: the picture of the tables, where the result has them.
    """

    html: str
    pictures: Sequence[Picture]


def is_related(result: object) -> TypeGuard[RelationalResult | RelationalAudit]:
    """Whether a result is of several tables, and has a page."""
    return isinstance(result, RelationalResult | RelationalAudit)


def related_report(result: RelationalResult | RelationalAudit) -> str:
    """The HTML page of a result of several tables."""
    return audit_report(result) if isinstance(result, RelationalAudit) else relational_report(result)


def _pictures(result: RelationalResult) -> list[Picture]:
    """The picture of the tables, of a result that has them."""
    return [_picture(result)] if result.tables else []


def relational_report(result: RelationalResult) -> str:
    """The HTML page of a plan, a release or a check of several tables. It holds counts and names, and no value."""
    subject = f"{result.verb} of {len(result.tables)} tables"
    return sections_page(to_json(result.to_dict()), subject, *_content(result), "")


def relational_parts(result: RelationalResult, prefix: str) -> PageParts:
    """The same in parts.

    Args:
        result: of several tables.
        prefix: makes the ids of its pictures unique in the page.
    """
    return sections_parts(*_content(result), prefix)


_Content = tuple[bool, str, str, list[tuple[str, str, str]], list[Section]]


def _content(result: RelationalResult) -> _Content:
    """The verdict, the same in a few words and in a sentence, the tiles and the sections."""
    sections = [Section("Tables", list(_tables(result)))]
    columns = [
        [f"{name}.{column}", _share(found["loss"]), _levels(found["levels"])]
        for name, item in result.tables.items()
        for column, found in item["columns"].items()
    ]
    if columns:
        sections.append(Section("Columns", [Cells(["column", "mean loss#", "rows on levels 0, 1, ..."], columns)]))
    if result.requirements:
        sections.append(Section("Requirements", [_requirements(result.requirements)]))
    if result.ledger is not None:
        sections.append(Section("Together with earlier releases", list(_ledger(result.ledger))))
    sections += _words("Warnings", [item.message for item in result.warnings])
    sections += _words("Notes", result.notes)
    tiles = [("persons released", number(result.persons - result.left_out), f"of {number(result.persons)}")]
    if result.fewest is not None:
        tiles.append(("smallest class", number(result.fewest), f"persons, in {number(result.classes)} classes"))
    verdict = "The requirements hold" if result.passed else "Nothing may be published"
    return result.passed, verdict, result.message, tiles, sections


def _requirements(requirements: Sequence[RequirementResult]) -> Block:
    asked = [
        [item["requirement"], "holds" if item["holds"] else "does not hold", number(item["rare"])]
        for item in requirements
    ]
    return Cells(["requirement", "verdict", "violations#"], asked)


def _ledger(found: JointResult) -> Iterator[Block]:
    """What the release and those of its ledger show together."""
    pairs = [("ledger", found["table"]), ("compared with", ", ".join(found["earlier"]) or "none: the first one")]
    if found["changed"]:
        pairs.append(("not comparable", ", ".join(found["changed"])))
    if found["requirements"]:
        pairs += [("persons", number(found["persons"])), ("joint classes", number(found["classes"]))]
    yield Facts(pairs)
    if found["requirements"]:
        yield _requirements(found["requirements"])


def audit_report(result: RelationalAudit) -> str:
    """The HTML page of an audit of several tables. It holds counts and names, and no value."""
    joined = [
        [known, number(item["unique"]), number(item["few"]), number(result.only_joined[known])]
        for known, item in result.together.items()
    ]
    alone = [[name, *(number(item["unique"]) for item in items.values())] for name, items in result.alone.items()]
    heads = ["items known", "unique#", f"below {result.k}#", "unique only when joined#"]
    sections = [
        Section("Persons who could be found in the joined tables", [Cells(heads, joined)]),
        Section("Persons who are unique in one table", [Cells(["table", *(f"{m}#" for m in result.together)], alone)]),
        *_words("Notes", result.notes),
    ]
    return sections_page(
        to_json(result.to_dict()),
        f"audit of {len(result.alone)} tables",
        result.passed,
        "Persons are as protected as the spec asks" if result.passed else "Persons could be found",
        result.message,
        [("persons", number(result.persons), "")],
        sections,
        "",
    )


def _words(title: str, texts: object) -> list[Section]:
    found = [Prose(str(text)) for text in texts] if isinstance(texts, list | tuple) else []
    return [Section(title, found)] if found else []


def _tables(result: RelationalResult) -> Iterator[Block]:
    if result.tables:
        yield Figure(_picture(result))
    pairs = [("persons left out", number(result.left_out))]
    yield Facts(pairs if result.recoding is None else [("recoding", result.recoding), *pairs])


def _picture(result: RelationalResult) -> Picture:
    """Each table below the one that its rows belong to, with the share of its rows and of their detail that is left."""
    tables, canvas = result.tables, Canvas()
    lost = result.recoding is not None  # of tables that were only checked it is not known
    detail = [("source", "detail kept"), ("track", "lost")] if lost else []
    canvas.legend(12, [("release", "rows released"), *detail])
    depths: dict[str, int] = {}
    places: dict[str, float] = {}
    y = 40.0
    for name, item in _by_depth(tables, None, 0):
        depths[name], places[name] = item, y
        _table(canvas, name, tables[name], _INDENT * item, y, lost=lost)
        above = tables[name]["above"]
        if above is not None:
            x = _INDENT * depths[above] + 5
            canvas.line("axis", x, places[above] + 36, x, y - 4)
            canvas.line("axis", x, y - 4, _INDENT * item, y - 4)
        y += _ROW
    rows = [
        [name, item["above"] or "", number(item["rows"]), number(item["released"]), _share(item["loss"])]
        for name, item in tables.items()
    ]
    kept = ", ".join(f"{name}: {percent(item['released'], item['rows'])}" for name, item in tables.items())
    heads = ["table", "below", "rows#", "released#", "mean loss#"]
    words = f"{len(tables)} tables, each below the one that its rows belong to. Rows released: {kept}."
    return Picture("tables", "The tables, and what each lost", words, (WIDTH, round(y)), canvas.marks, heads, rows)


def _by_depth(tables: object, above: str | None, depth: int) -> Iterator[tuple[str, int]]:
    """Each table after the one above it, with how many are above."""
    assert isinstance(tables, dict)
    for name, item in tables.items():
        if item["above"] == above:
            yield name, depth
            yield from _by_depth(tables, name, depth + 1)


def _table(canvas: Canvas, name: str, item: TableResult, x: float, y: float, *, lost: bool) -> None:
    rows, released = item["rows"], item["released"]
    words = plural(rows, "row")
    bars = [("release", float(released))]
    if lost:
        words = f"{percent(released, rows)} of {plural(rows, 'row')}, mean loss {_share(item['loss'])}"
        bars.append(("source", rows * (1 - item["loss"])))
    canvas.text("strong", x, y, clipped(name, WIDTH / 3))
    canvas.text("small", WIDTH, y, words, "end")
    scale = Scale(0, max(1, rows), 0, WIDTH - x)
    for place, (kind, share) in enumerate(bars):
        top = y + 8 + place * (_BAR + 2)
        canvas.rect("track", x, top, WIDTH - x, _BAR)
        canvas.rect(kind, x, top, scale(share), _BAR, words)


def _levels(levels: object) -> str:
    assert isinstance(levels, dict)
    highest = max((int(level) for level in levels), default=0)
    return " / ".join(number(levels.get(str(level), 0)) for level in range(highest + 1))


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
