"""The references of specs, written from their models: every key, what it is, what it takes, its default."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from kanon_sql.spec import CloakSpec, PerturbSpec, Requirement, Spec, TableSpec, requirements
from kanon_sql.spec.checks import Part
from kanon_sql.spec.document import SpecDocument

__all__ = ["markdown", "parts_of", "perturbed", "positions", "table"]


def markdown() -> str:
    """The spec of a release."""
    return _sections(Spec, parts_of(Spec), "##")


def table() -> str:
    """The spec of a table of counts or sums."""
    return _of_another_kind(TableSpec)


def positions() -> str:
    """The spec of cloaked positions."""
    return _of_another_kind(CloakSpec)


def perturbed() -> str:
    """The spec of perturbed rows."""
    return _of_another_kind(PerturbSpec)


def _of_another_kind(model: type[SpecDocument]) -> str:
    """Within a section of its page; what a release's spec has as well is on that page."""
    shared = parts_of(Spec)
    own = [part for part in parts_of(model) if part not in shared]
    text = _sections(model, own, "###")
    for title in {_title(part) for part in shared} - {_title(part) for part in own}:
        text = text.replace(f"](#{_anchor(title)})", f"](spec.md#{_anchor(title)})")
    return text


def _sections(model: type[SpecDocument], parts: Sequence[type[Part]], heading: str) -> str:
    """One section per mapping of the spec, the requirements last."""
    schema = model.json_schema()
    defs = {model.__name__: schema, **schema["$defs"]}
    sections = []
    for part in parts:
        summary, about = _documented(part)
        rows = [
            _row(part, name, schema, about)
            for name, schema in _properties(defs[part.__name__.removesuffix("Requirement")]).items()
            if name in _fields(part)
        ]
        summary = "The keys of a spec." if issubclass(part, SpecDocument) else summary
        written = re.sub(r"{(?:[^{}]|{[^{}]*})*}", lambda found: _code(found[0]), part.expected)
        lines = [f"{heading} {_title(part)}", "", summary, "", f"Written as {written}.", ""]
        lines += ["| key | what it is | takes | default |", "|---|---|---|---|", *rows]
        sections.append("\n".join(lines))
    return "\n\n".join(sections)


_TITLES = {
    "Source": "source",
    "CsvFormat": "source: csv",
    "QuasiIdentifier": "quasi_identifiers",
    "Prefix": "quasi_identifiers: prefix",
    "Dates": "quasi_identifiers: dates",
    "Point": "quasi_identifiers: point",
    "Rare": "quasi_identifiers: rare",
    "Suppression": "suppression",
    "SearchOptions": "search",
    "Prices": "search: prices",
    "RecodingOptions": "recoding",
    "LedgerOptions": "ledger",
    "ReleaseSteps": "steps",
    "ReleaseFile": "release: a file",
    "GuardedView": "release: a guarded view",
    "Utility": "utility",
    "SampleStep": "steps: sample",
    "ColumnStep": "steps: columns",
    "IncrementOptions": "increments",
    "WarningOptions": "warnings",
    "LevelSearch": "differential_privacy: search",
    "Total": "differential_privacy: total",
    "Dimension": "dimensions",
    "Grouping": "dimensions: hierarchies",
    "Rules": "rules",
    "Dominance": "rules: dominance",
    "PPercent": "rules: p_percent",
    "PriorPosterior": "rules: pq",
    "Protection": "protection",
    "NamedWarnings": "warnings",
    "CloakWarnings": "warnings",
    "Position": "position",
    "Slices": "time",
    "PersonalK": "k",
    "Lbqid": "lbqids",
    "Element": "lbqids: elements",
    "Masking": "perturb",
    "Noise": "perturb: noise",
    "RankSwap": "perturb: rank_swap",
    "Swap": "perturb: swap",
    "Pram": "perturb: pram",
    "Shift": "perturb: shift",
    "Linkage": "linkage",
}
"""Model -> the key under which it is written."""


def _title(part: type[Part]) -> str:
    if issubclass(part, Requirement):
        return f"privacy: {part.name}"
    return "At the top" if issubclass(part, SpecDocument) else _TITLES.get(part.__name__, part.__name__)


def parts_of(model: type[Part]) -> list[type[Part]]:
    """A model and those that its fields hold, each once, requirements last."""
    found: dict[type[Part], None] = {model: None}
    for field in model.keys().values():
        for held in _models_in(field.annotation):
            found.update(dict.fromkeys(parts_of(held)))
    listed = requirements()
    found.update(dict.fromkeys(part for item in listed for part in parts_of(item)) if model is Spec else {})
    return sorted(found, key=lambda part: part in listed)


def _models_in(annotation: Any) -> Iterator[type[Part]]:
    if inspect.isclass(annotation) and issubclass(annotation, Part) and annotation is not Requirement:
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _fields(part: type[Part]) -> dict[str, Any]:
    """The fields of a part by the keys that a spec writes."""
    return part.keys()


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a mapping, which may be one of several forms, or the body of a requirement."""
    for form in (schema, *schema.get("anyOf", ())):
        found: Mapping[str, Any] = form.get("properties", {})
        if len(found) == 1 and len(body := _properties(next(iter(found.values())))) > 0:
            return body
        if found:
            return found
    return {}


def _documented(part: type[Part]) -> tuple[str, dict[str, str]]:
    """The docstring's text, and what it says of each attribute."""
    text = inspect.cleandoc(part.__doc__ or "")
    summary, _, listed = text.partition("\nAttributes:\n")
    about = {
        name: " ".join(words.split())
        for names, words in re.findall(r"^ {4}([\w, ]+): (.*(?:\n {8}.*)*)", listed, re.MULTILINE)
        for name in names.split(", ")
    }
    return _plain(summary), {name: _plain(words) for name, words in about.items()}


def _row(part: type[Part], name: str, schema: Mapping[str, Any], about: Mapping[str, str]) -> str:
    field = _fields(part)[name]
    # Of the two descriptions that a key may have, the longer one says more.
    text = max(about.get(name, ""), _plain(field.description or ""), key=len)
    text = text.replace(". None", ". Left out").replace("None", "left out")
    if not text:
        raise ValueError(f"{part.__name__}.{name} is not described")
    # What one kind of hierarchy must have is left out with the kind.
    required = field.is_required() and field in part.model_fields.values()
    left_out = field.is_required() or field.default_factory is not None
    default = "required" if required else "none" if left_out else _default(field.get_default())
    cells = (_code(name), f"{text[0].upper()}{text[1:].rstrip('.')}.", _takes(schema), default)
    return f"| {' | '.join(cells)} |"


def _default(value: object) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, Part):
        return "its defaults"
    if isinstance(value, bool):
        return _code(str(value).lower())
    return _code(str(list(value) if isinstance(value, tuple) else value))


def _takes(schema: Mapping[str, Any]) -> str:
    """What may be written, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{_TITLES[name]}](#{_anchor(_TITLES[name])})" if name in _TITLES else "a requirement"
    if "enum" in schema:
        return ", ".join(_code(str(value)) for value in schema["enum"])
    if "const" in schema:
        return _code(str(schema["const"]))
    if "anyOf" in schema:
        forms = [_takes(form) for form in schema["anyOf"] if form.get("type") != "null"]
        if forms == ["text", "a list of text"]:
            return "a name"
        return " or ".join(dict.fromkeys(forms))
    kind = schema.get("type")
    if isinstance(kind, list):
        (kind,) = (item for item in kind if item != "null")
    if kind == "array":
        inner = re.sub(r"\ba ((?:whole )?number|requirement)", r"\1s", _takes(schema["items"]))
        return f"a list of {inner}"
    if kind == "object":
        held = schema.get("additionalProperties")
        return f"a mapping of names to {_takes(held)}" if isinstance(held, Mapping) else "a mapping"
    if kind in ("integer", "number"):
        return _numbers("a whole number" if kind == "integer" else "a number", schema)
    return {"string": "text", "boolean": "`true`, `false`"}[str(kind)]


def _anchor(title: str) -> str:
    """The anchor of a section, as the site makes it of the title."""
    return re.sub(r"[^\w]+", "-", title.lower())


def _numbers(words: str, schema: Mapping[str, Any]) -> str:
    limits = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    bounds = [f"{limits[key]} {schema[key]}" for key in limits if key in schema]
    return f"{words}, {' and '.join(bounds)}" if bounds else words


def _code(text: str) -> str:
    return f"`{text}`"


def _plain(text: str) -> str:
    """A docstring's markup as Markdown."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return " ".join(text.replace("``", "`").split())
