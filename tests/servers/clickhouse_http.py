"""ClickHouse's HTTP interface in front of chDB, as far as a client needs it: sessions, settings, errors."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

NOT_SETTINGS = {
    "query", "database", "session_id", "session_timeout", "session_check", "query_id", "client_protocol_version",
    "compress", "decompress", "wait_end_of_query", "buffer_size", "send_progress_in_http_headers",
    "http_headers_progress_interval_ms", "enable_http_compression",
}  # fmt: skip


class Bridge(ThreadingHTTPServer):
    """Every request is one statement, under its own settings; what a session keeps is its temporary tables."""

    daemon_threads = True

    def __init__(self, path: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.path = path
        self.sessions: dict[str, Any] = {}
        self.requests: list[dict[str, str]] = []
        self.lock = threading.Lock()

    def handle_of(self, session: str | None) -> Any:
        import chdb

        if session is None:
            return chdb.connect(self.path)
        with self.lock:
            if session not in self.sessions:
                self.sessions[session] = chdb.connect(self.path)
            return self.sessions[session]


class Handler(BaseHTTPRequestHandler):
    server: Bridge
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        given = {key: values[-1] for key, values in parse_qs(urlsplit(self.path).query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        sql = f"{given.get('query', '')} {body}".strip()
        settings = {key: value for key, value in given.items() if key not in NOT_SETTINGS}
        self.server.requests.append({**given, "sql": sql})
        found = re.search(r"\sFORMAT\s+(\w+)\s*$", sql)
        handle = self.server.handle_of(given.get("session_id"))
        try:
            try:
                for key, value in settings.items():
                    handle.query(f"SET {key} = '{value}'")
                answer = handle.query(sql, found.group(1) if found else "TabSeparated").bytes()
            finally:
                if "session_id" in given:
                    for key in settings:
                        handle.query(f"SET {key} = DEFAULT")
                else:  # nothing outlives the request
                    handle.close()
        except Exception as error:
            text = str(error)[str(error).find("Code: ") :]
            code = re.search(r"Code: (\d+)", text)
            self.answer(500, text.encode(), {"X-ClickHouse-Exception-Code": code.group(1) if code else "1002"})
            return
        self.answer(200, bytes(answer), {"X-ClickHouse-Format": found.group(1) if found else "TabSeparated"})

    do_GET = do_POST

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def bridge(path: str) -> Iterator[Bridge]:
    server = Bridge(path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        for handle in server.sessions.values():
            handle.close()
        thread.join(5)
