"""The sample server's answers that need no connection state; must not know an era's envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_lectern.cli.demo_server import templates, tour

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
LEGACY_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

_HOUR_MS = 3_600_000
_MOST_VALUES = 100


class RefusalError(Exception):
    """A request that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Replies:
    """Lists, reads and completions over the tour; ``page_size`` is the number of entries in a page."""

    def __init__(self, moment: Callable[[], tour.Moment], page_size: int) -> None:
        self._moment = moment
        self._page_size = page_size

    def answer(self, method: str, params: dict[str, Any], *, legacy: bool) -> dict[str, Any]:
        """The result of a method that both eras have, with caching hints where the era has them.

        Raises RefusalError for an unknown method, a bad parameter, or a URI that is not there.
        """
        if method == "resources/list":
            found = self._page("resources", [room.descriptor for room in self._rooms().values()], params)
        elif method == "resources/templates/list":
            found = self._page("resourceTemplates", list(templates.DESCRIPTORS), params)
        elif method == "resources/read":
            found = self._read(self.uri(params), legacy)
        elif method == "completion/complete":
            return {"completion": _complete(params)}
        else:
            raise RefusalError(METHOD_NOT_FOUND, f"Method not found: {method}")
        if legacy:
            found.pop("ttlMs")
            return found
        return {**found, "cacheScope": "public"}

    def uri(self, params: dict[str, Any]) -> str:
        """The parameter ``uri``; raises RefusalError where it is no text."""
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RefusalError(INVALID_PARAMS, "uri must be a string")
        return uri

    def listed(self, params: dict[str, Any], *, legacy: bool) -> str:
        """The parameter ``uri``; raises RefusalError where nothing of that URI can be read."""
        uri = self.uri(params)
        if not self.is_listed(uri) and templates.read(uri) is None:
            raise _not_found(uri, legacy)
        return uri

    def is_listed(self, uri: object) -> bool:
        """Whether ``resources/list`` has this URI now."""
        return isinstance(uri, str) and uri in self._rooms()

    def _rooms(self) -> dict[str, tour.Exhibit]:
        entries = range(1, self._moment().journal_entries + 1)
        return tour.exhibits() | {f"{tour.JOURNAL}{number}": tour.journal(number) for number in entries}

    def _page(self, key: str, entries: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
        start = _position(params["cursor"], len(entries)) if "cursor" in params else 0
        end = start + self._page_size
        page: dict[str, Any] = {key: entries[start:end], "ttlMs": _HOUR_MS}
        if end < len(entries):
            page["nextCursor"] = f"from-{end}"
        return page

    def _read(self, uri: str, legacy: bool) -> dict[str, Any]:
        room = self._rooms().get(uri)
        if room is not None:
            return {"contents": room.contents(self._moment()), "ttlMs": 0 if room.moves else _HOUR_MS}
        contents = templates.read(uri)
        if contents is None:
            raise _not_found(uri, legacy)
        return {"contents": contents, "ttlMs": _HOUR_MS}


def _position(cursor: object, count: int) -> int:
    if isinstance(cursor, str) and cursor.startswith("from-"):
        digits = cursor.removeprefix("from-")
        if digits.isascii() and digits.isdigit() and len(digits) < 9 and int(digits) <= count:
            return int(digits)
    raise RefusalError(INVALID_PARAMS, "Invalid cursor")


def _not_found(uri: str, legacy: bool) -> RefusalError:
    return RefusalError(LEGACY_NOT_FOUND if legacy else INVALID_PARAMS, "Resource not found", {"uri": uri})


def _complete(params: dict[str, Any]) -> dict[str, Any]:
    reference, argument = params.get("ref"), params.get("argument")
    context = params.get("context")
    chosen = context.get("arguments") if isinstance(context, dict) else None
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise RefusalError(INVALID_PARAMS, "ref and argument must be objects")
    template, name, typed = reference.get("uri"), argument.get("name"), argument.get("value")
    if not (isinstance(template, str) and isinstance(name, str) and isinstance(typed, str)):
        raise RefusalError(INVALID_PARAMS, "ref.uri, argument.name and argument.value must be strings")
    values = templates.values(template, name, typed, chosen if isinstance(chosen, dict) else {})
    if values is None:
        raise RefusalError(INVALID_PARAMS, f"No template here has an argument {name!r}")
    more = len(values) > _MOST_VALUES
    return {"values": values[:_MOST_VALUES], "total": len(values), "hasMore": more}
