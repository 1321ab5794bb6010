"""Which reads a person caused, so that they may be asked something; must not know how a read is made.

Some editors also fetch a document to preview what the pointer merely rests on, and nothing in their request
tells the two apart. A client of such an editor says which documents are in front of the person
(``lectern/shown``): nobody is asked anything for others, which are a page, or what their server returned
unanswered. For any other client a document that it fetches and has not open is one that a person opens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from mcp_lectern.lsp import virtual

if TYPE_CHECKING:
    from mcp_lectern.documents.address import Key
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mcp.wire.resources import ReadResult

SHOWN = "lectern/shown"
_MOST_WAITING = 1000


def register(lectern: Lectern) -> None:
    """Hear which documents are in front of the person."""

    @lectern.feature(SHOWN)
    def shown(params: Any) -> None:
        # pygls gives the parameters of a method of our own as plain JSON, or as an object.
        given = params.get("documents") if isinstance(params, Mapping) else getattr(params, "documents", None)
        now_shown(lectern, given if isinstance(given, (list, tuple)) else ())


def now_shown(lectern: Lectern, documents: Iterable[object]) -> None:
    """These documents and no others. What one of them could not show unasked is asked for now."""
    session = lectern.session
    before = session.shown
    session.shown = frozenset(document for document in documents if isinstance(document, str))
    for document in (session.shown - before) & session.unasked.keys():
        del session.unasked[document]
        lectern.spawn(_ask(lectern, document), "asking for a document")


async def _ask(lectern: Lectern, document: str) -> None:
    from mcp_lectern.hub.failure import Refused
    from mcp_lectern.text.untrusted import single_line

    key = virtual.key_of(lectern.session, document)
    try:
        await virtual.read(lectern, key.server, key.uri, asked=True)
    except Refused as refusal:
        if refusal.failure.kind != "cancelled":
            lectern.show(types.MessageType.Error, single_line(refusal.failure.message, 400))
        return
    virtual.ask_again(lectern, key.server, key.uri)


async def result_for(lectern: Lectern, key: Key, document: str, *, caused: bool = False) -> ReadResult:
    """What a document shows, read now if it is not at hand. Raises Refused.

    ``caused``: a person did, for sure. What was read without asking although its server wanted to ask is
    noted for when the person comes.
    """
    from mcp_lectern.hub.failure import Refused

    session, hub = lectern.session, await lectern.hub()
    kept = hub.contents.to_show(key.server, key.uri)
    if kept is not None and not (kept.unasked and document in session.shown):
        return kept
    # What is being read for a preview is not read twice: only if its server asks, it is read once more.
    begins = not hub.contents.under_way(key.server, key.uri)
    try:
        asked = caused or (begins and _may_ask(lectern, document))
        result = await virtual.read(lectern, key.server, key.uri, asked=asked)
    except Refused as refusal:
        if caused or not refusal.failure.unasked:
            raise
        if not _may_ask(lectern, document):
            _note(lectern, document)
            raise
    else:
        if not result.unasked or not _may_ask(lectern, document):
            if result.unasked:
                _note(lectern, document)
            return result
    # It came to the front while it was read.
    session.unasked.pop(document, None)
    return await virtual.read(lectern, key.server, key.uri, asked=True)


def _may_ask(lectern: Lectern, document: str) -> bool:
    """In front of the person, and not there already when it was read: then somebody merely looks again."""
    session = lectern.session
    if not session.client.tells_shown:
        return document not in session.documents
    return document in session.shown and (document not in session.documents or document in session.unasked)


def _note(lectern: Lectern, document: str) -> None:
    unasked = lectern.session.unasked
    unasked[document] = None
    for old in list(unasked)[:-_MOST_WAITING]:
        del unasked[old]
