"""``init`` of an ARX project: a spec that asks for the same, and what of the project a spec does not hold."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import prod
from pathlib import Path

from kanon_sql.errors import Problem, SpecError
from kanon_sql.hierarchies import file_names, read_hierarchy, write_hierarchy
from kanon_sql.search import MAX_NODES
from kanon_sql.spec import Spec
from kanon_sql.verbs.init.arx_project import ArxProject, Attribute, opened_project
from kanon_sql.verbs.init.text import as_yaml

__all__ = ["ArxDraft", "draft_of_arx"]

_QUASI = "QUASI_IDENTIFYING_ATTRIBUTE"
_SENSITIVE = "SENSITIVE_ATTRIBUTE"
_ALL_RELEASED = {_QUASI, _SENSITIVE, "INSENSITIVE_ATTRIBUTE"}

_NUMBER = r"(\d+(?:\.\d+)?(?:E-?\d+)?)"
"""A number as Java writes it."""


@dataclass(frozen=True)
class ArxDraft:
    """What became of a project.

    Attributes:
        text: the spec.
        directory: where its input and its hierarchies are now.
        left: what the spec does not hold, and why, a line each.
    """

    text: str
    directory: Path
    left: tuple[str, ...]


def draft_of_arx(path: Path, folder: Path, *, k: int | None = None) -> ArxDraft:
    """A spec for an ARX project, whose input and hierarchies are written to a directory beside it.

    Args:
        path: the project file.
        folder: that of the spec. A new directory in it gets the name of the project file.
        k: k of k-anonymity, instead of the project's.

    Raises:
        SpecError: it is no project, holds what no spec can, or there is such a directory already.
        HierarchyError: a hierarchy of it does not nest, or has a value twice.
    """
    with opened_project(path) as project:
        name = re.sub(r"[^\w.-]+", "_", path.stem).lstrip(".-") or "project"
        directory = folder / name
        try:
            directory.mkdir(0o700)
        except FileExistsError:
            what = f"there is {directory} already, which is not replaced; remove it, or write the spec elsewhere (-o)"
            raise SpecError([Problem(what, str(path))]) from None
        except OSError as error:
            raise SpecError(
                [Problem(f"{directory} cannot be made: {error.strerror}; write the spec elsewhere (-o)", str(path))]
            ) from None
        try:
            return _drafted(project, directory, k)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise


def _drafted(project: ArxProject, directory: Path, k: int | None) -> ArxDraft:
    is_utf8 = project.write_input(directory / "input.csv")
    (directory / "hierarchies").mkdir(0o700)
    with_hierarchy = [item for item in project.attributes if item.hierarchy is not None]
    files = file_names(item.name for item in with_hierarchy)
    for item in with_hierarchy:
        target = directory / "hierarchies" / files[item.name]
        write_hierarchy(target, item.hierarchy or [])
        read_hierarchy(target)
    writer = _Writer(project, directory.name, files, is_utf8, k)
    body = [line for part in writer.parts() for line in part]
    text = "\n".join([*writer.head(), *body]) + "\n"
    try:
        Spec.parse(text)
    except SpecError as error:
        problems = [
            Problem(f"a spec cannot hold it; change it in ARX: {problem.message}", str(project.path))
            for problem in error.problems
        ]
        raise SpecError(problems) from None
    return ArxDraft(text, directory, tuple(writer.left))


class _Writer:
    """The lines of the spec; on the way it notes what it leaves out.

    Args:
        project: what is asked for.
        directory: the name of the directory of the files.
        files: attribute -> the name of the file of its hierarchy.
        is_utf8: whether the input is.
        k: k of k-anonymity, instead of the project's.
    """

    def __init__(
        self, project: ArxProject, directory: str, files: Mapping[str, str], is_utf8: bool, k: int | None
    ) -> None:
        self.project = project
        self.directory = directory
        self.files = files
        self.is_utf8 = is_utf8
        self.k = k
        self.left: list[str] = []
        self.by_name = {item.name: item for item in project.attributes}
        self.quasi = [item for item in project.attributes if item.role == _QUASI]
        self.ranked = {name for name in self.by_name if self._is_ranked(name)}

    def leave(self, entry: str, what: str, why: str) -> None:
        """Note what the spec does not hold."""
        self.left.append(_line(f"{entry}, {what}: {why}"))

    def head(self) -> Iterator[str]:
        """What the spec begins with; last, when all is known that it leaves out."""
        yield _line(f"# Drafted from {self.project.path.name}, a project of ARX {self.project.version}.")
        if self.left:
            yield "# Of the project this spec does not hold:"
            yield from (f"# - {line}" for line in self.left)
        yield "version: 1"
        yield "kind: release"
        yield ""

    def parts(self) -> Iterator[Iterator[str]]:
        """Its sections."""
        yield self._source()
        yield self._columns("identifiers", "IDENTIFYING_ATTRIBUTE", "Never released.")
        yield self._quasi_identifiers()
        yield self._columns("sensitive", _SENSITIVE, "Released as they are, and protected by the requirements below.")
        yield self._columns("keep", "INSENSITIVE_ATTRIBUTE", "Insensitive in ARX: released unchanged and unprotected.")
        yield self._privacy()
        yield self._suppression()
        yield self._search()

    def _source(self) -> Iterator[str]:
        names = ", ".join(as_yaml(name) for name in self.by_name if name not in self.ranked)
        delimiter = "tab" if self.project.delimiter == "\t" else as_yaml(self.project.delimiter)
        encoding = "" if self.is_utf8 else "encoding: latin-1, "
        if not self.is_utf8:
            self.leave("data/input.csv", "encoding", "it is not UTF-8, as an old ARX writes it; read as Latin-1")
        yield "# Columns are read as text, since ARX's hierarchies list values as text."
        file = as_yaml(f"{self.directory}/input.csv")
        yield f"source: {{file: {file}, csv: {{{encoding}delimiter: {delimiter}, text: [{names}]}}}}"
        yield f"release: {{file: {as_yaml(f'{self.directory}_release.csv')}}}"
        yield ""

    def _columns(self, key: str, role: str, what: str) -> Iterator[str]:
        names = [item.name for item in self.project.attributes if item.role == role]
        if names:
            yield f"# {what}"
            yield f"{key}:"
            yield from (f"  - {as_yaml(name)}" for name in names)
            yield ""

    def _quasi_identifiers(self) -> Iterator[str]:
        if not self.quasi:
            self.project.fail(
                "input/definition.xml", "no attribute is quasi-identifying, so there is nothing to generalize"
            )
        weights = self._weights()
        yield "quasi_identifiers:"
        for item in self.quasi:
            keys = [*self._levels(item)]
            if item.name in weights:
                keys.append(f"weight: {weights[item.name]}")
            yield f"  {as_yaml(item.name)}: {{{', '.join(keys)}}}"
            if item.aggregated_by is not None:
                why = "the column is generalized instead; see recoding: microaggregation"
                self.leave("input/definition.xml", f"micro-aggregation of {item.name!r} ({item.aggregated_by})", why)
        yield ""

    def _levels(self, item: Attribute) -> Iterator[str]:
        """The keys of a hierarchy. Where ARX has no label for all values, its highest level is the highest here."""
        if item.hierarchy is None:
            yield "maximum_level: 0"
            return
        yield f"file: {as_yaml(f'{self.directory}/hierarchies/{self.files[item.name]}')}"
        if item.least:
            yield f"minimum_level: {item.least}"
        last = len(item.hierarchy[0]) - 1
        has_top = last > 0 and len({row[-1] for row in item.hierarchy}) == 1
        most = last if item.most is None else item.most
        if most < last or not has_top:
            yield f"maximum_level: {most}"

    def _weights(self) -> dict[str, str]:
        """Quasi-identifier -> weight, as ARX divides it by the largest; none where all are equal."""
        given = self.project.config.one("attributeWeights")
        found: dict[str, Decimal] = {}
        for item in [] if given is None else given.all("attributeWeight"):
            name, text = item.one("attribute"), item.value("weight")
            if name is not None and name.text in self.by_name and self.by_name[name.text].role == _QUASI:
                found[name.text] = self._decimal(text, "weight", item.line)
        most = max(found.values(), default=Decimal(0))
        if not most or (len(found) == len(self.quasi) and len(set(found.values())) == 1):
            return {}
        return {item.name: _plain(found.get(item.name, Decimal(0)) / most) for item in self.quasi}

    def _privacy(self) -> Iterator[str]:
        criteria = self.project.config.one("criteria")
        lines = [] if self.k is None else [f"k_anonymity: {{k: {self.k}}}"]
        for item in [] if criteria is None else criteria.all("criterion"):
            text = item.text.strip()
            if self.k is not None and re.fullmatch(r"\d+-anonymity", text):
                continue
            requirement, why = self._requirement(text)
            if requirement is None:
                self.leave("input/config.xml", f"criterion {text}", why)
            elif requirement not in lines:
                lines.append(requirement)
        if not lines:
            what = "element <criteria>: it has no requirement that a spec can hold; give k of k-anonymity with --k"
            more = "".join(f"\n  {line}" for line in self.left)
            self.project.fail("input/config.xml", what + more, None if criteria is None else criteria.line)
        yield "# All of these hold in the release, or there is no release."
        yield "privacy:"
        yield from (f"  - {line}" for line in lines)
        yield ""

    def _requirement(self, text: str) -> tuple[str | None, str]:
        """A criterion as a spec writes it; or None, and why not."""
        for pattern, written in _REQUIREMENTS.items():
            if found := re.fullmatch(pattern, text, re.IGNORECASE):
                return written(*map(_value, found.groups())), ""
        for pattern, about_attribute in _OF_ATTRIBUTE.items():
            if found := re.fullmatch(rf"{pattern} for attribute '(.*)'", text, re.IGNORECASE):
                *numbers, name = found.groups()
                return self._of_attribute(about_attribute, list(map(_value, numbers)), name)
        for pattern, why in _LEFT_OUT.items():
            if re.match(pattern, text, re.IGNORECASE):
                return None, why
        return None, "it is not known here"

    def _of_attribute(self, written: str, numbers: list[str], name: str) -> tuple[str | None, str]:
        item = self.by_name.get(name)
        if item is None or item.role != _SENSITIVE:
            return None, f"{name!r} is not sensitive in input/definition.xml"
        more = ""
        if "distance: hierarchical" in written:
            if item.hierarchy is None:
                return None, f"{name!r} has no hierarchy in the project"
            more = f", hierarchy: {{file: {as_yaml(f'{self.directory}/hierarchies/{self.files[name]}')}}}"
        if "distance: ordered" in written and name not in self.ranked:
            return None, f"{name!r} is text, which has no order; write distance: equal, or read it as a number"
        return written.format(*numbers, attribute=as_yaml(name), more=more), ""

    def _is_ranked(self, name: str) -> bool:
        """Whether the distance of a requirement ranks the values of a column, so that it must not be read as text."""
        item = self.by_name[name]
        number = item.data_type in ("Integer", "Decimal")
        iso = item.date_format == "yyyy-MM-dd"
        criteria = self.project.config.one("criteria")
        asked = [] if criteria is None else [found.text.strip() for found in criteria.all("criterion")]
        return (number or iso) and any(text.endswith(f"ordered distance for attribute '{name}'") for text in asked)

    def _suppression(self) -> Iterator[str]:
        config = self.project.config
        limit = config.one("relativeMaxOutliers")
        if limit is None:
            self.project.fail("input/config.xml", "it has no element <relativeMaxOutliers>, the suppression limit")
        share = self._decimal(limit.text, "relativeMaxOutliers", limit.line)
        types = config.one("suppressedAttributeTypes")
        suppressed = set() if types is None else {item.text.strip() for item in types.all("type")}
        style = "mask"
        if suppressed != {_QUASI}:
            what = "suppressedAttributeTypes"
            if suppressed - {_QUASI}:
                style = "drop"
                kept = (
                    "with * in every column" if suppressed >= _ALL_RELEASED else "with * in more than quasi-identifiers"
                )
                self.leave("input/config.xml", what, f"ARX keeps suppressed rows {kept}; here they are left out")
            else:
                self.leave("input/config.xml", what, "suppressed rows get * in every quasi-identifier")
        yield "# At most this share of the rows may be suppressed."
        yield f"suppression: {{max_share: {_plain(share)}, style: {style}}}"
        yield ""

    def _search(self) -> Iterator[str]:
        config = self.project.config
        if config.value("practicalMonotonicity") == "true":
            why = "here every requirement is evaluated as it is, and the best node is proven"
            self.leave("input/config.xml", "practicalMonotonicity", why)
        text = config.value("metric") or ""
        keys = self._metric(text)
        if keys is None:
            why = "loss is used"
            if text == _CLASSIFICATION:
                why += "; classification needs one response variable, sensitive or insensitive"
            self.leave("input/config.xml", f"metric {text or '(none)'}", why)
            keys = "metric: loss"
        nodes = prod(self._heights())
        if nodes > MAX_NODES:
            why = f"{nodes:,} nodes are too many to prove the best one; greedy is a heuristic, as ARX uses one then"
            self.leave("input/definition.xml", "the lattice", why)
            keys = f"algorithm: greedy, {keys}"
        yield f"search: {{{keys}}}"

    def _heights(self) -> Iterator[int]:
        """How many levels of each quasi-identifier the search may choose."""
        for item in self.quasi:
            last = 0 if item.hierarchy is None else len(item.hierarchy[0]) - 1
            yield (last if item.most is None else item.most) - (item.least or 0) + 1

    def _metric(self, text: str) -> str | None:
        if found := re.fullmatch(rf"Loss \({_NUMBER}/{_NUMBER}/{_NUMBER}\)", text):
            factor = Decimal(found[1])
            return "metric: loss" + ("" if factor == Decimal("0.5") else f", gs_factor: {_plain(factor)}")
        if text == _CLASSIFICATION:
            columns = [item for item in self.project.attributes if item.response]
            if len(columns) == 1 and columns[0].role in (_SENSITIVE, "INSENSITIVE_ATTRIBUTE"):
                return f"metric: classification, classify: {as_yaml(columns[0].name)}"
            return None
        return _METRICS.get(text.casefold())

    def _decimal(self, text: str | None, element: str, line: int) -> Decimal:
        try:
            found = Decimal((text or "").strip())
        except InvalidOperation:
            found = Decimal("NaN")
        if not found.is_finite() or not 0 <= found <= 1:
            self.project.fail("input/config.xml", f"element <{element}>: expected a number from 0 to 1", line)
        return found


_REQUIREMENTS: Mapping[str, Callable[..., str]] = {
    r"(\d+)-anonymity": "k_anonymity: {{k: {}}}".format,
    rf"\({_NUMBER}\)-avg-reidentification-risk": "risk: {{average: {}}}".format,
    rf"\({_NUMBER}, {_NUMBER} \({_NUMBER}\), {_NUMBER}\)-avg-reidentification-risk":
        "risk: {{average: {0}, highest: {2}, records_at_risk: {3}}}".format,
    # a record that is alone in its class is one whose risk is above a half
    rf"\({_NUMBER}\)-sample-uniqueness": "risk: {{highest: 0.5, records_at_risk: {}}}".format,
    rf"profitability \(prosecutor\)\[benefit={_NUMBER}, loss={_NUMBER}, gain={_NUMBER}, cost={_NUMBER}\]":
        "profitability: {{benefit: {}, loss: {}, gain: {}, cost: {}}}".format,
    rf"no-attack-profitability \(prosecutor\)\[benefit={_NUMBER}, loss={_NUMBER}, gain={_NUMBER}, cost={_NUMBER}\]":
        "no_attack: {{gain: {2}, cost: {3}}}".format,
}  # fmt: skip
"""What ARX calls a criterion -> the same in a spec."""

_OF_ATTRIBUTE: Mapping[str, str] = {
    r"distinct-(\d+)-diversity": "l_diversity: {{attribute: {attribute}, l: {0}, variant: distinct}}",
    rf"(?:shannon-)?entropy-{_NUMBER}-diversity": "l_diversity: {{attribute: {attribute}, l: {0}, variant: entropy}}",
    rf"grassberger-entropy-{_NUMBER}-diversity":
        "l_diversity: {{attribute: {attribute}, l: {0}, variant: entropy, estimator: grassberger}}",
    rf"recursive-\({_NUMBER},(\d+)\)-diversity":
        "l_diversity: {{attribute: {attribute}, l: {1}, variant: recursive, c: {0}}}",
    rf"{_NUMBER}-closeness with equal ground-distance":
        "t_closeness: {{attribute: {attribute}, t: {0}, distance: equal}}",
    rf"{_NUMBER}-closeness with ordered distance": "t_closeness: {{attribute: {attribute}, t: {0}, distance: ordered}}",
    rf"{_NUMBER}-closeness with hierarchical ground-distance":
        "t_closeness: {{attribute: {attribute}, t: {0}, distance: hierarchical{more}}}",
    rf"{_NUMBER}-disclosure privacy": "delta_disclosure: {{attribute: {attribute}, delta: {0}}}",
    rf"basic-{_NUMBER}-likeness": "beta_likeness: {{attribute: {attribute}, beta: {0}, variant: basic}}",
    rf"enhanced-{_NUMBER}-likeness": "beta_likeness: {{attribute: {attribute}, beta: {0}, variant: enhanced}}",
}  # fmt: skip
"""The same of criteria about a sensitive attribute."""

_SUBSET = "the research subset is a Java object in input/config.dat, which is not read; the release is of all rows"

_LEFT_OUT: Mapping[str, str] = {
    r"inclusion$": _SUBSET,
    r".*-presence$": f"{_SUBSET}; write delta_presence with a table of the population",
    r".*-map estimated": "the project's XML has no sampling fraction; write k_map with sampling_fraction",
    r".*-map$": f"{_SUBSET}; write k_map with a table of the population",
    r".*-population-uniqueness": "of many nodes one would pass by the error of the estimate; use it in check",
    r".*-DP$": "it has a spec of its own; see docs/reference/differential-privacy.md",
    r".*profitability \(journalist\)": f"{_SUBSET}; write it with a table of the population",
}
"""Criteria that a draft leaves out -> why."""

_CLASSIFICATION = "Classification accuracy"

_METRICS: Mapping[str, str] = {
    "height": "metric: height",
    "monotonic precision": "metric: precision, monotone: true",
    "non-monotonic precision": "metric: precision",
    "non-uniform entropy": "metric: entropy, monotone: true",
    "monotonic non-uniform entropy": "metric: entropy, monotone: true",
    "non-monotonic non-uniform entropy": "metric: entropy",
    "average equivalence class size": "metric: average_class_size",
    "monotonic discernability": "metric: discernibility, monotone: true",
    "monotonic discernability (dm*)": "metric: discernibility, monotone: true",
    "non-monotonic discernability": "metric: discernibility",
    "ambiguity": "metric: ambiguity",
}
"""ARX's metric, in small letters -> the keys of ``search``."""


def _value(number: str) -> str:
    return _plain(Decimal(number))


def _plain(number: Decimal) -> str:
    """A number without an exponent, and without zeros that say nothing."""
    text = f"{round(number, 10):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _line(text: str) -> str:
    """Text from the project on one line of a comment."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
