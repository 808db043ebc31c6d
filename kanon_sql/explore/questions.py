"""What the page asks: each a verb that the command line has, with the visit's frequency sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon_sql.errors import HierarchyError, Problem, SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.explore.visits import Drafted
from kanon_sql.explore.work import Stopped, Tools
from kanon_sql.spec import Spec

__all__ = [
    "attacked",
    "candidates",
    "certified",
    "columns",
    "curve",
    "drafted",
    "hierarchy_for",
    "measured",
    "planned",
    "planned_in_full",
    "planned_together",
    "previewed",
    "published",
    "with_release_warnings",
    "with_roles",
]

SHOWN = 12
"""This many values of the source are previewed, where they may be shown."""

CURVE = (2, 3, 5, 10, 20, 50, 100)
"""The k that the curve is drawn over."""


def planned(spec: Spec) -> Callable[[Tools], Any]:
    """What the best release is: the figures that one waits for."""
    from kanon_sql.verbs.plan import plan

    return lambda tools: plan(
        tools.engine, spec, budget=tools.budget, report=tools.report, kept=tools.kept, compare_recoding=None, brief=True
    )  # fmt: skip


def planned_in_full(spec: Spec) -> Callable[[Tools], Any]:
    """The same with all that can be counted and explained about it: what the search was told is remembered."""
    from kanon_sql.verbs.plan import plan

    levels = spec.recoding.is_full_domain and not spec.search.of_intervals

    def ask(tools: Tools) -> Any:
        def full(*, explain: bool, distributions: bool) -> Any:
            return plan(
                tools.engine, spec, budget=tools.budget, report=tools.report, kept=tools.kept, compare_recoding=None,
                details=True, explain=explain, distributions=distributions,
            )  # fmt: skip

        # Each of these refuses what it cannot show before anything is asked.
        for explain, distributions in ((levels, levels), (levels, False)):
            try:
                return full(explain=explain, distributions=distributions)
            except (SearchTooLarge, UnsupportedError):
                continue
        return full(explain=False, distributions=False)

    return ask


def planned_together(load: Callable[[], Any]) -> Callable[[Tools], Any]:
    """What a release of several tables would lose, by their spec as it is by then."""
    from kanon_sql.verbs.plan import plan

    def ask(tools: Tools) -> Any:
        try:
            spec = load()
        except SpecError as error:  # with the lines of the file, which the user is at work on
            raise SpecError([Problem(str(problem)) for problem in error.problems]) from None
        return plan(tools.engine, spec, report=tools.report)

    return ask


def curve(spec: Spec) -> Callable[[Tools], Any]:
    """What each k costs."""
    from kanon_sql.verbs.compare import compare

    return lambda tools: compare(
        tools.engine, {"this spec": spec}, CURVE, budget=tools.budget, report=tools.report, kept=tools.kept
    )  # fmt: skip


def with_release_warnings(spec: Spec) -> Callable[[Tools], Any]:
    """What the best release is, and what ``anonymize`` would warn of: its rows are read into a scratch table."""
    from kanon_sql.verbs.plan import plan

    return lambda tools: plan(
        tools.engine, spec, budget=tools.budget, report=tools.report, kept=tools.kept, compare_recoding=None,
        brief=True, release_warnings=True,
    )  # fmt: skip


def candidates(chosen: Mapping[str, Spec]) -> Callable[[Tools], dict[str, Any]]:
    """The plan of each candidate, by its name, with what its release would be warned of; or why there is none."""
    plans = {name: with_release_warnings(spec) for name, spec in chosen.items()}

    def ask(tools: Tools) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, (name, question) in enumerate(plans.items(), 1):

            def report(stage: str, nodes: int | None = None, number: int = number) -> None:
                tools.report(f"{number} of {len(plans)}: {stage}", nodes)

            try:
                found[name] = question(replace(tools, report=report))
            except (SpecError, HierarchyError, UnsupportedError) as error:
                found[name] = error
        return found

    return ask


def columns(spec: Spec) -> Callable[[Tools], Any]:
    """The columns of the source."""
    from kanon_sql.verbs.init import columns_of_source

    return lambda tools: columns_of_source(tools.engine, spec, report=tools.report)


def hierarchy_for(spec: Spec, column: str) -> Callable[[Tools], Any]:
    """A hierarchy that ``init`` suggests for a column of the source."""
    from kanon_sql.verbs.init import suggest_hierarchy

    return lambda tools: suggest_hierarchy(tools.engine, spec, column, report=tools.report)


def measured(spec: Spec, threshold: float, fraction: float | None, *, release: bool) -> Callable[[Tools], Any]:
    """How easily persons can be found again.

    Args:
        spec: what others may know, and who a person is.
        threshold: who has a larger risk is counted.
        fraction: the share of the population that is in the table; None where it is not known.
        release: in the release that stands, whose rows are counted, since it names no persons; else in the source.
    """
    from kanon_sql.verbs.risk import risk

    asked = spec if release else spec.model_copy(update={"release": None, "release_file": None})
    return lambda tools: risk(
        tools.engine, asked, spec.shown if release else None, threshold=threshold, sampling_fraction=fraction,
        count_rows=release, report=tools.report,
    )  # fmt: skip


def attacked(spec: Spec) -> Callable[[Tools], Any]:
    """What attacks on the published release reach."""
    from kanon_sql.verbs.audit import audit

    return lambda tools: audit(tools.engine, spec, report=tools.report)


def published(spec: Spec) -> Callable[[Tools], Any]:
    """Write, verify and publish the release."""
    from kanon_sql.verbs.anonymize import anonymize

    return lambda tools: anonymize(tools.engine, spec, report=tools.report, details=True)


def certified(spec: Spec, directory: Path, by: str | None) -> Callable[[Tools], Any]:
    """Write a certificate of the published release.

    Args:
        spec: the spec that the release was published by.
        directory: where to write it.
        by: who certifies; None to name no one.
    """
    from kanon_sql.verbs.certify import certify

    def ask(tools: Tools) -> Any:
        def report(stage: str, nodes: int | None) -> None:
            if tools.budget.interrupted is not None and tools.budget.interrupted():
                raise Stopped("the query was stopped before it had an answer")  # between two of its many statements
            tools.report(stage, nodes)

        return certify(tools.engine, spec, directory, by=by, report=report)

    return ask


def drafted(table: str) -> Callable[[Tools], Drafted]:
    """What ``init`` suggests for the columns of a table."""
    from kanon_sql.verbs.init import Roles, Suggestion, init

    def call(tools: Tools) -> Drafted:
        heard: list[Suggestion] = []

        def listen(suggestions: Sequence[Suggestion], k: int) -> tuple[Roles, int | None]:
            heard.extend(suggestions)
            return Roles(), k

        text = init(tools.engine, table, report=tools.report, ask=listen)
        return Drafted(table, tuple(heard), text)

    return call


def with_roles(table: str, roles: Mapping[str, Sequence[str]], k: int) -> Callable[[Tools], str]:
    """The spec that ``init`` writes once a user said what each column is.

    Args:
        table: its name, or a file's.
        roles: ``unit``, ``identifiers``, ``quasi_identifiers``, ``sensitive`` and ``keep`` -> columns.
        k: how many rows, or persons, look alike.
    """
    from kanon_sql.verbs.init import Roles, init

    unit = next(iter(roles["unit"]), None)
    chosen = Roles(
        roles["quasi_identifiers"], roles["sensitive"], roles["identifiers"], roles["keep"], unit, rows=unit is None
    )  # fmt: skip
    return lambda tools: init(tools.engine, table, report=tools.report, ask=lambda *_: (chosen, k))


def previewed(spec: Spec, column: str, values: Sequence[str] | None) -> Callable[[Tools], Any]:
    """The labels that a hierarchy makes.

    Args:
        spec: it has the hierarchy.
        column: whose it is.
        values: what a user typed, and the source is not read; None for the values of the source that most rows have.
    """
    from kanon_sql.verbs.hierarchy import hierarchy

    given = None if values is None else {column: list(values)}
    return lambda tools: hierarchy(
        tools.engine, spec, [column], values=given, reveal=SHOWN if values is None else len(values), report=tools.report
    )  # fmt: skip
