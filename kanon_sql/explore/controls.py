"""What the controls say of a spec: which fields there are, and the spec that a form's values make of another one.

A field is a part of the spec's plain form, and its name says which: ``privacy.0.k``, ``weight.2``. Whether a value can
stand there, the spec's own checks say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from kanon_sql.errors import SpecError
from kanon_sql.report.html import yaml_of
from kanon_sql.spec import QuasiIdentifier, Spec

__all__ = [
    "ColumnControl",
    "NumberControl",
    "about",
    "asked_for",
    "column_controls",
    "hierarchy_of",
    "limit_percent",
    "limit_words",
    "privacy_controls",
    "recoding_label",
    "requirements_in_words",
    "rule_text",
    "saved",
]


_STEPS = {"t": "0.01", "alpha": "0.01", "beta": "0.1", "delta": "0.01", "c": "0.1"}
"""How far an arrow key moves a threshold that is a fraction."""

_LIMITS = ("minimum_level", "maximum_level", "weight")


@dataclass(frozen=True)
class NumberControl:
    """A threshold of a requirement.

    Attributes:
        name: the field's.
        label: what it is called.
        value: as it is in the spec.
        step: how far an arrow key moves it.
    """

    name: str
    label: str
    value: int | float
    step: str


@dataclass(frozen=True)
class ColumnControl:
    """What can be said of a quasi-identifier.

    Attributes:
        index: its position.
        name: the column.
        weight: its weight.
        lowest, highest: the level limits; ``highest`` is None for the top.
        levels: what its levels are called; empty before they are known.
        rule: its hierarchy as YAML.
    """

    index: int
    name: str
    weight: float
    lowest: int
    highest: int | None
    levels: Sequence[str]
    rule: str


def privacy_controls(spec: Spec) -> list[tuple[int, str, list[NumberControl]]]:
    """Each requirement: its position, what it is called, and its thresholds."""
    found = []
    for index, requirement in enumerate(spec.to_dict()["privacy"]):
        ((name, options),) = requirement.items()
        title = name.replace("_", "-", 1).replace("_", " ")
        if options.get("attribute"):
            title += f" of {options['attribute']}"
        numbers = [
            NumberControl(
                f"privacy.{index}.{key}", key, value, "1" if isinstance(value, int) else _STEPS.get(key, "any")
            )
            for key, value in options.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        found.append((index, title, numbers))
    return found


def requirements_in_words(spec: Spec) -> list[str]:
    """Each requirement with its thresholds."""
    asked = []
    for _, title, numbers in privacy_controls(spec):
        values = ", ".join(f"{item.label} = {item.value:g}" for item in numbers)
        asked.append(f"{title} {values}".strip())
    return asked


def column_controls(spec: Spec, level_names: Mapping[str, Sequence[str]] | None) -> list[ColumnControl]:
    """The quasi-identifiers, with the names of their levels where a search has told them."""
    return [
        ColumnControl(
            index, name, item.weight, item.minimum_level, item.maximum_level, (level_names or {}).get(name, ()),
            rule_text(item),
        )
        for index, (name, item) in enumerate(spec.quasi_identifiers.items())
    ]  # fmt: skip


def rule_text(item: QuasiIdentifier) -> str:
    """A hierarchy as one writes it in a spec, without its limits and weight, on one line."""
    usual = {"origin": 0}
    kept = {key: value for key, value in item.to_dict().items() if key not in _LIMITS and value is not None}
    kept = {key: value for key, value in kept.items() if value != usual.get(key)}
    return json.dumps(kept, ensure_ascii=False)  # JSON is YAML


def limit_percent(spec: Spec) -> str:
    """MaxSup as the control shows it: percent of the rows, or a number of rows."""
    key, limit = spec.suppression.limit
    return f"{limit} rows" if key == "max_rows" else f"{100 * limit:.10g}"


def limit_words(spec: Spec) -> str:
    """MaxSup with its unit."""
    return limit_percent(spec) + ("" if spec.suppression.limit[0] == "max_rows" else " %")


def about(spec: Spec) -> str:
    """Which requirements and columns a form has fields of, and in which order; another spec may have others there."""
    data = spec.to_dict()
    requirements = [(name, options.get("attribute")) for item in data["privacy"] for name, options in item.items()]
    found = [requirements, list(data["quasi_identifiers"])]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def asked_for(spec: Spec, form: Mapping[str, str]) -> Spec:
    """The spec with what a form says.

    Args:
        spec: the one that the form was made of.
        form: field -> its value, as text. Fields of requirements and columns count only if it is about those of this
            spec: a form that was sent twice takes one away once, and one from before a role was changed moves no other
            column.

    Raises:
        SpecError: it is wrong, as the spec's own checks say.
    """
    data = spec.to_dict()
    removed = set()
    fits = form.get("about") in (None, about(spec))
    for field, given in form.items():
        what, _, rest = field.partition(".")
        if what == "privacy":
            if not fits:
                continue
            place, _, key = rest.partition(".")
            requirement = _at(data["privacy"], place)
            if requirement is None:
                continue
            if key == "remove":
                removed.add(int(place))
            else:
                ((_, options),) = requirement.items()
                if key in options:
                    options[key] = _number(given)
        elif what in ("weight", "lowest", "highest", "rule"):
            column: str | None = _at(list(data["quasi_identifiers"]), rest) if fits else None
            if column is not None:
                _set_column(data["quasi_identifiers"], column, what, given)
        elif what == "tree":
            if rest not in data["quasi_identifiers"]:
                raise SpecError(f"{rest}: it is no quasi-identifier now, so its tree has no use; change its role first")
            _set_column(data["quasi_identifiers"], rest, "rule", given)
        elif what == "limit":
            data["suppression"] = {"style": spec.suppression.style, **_limit(given)}
        elif what in ("metric", "algorithm") and given != data["search"].get(what):
            data["search"] = {**_of_search(data["search"]), what: given}
        elif what == "recoding" and given != recoding_label(spec):
            data["recoding"] = _method(given)
    data["privacy"] = [item for index, item in enumerate(data["privacy"]) if index not in removed]
    if fits and form.get("add.kind") and form.get("add.attribute"):
        data["privacy"].append(_added(form))
    return spec.changed(data)


def recoding_label(spec: Spec) -> str:
    """What the control calls the recoding."""
    return spec.recoding.label.removesuffix(":fast")


def _method(given: str) -> Any:
    """A recoding by its label, as a spec writes it."""
    method, _, variant = given.partition(":")
    return {"method": method, "variant": variant} if variant else method


def _of_search(search: Mapping[str, Any]) -> dict[str, Any]:
    """What of the search's options holds for every algorithm and metric."""
    return {key: search[key] for key in ("algorithm", "metric", "prefer") if key in search}


def _added(form: Mapping[str, str]) -> dict[str, Any]:
    kind, number = form["add.kind"], _number(form.get("add.number", ""))
    if kind == "t_closeness":
        return {kind: {"attribute": form["add.attribute"], "t": number}}
    return {kind: {"attribute": form["add.attribute"], "l": number}}


def _set_column(columns: dict[str, Any], name: str, what: str, given: str) -> None:
    if what == "rule":
        limits = {key: columns[name][key] for key in _LIMITS if key in columns[name]}
        written = hierarchy_of(given, name)
        columns[name] = {**written, **{key: value for key, value in limits.items() if key not in written}}
        return
    key = {"weight": "weight", "lowest": "minimum_level", "highest": "maximum_level"}[what]
    columns[name][key] = None if what == "highest" and given == "" else _number(given)


def hierarchy_of(text: str, column: str) -> dict[str, Any]:
    """A hierarchy out of YAML, as a spec has it.

    Raises:
        SpecError: it is no mapping.
    """
    where = f"quasi_identifiers.{column}"
    try:
        found = _parsed(text, where)
    except (YAMLError, ValueError, RecursionError):
        raise SpecError(f"{where}: this is not YAML; expected a hierarchy, such as {{intervals: [5, 10]}}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SpecError(f"{where}: expected a hierarchy, such as {{intervals: [5, 10]}}")
    return found


def _parsed(text: str, where: str) -> Any:
    """JSON as such, since a tree of thousands of labels is read by it at once; else YAML, if it is short.

    Raises:
        SpecError: a long text that is no JSON, or a label twice at one place, which JSON would lose one of.
        YAMLError, ValueError, RecursionError: it is neither.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise SpecError(f"{where}: a label occurs twice in one place; write each label once")
        return found

    def number(word: str) -> Any:
        raise ValueError(word)  # NaN is a word in YAML

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=number)
    except ValueError:
        if len(text) > _LONGEST:
            raise SpecError(
                f"{where}: {len(text):,} characters of YAML, and the page reads at most {_LONGEST:,}; write it as "
                "JSON, or in a file"
            ) from None
        return YAML(typ="safe", pure=True).load(text)


_LONGEST = 5_000
"""Characters of YAML: reading takes its time, in which no other user is answered."""


def _at(items: Sequence[Any], place: str) -> Any:
    """An item by its position as text; None where there is none."""
    return items[int(place)] if place.isdecimal() and int(place) < len(items) else None


def _number(text: str) -> Any:
    """A number where the text is one; else the text, which the spec's checks refuse with their own words."""
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _limit(text: str) -> dict[str, Any]:
    """Percent as a share; ``12 rows`` as a number of rows."""
    words = text.split()
    if len(words) == 2 and words[1] in ("row", "rows"):
        return {"max_rows": _number(words[0])}
    number = _number(text.replace("%", ""))
    return {"max_share": number if isinstance(number, str) else float(f"{number / 100:.12g}")}


def saved(spec: Spec) -> str:
    """A spec as YAML, without what is usual."""
    usual = Spec.from_dict(
        {"version": 1, "source": "t", "quasi_identifiers": {"q": {}}, "privacy": [{"k_anonymity": {"k": 2}}]}
    ).to_dict()
    data = spec.to_dict()
    kept = {key: value for key, value in data.items() if value not in (None, [], {}) and value != usual.get(key)}
    kept |= {key: data[key] for key in ("version", "source", "privacy")}
    kept["quasi_identifiers"] = {
        name: {key: value for key, value in item.items() if value is not None and value != _UNLIMITED.get(key)}
        for name, item in data["quasi_identifiers"].items()
    }
    order = [key for key in data if key in kept]
    return yaml_of({key: kept[key] for key in order})


_UNLIMITED = {"minimum_level": 0, "weight": 1.0, "origin": 0}
