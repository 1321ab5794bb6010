"""One file per server command; the listing of this folder is the list of what the server can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.lsp.commands import (
    approve,
    complete,
    expand,
    expand_template,
    log,
    materialize,
    open,  # noqa: A004 - the command's own name
    refresh,
    replace,
    resources,
    restart,
    revoke,
    servers,
    sign_in,
    sign_out,
    stop,
)

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

_MODULES = (
    approve,
    complete,
    expand,
    expand_template,
    log,
    materialize,
    open,
    refresh,
    replace,
    resources,
    restart,
    revoke,
    servers,
    sign_in,
    sign_out,
    stop,
)


def register(lectern: Lectern) -> None:
    """Offer every command."""
    for module in _MODULES:
        lectern.add_command(module.NAME, module.run)
