"""A hook of the scripted server: reads that ask something first, and answer with the answer.

``ask://NAME`` asks what the script has under ``questions`` for NAME, in the stateless era's way.
"""

from __future__ import annotations

import json
from typing import Any

PREFIX = "ask://"


def handle(server: Any, message: Any) -> bool:
    """Whether the message was answered here."""
    params = message.get("params") or {}
    uri = params.get("uri")
    if message.get("method") != "resources/read" or not str(uri).startswith(PREFIX):
        return False
    if "inputResponses" not in params:
        question = server.script["questions"][uri.removeprefix(PREFIX)]
        asks = {"q": {"method": "elicitation/create", "params": question}}
        result: Any = {"resultType": "input_required", "inputRequests": asks, "requestState": "here"}
    else:
        text = json.dumps(params["inputResponses"]["q"], sort_keys=True)
        item = {"uri": uri, "mimeType": "text/plain", "text": f"Answered: {text}"}
        result = {"resultType": "complete", "contents": [item], "ttlMs": 0}
    server.send({"id": message["id"], "result": result})
    return True
