"""``lectern.replace``: a mention gives way to what its resource holds; a code action's command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mcp_lectern.lsp.guard import invalid, text_of
from mcp_lectern.text.untrusted import single_line

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.replace"
_LARGEST = 2**31 - 1
"""LSP's ``uinteger``."""


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """``{textDocument, position, server, uri}``: read it, then edit where its mention stands now."""
    uri, position = _place(argument)
    server, resource = text_of(argument, "server"), text_of(argument, "uri")
    if not lectern.session.client.applies_edits:
        raise invalid("This editor applies no edits of a language server.")
    _span(lectern, uri, position, server, resource)
    content = await _content(lectern, server, resource)
    edit = _edit(lectern, uri, _span(lectern, uri, position, server, resource), content)
    params = types.ApplyWorkspaceEditParams(edit=edit, label="Replace a mention by its content")
    # Plain JSON: an answer that is not of its form would otherwise be waited for without an end.
    try:
        answer = await lectern.protocol.ask(types.WORKSPACE_APPLY_EDIT, lectern.plain(params))
    except JsonRpcException as error:
        raise invalid(f"This editor did not apply the edit: {single_line(error.message, 200)}") from error
    return {"applied": isinstance(answer, Mapping) and answer.get("applied") is True}


def _place(argument: Mapping[str, Any]) -> tuple[str, types.Position]:
    document, position = argument.get("textDocument"), argument.get("position")
    if not isinstance(document, Mapping) or not isinstance(position, Mapping):
        raise invalid("“textDocument” and “position” must be given, as LSP writes them.")
    place = types.Position(_number(position.get("line")), _number(position.get("character")))
    return text_of(document, "uri"), place


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise invalid("“position” must have “line” and “character”, as numbers of LSP.")
    return value


def _span(lectern: Lectern, uri: str, position: types.Position, server: str, resource: str) -> types.Range:
    """Where the mention of this resource stands; the text may have changed since somebody looked."""
    from mcp_lectern.features.definition import target
    from mcp_lectern.lsp.from_proto import mention_at

    session = lectern.session
    found = mention_at(session, uri, position) if session.living(uri) else None
    aim = target(session.hub.catalogue, found[1]) if found and session.hub else None
    if found is None or aim is None or (aim.server, aim.uri) != (server, resource):
        raise invalid("There is no mention of this resource there (any more).")
    document, mention = found
    start, end = (document.position(each, session.encoding) for each in (mention.start, mention.end))
    return types.Range(types.Position(*start), types.Position(*end))


async def _content(lectern: Lectern, server: str, resource: str) -> str:
    from mcp_lectern.features.inline import inline
    from mcp_lectern.lsp.virtual import listed_type

    hub = await lectern.hub()
    # What goes into a person's own text for good is never an older copy.
    reading = hub.read(server, resource, asked=True, again=True)
    read = await lectern.progress.shown(f"Reading {resource}", reading)
    content = inline(read, listed_type(lectern.session, server, resource))
    if content is None:
        raise invalid(f"{resource} of “{server}” is not text alone: open it instead.")
    return content


def _edit(lectern: Lectern, uri: str, span: types.Range, content: str) -> types.WorkspaceEdit:
    """Of the version that we know, where the client can tell whether that is its own."""
    edit = types.TextEdit(span, content)
    if not lectern.session.client.document_changes:
        return types.WorkspaceEdit(changes={uri: [edit]})
    version = lectern.session.documents[uri].version
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, [edit])])
