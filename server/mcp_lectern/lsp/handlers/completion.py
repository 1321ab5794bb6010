"""``textDocument/completion``: the list after ``@``; must not know how matches are ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer completion and its resolve step."""
    from mcp_lectern.lsp.capabilities import TRIGGERS

    options = types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True)

    @lectern.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    def completion(params: types.CompletionParams) -> dict[str, Any] | None:
        return complete(lectern, params)

    @lectern.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> dict[str, Any]:
        return resolved(lectern, item)


def complete(lectern: Lectern, params: types.CompletionParams) -> dict[str, Any] | None:
    """The answer as plain JSON, or None outside a mention."""
    session = lectern.session
    document = session.living(params.text_document.uri)
    if document is None:
        return None
    place = params.position
    offset = document.offset(place.line, place.character, session.encoding)
    if "@" not in document.line(place.line) or session.index(document).is_code(offset):
        return None
    hub = session.hub
    if hub is None:
        return _while_loading(lectern, document.text, offset)
    from mcp_lectern.features.completion import complete as answer_of
    from mcp_lectern.lsp.to_proto.completion import completion_list

    answer = answer_of(
        document.text,
        offset,
        hub.catalogue,
        hub.indexes,
        hub.states_shown(),
        limit=session.settings.completion_limit,
    )
    if answer is None:
        return None
    hub.want()
    lectern.approval.mention_unapproved()
    return completion_list(answer, document, session)


def _while_loading(lectern: Lectern, text: str, offset: int) -> dict[str, Any] | None:
    from mcp_lectern.mentions.cursor import at

    if at(text, offset, ()) is None:
        return None
    lectern.wanted_early = True
    return {"isIncomplete": True, "items": []}


def resolved(lectern: Lectern, item: types.CompletionItem) -> dict[str, Any]:
    """The item with its documentation, from what is listed; an item that is no longer listed stays bare."""
    from mcp_lectern.lsp.to_proto.completion import documented

    return documented(lectern.session, lectern.plain(item))
