"""What changes a page besides its controls: steps taken back, roles, candidates, and the page of an earlier tab."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from kanon_sql.errors import SpecError
from kanon_sql.explore import questions, views
from kanon_sql.explore.access import KEY
from kanon_sql.explore.buttons import Buttons
from kanon_sql.explore.controls import hierarchy_of
from kanon_sql.explore.requests import form_of, spec_of
from kanon_sql.explore.roles import ROLES, RoleChange, change_role, roles_in
from kanon_sql.explore.visits import Candidate, Visit

__all__ = ["Changes"]

NOW = "the controls now"
"""What a comparison calls the spec that the controls make."""


class Changes(Buttons):
    """The answers to what changes a page."""

    # --- Undo and redo ---

    async def history(self, request: Request) -> Response:
        """What can be taken back, and done again."""
        return HTMLResponse(views.history(self._visit(request)))

    async def step(self, request: Request) -> Response:
        """Take the last step of the controls back, or do it again, and say what it was."""
        visit, way = self._visit(request), request.path_params["way"]
        if way not in ("undo", "redo"):
            raise HTTPException(404)
        back = way == "undo"
        spec_of(visit)
        words = visit.step(back=back)
        if words is None:
            message = "There is nothing to undo." if back else "There is nothing to redo."
        else:
            self._supersede(visit)
            message = f"{'Undone' if back else 'Done again'}: {words}."
        return HTMLResponse(views.history(visit, message))

    # --- Roles ---

    async def columns(self, request: Request) -> Response:
        """Learn the columns of the source, whose roles can be changed."""
        visit = self._visit(request)
        if visit.columns is not None:
            return HTMLResponse("")
        source = spec_of(visit).source

        def show(found: Any) -> str:
            if spec_of(visit).source == source:
                visit.columns = tuple((column.name, column.type) for column in found.columns)
            return views.columns_listed(len(found.columns))

        return await self._soon(visit, self._begin(visit, questions.columns(spec_of(visit)), show))

    async def role(self, request: Request) -> Response:
        """Give a column another role, and say what that does; nothing is dropped that the user has not accepted."""
        visit, form = self._visit(request), await form_of(request)
        spec, name, role = spec_of(visit), form.get("column", ""), form.get("role", "")
        was = roles_in(spec).get(name, "left_out")
        if role not in ROLES or (name not in roles_in(spec) and name not in dict(visit.columns or ())):
            raise HTTPException(404)
        if form.get("was", was) != was:
            raise SpecError(f"{name}: its role was changed elsewhere, to {ROLES[was]}; nothing was changed now")
        drop = form.get("drop") == "1"
        if role != "quasi_identifier" or name in visit.hierarchies:
            change = change_role(spec, name, role, hierarchy=visit.hierarchies.get(name), drop=drop)
            return HTMLResponse(self._changed(visit, name, role, change, "as it was before"))
        if drop is False and (first := change_role(spec, name, role)).spec is None:
            return HTMLResponse(self._changed(visit, name, role, first))

        def show(found: Any) -> str:
            if visit.spec != spec:
                raise SpecError(f"{name}: a control was moved meanwhile; nothing was changed now")
            change = change_role(spec, name, role, hierarchy=hierarchy_of(found.hierarchy, name), drop=drop)
            return self._changed(visit, name, role, change, f"as its type and counts suggest: {found.hint}")

        return await self._soon(visit, self._begin(visit, questions.hierarchy_for(spec, name), show))

    def _changed(self, visit: Visit, name: str, role: str, change: RoleChange, hierarchy: str = "") -> str:
        if change.spec is not None:
            self._supersede(visit)
            visit.has(change.spec)
        return views.role_changed(visit, name, role, change, hierarchy if role == "quasi_identifier" else "")

    async def warnings(self, request: Request) -> Response:
        """What ``anonymize`` would warn of in the rows that it would release."""
        visit = self._visit(request)
        spec, reading = spec_of(visit), visit.reading
        if spec.hash in visit.looked_at:
            return HTMLResponse(views.release_warnings(visit, spec))

        def show(result: Any) -> str:
            visit.remember(visit.looked_at, spec, result, reading)
            return views.release_warnings(visit, spec, result)

        visit.latest = self._begin(visit, questions.with_release_warnings(spec), show)
        return await self._soon(visit, visit.latest)

    # --- Candidates ---

    async def keep(self, request: Request) -> Response:
        """Keep the spec of now as a candidate."""
        visit, form = self._visit(request), await form_of(request)
        visit.keep(form.get("name", ""), spec_of(visit))
        return HTMLResponse(views.candidates(visit))

    async def load(self, request: Request) -> Response:
        """Have the controls say what a candidate says."""
        visit = self._visit(request)
        candidate = _candidate(visit, request)
        self._supersede(visit)
        visit.has(candidate.spec, f"loaded {candidate.name!r}")
        return HTMLResponse(views.candidates(visit, f"The controls are those of {candidate.name!r} now."))

    async def delete(self, request: Request) -> Response:
        """Keep a candidate no more."""
        visit = self._visit(request)
        name = _candidate(visit, request).name
        del visit.candidates[request.path_params["number"]]
        return HTMLResponse(views.candidates(visit, f"{name!r} was deleted."))

    async def compare(self, request: Request) -> Response:
        """Some candidates side by side, and what the controls say now."""
        visit, form = self._visit(request), await form_of(request)
        chosen = {item.name: item.spec for number, item in visit.candidates.items() if f"with.{number}" in form}
        if "with.now" in form:
            chosen = {_free(NOW, chosen): spec_of(visit), **chosen}
        if len(chosen) < 2:
            raise SpecError("fewer than two candidates are selected; keep and select two, or one and the controls now")
        job = self._begin(visit, questions.candidates(chosen), lambda found: views.side_by_side(chosen, found))
        return await self._soon(visit, job)

    # --- Several tables ---

    async def together(self, request: Request) -> Response:
        """The plan of several tables, by their spec as its file is now."""
        visit, load = self._visit(request), self._settings.several
        if load is None:
            raise HTTPException(404)
        visit.related = None

        def show(found: Any) -> str:
            visit.related = found
            return views.together(found)

        return await self._soon(visit, self._begin(visit, questions.planned_together(load), show))

    # --- The page of an earlier tab ---

    async def earlier(self, request: Request) -> Response:
        """The pages of other tabs."""
        return HTMLResponse(views.earlier(self._visits.earlier(request.headers[KEY])))

    async def go_on(self, request: Request) -> Response:
        """Hand one of them to this tab."""
        form = await form_of(request)
        visit = self._visits.go_on(form.get("page", ""), request.headers[KEY])
        if visit is None:
            raise HTTPException(410)
        return PlainTextResponse(f"/{visit.id}/")


def _candidate(visit: Visit, request: Request) -> Candidate:
    found = visit.candidates.get(request.path_params["number"])
    if found is None:
        raise SpecError("there is no such candidate any more; it was deleted, here or in another window")
    return found


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "'"
    return name
