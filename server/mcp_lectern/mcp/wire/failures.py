"""Why one request failed, as an error with a sentence for people; must not decide whether it failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp_lectern.mcp.errors import (
    ConnectionLost,
    EraChanged,
    InputRequired,
    InvalidResult,
    RequestTimeout,
    ResourceNotFound,
    ServerError,
    TooLarge,
)

from .jsonrpc import Refusal

LAST_WORDS: Final = 500
LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as messages name it. ``subject`` is what it is about (a URI, say), or empty."""

    server: str
    method: str
    subject: str = ""

    def refused(self, refusal: Refusal) -> ServerError:
        """The server answered with an error."""
        code = "" if refusal.code is None else f" (code {refusal.code})"
        return ServerError(
            f'Server "{self.server}" refused {self.what}: {refusal.message}{code}.',
            server=self.server,
            method=self.method,
            code=refusal.code,
            server_message=refusal.message,
            data=refusal.data,
        )

    def not_found(self, error: ServerError) -> ResourceNotFound:
        """The same error, known to mean that there is no such resource."""
        return ResourceNotFound(
            f'Server "{self.server}" has no {self.subject}: {error.server_message} (code {error.code}).',
            server=self.server,
            method=self.method,
            code=error.code,
            server_message=error.server_message,
            data=error.data,
        )

    def timed_out(self, seconds: float, setting: str) -> RequestTimeout:
        """Nothing came within ``seconds``, which is the value of ``setting``."""
        return RequestTimeout(
            f'Server "{self.server}" did not answer {self.what} within {seconds:g} s; '
            f"try again, or raise {setting} if it is slow.",
            server=self.server,
            method=self.method,
        )

    def too_large(self, limit: int) -> TooLarge:
        """The answer has more than ``limit`` bytes."""
        return TooLarge(
            f'Server "{self.server}" answered {self.what} with more than the limit of {limit} bytes; '
            "raise limits.readBytes if that much is wanted.",
            server=self.server,
            method=self.method,
        )

    def invalid(self, what: str) -> InvalidResult:
        """The answer is not what the protocol allows; ``what`` is a phrase for what it is instead."""
        return InvalidResult(
            f'Server "{self.server}" answered {self.what} with {what}, '
            "which the protocol does not allow; its author should know.",
            server=self.server,
            method=self.method,
        )

    def broken_off(self, reason: str = "") -> ConnectionLost:
        """The connection that was to bring the answer ended before it; the server itself may be well.

        ``reason`` is a phrase for what came instead.
        """
        why = f" ({reason[:LONGEST_REASON]})" if reason else ""
        return ConnectionLost(
            f'The connection to server "{self.server}" broke off before it answered {self.what}{why}; '
            "try again.",
            server=self.server,
            method=self.method,
        )

    def needs_input(self, why: str, *, declined: bool = False, unasked: bool = False) -> InputRequired:
        """The server asks something first; ``why`` is a clause that says why it gets no answer."""
        return InputRequired(
            f'Server "{self.server}" asks something before it answers {self.what}, and {why}.',
            server=self.server,
            method=self.method,
            declined=declined,
            unasked=unasked,
        )

    @property
    def what(self) -> str:
        """The request in a few words."""
        return f"{self.method} for {self.subject}" if self.subject else self.method


def lost(
    server: str, method: str | None, exit_code: int | None, stderr_tail: str, reason: str = ""
) -> ConnectionLost:
    """The server is gone; ``method`` is the request that it took with it, if any. ``reason`` is a phrase."""
    how = reason or ("ended" if exit_code is None else f"ended with exit code {exit_code}")
    during = f" during {method}" if method else ""
    words = f"; its last words: {last_words(stderr_tail)}" if stderr_tail else ""
    return ConnectionLost(
        f'Server "{server}" {how}{during}{words}',
        server=server,
        method=method,
        exit_code=exit_code,
        stderr_tail=stderr_tail,
    )


def era_changed(server: str, method: str | None) -> EraChanged:
    """The server is another one now; ``method`` is the request that showed it, or fell to it."""
    during = f" during {method}" if method else ""
    return EraChanged(
        f'Server "{server}" speaks another era of the protocol than before{during}; try again.',
        server=server,
        method=method,
    )


def last_words(stderr_tail: str) -> str:
    """Its last lines, as far as a sentence can carry them: at most ``LAST_WORDS`` characters."""
    cut = stderr_tail[-LAST_WORDS:]
    if len(stderr_tail) > LAST_WORDS and "\n" in cut.strip():
        cut = cut.split("\n", 1)[1]
    return cut.strip()
