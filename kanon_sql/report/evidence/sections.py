"""What the evidence says, section by section, in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kanon_sql.report.evidence.risks import clinical, inference, linkability, other, singling_out
from kanon_sql.report.html.blocks import Block, Cells, Facts, Prose, Section, Signature, Verbatim
from kanon_sql.report.html.sections import yaml_of
from kanon_sql.report.text import reached
from kanon_sql.report.words import metric, number, percent, plural
from kanon_sql.spec import requirements

if TYPE_CHECKING:
    from kanon_sql.verbs.evidence import Evidence

__all__ = ["sections", "tiles", "verdict"]

CLASS = (
    "A class is the set of all rows of the release with the same labels in every quasi-identifier: an attacker "
    "who knows a person's quasi-identifiers cannot tell which row of the class belongs to that person."
)

WHAT_IT_IS = (
    "This document holds what kanon_sql measured in a table: its classes, its risks, and the people that "
    "attacks expose. It is evidence for a decision, not the decision. It is not legal advice, and not a "
    "certificate of any law or standard."
)
WHAT_IT_IS_NOT = (
    "Context, harms and governance are not measured: who receives the release, under which agreements and "
    "controls, what harm re-identification would do, and who is responsible for what. Which columns an attacker "
    "may know was taken from the spec. The measurements hold for the table as it was at the time below."
)


def verdict(found: Evidence) -> str:
    """The answer in a few words."""
    if found.passed and not found.attacks:
        return "The release meets its requirements; no attack was run"
    if found.passed:
        return "The release meets its requirements; no attack that was run exposes more than they allow"
    return "The evidence does not support this release"


def tiles(found: Evidence) -> list[tuple[str, str, str]]:
    """The few figures that matter most."""
    records, informative = found.records, sum(entry.informative for entry in found.columns)
    shown = [("rows", number(found.rows), "in the release")]
    if records.smallest is not None:
        shown.append(("smallest class", number(records.smallest), records.counted))
    if records.highest is not None:
        shown.append(
            ("highest risk", metric(records.highest), f"{_than(records.highest_within)} {records.threshold:g}")
        )
    shown.append(("columns told", number(informative), f"of {number(len(found.columns))}"))
    return shown


def _than(within: bool | None) -> str:
    return "may be above" if within is None else "not above" if within else "above"


def sections(found: Evidence) -> list[Section]:
    """All sections, in the order of reading."""
    made = [
        Section("Scope of this document", [Prose(WHAT_IT_IS), Prose(WHAT_IT_IS_NOT)]),
        Section("The release", list(_release(found))),
        Section("Verdict", list(_verdict(found))),
        Section("What the requirements mean", list(_definitions(found))),
        Section("Data dictionary", list(_dictionary(found))),
        Section("Residual risk: singling out (WP216)", list(singling_out(found))),
        Section("Residual risk: linkability (WP216)", list(linkability(found))),
        Section("Residual risk: inference (WP216)", list(inference(found))),
        Section("Residual risk: other attacks", list(other(found))),
        Section("Identifiers of HIPAA's Safe Harbor", list(_safe_harbor(found))),
        Section("Risk tables: EMA policy 0070", list(clinical(found))),
        Section("Attack modelling: ISO/IEC 27559", list(_standard(found))),
        Section("Warnings", list(_warnings(found))),
        Section("Not measured", [Facts([(item.what, item.why) for item in found.not_measured])]),
        Section("Notes", [Prose(note) for note in found.notes]),
        Section("Method", list(_made(found))),
        Section("Signature", [Signature(("Name", "Function", "Decision", "Date", "Signature"))]),
    ]
    return [section for section in made if section.blocks]


def _release(found: Evidence) -> Iterator[Block]:
    facts = [("table", found.release), ("rows", number(found.rows))]
    run = found.run
    if run is None:
        facts.append(("made by", "not known: no manifest of a run is beside it"))
    else:
        facts += [("made by", f"run {run.run_id}"), ("published", run.published_at), ("by the spec", run.spec_hash)]
        if "source" in run.rows:
            gone = run.rows.get("suppressed", 0)
            facts.append(("rows of the source", number(run.rows["source"])))
            facts.append(("suppressed", f"{number(gone)} ({percent(gone, run.rows['source'])})"))
        if "persons" in run.rows:
            facts.append(("persons in the source", number(run.rows["persons"])))
        facts.append(("as the run left it", "yes, by its rows and classes" if run.unchanged else "no"))
    facts += [
        ("measured", found.made.at), ("judged by the spec", found.made.spec_hash), ("engine", found.made.engine),
        ("kanon_sql", found.made.version),
    ]  # fmt: skip
    yield Facts(facts)


def _verdict(found: Evidence) -> Iterator[Block]:
    for problem in found.problems:
        yield Prose(problem)
    rows = [
        [item.requirement, reached(item.achieved), item.counted, number(item.violating_classes),
         number(item.violating_rows)]
        for item in found.requirements
    ]  # fmt: skip
    marked = frozenset(index for index, item in enumerate(found.requirements) if item.violating_classes)
    yield Cells(
        ["asked", "achieved", "counted in", "violating classes#", "rows in them#"], rows, marked=marked,
        caption="The requirements of the spec",
    )  # fmt: skip


def _definitions(found: Evidence) -> Iterator[Block]:
    yield Prose(CLASS)
    definitions = {item.name: item.definition for item in requirements()}
    asked: dict[str, list[str]] = {}
    for item in found.requirements:
        asked.setdefault(item.name, []).append(item.requirement)
    yield Facts(
        [
            (
                ", ".join(dict.fromkeys(words)),
                definitions.get(name) or "A requirement that was added; its author defines it.",
            )
            for name, words in asked.items()
        ]
    )


def _dictionary(found: Evidence) -> Iterator[Block]:
    yield Prose(
        "Every column of the source, and of the release. Withheld columns are there with one label in every row; "
        "dropped ones are not in the release. Level 0 is the value."
    )
    yield Cells(
        ["column", "role", "in the release", "level", "what it holds"],
        [
            [item.column, item.role, item.became, _level(item.level, item.height), item.meaning]
            for item in found.columns
        ],
    )


def _level(level: int | None, height: int | None) -> str:
    if level is None:
        return ""
    return str(level) if height is None else f"{level} of {height}"


def _safe_harbor(found: Evidence) -> Iterator[Block]:
    yield Prose(
        "45 CFR 164.514(b)(2)(i) lists what must be removed. Columns are recognized by their names, so what a column "
        "holds is for a person to see; and that no one knows of another way to identify an individual (ii) is not "
        "measured."
    )
    rows, marked = [], set()
    for item in found.safe_harbor:
        kind = f"({item.letter}) {item.what}"
        if not item.columns:
            rows.append([kind, "", item.answer, ""])
        for seen in item.columns:
            if seen.answer == "not within the rule":
                marked.add(len(rows))
            rows.append([kind, seen.column, seen.answer, seen.why])
    yield Cells(["kind", "column", "answer", "why"], rows, marked=frozenset(marked))
    named = {seen.column for item in found.safe_harbor for seen in item.columns}
    unnamed = [item.column for item in found.columns if item.informative and item.column not in named]
    if unnamed:
        yield Prose(f"In the release, and of none of these kinds by their names: {', '.join(unnamed)}.")


def _standard(found: Evidence) -> Iterator[Block]:
    yield Prose(
        "The points of ISO/IEC 27559:2022 by the titles of its clauses. What no measurement of a table can answer is "
        "for people to answer."
    )
    rows = [[item.number, item.title, item.answer or "for people to answer"] for item in found.iso_27559]
    yield Cells(["clause", "point", "answer"], rows)


def _warnings(found: Evidence) -> Iterator[Block]:
    if found.warnings:
        yield Facts([(item.code, f"{item.message} ({item.page})") for item in found.warnings])
    else:
        yield Prose("None, of those that the run and its check look for.")


def _made(found: Evidence) -> Iterator[Block]:
    cost = found.cost
    yield Facts(
        [
            ("by", "check, audit and risk, read-only"),
            ("statements", number(cost.statements)),
            ("reached the client", f"{plural(cost.rows_fetched, 'row')} of aggregates, no row of a table"),
            ("time", f"{metric(cost.seconds)} s"),
        ]
    )
    spec: Mapping[str, object] = found.spec
    yield Prose("The spec, without passwords, literals of SQL, and labels of hierarchies.")
    yield Verbatim(yaml_of(spec), "The spec that the release was judged by")
