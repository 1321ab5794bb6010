"""What is offered over a server's entry in a configuration file; must not know where the entry stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_Offer = tuple[str, str, Mapping[str, object]]

_START: _Offer = ("Start", "lectern.restart", {})
_STOP: _Offer = ("Stop", "lectern.stop", {})
_RESTART: _Offer = ("Restart", "lectern.restart", {})
_LOG: _Offer = ("Log", "lectern.log", {"reveal": True})
# Without a fingerprint nobody has looked at anything yet: the user is shown all of it and asked.
_APPROVE: _Offer = ("Approve", "lectern.approve", {})
_SIGN_IN: _Offer = ("Sign In", "lectern.signIn", {})

_BY_STATE = {
    "idle": (_START, _LOG),
    "starting": (_STOP, _LOG),
    "ready": (_STOP, _RESTART, _LOG),
    "failed": (_START, _LOG),
    "backingOff": (_START, _STOP, _LOG),
    "stopped": (_START, _LOG),
    "notTrusted": (_APPROVE, _LOG),
    "needsSignIn": (_SIGN_IN, _LOG),
}


@dataclass(frozen=True, slots=True)
class Lens:
    """A title and the server command behind it."""

    title: str
    command: str
    argument: Mapping[str, object]


def lenses(server: str, state: str) -> list[Lens]:
    """The lenses of a server in this state (contract of ``lectern.servers``); none for an unknown one."""
    return [
        Lens(f"Lectern: {title}" if not number else title, command, {"server": server, **more})
        for number, (title, command, more) in enumerate(_BY_STATE.get(state, ()))
    ]
