"""Every way in which talking to an MCP server fails; must not know transports or editors.

McpError
├── StartFailed          the process or endpoint could not be started or reached
│   └── Unreachable      ... since nothing answers at its address
├── VersionMismatch      no protocol version in common
├── ConnectionLost       the server went away; pending calls fail at once
│   └── EraChanged       ... since another one has taken its place, which is to be spoken to otherwise
├── RequestTimeout       no answer in time
├── ServerError          the server answered with a JSON-RPC error
│   └── ResourceNotFound ... to resources/read, with a code that means so
├── InvalidResult        the answer is not what the specification allows
├── TooLarge             the answer exceeds the limit
├── HttpFailure          a remote server answered with a status, and with no message of the protocol
│   ├── NotUnderstood    ... 400, 404, 405 and the like: it does not know what it was asked
│   ├── Unauthorized     ... 401: nobody is signed in, or the credentials are refused
│   └── Forbidden        ... 403: not with these credentials
├── SignInFailed         a step of signing in to a remote server failed
└── InputRequired        the server asks for input that nobody can or wants to give
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


class Unreachable(StartFailed):
    """No connection to a remote server: name, route, port, certificate or proxy. It may heal by itself."""


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


class EraChanged(ConnectionLost):
    """Nothing was done; the same call over a new connection will be understood."""


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


class HttpFailure(McpError):
    """``status`` is HTTP's; ``retry_after`` is in seconds, where the server names a time."""

    def __init__(
        self,
        message: str,
        *,
        server: str,
        status: int,
        method: str | None = None,
        code: int | str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, server=server, method=method, code=code)
        self.status = status
        self.retry_after = retry_after
        self.retryable = status == 429 or status >= 500


class NotUnderstood(HttpFailure):
    """The endpoint is up and takes no such message: what a server of an older era says to a newer one."""


class Unauthorized(HttpFailure):
    """``challenge`` is the WWW-Authenticate header as sent, None where there was none.

    ``sign_in``: whether signing in may help. It does not where the configuration itself sets an Authorization
    header: those credentials are refused, and only their owner can replace them.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str,
        challenge: str | None,
        sign_in: bool,
        method: str | None = None,
    ) -> None:
        super().__init__(message, server=server, status=401, method=method)
        self.challenge = challenge
        self.sign_in = sign_in


class Forbidden(HttpFailure):
    """``scope`` is what the server says is missing (``insufficient_scope``), None where it does not say."""

    def __init__(
        self,
        message: str,
        *,
        server: str,
        challenge: str | None,
        scope: str | None,
        method: str | None = None,
    ) -> None:
        super().__init__(message, server=server, status=403, method=method)
        self.challenge = challenge
        self.scope = scope


class SignInFailed(McpError):
    """``step`` says at which step it ended; the message names it. ``code`` is an OAuth error code, if any."""

    def __init__(
        self, message: str, *, server: str, step: str, code: str | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message, server=server, code=code)
        self.step = step
        self.retryable = retryable


class InputRequired(McpError):
    """The read needs an answer from a person. ``declined``: they were asked, and gave none.

    ``unasked``: nobody was, since nobody had asked for the read; one that a person causes may succeed.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str,
        method: str | None,
        declined: bool = False,
        unasked: bool = False,
    ) -> None:
        super().__init__(message, server=server, method=method)
        self.declined = declined
        self.unasked = unasked
