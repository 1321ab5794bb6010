"""VS Code's mcp.json: ``servers``, beside ``inputs``; also the shape of Lectern's own setting `servers`.

Source: "MCP configuration reference" and "Variables reference" of the VS Code documentation.
"""

from __future__ import annotations

from mcp_lectern.config.dialects.model import Dialect, Surroundings, Unknown, Value, from_environment


def _variable(inner: str, surroundings: Surroundings) -> Value | Unknown:
    kind, colon, name = inner.partition(":")
    if kind == "env" and colon and name:
        value = surroundings.environment(name)
        if value is None:
            return Unknown("is not set in the environment")
        return from_environment(name, value)
    if inner == "userHome":
        return Value(surroundings.home, secret=False)
    if inner == "workspaceFolder":
        folder = surroundings.workspace_folder
        return Unknown("has no value: no folder is open") if folder is None else Value(folder, secret=False)
    if kind == "input" and colon:
        return surroundings.given(name)
    return Unknown("is not a variable that Lectern knows here: write ${env:NAME} for the environment's NAME")


VSCODE = Dialect(
    name="vscode",
    title="VS Code",
    section="servers",
    beside=frozenset({"inputs", "sandbox", "$schema"}),
    ignored=frozenset({"dev", "gallery", "version", "sandbox", "sandboxEnabled", "description"}),
    variable=_variable,
    forms="${workspaceFolder}, ${userHome}, ${env:NAME}, ${input:ID}",
    inputs="inputs",
)
