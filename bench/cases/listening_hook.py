"""What the scripted server of a case does with ``subscriptions/listen``, in the stateless era."""

from __future__ import annotations

from typing import Any

Json = Any
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
UPDATED = "notifications/resources/updated"


def handle(server: Any, message: dict[str, Json]) -> bool:
    """Acknowledge, leave out or cancel, as the script's ``listening`` says."""
    way = server.script["listening"]
    if message.get("method") == "resources/read" and way == "cancelled":
        _cancel_all(server)
        return False
    if message.get("method") != "subscriptions/listen" or message["id"] in server.listening:
        return False
    wanted = message["params"]["notifications"]
    granted = {} if way == "nothing" else wanted
    _tell(server, message["id"], "notifications/subscriptions/acknowledged", {"notifications": granted})
    server.listening.append(message["id"])
    if not wanted.get("resourceSubscriptions"):
        return True
    if way in ("child", "other"):
        uri = "dir://pq" if way == "other" else "dir://p/a"
        _tell(server, message["id"], UPDATED, {"uri": uri})
    return True


def _cancel_all(server: Any) -> None:
    for identity in server.listening:
        server.send({"method": "notifications/cancelled", "params": {"requestId": identity}})
    server.listening.clear()


def _tell(server: Any, identity: Json, method: str, params: Json) -> None:
    server.send({"method": method, "params": {**params, "_meta": {SUBSCRIPTION: identity}}})
