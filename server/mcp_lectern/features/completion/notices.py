"""The one remark on servers that cannot answer; must not know resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcp_lectern.features.completion.model import Action
from mcp_lectern.text.untrusted import single_line

_SHORT = "listed in part"
"""No state of its own: the server is ready, and a list of it failed or was cut short."""
_REMARKS = (
    ("notTrusted", "{} needs your approval before it may start", "lectern.approve", "Approve"),
    ("needsSignIn", "{} needs you to sign in", "lectern.signIn", "Sign in"),
    ("failed", "{} failed to start; accept to try again", "lectern.restart", "Restart"),
    ("backingOff", "{} failed to start; accept to try again", "lectern.restart", "Restart"),
    (_SHORT, "{} did not list everything; accept to try again", "lectern.refresh", "List again"),
    ("stopped", "{} is stopped; accept to start it", "lectern.restart", "Restart"),
    ("starting", "{} is still starting", None, ""),
)


@dataclass(frozen=True, slots=True)
class Remark:
    """``text`` about a server, the ``action`` that accepting it does, and ``why``, as its status has it.

    ``why`` may hold a server's own words.
    """

    server: str
    text: str
    action: Action | None
    why: str


def notice(names: Iterable[str], states: Mapping[str, str], troubles: Mapping[str, str]) -> Remark | None:
    """The most pressing remark about these servers, or None.

    ``troubles`` holds a sentence for each server that cannot be used or does not list all that it has.
    """
    by_state: dict[str, list[str]] = {}
    for name in names:
        state = states.get(name, "")
        by_state.setdefault(_SHORT if state == "ready" and name in troubles else state, []).append(name)
    for state, text, command, title in _REMARKS:
        servers = by_state.get(state)
        if servers:
            first, others = servers[0], len(servers) - 1
            name = single_line(first)
            shown = f"{name} (and {others} more)" if others else name
            action = Action(command, f"{title} {name}", {"server": first}) if command else None
            # What went wrong before says nothing about a start that is under way.
            why = troubles.get(first, "") if action else ""
            return Remark(first, text.format(shown), action, why)
    return None
