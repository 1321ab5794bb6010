"""The one remark on servers that cannot answer; must not know resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_lectern.features.completion.model import Action

_REMARKS = (
    ("notTrusted", "{} needs your approval before it may start", "lectern.approve", "Approve"),
    ("needsSignIn", "{} needs you to sign in", "lectern.signIn", "Sign in"),
    ("failed", "{} failed to start; accept to try again", "lectern.restart", "Restart"),
    ("backingOff", "{} failed to start; accept to try again", "lectern.restart", "Restart"),
    ("stopped", "{} is stopped; accept to start it", "lectern.restart", "Restart"),
    ("starting", "{} is still starting", None, ""),
)


def notice(names: Iterable[str], states: Mapping[str, str]) -> tuple[str, str, Action | None] | None:
    """The server, the remark and its command for the most pressing state among these servers, or None."""
    by_state: dict[str, list[str]] = {}
    for name in names:
        by_state.setdefault(states.get(name, ""), []).append(name)
    for state, text, command, title in _REMARKS:
        servers = by_state.get(state)
        if servers:
            first, others = servers[0], len(servers) - 1
            shown = f"{first} (and {others} more)" if others else first
            action = Action(command, f"{title} {first}", {"server": first}) if command else None
            return first, text.format(shown), action
    return None
