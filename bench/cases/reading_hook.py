"""What the scripted server of a case does with a read, where an answer from a script would not do."""

from __future__ import annotations

import json
from typing import Any

Json = Any
MEGABYTE = 1_000_000
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
STATE = "s\u00e4\n"


def handle(server: Any, message: dict[str, Json]) -> bool:
    """Answer ``resources/read`` in the way that the script names."""
    if message.get("method") != "resources/read":
        return False
    return WAYS[server.script["reading"]](server, message)


def _whole(message: Json, text: str = "fine") -> Json:
    return {"id": message["id"], "result": {"contents": [{"uri": "a://1", "text": text}]}}


def _endless(server: Any, message: Json) -> bool:
    """The first answer is a line without an end for a long time; what follows is in order."""
    if server.state.get("once"):
        server.send(_whole(message))
        return True
    server.state["once"] = True
    server.write(f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":{{"contents":[{{"text":"')
    for _ in range(100):
        server.write("x" * MEGABYTE)
    server.write('"}]}}\n')
    return True


def _bytewise(server: Any, message: Json) -> bool:
    for byte in json.dumps({"jsonrpc": "2.0", **_whole(message)}).encode() + b"\n":
        server.write(bytes([byte]))
    return True


def _asks(server: Any, message: Json) -> bool:
    """Ask first; what comes back has to hold the state as it was, and an answer."""
    params = message["params"]
    if "inputResponses" not in params:
        question = {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA}
        asked = {"who": {"method": "elicitation/create", "params": question}}
        result: Json = {"resultType": "input_required", "inputRequests": asked, "requestState": STATE}
    else:
        content = params["inputResponses"]["who"].get("content") or {}
        kept = "state kept" if params.get("requestState") == STATE else "state lost"
        item = {"uri": "a://1", "text": f"for {content.get('name')}, {kept}"}
        result = {"resultType": "complete", "contents": [item], "ttlMs": 600_000, "cacheScope": "private"}
    server.send({"id": message["id"], "result": result})
    return True


WAYS = {"endless": _endless, "bytewise": _bytewise, "asks": _asks}
