"""The sample server's side of one connection, in both protocol eras; must not know a transport.

Messages in, messages out: ``receive`` answers one decoded message, ``moved`` says what to send when a
resource has changed. Specification 2026-07-28 (basic/versioning, basic/patterns/subscriptions), and the
handshake revisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_lectern import __version__
from mcp_lectern.cli.demo_server.replies import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    RefusalError,
    Replies,
)
from mcp_lectern.cli.demo_server.tour import Moment

MODERN = ("2026-07-28",)
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
BATCHES = "2025-03-26"

_META = "io.modelcontextprotocol/"
_INFO = {"name": "lectern-tour", "title": "A tour of Lectern", "version": __version__}
_CAPABILITIES: dict[str, Any] = {
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
}
_INSTRUCTIONS = "A short tour of Lectern. Start with tour://welcome."

Message = dict[str, Any]


class Conversation:
    """What one client has said so far: its handshake, if any, and what it wants to be told."""

    def __init__(self, moment: Callable[[], Moment], page_size: int = 4) -> None:
        self._replies = Replies(moment, page_size)
        self._version: str | None = None
        self._subscribed: set[str] = set()
        self._streams: dict[str | int, dict[str, Any]] = {}

    def receive(self, message: object) -> list[Any]:
        """The messages to send for a decoded one, in order; a batch is answered as a batch."""
        if isinstance(message, list) and message and self._version == BATCHES:
            answers = [answer for one in message for answer in self._one(one)]
            return [answers] if answers else []
        return self._one(message)

    def moved(self, uri: str) -> list[Message]:
        """The notices that a resource's contents have changed."""
        handshake = [_notice("resources/updated", {"uri": uri})] if uri in self._subscribed else []
        modern = [
            _notice("resources/updated", {"uri": uri}, stream)
            for stream, wanted in self._streams.items()
            if uri in wanted.get("resourceSubscriptions", ())
        ]
        return handshake + modern

    def list_moved(self) -> list[Message]:
        """The notices that the list of resources has changed."""
        handshake = [_notice("resources/list_changed")] if self._version else []
        modern = [
            _notice("resources/list_changed", {}, stream)
            for stream, wanted in self._streams.items()
            if wanted.get("resourcesListChanged")
        ]
        return handshake + modern

    def _one(self, message: object) -> list[Message]:
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return [] if _is_response(message) else [_error(None, INVALID_REQUEST, "Not a JSON-RPC message")]
        method, identifier = message["method"], message.get("id")
        params = message.get("params", {})
        if "id" not in message:
            self._notified(method, params)
            return []
        if isinstance(identifier, bool) or not isinstance(identifier, str | int):
            return [_error(None, INVALID_REQUEST, "A request id is a string or an integer")]
        try:
            if not isinstance(params, dict):
                raise RefusalError(INVALID_PARAMS, "params must be an object")
            return self._request(identifier, method, params)
        except RefusalError as refusal:
            return [_error(identifier, refusal.code, refusal.message, refusal.data)]

    def _notified(self, method: str, params: object) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            stream = params.get("requestId")
            if isinstance(stream, str | int):
                self._streams.pop(stream, None)

    def _request(self, identifier: str | int, method: str, params: Message) -> list[Message]:
        if method == "initialize":
            return [_result(identifier, self._initialize(params))]
        meta = params.get("_meta")
        if isinstance(meta, dict) and f"{_META}protocolVersion" in meta:
            return self._modern(identifier, method, params, meta)
        if self._version is None:
            raise RefusalError(
                INVALID_PARAMS, f"_meta must name {_META}protocolVersion, or initialize comes first"
            )
        return [_result(identifier, self._handshake(method, params))]

    def _initialize(self, params: Message) -> Message:
        asked = params.get("protocolVersion")
        self._version = asked if isinstance(asked, str) and asked in HANDSHAKE else HANDSHAKE[-1]
        return {
            "protocolVersion": self._version,
            "capabilities": _CAPABILITIES,
            "serverInfo": _INFO,
            "instructions": _INSTRUCTIONS,
        }

    def _handshake(self, method: str, params: Message) -> Message:
        if method == "ping":
            return {}
        if method == "resources/subscribe":
            uri = self._replies.listed(params, legacy=True)
            self._subscribed.add(uri)
            return {}
        if method == "resources/unsubscribe":
            self._subscribed.discard(self._replies.uri(params))
            return {}
        return self._replies.answer(method, params, legacy=True)

    def _modern(self, identifier: str | int, method: str, params: Message, meta: Message) -> list[Message]:
        version = meta[f"{_META}protocolVersion"]
        if version not in MODERN:
            supported = {"supported": list(MODERN), "requested": str(version)}
            raise RefusalError(UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
        if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
            raise RefusalError(INVALID_PARAMS, f"_meta must hold {_META}clientCapabilities")
        if method == "subscriptions/listen":
            return [self._listen(identifier, params)]
        if method == "server/discover":
            found: Message = {
                "supportedVersions": list(MODERN),
                "capabilities": _CAPABILITIES,
                "instructions": _INSTRUCTIONS,
                "ttlMs": 3_600_000,
                "cacheScope": "public",
            }
        else:
            found = self._replies.answer(method, params, legacy=False)
        return [
            _result(identifier, {"resultType": "complete", **found, "_meta": {f"{_META}serverInfo": _INFO}})
        ]

    def _listen(self, identifier: str | int, params: Message) -> Message:
        asked = params.get("notifications")
        if not isinstance(asked, dict):
            raise RefusalError(INVALID_PARAMS, "notifications must be an object")
        if identifier in self._streams:
            raise RefusalError(INVALID_REQUEST, "This id is in use by an open subscription")
        granted: Message = {}
        if asked.get("resourcesListChanged") is True:
            granted["resourcesListChanged"] = True
        uris = asked.get("resourceSubscriptions")
        if isinstance(uris, list):
            granted["resourceSubscriptions"] = [uri for uri in uris if self._replies.is_listed(uri)]
        self._streams[identifier] = granted
        return _notice("subscriptions/acknowledged", {"notifications": granted}, identifier)


def _is_response(message: object) -> bool:
    return isinstance(message, dict) and "id" in message and ("result" in message or "error" in message)


def _notice(name: str, params: Message | None = None, stream: str | int | None = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "method": f"notifications/{name}"}
    if stream is not None:
        params = {"_meta": {f"{_META}subscriptionId": stream}, **(params or {})}
    return message if params is None else {**message, "params": params}


def _result(identifier: str | int, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def _error(identifier: str | int | None, code: int, message: str, data: object = None) -> Message:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    named = {} if identifier is None else {"id": identifier}
    return {"jsonrpc": "2.0", **named, "error": error}


def unreadable() -> Message:
    """The answer to a line that is not JSON."""
    return _error(None, -32700, "Parse error")
