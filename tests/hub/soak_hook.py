"""What each server of the soak does: echoes who was asked for what, now and then late; tells subscribers."""

from __future__ import annotations

import os
import threading
from typing import Any

LIVE = "soak://live"
UPDATED = "notifications/resources/updated"


def handle(server: Any, message: dict[str, Any]) -> bool:
    """Every seventh answer comes when later ones may have gone before it; a read of ``/poke`` is a change."""
    if message.get("method") in ("resources/subscribe", "subscriptions/listen"):
        _watch(server, message)
    if message.get("method") != "resources/read":
        return False
    uri, count = message["params"]["uri"], server.state.get("count", 0)
    if uri.endswith("/poke") and server.state.get("watched"):
        server.notify(UPDATED, {"uri": LIVE})
    server.state["count"] = count + 1
    text = f"{server.script['answers_as']} {uri} {os.getpid()}" + (f" {count}" if uri == LIVE else "")
    answer = {"id": message["id"], "result": {"contents": [{"uri": uri, "text": text}]}}
    if count % 7:
        server.send(answer)
    else:
        threading.Timer(0.005, server.send, [answer]).start()
    return True


def _watch(server: Any, message: dict[str, Any]) -> None:
    """Only who asked is told."""
    params = message["params"]
    wanted = params.get("notifications", {}).get("resourceSubscriptions", [params.get("uri")])
    server.state["watched"] = server.state.get("watched") or LIVE in wanted
