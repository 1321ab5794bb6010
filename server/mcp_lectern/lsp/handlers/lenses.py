"""``textDocument/codeLens``: over each server's entry in a configuration file, what can be done with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.config.model import Origin
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.lsp.session import Session


def register(lectern: Lectern) -> None:
    """Offer code lenses."""

    @lectern.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(params: types.CodeLensParams) -> list[dict[str, Any]]:
        await lectern.loaded(params.text_document.uri)
        return lenses_of(lectern.session, params.text_document.uri)


def lenses_of(session: Session, uri: str) -> list[dict[str, Any]]:
    """The lenses of all entries that this file configures; an entry that another one hides has none."""
    from mcp_lectern.features.lenses import lenses
    from mcp_lectern.lsp.from_proto import folder_path

    path, hub = folder_path(uri), session.hub
    if path is None or hub is None:
        return []
    found = []
    for name, state in hub.states_shown().items():
        origin = hub.link(name).entry.spec.origin
        if origin.path is None or not _same(path, origin.path):
            continue
        place = _place(session, uri, origin)
        for lens in lenses(name, state):
            command = {"title": lens.title, "command": lens.command, "arguments": [dict(lens.argument)]}
            found.append({"range": {"start": place, "end": place}, "command": command})
    return found


def _place(session: Session, uri: str, origin: Origin) -> dict[str, int]:
    from mcp_lectern.text.encodings import units

    document = session.documents.get(uri)
    before = document.line(origin.line)[: origin.column] if document else " " * origin.column
    return {"line": origin.line, "character": units(before, session.encoding)}


def _same(one: Path, other: Path) -> bool:
    if os.path.normcase(one) == os.path.normcase(other):
        return True
    try:
        return one.name == other.name and one.samefile(other)
    except OSError:
        return False
