"""A configured server together with what trust and launch made of it; starts nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from mcp_lectern.config.inputs import Input
from mcp_lectern.config.model import Launch, Level, Remote, ServerSpec
from mcp_lectern.hub.failure import Failure, Refused
from mcp_lectern.hub.status import State

_MOST_NAMED = 5
"""Inputs that one sentence names."""


@dataclass(frozen=True, slots=True)
class Anew:
    """How an entry that needs something of a person is decided on anew; both belong in a thread.

    ``entry`` is the decision about what is on disk now. ``stamp`` differs once an approval was given or
    taken back by anybody.
    """

    entry: Callable[[], Entry]
    stamp: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Entry:
    """``launched`` is None where the entry cannot be started; then ``refusal`` is a sentence that says why.

    ``changed`` names what differs from an earlier approval. ``anew`` is None where nobody is to be asked: the
    user's own entries that ask for no input, and disabled ones. ``missing`` are the inputs that nobody has
    given yet. ``preparing``: nothing of this is known yet, and an entry that says
    it takes this one's place soon; who wants the server waits for that.
    """

    spec: ServerSpec
    fingerprint: str
    shows: Mapping[str, object]
    approved: bool
    launched: Launch | Remote | None = None
    refusal: str | None = None
    changed: tuple[str, ...] = ()
    anew: Anew | None = field(default=None, compare=False, repr=False)
    preparing: bool = False
    missing: tuple[Input, ...] = ()

    @property
    def can_start(self) -> bool:
        """Whether a wish for this server may start it."""
        return self.approved and self.launched is not None

    @property
    def resting_state(self) -> State:
        """The state before anybody wanted the server."""
        if self.spec.disabled:
            return State.STOPPED
        if not self.approved:
            return State.NOT_TRUSTED
        if self.missing:
            return State.NEEDS_SIGN_IN
        return State.IDLE if self.launched is not None or self.preparing else State.FAILED

    @property
    def roots(self) -> bool:
        """Whether the server may ask for the workspace's folders: stdio servers by default."""
        return self.spec.roots if self.spec.roots is not None else self.spec.kind == "stdio"

    @property
    def protocol(self) -> Literal["auto", "legacy", "modern"]:
        """The era to speak; the configuration has checked the word."""
        return cast("Literal['auto', 'legacy', 'modern']", self.spec.protocol)

    def runs_like(self, other: Entry) -> bool:
        """Whether a process of the other entry serves this one: where an entry is written does not matter."""

        def essence(entry: Entry) -> tuple[object, ...]:
            return (
                entry.launched,
                entry.approved,
                entry.refusal,
                entry.protocol,
                entry.roots,
                entry.spec.kind,
            )

        return essence(self) == essence(other)

    @property
    def warning(self) -> str | None:
        """A sentence about what the entry risks, for the user."""
        return self.launched.warning if isinstance(self.launched, Remote) else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no log may show."""
        return self.launched.secrets if self.launched else ()

    def launch(self) -> Launch | Remote:
        """What to start or to reach. Raises Refused where there is nothing."""
        if not self.can_start or self.launched is None:
            raise self.refused()
        return self.launched

    def refused(self) -> Refused:
        """Why this server cannot be used, and what to do."""
        kind = "serverFailed" if self.approved else "notTrusted"
        if self.approved and self.missing:
            kind = "needsSignIn"
        message = self.refusal or not_approved(self.spec, self.changed)
        return Refused(Failure(kind, message, self.spec.name, unasked=kind == "needsSignIn"))


def not_approved(spec: ServerSpec, changed: tuple[str, ...] = ()) -> str:
    """The sentence for an entry that waits for a person's approval."""
    where = "another program's settings" if spec.origin.level is Level.HOST else "this workspace"
    before = (
        f"The server “{spec.name}” has changed since it was approved ({'; '.join(changed)})"
        if changed
        else f"The server “{spec.name}” comes from {where} ({spec.origin.label}) and is not approved"
    )
    how = "look at it and approve it with “Lectern: Approve Server…” or `mcp-lectern approve`"
    return f"{before}: nothing is started. To use it, {how}."


def not_given(spec: ServerSpec, missing: tuple[Input, ...]) -> str:
    """The sentence for an entry that waits for what a person gives."""
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    wanted = ", ".join(each.label for each in missing[:_MOST_NAMED]) + more
    how = "use “Sign in” in the editor, or `mcp-lectern sign-in`"
    return f"The server “{spec.name}” asks for what only you can give it ({wanted}): {how}."


def not_examined(spec: ServerSpec, too_much: object) -> str:
    """The sentence for an entry that nobody can approve, since something of it would be left out."""
    return (
        f"The server “{spec.name}” ({spec.origin.label}) cannot be approved, and nothing is started: its "
        f"entry leads to {too_much} of the workspace, which is more than is looked at. "
        "Let its command be one script that does the rest."
    )
