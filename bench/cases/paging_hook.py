"""What the scripted server of a paging case does with a list, where a fixed order of answers would not do."""

from __future__ import annotations

from typing import Any

Json = Any
EIGHT = [{"uri": f"a://{number}", "name": f"n{number}"} for number in range(8)]


def handle(server: Any, message: dict[str, Json]) -> bool:
    """Answer ``resources/list`` in the way that the script names."""
    if message.get("method") != "resources/list":
        return False
    cursor = (message.get("params") or {}).get("cursor")
    body = WAYS[server.script["paging"]](message, cursor)
    server.send({"id": message["id"], **body})
    return True


def _alternating(_message: Json, cursor: str | None) -> Json:
    return {"result": {"resources": EIGHT, "nextCursor": "B" if cursor == "A" else "A"}}


def _endless(_message: Json, cursor: str | None) -> Json:
    number = int(cursor or 0)
    entry = {"uri": f"a://{number}", "name": f"n{number}"}
    return {"result": {"resources": [entry], "nextCursor": str(number + 1)}}


def _no_first_cursor(message: Json, _cursor: str | None) -> Json:
    if "cursor" in (message.get("params") or {}):
        return {"error": {"code": -32602, "message": "Invalid cursor"}}
    return {"result": {"resources": EIGHT}}


def _expired(_message: Json, cursor: str | None) -> Json:
    if cursor is not None:
        return {"error": {"code": -32602, "message": "expired"}}
    return {"result": {"resources": EIGHT, "nextCursor": "p2"}}


WAYS = {
    "alternating": _alternating,
    "endless": _endless,
    "no first cursor": _no_first_cursor,
    "expired": _expired,
}
