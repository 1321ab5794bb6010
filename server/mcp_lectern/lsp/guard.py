"""The one place where failures become LSP response errors (contract 6); it must not know who failed.

-32800 cancelled, -32602 invalidArgument, -32803 everything else; ``data`` is ``{kind, server, uri?, code?}``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.hub.failure import Failure

_CODES = {"cancelled": -32800, "invalidArgument": -32602}
_REQUEST_FAILED = -32803
_MESSAGE_LIMIT = 2000
"""Characters: an editor shows the message in a notification."""


def response_error(failure: Failure) -> JsonRpcException:
    """The response error that tells this failure; the text is inert wherever an editor shows it."""
    from mcp_lectern.text.untrusted import single_line

    data = {"kind": failure.kind, "server": failure.server, "uri": failure.uri, "code": failure.code}
    return JsonRpcException(
        single_line(failure.message, _MESSAGE_LIMIT),
        _CODES.get(failure.kind, _REQUEST_FAILED),
        {key: value for key, value in data.items() if value is not None},
    )


def invalid(message: str) -> JsonRpcException:
    """A wrong argument: the sentence says what to write instead."""
    return JsonRpcException(message, _CODES["invalidArgument"], {"kind": "invalidArgument"})


def text_of(argument: Mapping[str, Any], key: str) -> str:
    """A field that must be there and be a string. Raises the response error otherwise."""
    value = argument.get(key)
    if not isinstance(value, str):
        raise invalid(f"“{key}” must be given, as a string.")
    return value


def optional_text(argument: Mapping[str, Any], key: str) -> str | None:
    """A string field that may be absent or null. Raises the response error for anything else."""
    value = argument.get(key)
    if value is not None and not isinstance(value, str):
        raise invalid(f"“{key}” must be a string.")
    return value


async def guarded(work: Awaitable[Any]) -> Any:
    """The work's answer; whatever failed becomes the response error that tells it."""
    from mcp_lectern.hub.failure import Refused, of_error
    from mcp_lectern.mcp.errors import McpError

    try:
        return await work
    except Refused as refusal:
        raise response_error(refusal.failure) from refusal
    except McpError as error:
        raise response_error(of_error(error)) from error
