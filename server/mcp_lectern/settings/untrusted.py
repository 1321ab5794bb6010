"""Which settings count that may come from a folder that somebody cloned; must not know who sent them.

A folder may say what is alive in its documents and name servers, which wait for an approval each. It may not
start anything, look in more places, keep or read more, wait longer, or change how the network is reached.
"""

from __future__ import annotations

from dataclasses import replace

from mcp_lectern.settings.model import Settings
from mcp_lectern.settings.reading import KEYS

HARMLESS = frozenset(
    {
        "languages",
        "completion.limit",
        "diagnostics",
        "codeFences",
        "symbols",
        "filters",
        "documents.languageFromName",
        "servers",
        "configFiles",
    }
)
"""Settings that anybody may set. ``servers`` and ``configFiles`` lead to entries that need an approval."""


def restrained(said: Settings, trusted: Settings) -> tuple[Settings, list[str]]:
    """What counts of ``said``, and the keys of it that do not.

    ``said`` is what all layers say, ``trusted`` what only the trusted ones do. A stricter word counts:
    ``workspaceServers`` may be switched to ``never``, and ``discover`` may lose places.
    """
    taken = {KEYS[key].attribute: getattr(said, KEYS[key].attribute) for key in HARMLESS}
    if said.workspace_servers == "never":
        taken["workspace_servers"] = "never"
    taken["discover"] = tuple(place for place in trusted.discover if place in said.discover)
    settings = replace(trusted, **taken)
    return settings, [key for key in KEYS if _loosens(key, said, settings)]


def _loosens(key: str, said: Settings, settings: Settings) -> bool:
    if key == "discover":
        return not set(said.discover) <= set(settings.discover)
    attribute = KEYS[key].attribute
    return bool(getattr(said, attribute) != getattr(settings, attribute))
