"""What each server of the soak does with a read: echoes who was asked for what, now and then late."""

from __future__ import annotations

import os
import threading
from typing import Any


def handle(server: Any, message: dict[str, Any]) -> bool:
    """Every seventh answer comes when later ones may have gone before it."""
    if message.get("method") != "resources/read":
        return False
    uri, count = message["params"]["uri"], server.state.get("count", 0)
    server.state["count"] = count + 1
    text = f"{server.script['answers_as']} {uri} {os.getpid()}"
    answer = {"id": message["id"], "result": {"contents": [{"uri": uri, "text": text}]}}
    if count % 7:
        server.send(answer)
    else:
        threading.Timer(0.005, server.send, [answer]).start()
    return True
