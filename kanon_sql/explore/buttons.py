"""What the buttons of the page ask: comparisons, risk, attacks, hierarchies; and what writes: publish, certify."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from kanon_sql.errors import SpecError
from kanon_sql.explore import questions, trees, views
from kanon_sql.explore.controls import about, asked_for
from kanon_sql.explore.requests import Asking, form_of, spec_of
from kanon_sql.explore.visits import Visit

__all__ = ["Buttons"]

MOST_TYPED = 20
"""This many values are previewed at a time."""


class Buttons(Asking):
    """The answers to buttons."""

    async def curve(self, request: Request) -> Response:
        """What each k costs."""
        visit = self._visit(request)
        job = self._begin(visit, questions.curve(spec_of(visit)), lambda found: views.compared(found, "curve"))
        return await self._soon(visit, job)

    async def risk(self, request: Request) -> Response:
        """How easily persons can be found again."""
        visit, form = self._visit(request), await form_of(request)
        threshold = _share(form.get("threshold") or "0.05", "threshold")
        fraction = _share(form["fraction"], "sampling fraction") if form.get("fraction") else None
        asked = questions.measured(spec_of(visit), threshold, fraction, release=form.get("of") == "release")
        job = self._begin(visit, asked, lambda found: views.reported(found, "risk"))
        return await self._soon(visit, job)

    async def attacks(self, request: Request) -> Response:
        """What attacks on the published release reach."""
        visit = self._visit(request)
        job = self._begin(visit, questions.attacked(spec_of(visit)), lambda found: views.reported(found, "attacks"))
        return await self._soon(visit, job)

    async def publish(self, request: Request) -> Response:
        """Write, verify and publish, where that is allowed."""
        visit, form = self._visit(request), await form_of(request)
        if not self._settings.may_publish:
            raise SpecError("this page cannot publish; start it with --allow-publish")
        _refuse_unseen(visit, form)
        job = self._begin(
            visit, questions.published(spec_of(visit)), lambda found: views.reported(found, "published", "The release")
        )
        return await self._soon(visit, job)

    async def certify(self, request: Request) -> Response:
        """Write a certificate of the published release, where that is allowed."""
        visit, form = self._visit(request), await form_of(request)
        if not self._settings.may_publish:
            raise SpecError("this page cannot write a certificate; start it with --allow-publish")
        _refuse_unseen(visit, form)
        out = _below(self._settings.directory, form.get("directory", ""))
        asked = questions.certified(spec_of(visit), out, form.get("by", "").strip() or None)
        start = self._settings.directory
        return await self._soon(visit, self._begin(visit, asked, lambda found: views.certified(found, start)))

    async def preview(self, request: Request) -> Response:
        """The labels that a hierarchy makes of values that a user typed."""
        visit, form = self._visit(request), await form_of(request)
        column = form.get("column", "")
        name = _column(visit, form)
        values = [item.strip() for item in form.get("values", "").split(",") if item.strip()][:MOST_TYPED]
        if not values and not self._settings.reveals:
            raise SpecError(
                "no value was entered; expected values such as 37, 52. Values of the table are shown only with "
                "--allow-reveal"
            )
        spec = asked_for(spec_of(visit), {f"rule.{column}": form[f"rule.{column}"]} if f"rule.{column}" in form else {})
        asked = questions.previewed(spec, name, values or None)
        job = self._begin(visit, asked, lambda found: views.previewed(found))
        return await self._soon(visit, job)

    async def tree(self, request: Request) -> Response:
        """The tree of a column's hierarchy, as the spec has it, to be rebuilt by moving its labels."""
        visit = self._visit(request)
        name = _column(visit, request.query_params)
        return HTMLResponse(views.tree(trees.tree_of_spec(spec_of(visit), name), self._settings))

    async def values(self, request: Request) -> Response:
        """The same with the values of the table, where these may be views."""
        visit, form = self._visit(request), await form_of(request)
        name = _column(visit, form)
        if not self._settings.reveals:
            raise SpecError("values of the table are shown only with --allow-reveal; type the values of the tree")
        settings, spec = self._settings, spec_of(visit)
        asked = trees.tree_of_table(spec, name)
        return await self._soon(visit, self._begin(visit, asked, lambda found: views.tree(found.drawn, settings)))


def _refuse_unseen(visit: Visit, form: Mapping[str, str]) -> None:
    """Refuse what writes where the page shows the answer to another spec than the one that would be meant.

    Raises:
        SpecError: a control was moved and has no answer yet, or was moved where the same page is open once more.
    """
    if form.get("asked", spec_of(visit).hash) != spec_of(visit).hash:
        raise SpecError(
            "this page shows the answer for other settings: a control was changed here, or in another tab; wait "
            "for the new answer, or open the page again, and check it first"
        )


def _column(visit: Visit, form: Mapping[str, str]) -> str:
    """A quasi-identifier by its name, or by its position in the form.

    Raises:
        SpecError: the roles were changed since, so that it is no quasi-identifier, or the position is another column's.
    """
    names, given = list(spec_of(visit).quasi_identifiers), form.get("column", "")
    if "name" in form:
        if form["name"] not in names:
            raise SpecError(f"{form['name']}: it is no quasi-identifier now; only these have a hierarchy")
        return form["name"]
    if form.get("about", about(spec_of(visit))) != about(spec_of(visit)):
        raise SpecError("the roles of columns were changed since the page showed them; load the page again")
    if not (given.isascii() and given.isdecimal()) or int(given) >= len(names):
        raise HTTPException(404)
    return names[int(given)]


def _below(start: Path, given: str) -> Path:
    """A directory to write: inside of the one that the server was started in, which no link leads out of.

    Args:
        start: where the server was started.
        given: what a user typed.

    Raises:
        SpecError: it is empty, no name of a directory, or elsewhere.
    """
    wanted = "expected the name of a new or an empty directory, such as certificate"
    if not given.strip():
        raise SpecError(f"directory: none is named; {wanted}")
    if not given.isprintable():
        raise SpecError(f"directory: a name has no control characters; {wanted}")
    start = start.resolve()
    try:
        found = (start / given.strip()).resolve()
        found.exists()
    except (OSError, ValueError, RuntimeError):
        raise SpecError(f"directory: a directory cannot have this name; {wanted}") from None
    if found == start or not found.is_relative_to(start):
        raise SpecError(
            "directory: the page writes below the directory that it was started in, and nowhere else; "
            f"{wanted}, or use kanon-sql release certify"
        )
    return found


def _share(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpecError(f"{name}: expected a number from 0 to 1") from None
