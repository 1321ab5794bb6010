"""Every way in which talking to an MCP server fails; must not know transports or editors.

McpError
├── StartFailed          the process or endpoint could not be started or reached
├── VersionMismatch      no protocol version in common
├── ConnectionLost       the server went away; pending calls fail at once
├── RequestTimeout       no answer in time
├── ServerError          the server answered with a JSON-RPC error
│   └── ResourceNotFound ... to resources/read, with a code that means so
├── InvalidResult        the answer is not what the specification allows
├── TooLarge             the answer exceeds the limit
└── InputRequired        the server asks for input that nobody can give here
"""

from __future__ import annotations


class McpError(Exception):
    """Base of all. ``str()`` is one sentence with server, method and what to do.

    ``server``: the configured name. ``method``: the MCP method or None. ``retryable``: whether the same
    call may succeed later. ``code``: the JSON-RPC code where one was received, an int or a str as sent.
    """

    retryable = False

    def __init__(
        self,
        message: str,
        *,
        server: str,
        method: str | None = None,
        code: int | str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.server = server
        self.method = method
        self.code = code


class StartFailed(McpError):
    """``exit_code`` and ``stderr_tail`` are set where a process died during its start."""

    retryable = True

    def __init__(
        self, message: str, *, server: str, exit_code: int | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message, server=server)
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class VersionMismatch(McpError):
    """The message names the versions of both sides."""


class ConnectionLost(McpError):
    """``exit_code`` and ``stderr_tail`` where a process died."""

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        server: str,
        method: str | None = None,
        exit_code: int | None = None,
        stderr_tail: str = "",
    ) -> None:
        super().__init__(message, server=server, method=method)
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class RequestTimeout(McpError):
    """The message names the limit in seconds."""

    retryable = True


class ServerError(McpError):
    """``server_message`` is the server's own words, ``data`` its data member."""

    def __init__(
        self,
        message: str,
        *,
        server: str,
        method: str | None,
        code: int | str | None,
        server_message: str,
        data: object = None,
    ) -> None:
        super().__init__(message, server=server, method=method, code=code)
        self.server_message = server_message
        self.data = data
        self.retryable = code == -32603


class ResourceNotFound(ServerError):
    """-32602 or -32002 on resources/read, or 0 that names the URI (specification, server/resources)."""


class InvalidResult(McpError):
    """A result of the wrong shape, or of a resultType that this client does not know."""


class TooLarge(McpError):
    """The message names the limit in bytes."""


class InputRequired(McpError):
    """The read needs an answer from a person (multi round-trip request)."""
