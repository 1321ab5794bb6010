"""Results and errors of resource methods, judged; must not do I/O.

Specification 2026-07-28, basic (resultType) and server/resources (error handling).
"""

from __future__ import annotations

from typing import Any

from mcp_lectern.mcp.errors import InputRequired, InvalidResult, ResourceNotFound, ServerError
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS

Json = Any

OLD_NOT_FOUND = -32002


def complete(result: Json, *, server: str, method: str, subject: str = "") -> dict[str, Json]:
    """The result, if it is a finished one. Raises InvalidResult, or InputRequired where a read asks a question."""
    if not isinstance(result, dict):
        raise invalid("no object", server=server, method=method, subject=subject)
    kind = result.get("resultType", "complete")
    if kind == "complete":
        return result
    if kind == "input_required" and method == "resources/read":
        raise InputRequired(
            f'Server "{server}" asks a question before it answers {method}{_about(subject)}, '
            "and questions cannot be answered here.",
            server=server,
            method=method,
        )
    raise invalid(f"the result type {str(kind)[:50]!r}", server=server, method=method, subject=subject)


def invalid(what: str, *, server: str, method: str, subject: str = "") -> InvalidResult:
    """The error for a result of the wrong shape."""
    return InvalidResult(
        f'Server "{server}" answered {method}{_about(subject)} with {what}, which the protocol does not allow; '
        "its author should know.",
        server=server,
        method=method,
    )


def as_not_found(error: ServerError, uri: str) -> ServerError:
    """The error of a read as ResourceNotFound where its code means that, else as it is.

    -32602 and -32002 do; 0 does if data or message name the URI, since several servers use it so.
    """
    names_uri = uri in error.server_message or _names(error.data, uri)
    if error.code not in (INVALID_PARAMS, OLD_NOT_FOUND) and not (error.code == 0 and names_uri):
        return error
    return ResourceNotFound(
        f'Server "{error.server}" has no {uri}: {error.server_message} (code {error.code}).',
        server=error.server,
        method=error.method,
        code=error.code,
        server_message=error.server_message,
        data=error.data,
    )


def _names(data: Json, uri: str) -> bool:
    return isinstance(data, dict) and data.get("uri") == uri


def _about(subject: str) -> str:
    return f" for {subject}" if subject else ""
