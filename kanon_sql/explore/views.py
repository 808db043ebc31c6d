"""Answers as parts of the page: what a report says of them, and what only this page shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kanon_sql.explore import comparison, manual
from kanon_sql.explore.controls import (
    about,
    column_controls,
    limit_percent,
    limit_words,
    privacy_controls,
    recoding_label,
    requirements_in_words,
    rule_text,
)
from kanon_sql.explore.roles import ROLES, SHORT, RoleChange, differing_roles, listed_roles, roles_in
from kanon_sql.explore.trees import MOST_LABELS, Drawn, can_be_drawn
from kanon_sql.explore.visits import LONGEST_NAME, Drafted, Settings, Visit
from kanon_sql.explore.work import Job
from kanon_sql.registers import HIERARCHIES, QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS
from kanon_sql.report.certificate import certificate_facts, certificate_parts
from kanon_sql.report.html import PageParts, comparison_parts, html_style, run_parts
from kanon_sql.report.levels import level_cells
from kanon_sql.report.nodes import figures_in_words, known_in_words, why_in_words
from kanon_sql.report.related_page import relational_parts
from kanon_sql.report.run import read_run
from kanon_sql.report.words import number, percent
from kanon_sql.spec import Spec
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.verbs.certify import Certificate
    from kanon_sql.verbs.compare import Comparison
    from kanon_sql.verbs.details import Details
    from kanon_sql.verbs.hierarchy import HierarchyResult
    from kanon_sql.verbs.relational import RelationalResult
    from kanon_sql.verbs.result import Plan, Warned

__all__ = [
    "answered",
    "candidates",
    "certified",
    "columns_listed",
    "compared",
    "controlled",
    "earlier",
    "frame",
    "heights",
    "history",
    "in_full",
    "manual_page",
    "nodes_at",
    "opened",
    "previewed",
    "problems",
    "release_warnings",
    "reopened",
    "reported",
    "role_changed",
    "roles",
    "side_by_side",
    "spec_name",
    "static",
    "together",
    "tree",
    "waiting",
    "with_release_warnings",
]

OF_EVERY_PLAN = {
    "column_fully_generalized",
    "fully_suppressed_columns",
    "named_like_identifier",
    "uneven_suppression",
    "numbers_as_text",
    "births_in_future",
    "leading_zeros_lost",
}
"""The warnings that stand with the answer; all others take the rows of the release."""

LISTED = 200
"""This many nodes of a height are listed, those first that satisfy, and the best of them."""

FILTERED_FROM = 13
"""From this many columns on they can be searched."""

WORST = 8
"""This many labels that lose the largest share of their rows."""


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("kanon_sql.explore", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _rendered(template: str, **context: Any) -> str:
    return _environment().get_template(f"{template}.html.j2").render(**context)


@cache
def static(name: str) -> bytes:
    """A file that the page is made of."""
    if name == "report.css":
        return html_style().encode()
    return files("kanon_sql.explore").joinpath("static", name).read_bytes()


# --- The page ------------------------------------------------------------------------------


def frame() -> str:
    """The page before there is anything in it."""
    return _rendered("frame")


def opened(visit: Visit, settings: Settings) -> str:
    """All that is in the page.

    Args:
        visit: whose it is.
        settings: what is allowed.
    """
    is_set = visit.spec is not None
    return _rendered(
        "page", visit=visit, settings=settings, version=__version__,
        controls=Markup(controlled(visit)) if is_set else "", history=Markup(history(visit)) if is_set else "",
        candidates=Markup(candidates(visit)) if is_set else "",
        drawable=_drawable(visit.spec), longest=LONGEST_NAME,
    )  # fmt: skip


def _drawable(spec: Spec | None) -> list[str]:
    """The quasi-identifiers whose hierarchies are trees, or could be."""
    return [] if spec is None else [name for name, item in spec.quasi_identifiers.items() if can_be_drawn(item)]


def controlled(visit: Visit) -> str:
    """The form alone, once what can be said in it has changed."""
    return _rendered("controls", visit=visit, **_controls(visit))


def _controls(visit: Visit) -> dict[str, Any]:
    spec = visit.spec
    assert spec is not None
    assert visit.started_with is not None
    columns = column_controls(spec, visit.level_names_of(spec))
    recoding = recoding_label(spec)
    return {
        "about": about(spec),
        "privacy": privacy_controls(spec),
        "roles": [
            (item, None if item.index is None else columns[item.index])
            for item in listed_roles(spec, visit.started_with, visit.columns)
        ],
        "all_roles": SHORT,
        "role_words": ROLES,
        "filtered_from": FILTERED_FROM,
        "drawable": _drawable(spec),
        "limit": limit_percent(spec),
        "metrics": _with([name for name, metric in QUALITY_METRICS.items() if not metric.takes], spec.search.metric),
        "builders": [(name, kind.build_by) for name, kind in HIERARCHIES.items() if kind.build_by is not None],
        "algorithms": list(SEARCH_ALGORITHMS),
        "recodings": _with(list(_recodings()), recoding),
        "recoding": recoding,
    }


def _recodings() -> Iterator[str]:
    """Those that go with every spec, and how they are asked to take their time."""
    for name, declared in RECODINGS.items():
        if declared.any_model and not declared.needs:
            yield from (name, f"{name}:best") if "best" in declared.variants else (name,)


def _with(known: Sequence[str], own: str) -> list[str]:
    return [*known, *([] if own in known else [own])]


def roles(drafted: Drafted) -> str:
    """What each column is, as counts and names suggest."""
    combinations = [line.removeprefix("# ") for line in drafted.text.splitlines() if line.startswith(_TOGETHER)]
    rows = [
        {
            "name": item.profile.name, "type": item.profile.column.type, "distinct": number(item.profile.distinct),
            "alone": percent(item.profile.distinct, max(1, item.profile.rows)), "role": item.role,
            "reason": item.reason,
        }
        for item in drafted.columns
    ]  # fmt: skip
    return _rendered(
        "roles", drafted=drafted, rows=rows, together=combinations, roles=ROLES, filtered_from=FILTERED_FROM
    )  # fmt: skip


_TOGETHER = ("# All together", "# Of two,", "# No two ")


# --- Answers -------------------------------------------------------------------------------


def answered(visit: Visit, spec: Spec, result: Plan, *, again: bool = False, late: bool = False) -> str:
    """The figures of a plan: the verdict, what it costs, the levels, the warnings, the meter.

    Args:
        visit: who asked.
        spec: what was asked about.
        result: the plan.
        again: it was told before, and nothing was asked of the database now.
        late: the form was of before another change, and was not taken.
    """
    run = read_run(result.to_dict(), "this result")
    parts = run_parts(run, "answer")
    levels = [] if run.node is None else level_cells(run.node, run.level_names)
    known = visit.full.get(spec.hash)
    allows = spec.warnings.uneven_suppression == "warn"  # an error is told at once
    return _rendered(
        "answer", visit=visit, parts=parts, levels=levels, run=run,
        asked=spec.hash, about=about(spec), roles=_roles_since(visit, spec),
        looked=Markup(release_warnings(visit, spec, may_look=result.stopped is None)) if result.passed else "",
        again=again, late=late, cost=result.cost, stopped=result.stopped, metered=visit.metered,
        warnings=_warnings(result if known is None else known),
        counting=known is None and allows and bool(result.rows.get("suppressed")),
    )  # fmt: skip


def _warnings(result: Plan) -> list[tuple[Warned, str | None]]:
    """Each with the address of its page."""
    return [(item, manual.address(item.page)) for item in result.warnings]


_LEFT_OUT = {"warnings", "search", "what-was-run"}
"""Sections that the page shows in another place or way."""


def in_full(visit: Visit, result: Plan) -> str:
    """All sections of a plan's report, with the lattice to look into and the groups that are hit hardest."""
    run = read_run(result.to_dict(), "this result")
    parts = run_parts(run, "full")
    sections = [item for item in parts.sections if item[0] not in _LEFT_OUT]
    search = [item for item in parts.sections if item[0] == "search"]
    return _rendered(
        "full", visit=visit, sections=sections, search=search, heights=heights(result), worst=worst(result.details),
        warnings=_warnings(result), counting=False, stopped=None,
    )  # fmt: skip


def worst(details: Details | None) -> list[tuple[str, str, str, str]]:
    """Labels that lose the largest share of their rows: column, label, rows, share; merged labels are one."""
    found = []
    for column in () if details is None else details.distributions:
        for cell in column.cells if column.source else ():
            if cell.source and cell.released < cell.source:
                label = "labels of few rows, merged" if cell.merged else cell.label or "NULL"
                share = (cell.source - cell.released) / cell.source
                found.append((share, column.name, label, cell.source, cell.released))
    found.sort(key=lambda item: -item[0])
    return [
        (column, label, number(source), percent(source - released, source))
        for _, column, label, source, released in found[:WORST]
    ]


def heights(result: Plan) -> list[tuple[int, int]]:
    """Each height of the lattice, highest first, and how many nodes it has; none where nothing is explained."""
    counts: dict[int, int] = {}
    for item in (None if result.search is None else result.search.lattice) or ():
        counts[sum(item.node)] = counts.get(sum(item.node), 0) + 1
    return sorted(counts.items(), reverse=True)


def nodes_at(result: Plan, height: int) -> str:
    """The nodes of a height: levels by name, what is known, rows, metric, and why each is ruled out."""
    data = result.to_dict()
    columns = list(result.level_names or ())
    own = [item for item in data["search"]["lattice"] if sum(item["node"]) == height]
    order = {"evaluated": 0, "inferred": 1, "open": 2, "pruned": 3}
    own.sort(key=lambda item: (not item["satisfied"], order[item["status"]], item["metric"] or item["bound"] or 0))
    chosen = None if result.node is None else list(result.node.values())
    rows = [
        {
            "vector": "[" + ", ".join(map(str, item["node"])) + "]",
            "levels": [
                (column, (result.level_names or {})[column][level])
                for column, level in zip(columns, item["node"], strict=True)
                if level
            ],
            "known": "chosen" if item["node"] == chosen or list(item["node"]) == chosen else known_in_words(item),
            "figures": figures_in_words(item),
            "why": why_in_words(item, columns, result.level_names),
        }
        for item in own[:LISTED]
    ]
    return _rendered("nodes", rows=rows, height=height, total=len(own))


def compared(found: Comparison, prefix: str) -> str:
    """Runs side by side."""
    return _parts(comparison_parts(found, prefix), ("what-each-run-said", "what-was-run"))


def reported(result: Any, prefix: str, title: str = "") -> str:
    """The result of another verb, as its report says it; with a heading where the page has none for it."""
    return _parts(run_parts(read_run(result.to_dict(), "this result"), prefix), ("what-was-run", "spec"), title)


def _parts(parts: PageParts, left_out: Sequence[str], title: str = "") -> str:
    sections = [item for item in parts.sections if item[0] not in left_out]
    return _rendered("parts", parts=parts, sections=sections, title=title)


def _roles_since(visit: Visit, spec: Spec) -> list[tuple[str, str, str]]:
    """Columns that have another role than the page began with: the roles then and now."""
    return differing_roles(spec, visit.started_with or spec)


# --- What changes a page -------------------------------------------------------------------


def history(visit: Visit, message: str = "") -> str:
    """What can be undone and redone.

    Args:
        visit: whose steps.
        message: what was done now.
    """
    return _rendered("history", history=visit.history, message=message)


def columns_listed(count: int) -> str:
    """How many columns the source has, whose roles can be changed now."""
    return f"<p>{number(count)} columns</p>"


def role_changed(visit: Visit, name: str, role: str, change: RoleChange, hierarchy: str) -> str:
    """What another role does, or what would be dropped for it.

    Args:
        visit: whose page.
        name: the column.
        role: its new role.
        change: what follows from it.
        hierarchy: where its hierarchy is from; empty without one.
    """
    spec = change.spec
    rule = "" if spec is None or not hierarchy else rule_text(spec.quasi_identifiers[name])
    return _rendered(
        "role_changed", change=change, name=name, role=role, words=SHORT[role], hierarchy=hierarchy, rule=rule
    )  # fmt: skip


def release_warnings(visit: Visit, spec: Spec, result: Plan | None = None, *, may_look: bool = True) -> str:
    """What ``anonymize`` would warn of in the rows that it would release, or that this is not known, and how to know.

    Args:
        visit: whose page.
        spec: what was asked about.
        result: the plan with these warnings, where it is not remembered.
        may_look: the page may ask for them by itself, where they are not known at any settings with these roles.
    """
    found = result or visit.looked_at.get(spec.hash)
    last = None
    if found is None and visit.looked_last is not None and visit.looked_last[0] == roles_in(spec):
        last = visit.looked_last[1]
    return _rendered(
        "release_warnings", found=found, warnings=_of_rows(found), last=_of_rows(last), known_before=last is not None,
        looks=found is None and last is None and may_look,
    )  # fmt: skip


def together(result: RelationalResult) -> str:
    """The plan of several tables."""
    return _rendered("together", parts=relational_parts(result, "tables"), cost=result.cost)


def with_release_warnings(result: Plan, looked: Plan) -> Plan:
    """A plan in full with the warnings about the rows, and the verdict that these make.

    Args:
        result: the plan.
        looked: the plan of the same spec whose rows were looked at.
    """
    more = [item for item, _ in _of_rows(looked)]
    judged = {} if looked.passed else {"verdict": looked.verdict, "message": looked.message}
    return replace(result, warnings=[*result.warnings, *more], **judged)  # type: ignore[arg-type]


def _of_rows(result: Plan | None) -> list[tuple[Warned, str | None]]:
    """The warnings that take the rows: the others are those of every plan."""
    return [] if result is None else [item for item in _warnings(result) if item[0].code not in OF_EVERY_PLAN]


def candidates(visit: Visit, message: str = "") -> str:
    """The candidates that are kept."""
    kept = [(number, item.name, _in_short(item.spec)) for number, item in visit.candidates.items()]
    return _rendered("candidates", kept=kept, message=message)


def _in_short(spec: Spec) -> str:
    """What a spec asks for, on a line."""
    return f"{'; '.join(requirements_in_words(spec))}; limit {limit_words(spec)}; {recoding_label(spec)}"


def side_by_side(specs: Mapping[str, Spec], found: Mapping[str, Any]) -> str:
    """Candidates in one table.

    Args:
        specs: the candidates by name.
        found: the plan of each, or why there is none.
    """
    return _rendered("side_by_side", found=comparison.side_by_side(specs, found))


def earlier(visits: Sequence[Visit]) -> str:
    """The pages of other tabs, which this tab can go on with."""
    rows = [
        (visit.id, _in_short(visit.spec), len(visit.candidates), visit.used_at.strftime("%H:%M UTC"))
        for visit in visits
        if visit.spec is not None
    ]
    return _rendered("earlier", rows=rows)


def reopened(visit: Visit) -> str:
    """That there is a spec now: the page is to be opened again."""
    return _rendered("reopened", visit=visit)


def previewed(result: HierarchyResult) -> str:
    """The labels of values that a user typed."""
    (item,) = result.hierarchies
    rows = [labels for labels, _ in item.examples]
    return _rendered("preview", item=item, rows=rows)


def certified(found: Certificate, start: Path) -> str:
    """A certificate: what is claimed, and how any user verifies it.

    Args:
        found: the certificate.
        start: the directory that the server was started in, which names of paths begin at.
    """
    place = found.directory.relative_to(start.resolve()).as_posix()
    return _rendered("certificate", found=found, facts=certificate_facts(found, place), parts=certificate_parts(found))


def tree(drawn: Drawn, settings: Settings) -> str:
    """The tree of a hierarchy, to be rebuilt by moving its labels.

    Args:
        drawn: the tree.
        settings: whether values of the table may be shown.
    """
    return _rendered("tree", drawn=drawn, nodes=json.dumps(drawn.nodes), settings=settings, most=MOST_LABELS)


def manual_page(page: manual.Page) -> str:
    """A page of the documentation."""
    return _rendered("manual", page=page)


# --- Meanwhile -----------------------------------------------------------------------------


def waiting(visit: Visit, job: Job) -> str:
    """How far a question is, and a button that stops it."""
    return _rendered("waiting", visit=visit, job=job, nodes=number(job.nodes) if job.nodes else "")


def problems(messages: Sequence[str]) -> str:
    """What is wrong with what was asked."""
    return _rendered("problems", messages=messages)


def spec_name(spec: Spec) -> str:
    """What a spec is called in the names of files."""
    return (spec.shown or "spec").replace("/", "-").replace(" ", "-")
