"""What all addresses of the page do alike: read a form, put a question, and answer soon, or say how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from kanon_sql.explore import views
from kanon_sql.explore.access import KEY, Access
from kanon_sql.explore.visits import Settings, Visit, Visits
from kanon_sql.explore.work import Job, Work
from kanon_sql.spec import Spec

__all__ = ["Asking", "form_of", "spec_of"]

WAIT_SECONDS = 0.25
"""Seconds until a page is told how far a question is, instead of its answer."""


class Asking:
    """What answers an address is made of.

    Args:
        work: does what is asked.
        visits: the open pages.
        settings: what is allowed.
        access: lets tabs in.
    """

    def __init__(self, work: Work, visits: Visits, settings: Settings, access: Access) -> None:
        self._work = work
        self._visits = visits
        self._settings = settings
        self._access = access

    def _visit(self, request: Request) -> Visit:
        visit = self._visits.get(request.path_params["visit"], request.headers[KEY])
        if visit is None:
            raise HTTPException(410)
        return visit

    def _begin(self, visit: Visit, asked: Callable[..., Any], show: Callable[[Any], str]) -> Job:
        job = self._work.ask(visit.id, asked, show)
        visit.add(job)
        return job

    def _supersede(self, visit: Visit) -> None:
        """No user waits any more for what the controls said before."""
        if visit.latest is not None and not visit.latest.answer.done():
            self._work.stop(visit.latest)
        visit.latest = None

    async def _soon(self, visit: Visit, job: Job) -> Response:
        """The answer if it comes soon, else how far it is."""
        await asyncio.to_thread(wait, [job.answer], WAIT_SECONDS)
        if not job.answer.done():
            return HTMLResponse(views.waiting(visit, job), 202)
        found = job.answer.result()
        if not job.counted:
            job.counted = True
            visit.count(found)
        return HTMLResponse(job.show(found))


def spec_of(visit: Visit) -> Spec:
    """What a page asks about; there is no such thing where it has no spec yet."""
    if visit.spec is None:
        raise HTTPException(404)
    return visit.spec


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, each once."""
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=2_000))
    except ValueError:
        raise HTTPException(400) from None
