"""The addresses of the page, and what each answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from kanon_sql.errors import HierarchyError, KanonError, SpecError
from kanon_sql.explore import manual, questions, views
from kanon_sql.explore.access import KEY, Access
from kanon_sql.explore.changes import Changes
from kanon_sql.explore.controls import asked_for, saved
from kanon_sql.explore.requests import form_of, spec_of
from kanon_sql.explore.visits import Settings, Visits
from kanon_sql.explore.work import Work
from kanon_sql.report.html import html_report
from kanon_sql.report.related_page import relational_report
from kanon_sql.spec import Spec

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Plan

__all__ = ["application"]

STATIC = {
    "explore.css": "text/css; charset=utf-8",
    "report.css": "text/css; charset=utf-8",
    "explore.js": "text/javascript; charset=utf-8",
    "keys.js": "text/javascript; charset=utf-8",
    "lattice.js": "text/javascript; charset=utf-8",
    "tree.js": "text/javascript; charset=utf-8",
}


class _Pages(Changes):
    """What answers each address."""

    # --- The page and its files ---

    async def frame(self, _: Request) -> Response:
        """An empty page, whose script enters and fetches what is in it."""
        return HTMLResponse(views.frame())

    async def enter(self, request: Request) -> Response:
        """The key for who has the token of a printed address."""
        key = self._access.enter((await form_of(request)).get("token", ""))
        if key is None:
            return HTMLResponse(views.problems([_SPENT]), 403)
        return PlainTextResponse(key)

    async def new(self, request: Request) -> Response:
        """A page of its own for each window: two of them do not move each other's controls."""
        return PlainTextResponse(f"/{self._visits.new(request.headers[KEY]).id}/")

    async def page(self, request: Request) -> Response:
        """What is in the page as it is."""
        visit = self._visit(request)
        return HTMLResponse(views.opened(visit, self._settings))

    async def static(self, request: Request) -> Response:
        """Its style and script."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        return Response(views.static(name), headers={"content-type": STATIC[name]})

    async def manual(self, request: Request) -> Response:
        """A page of the documentation that an answer refers to."""
        page = manual.page(request.path_params["name"])
        if page is None:
            raise HTTPException(404)
        return HTMLResponse(views.manual_page(page))

    # --- What the controls ask ---

    async def ask(self, request: Request) -> Response:
        """The figures of what the controls say now; what they said before is stopped."""
        visit, form = self._visit(request), await form_of(request)
        late = form.get("revision", str(visit.revision)) != str(visit.revision)
        spec = spec_of(visit) if late else asked_for(spec_of(visit), form)
        self._supersede(visit)
        visit.has(spec, by_form=not any(field.startswith("tree.") for field in form))
        if (known := visit.results.get(spec.hash)) is not None:
            return HTMLResponse(views.answered(visit, spec, known, again=True, late=late))

        reading = visit.reading

        def show(result: Any) -> str:
            visit.remember(visit.results, spec, result, reading)
            return views.answered(visit, spec, result, late=late)

        visit.latest = self._begin(visit, questions.planned(spec), show)
        return await self._soon(visit, visit.latest)

    async def more(self, request: Request) -> Response:
        """All the rest of the plan."""
        visit = self._visit(request)
        spec = spec_of(visit)
        if (known := visit.full.get(spec.hash)) is not None:
            return HTMLResponse(views.in_full(visit, known))

        reading = visit.reading

        def show(result: Any) -> str:
            visit.remember(visit.full, spec, result, reading)
            return views.in_full(visit, result)

        visit.latest = self._begin(visit, questions.planned_in_full(spec), show)
        return await self._soon(visit, visit.latest)

    async def controls(self, request: Request) -> Response:
        """The form again: requirements were added, or levels have names now."""
        return HTMLResponse(views.controlled(self._visit(request)))

    async def nodes(self, request: Request) -> Response:
        """The nodes of one height of the lattice."""
        visit = self._visit(request)
        known = visit.full.get(spec_of(visit).hash)
        given = request.query_params.get("height", "")
        if known is None or known.search is None or known.search.lattice is None or not given.isdecimal():
            raise HTTPException(404)
        return HTMLResponse(views.nodes_at(known, int(given)))

    async def again(self, request: Request) -> Response:
        """Forget what was read, and read the source again with the next question."""
        visit = self._visit(request)
        self._supersede(visit)
        self._work.end(visit.id)
        visit.forget()
        return HTMLResponse("")

    # --- How far, and stop ---

    async def job(self, request: Request) -> Response:
        """The answer of a question, or how far it is."""
        visit = self._visit(request)
        job = visit.jobs.get(request.path_params["number"])
        if job is None:
            raise HTTPException(404)
        return await self._soon(visit, job)

    async def stop(self, request: Request) -> Response:
        """End a search at the best so far."""
        visit = self._visit(request)
        job = visit.jobs.get(request.path_params["number"])
        if job is not None:
            await asyncio.to_thread(self._work.stop, job)
        return HTMLResponse("")

    # --- Without a spec ---

    async def profile(self, request: Request) -> Response:
        """What counts and names suggest for the columns of a table."""
        visit, form = self._visit(request), await form_of(request)
        table = form.get("table", "").strip()
        if not table:
            raise SpecError("no table is named; expected one, such as visits, or a CSV or Parquet file")

        def show(found: Any) -> str:
            visit.drafted = found
            return views.roles(found)

        return await self._soon(visit, self._begin(visit, questions.drafted(table), show))

    async def roles(self, request: Request) -> Response:
        """The spec that follows from what each column is."""
        visit, form = self._visit(request), await form_of(request)
        if visit.drafted is None:
            raise HTTPException(404)
        chosen: dict[str, list[str]] = {key: [] for key in KEYS.values()}
        for index, item in enumerate(visit.drafted.columns):
            role = form.get(f"role.{index}", item.role)
            if role in KEYS:
                chosen[KEYS[role]].append(item.profile.name)
        k = form.get("k", "5")
        if not k.isdecimal() or int(k) < 2:
            raise SpecError("k: expected a whole number of at least 2")

        def show(text: Any) -> str:
            visit.has(Spec.parse(text))
            return views.reopened(visit)

        asked = questions.with_roles(visit.drafted.table, chosen, int(k))
        return await self._soon(visit, self._begin(visit, asked, show))

    # --- Files to keep ---

    async def save(self, request: Request) -> Response:
        """The spec as YAML."""
        spec = spec_of(self._visit(request))
        return _file(saved(spec), f"{views.spec_name(spec)}.yml", "application/yaml")

    async def export(self, request: Request) -> Response:
        """The plan's report, or its JSON."""
        visit = self._visit(request)
        if visit.related is not None:
            return _exported(visit.related, relational_report, "tables", request.path_params["kind"])
        spec = spec_of(visit)
        result = visit.full.get(spec.hash)
        if result is None and spec.hash in visit.results:  # what was waited for is not all of it
            reading = visit.reading
            job = self._begin(visit, questions.planned_in_full(spec), str)
            found: Plan = await asyncio.wrap_future(job.answer)
            visit.count(found)
            visit.remember(visit.full, spec, found, reading)
            result = found
        if result is None:
            raise HTTPException(404)
        if (looked := visit.looked_at.get(spec.hash)) is not None:
            result = views.with_release_warnings(result, looked)
        return _exported(result, html_report, views.spec_name(spec), request.path_params["kind"])


KEYS = {
    "unit": "unit",
    "identifier": "identifiers",
    "quasi_identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "keep": "keep",
}


def _exported(result: Any, report: Callable[[Any], str], name: str, kind: str) -> Response:
    """A result as JSON, or its report."""
    if kind == "json":
        return _file(json.dumps(result.to_dict(), indent=2) + "\n", f"{name}.json", "application/json")
    return _file(report(result), f"{name}.html", "text/html; charset=utf-8")


def _file(text: str, name: str, kind: str) -> Response:
    safe = "".join(char if (char.isalnum() and char.isascii()) or char in "-_." else "_" for char in name)
    return Response(text, headers={"content-type": kind, "content-disposition": f'attachment; filename="{safe}"'})


_SPENT = (
    "This address was used before, or is not the one that kanon-sql explore printed last. It works once: open "
    "the one that the terminal shows now. If you did not use it yourself, another user did: end the server with "
    "Ctrl-C."
)

_MESSAGES = {
    404: "There is no such page.",
    410: (
        "This page has ended: the server was restarted, another tab went on with it, or too many pages were opened "
        "since. Open it again."
    ),
}


async def _http_error(_: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    return HTMLResponse(views.problems([_MESSAGES.get(code, "This page does not support that request.")]), code)


async def _refused(_: Request, error: Exception) -> Response:
    """An error as the command line says it."""
    if isinstance(error, SpecError | HierarchyError):
        messages = [problem.message for problem in error.problems]
    else:
        messages = [str(error)]
    messages += error.notes if isinstance(error, KanonError) else ()
    return HTMLResponse(views.problems(messages), 422)


async def _unexpected(_: Request, error: Exception) -> Response:
    """A defect: its kind alone, since its message may hold a value."""
    return HTMLResponse(views.problems([f"unexpected error: {type(error).__name__}; please report it"]), 500)


def application(work: Work, visits: Visits, settings: Settings, access: Access) -> Starlette:
    """The application, without its guard.

    Args:
        work: does what is asked.
        visits: the open pages.
        settings: what is allowed.
        access: lets tabs in.
    """
    pages = _Pages(work, visits, settings, access)

    def get(path: str, endpoint: Callable[..., Any]) -> Route:
        return Route(path, endpoint, methods=["GET"])

    def post(path: str, endpoint: Callable[..., Any]) -> Route:
        return Route(path, endpoint, methods=["POST"])

    return Starlette(
        routes=[
            get("/", pages.frame),
            post("/enter", pages.enter),
            post("/visits", pages.new),
            get("/earlier", pages.earlier),
            post("/go-on", pages.go_on),
            get("/static/{name}", pages.static),
            get("/docs/reference/{name}", pages.manual),
            get("/{visit}/", pages.page),
            post("/{visit}/ask", pages.ask),
            get("/{visit}/more", pages.more),
            get("/{visit}/controls", pages.controls),
            get("/{visit}/nodes", pages.nodes),
            post("/{visit}/again", pages.again),
            post("/{visit}/together", pages.together),
            post("/{visit}/curve", pages.curve),
            get("/{visit}/history", pages.history),
            post("/{visit}/step/{way}", pages.step),
            get("/{visit}/columns", pages.columns),
            post("/{visit}/role", pages.role),
            get("/{visit}/warnings", pages.warnings),
            post("/{visit}/candidates", pages.keep),
            post("/{visit}/candidates/{number}/load", pages.load),
            post("/{visit}/candidates/{number}/delete", pages.delete),
            post("/{visit}/compare", pages.compare),
            post("/{visit}/risk", pages.risk),
            post("/{visit}/attacks", pages.attacks),
            post("/{visit}/publish", pages.publish),
            post("/{visit}/certify", pages.certify),
            post("/{visit}/preview", pages.preview),
            get("/{visit}/tree", pages.tree),
            post("/{visit}/values", pages.values),
            get("/{visit}/jobs/{number}", pages.job),
            post("/{visit}/jobs/{number}/stop", pages.stop),
            post("/{visit}/profile", pages.profile),
            post("/{visit}/roles", pages.roles),
            get("/{visit}/spec.yml", pages.save),
            get("/{visit}/export.{kind}", pages.export),
        ],
        exception_handlers={HTTPException: _http_error, KanonError: _refused, Exception: _unexpected},
    )
