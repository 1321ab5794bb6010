"""An address that lets its holder into a code-server that asks for a password; must not know VS Code.

Whoever reaches code-server can run programs here: it must not be open to every local user and web page.
"""

from __future__ import annotations

import http.client
import secrets
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Door:
    """Listens on 127.0.0.1; signs in whoever comes by ``address``, and sends them on to ``target``."""

    def __init__(self, target: str, password: str) -> None:
        self._key = secrets.token_urlsafe(24)
        door = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                if not secrets.compare_digest(query.get("key", [""])[0], door._key):
                    self.send_error(404)
                    return
                self.send_response(302)
                self.send_header("Set-Cookie", _session(target, password))
                self.send_header("Location", target)
                self.send_header("Cache-Control", "no-store")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Say nothing: the address is a secret."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        """Whoever has it is let in."""
        return f"http://127.0.0.1:{self._server.server_port}/?key={self._key}"

    def __enter__(self) -> Self:
        """Open it."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self._server.shutdown()
        self._server.server_close()


def _session(target: str, password: str) -> str:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(target).netloc)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/login", urllib.parse.urlencode({"password": password}), headers)
    cookie = connection.getresponse().getheader("Set-Cookie")
    connection.close()
    if cookie is None:
        msg = "code-server did not accept the password"
        raise RuntimeError(msg)
    return cookie
