"""Claude Code's .mcp.json: ``mcpServers``.

Source: "Connect Claude Code to tools via MCP", environment variable expansion, in its documentation.
"""

from __future__ import annotations

import re

from mcp_lectern.config.dialects.model import Dialect, Surroundings, Unknown, Value, from_environment

_FORM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


def _variable(inner: str, surroundings: Surroundings) -> Value | Unknown:
    form = _FORM.fullmatch(inner)
    if form is None:
        return Unknown("is not a variable that Lectern knows here: write ${NAME} or ${NAME:-default}")
    value = surroundings.environment(form[1])
    if value is not None:
        return from_environment(form[1], value)
    if form[2] is not None:
        return Value(form[2], secret=False)
    return Unknown("is not set in the environment and has no default")


CLAUDE = Dialect(
    name="claude",
    title="Claude Code",
    section="mcpServers",
    beside=frozenset({"$schema"}),
    ignored=frozenset({"timeout", "alwaysLoad", "headersHelper", "description"}),
    variable=_variable,
    forms="${NAME}, ${NAME:-default}",
)
