"""``lectern.expand``: a text or an open document with the resources that it mentions; reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import invalid, optional_text, text_of
from mcp_lectern.lsp.session import SCHEME

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.expand"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Each mentioned resource once, in order, framed, and then the text. Contract 6."""
    from mcp_lectern.lsp.expanding import Wish, expanded

    text, markdown = _source(lectern, argument)
    style = _style(argument)
    wish = Wish(text, markdown, style, _limit(argument), _unlisted(argument))
    hub = await lectern.hub()
    lectern.approval.mention_unapproved()
    work = expanded(hub, wish)
    expansion = await lectern.progress.shown("Reading what the text mentions", work)
    return {
        "text": expansion.text,
        "resources": [outcome.to_json() for outcome in expansion.resources],
    }


def _source(lectern: Lectern, argument: Mapping[str, Any]) -> tuple[str, bool]:
    """The text, and whether what is code in it holds no mentions; a text by itself counts as Markdown."""
    document, text = argument.get("textDocument"), optional_text(argument, "text")
    if (document is None) == (text is None):
        raise invalid("Give either “textDocument” or “text”.")
    if text is not None:
        return text, lectern.session.has_code(optional_text(argument, "languageId") or "markdown")
    if not isinstance(document, Mapping):
        raise invalid("“textDocument” must be an object with a “uri”.")
    uri = text_of(document, "uri")
    opened = lectern.session.documents.get(uri)
    if opened is None:
        raise invalid(f"{uri} is not open: open it, or give its “text”.")
    if uri.startswith(SCHEME):
        raise invalid("This document is a resource: what it holds is never searched for mentions.")
    return opened.text, lectern.session.has_code(opened.language_id)


def _style(argument: Mapping[str, Any]) -> Any:
    from mcp_lectern.features.expand import FORMATS

    style = optional_text(argument, "format")
    if style not in (None, *FORMATS):
        raise invalid("“format” must be “xml”, “markdown” or “json”.")
    return style or "xml"


def _limit(argument: Mapping[str, Any]) -> int | None:
    limit = argument.get("maxBytes")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise invalid("“maxBytes” must be a whole number, 0 or more.")
    return limit


def _unlisted(argument: Mapping[str, Any]) -> bool:
    unlisted = argument.get("unlisted")
    if unlisted is not None and not isinstance(unlisted, bool):
        raise invalid("“unlisted” must be true or false.")
    return bool(unlisted)
