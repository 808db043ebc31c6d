"""``explore`` as the tests run it: the server in a thread of this process, and somebody who asks it over HTTP."""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import duckdb

from kanon_sql.engines import Engine
from kanon_sql.explore import Settings, prepare
from kanon_sql.spec import Spec
from tests.support.command_line import SPEC, make_clinic


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Somebody:
    """A program that talks to the server as a browser would.

    Attributes:
        address: as it was printed.
        told: what the terminal shows after that.
        key: what the tab was given.
        heard: every answer, the headers included.
        visit: the path of the page.
    """

    address: str
    told: list[str] = field(default_factory=list)
    key: str | None = None
    visit: str = ""
    heard: list[Answer] = field(default_factory=list)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def send(self, path: str, fields: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """One request; headers as keywords, with ``_`` for ``-``; an empty one is not sent."""
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(self.address).port, timeout=60)
        sent = {"Host": self.host, "Sec-Fetch-Site": "same-origin"}
        body, method = None, "GET"
        if fields is not None:
            method, body = "POST", urlencode(fields)
            sent |= {"Origin": f"http://{self.host}", "Content-Type": "application/x-www-form-urlencoded"}
        if self.key is not None:
            sent["X-Kanon-Key"] = self.key
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {name: value for name, value in sent.items() if value})
        answer = connection.getresponse()
        found = Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        connection.close()
        self.heard.append(found)
        return found

    def enter(self) -> None:
        """Open the printed address, keep the key, and have a page."""
        assert self.send("/", Sec_Fetch_Site="none").status == 200
        entered = self.send("/enter", {"token": token_of(self.address)})
        assert entered.status == 200
        self.key = entered.text
        self.open()

    def open(self) -> None:
        """A page of one's own."""
        self.visit = self.send("/visits", {}).text

    def ask(self, what: str, fields: Mapping[str, str] | None = None) -> Answer:
        """Ask a page, and wait for the answer."""
        found = self.send(self.visit + what, fields)
        while found.status == 202:
            (job,) = re.findall(r'data-job="([^"]*)"', found.text)
            time.sleep(0.02)
            found = self.send(self.visit + job)
        return found


def token_of(address: str) -> str:
    """What is behind the ``#`` of an address."""
    return urlsplit(address).fragment.removeprefix("token=")


def make_uneven(path: Path) -> str:
    """The clinic with forty persons whom nobody is like, and a spec that suppresses these: uneven, as is warned of."""
    make_clinic(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE OR REPLACE TABLE visits AS SELECT name, age % 10 AS age, zip, diagnosis FROM visits")
        connection.execute(
            "INSERT INTO visits BY NAME SELECT 'n' || range AS name, 100 + range AS age, 99999 AS zip, "
            "'flu' AS diagnosis FROM range(40)"
        )
    text = SPEC.replace("incognito", "optimal").replace("  - l_diversity: {attribute: diagnosis, l: 2}\n", "")
    text = text.replace("age: {intervals: [5, 10, 20], top: 90}", "age: {}")
    return text.replace("k: 5", "k: 2").replace("max_share: 0.05", "max_share: 0.2")


@contextmanager
def explored(connect: Callable[[], Engine], spec: Spec | None, **settings: Any) -> Iterator[Somebody]:
    """A server that runs inside, and somebody who has the address."""
    told: list[str] = []
    candidates = settings.pop("candidates", None)
    allowed = Settings(settings.pop("database", "the database"), **settings)
    ready = prepare(connect, spec, allowed, port=0, candidates=candidates, announce=told.append)
    thread = threading.Thread(target=ready.run)
    thread.start()
    try:
        yield Somebody(ready.access.address, told)
    finally:
        ready.server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
