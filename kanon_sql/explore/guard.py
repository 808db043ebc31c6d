"""Who may talk to the page: only who has the address that was printed, from a page of the server's own.

Four doors, each enough against somebody else. The socket listens on this machine alone. A request must name the server
as it is called here (``Host``), so that a name that was pointed at this machine after it was looked up (DNS rebinding)
is refused. What another page sends names that page (``Origin``, ``Sec-Fetch-Site``), and is refused; no answer has a
header that lets another page read it. And every request needs a cookie that is set for whoever has the token, which
other programs and users of this machine do not have: it is ``SameSite=Strict`` and ``HttpOnly``.

The page with the token is no redirect: a browser would not send a strict cookie along a redirect that began elsewhere.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CONTENT_SECURITY_POLICY", "LARGEST_BODY", "Guard"]

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Scripts and styles are files of the server; nothing is evaluated, framed, or fetched from elsewhere."""

LARGEST_BODY = 1_000_000
"""Bytes of a form; a spec with a tree of some thousand labels is far smaller."""

_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_ENTERED = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>kanon_sql explore</title>'
    '<meta http-equiv="refresh" content="0; url=/"><link rel="icon" href="data:,"></head>'
    '<body><p><a href="/">Open the page</a></p></body></html>'
)

_NO_COOKIE = (
    "This page needs the whole address that kanon-sql explore printed, with its token. If the server was started anew, "
    "it printed a new one.\n"
)


class Guard:
    """The middleware before everything else.

    Args:
        app: what answers those who may ask.
        port: where the server listens.
        token: what the printed address holds.

    Attributes:
        hosts: what the server is called.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._token = token
        self._secret = secrets.token_urlsafe(32)
        self._cookie = f"kanon_explore_{port}"  # browsers keep one jar for all ports of a machine
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, let in, or hand on; every answer gets the same headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no websocket is open to anybody

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope) or self._entrance(scope)
        await (answer or self._app)(scope, _bounded(receive), sent)

    def _refusal(self, scope: Scope) -> Response | None:
        """Why a request is not answered, whoever sent it."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in ([host] for host in self.hosts):
            return PlainTextResponse("unknown host\n", 421)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = f"http://{headers['host']}"
        entering = scope["method"] == "GET" and scope["path"] == "/"  # a link may lead here, and shows nothing
        if origin not in (None, own) or (site not in (None, "same-origin", "none") and not entering):
            return PlainTextResponse("asked by another page\n", 403)
        if scope["method"] not in ("GET", "HEAD") and origin != own:
            return PlainTextResponse("asked by no page of this server\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large\n", 413)
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """The cookie for who has the token, and nothing for who has neither."""
        if scope["method"] == "GET" and scope["path"] == "/" and scope["query_string"]:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
            if len(given) == 1 and secrets.compare_digest(given[0].encode(), self._token.encode()):
                answer = HTMLResponse(_ENTERED)
                answer.set_cookie(self._cookie, self._secret, httponly=True, samesite="strict", path="/")
                return answer
        held = _cookie(Headers(scope=scope), self._cookie)
        if held is None or not secrets.compare_digest(held.encode(), self._secret.encode()):
            return PlainTextResponse(_NO_COOKIE, 403)
        return None


def _cookie(headers: Headers, name: str) -> str | None:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return None
    return jar[name].value if name in jar else None


def _bounded(receive: Receive) -> Receive:
    """What a client sends, and no more of it than a form has: a body may come without its length."""
    taken = 0

    async def received() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            return {"type": "http.disconnect"}
        return message

    return received
