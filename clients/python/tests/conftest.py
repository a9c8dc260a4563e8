from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

BRAND = "brd_1"


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Service:
    """A server that answers as `respond` says, and records what it gets."""

    url: str
    received: list[Request]
    respond: Callable[[Request, BaseHTTPRequestHandler], Reply | None]
    """Returns None if it has responded by itself."""


def page(resource: str, ids: list[str], next_cursor: str | None = None, brand: str = BRAND, **headers: str) -> Reply:
    time = "2026-11-21T00:00:00.000Z"
    data = [{"id": each, "created_at": time, "updated_at": time, "status": "pending"} for each in ids]
    body = {"resource": resource, "count": len(data), **({} if next_cursor is None else {"next_cursor": next_cursor}), "data": data}
    return Reply(body, headers={"X-Brand-Id": brand, "X-Request-Id": "req_1", **headers})


def refusal(status: int, code: str, **headers: str) -> Reply:
    return Reply({"error": {"code": code, "message": f"this is {code}", "request_id": "req_1"}}, status, {"X-Brand-Id": BRAND, **headers})


@pytest.fixture
def service() -> Iterator[Service]:
    started: Service

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
            started.received.append(request)
            reply = started.respond(request, self)
            if reply is None:
                self.close_connection = True
                return
            content = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = respond

        def log_message(self, *_: object) -> None:
            """Tests read what a server has received instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # Tests of deadlines leave handlers that still wait.
    server.block_on_close = False
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    started = Service(f"http://127.0.0.1:{server.server_port}", [], lambda request, _: page(request.path.split("/")[-1], []))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield started
    server.shutdown()
    server.server_close()
