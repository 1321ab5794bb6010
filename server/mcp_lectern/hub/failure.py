"""Failures as the editor and the command line tell them: one sentence, a kind, where; must not know LSP."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_lectern.mcp import errors

_KINDS: tuple[tuple[type[errors.McpError], str], ...] = (
    (errors.ResourceNotFound, "notFound"),
    (errors.TooLarge, "tooLarge"),
    (errors.RequestTimeout, "timeout"),
    (errors.InvalidResult, "protocol"),
    (errors.VersionMismatch, "protocol"),
    (errors.InputRequired, "protocol"),
    (errors.SignInFailed, "needsSignIn"),
)
_NEEDS_SIGN_IN = "needsSignIn"
_HOW_TO_SIGN_IN = "Use “Sign in” in the editor, or `mcp-lectern sign-in`."
_STDERR_SHOWN = 600
"""Characters of a dead process's stderr that a message carries."""


@dataclass(frozen=True, slots=True)
class Failure:
    """``kind`` is one of contract 6's; ``code`` the MCP error's own code where there was one.

    ``unasked``: a read that a person causes may succeed, since they can be asked something for it.
    """

    kind: str
    message: str
    server: str | None = None
    uri: str | None = None
    code: int | str | None = None
    unasked: bool = False


class Refused(Exception):
    """Raised where a command or a read cannot be done; carries the :class:`Failure` to tell."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def refused(kind: str, message: str, *, server: str | None = None, uri: str | None = None) -> Refused:
    """A refusal that never reached a server."""
    return Refused(Failure(kind, message, server, uri))


def of_error(error: errors.McpError, uri: str | None = None) -> Failure:
    """The failure that an MCP error means; a dead process adds its exit code and the end of its stderr."""
    if isinstance(error, errors.InputRequired) and error.declined:
        return Failure("cancelled", message_of(error), error.server, uri, error.code)
    kind = next((name for kind, name in _KINDS if isinstance(error, kind)), "serverFailed")
    if needs_sign_in(error):
        kind = _NEEDS_SIGN_IN
    unasked = isinstance(error, errors.InputRequired) and error.unasked
    return Failure(kind, message_of(error), error.server, uri, error.code, unasked)


def needs_sign_in(error: errors.McpError) -> bool:
    """Whether a person can help by signing in."""
    return isinstance(error, errors.Unauthorized) and error.sign_in


def may_heal(error: errors.McpError) -> bool:
    """Whether another try makes sense without anybody having changed anything here."""
    if isinstance(error, (errors.HttpFailure, errors.SignInFailed)):
        return error.retryable
    if isinstance(error, errors.StartFailed):
        return error.exit_code is not None or isinstance(error, errors.Unreachable)
    return isinstance(error, (errors.ConnectionLost, errors.RequestTimeout))


def message_of(error: errors.McpError) -> str:
    """The error's sentence, with what the process last said where it died and the sentence lacks it."""
    if needs_sign_in(error):
        return f"{error.message} {_HOW_TO_SIGN_IN}"
    tail = getattr(error, "stderr_tail", "").strip()
    if not tail or tail[-_STDERR_SHOWN:] in error.message:
        return error.message
    return f"{error.message} Its last words: {tail[-_STDERR_SHOWN:]}"
