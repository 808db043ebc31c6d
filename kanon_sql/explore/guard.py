"""Who may talk to the page: the tab that opened the printed address, and nothing that a browser sends by itself.

Browsers keep cookies for all ports of a machine: a page of another user of this machine, on another port, would be
sent them, and could replay them. So there is no cookie. The printed address holds a token behind its ``#``, which
browsers send to no server. The page's script changes it for a key (``access``), once, and keeps that in the tab's own
store, which belongs to this port. It adds the key to each request as a header, and names the page, which is the key's
alone (``visits``): both are checked. A tab may take over the page of another one, whose key then opens it no more: who
has a key had an address of the terminal, which shows each use. Without a key there are the page's empty frame, its
script, its style and pages of the documentation; no word of the data.

More doors stand before that, each enough against another page. The socket listens on this machine alone. A request
must name the server as it was printed (``Host``), so that a name that was pointed at this machine after it was looked
up (DNS rebinding) is refused; so is ``localhost``, since another user may listen at its IPv6 address. What another page
sends names that page (``Origin``, ``Sec-Fetch-Site``), and is refused; no answer has a header that lets another page
read it, or add a header to what it sends.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kanon_sql.explore.access import KEY, Access

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

_NO_KEY = (
    "This page needs the whole address that kanon-sql explore printed last, with its token. An address works "
    "once: when it is used, the terminal shows the next one. If the server was restarted, it printed a new "
    "one.\n"
)


class Guard:
    """The middleware before everything else.

    Args:
        app: what answers those who may ask.
        host: what the server is called, with its port.
        access: knows the keys.
    """

    def __init__(self, app: ASGIApp, host: str, access: Access) -> None:
        self._app = app
        self._host = host
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on; every answer gets the same headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no websocket is open to any user

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope)
        await (answer or self._app)(scope, _bounded(receive), sent)

    def _refusal(self, scope: Scope) -> Response | None:
        """Why a request is not answered; None for one that is."""
        headers = Headers(scope=scope)
        if headers.getlist("host") != [self._host]:
            return PlainTextResponse("unknown host; use the address as it was printed\n", 421)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own, reads = f"http://{self._host}", scope["method"] in ("GET", "HEAD")
        entering = scope["method"] == "GET" and scope["path"] == "/"  # a link may lead here, and shows nothing
        if origin not in (None, own) or (site not in (None, "same-origin", "none") and not entering):
            return PlainTextResponse("this request came from another page\n", 403)
        if not reads and origin != own:
            return PlainTextResponse("this request did not come from a page of this server\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large\n", 413)
        keys = headers.getlist(KEY)
        if _is_open(scope["path"], reads) or (len(keys) == 1 and self._access.holds(keys[0])):
            return None
        return PlainTextResponse(_NO_KEY, 403)


def _is_open(path: str, reads: bool) -> bool:
    """Whether this is a file of the program that holds nothing of the data, or the way in."""
    if reads:
        return path == "/" or path.startswith(("/static/", "/docs/"))
    return path == "/enter"


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
