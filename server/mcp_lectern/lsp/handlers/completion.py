"""``textDocument/completion``: the list after ``@``; must not know how matches are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.features.completion import Question
    from mcp_lectern.lsp.server import Lectern

Late = Sequence["Question"]

PATIENCE = 0.35
"""Seconds that an answer without anything to show waits for values, asking after a pause included."""


def register(lectern: Lectern) -> None:
    """Offer completion and its resolve step."""
    from mcp_lectern.lsp.capabilities import TRIGGERS

    options = types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True)

    @lectern.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: types.CompletionParams) -> dict[str, Any] | None:
        if lectern.session.hub is None and _in_mention(lectern, params):
            # The very first @ of a day: no editor asks again by itself when the answer to it was empty.
            await lectern.hub()
        answer, late = complete(lectern, params)
        if late and await lectern.values.arrived(late, PATIENCE):
            answer, _ = complete(lectern, params)
        return answer

    @lectern.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> dict[str, Any]:
        return resolved(lectern, item)


def complete(lectern: Lectern, params: types.CompletionParams) -> tuple[dict[str, Any] | None, Late]:
    """The answer as plain JSON, or None outside a mention; and what may be worth a short wait.

    That is nothing where there is anything to show: what is at hand never waits for a server.
    """
    session = lectern.session
    document = session.living(params.text_document.uri)
    if document is None:
        return None, ()
    place = params.position
    offset = document.offset(place.line, place.character, session.encoding)
    if "@" not in document.line(place.line) or session.index(document).is_code(offset):
        return None, ()
    hub = session.hub
    if hub is None:
        return None, ()
    from mcp_lectern.features.completion import complete as answer_of
    from mcp_lectern.hub.status import troubles
    from mcp_lectern.lsp.to_proto.completion import completion_list

    answer = answer_of(
        document.text,
        offset,
        hub.catalogue.without(session.hidden),
        hub.indexes,
        hub.states_shown(),
        limit=session.settings.completion_limit,
        troubles=troubles(hub.status()),
        proposals=lectern.values.known,
        recency=session.recency,
    )
    if answer is None:
        return None, ()
    hub.want()
    lectern.approval.mention_unapproved()
    lectern.values.ask(answer.questions)
    session.offered(document, answer)
    return completion_list(answer, document, session), () if answer.at_hand else answer.questions


def _in_mention(lectern: Lectern, params: types.CompletionParams) -> bool:
    """Whether there will be an answer, which alone is worth waiting for the hub."""
    from mcp_lectern.mentions.cursor import at

    # Whether its language holds mentions is not known before the hub is there.
    document = lectern.session.documents.get(params.text_document.uri)
    if document is None:
        return False
    place = params.position
    offset = document.offset(place.line, place.character, lectern.session.encoding)
    return at(document.text, offset, ()) is not None


def resolved(lectern: Lectern, item: types.CompletionItem) -> dict[str, Any]:
    """The item with its documentation, from what is listed; an item that is no longer listed stays bare."""
    from mcp_lectern.lsp.to_proto.completion import documented

    return documented(lectern.session, lectern.plain(item))
