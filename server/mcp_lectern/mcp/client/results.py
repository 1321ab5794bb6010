"""Results and errors of resource methods, judged; must not do I/O.

Specification 2026-07-28, basic (resultType) and server/resources (error handling).
"""

from __future__ import annotations

from typing import Any, Final

from mcp_lectern.mcp.errors import ServerError
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS

Json = Any

OLD_NOT_FOUND: Final = -32002
READ: Final = "resources/read"


def complete(result: Json, asked: Asked) -> dict[str, Json]:
    """The result, if it is a finished one. Raises InvalidResult."""
    if not isinstance(result, dict):
        raise asked.invalid("no object")
    kind = result.get("resultType", "complete")
    if kind == "complete":
        return result
    raise asked.invalid(f"the result type {str(kind)[:50]!r}")


def is_input_required(result: Json) -> bool:
    """Whether the server wants something first, and the request once more."""
    return isinstance(result, dict) and result.get("resultType") == "input_required"


def as_not_found(error: ServerError, asked: Asked) -> ServerError:
    """The error of a read as ResourceNotFound where its code means that, else as it is.

    -32602 and -32002 do; 0 does if data or message name the URI, since several servers use it so.
    """
    uri = asked.subject
    names_uri = uri in error.server_message or (isinstance(error.data, dict) and error.data.get("uri") == uri)
    if error.code in (INVALID_PARAMS, OLD_NOT_FOUND) or (error.code == 0 and names_uri):
        return asked.not_found(error)
    return error
