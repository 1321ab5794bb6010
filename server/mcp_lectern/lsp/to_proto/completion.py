"""A completion answer as LSP's plain JSON; this runs a hundred times for every letter that is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.to_proto.markup import markup
from mcp_lectern.lsp.to_proto.ranges import range_of

if TYPE_CHECKING:
    from mcp_lectern.features.completion import CompletionAnswer, Item
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.text.document import Document

_KINDS = {"resource": 17, "template": 15, "server": 9, "value": 12, "notice": 1}
"""LSP's File, Snippet, Module, Value, Text: what an editor's icon says."""


def completion_list(answer: CompletionAnswer, document: Document, session: Session) -> dict[str, Any]:
    """The list; ``isIncomplete`` throughout a half-typed mention."""
    span = range_of(document, answer.start, answer.end, session.encoding)
    return {
        "isIncomplete": answer.incomplete,
        "items": [_item(item, span, session) for item in answer.items],
    }


def _item(item: Item, span: dict[str, Any], session: Session) -> dict[str, Any]:
    client = session.client
    plain: dict[str, Any] = {
        "label": item.label,
        "kind": _KINDS[item.kind.value],
        "filterText": item.filter_text,
        "sortText": item.sort_text,
        "textEdit": {"range": span, "newText": item.insert_text},
    }
    if client.label_details:
        plain["labelDetails"] = {"detail": item.detail, "description": item.description}
    elif item.description:
        plain["detail"] = item.description
    if item.uri:
        plain["data"] = {"server": item.server, "uri": item.uri}
    if item.documentation:
        plain["documentation"] = markup(item.documentation, markdown=client.markdown_documentation)
    if item.action is not None:
        action = item.action
        argument = dict(action.argument)
        plain["command"] = {"title": action.title, "command": action.command, "arguments": [argument]}
    elif item.unfinished and client.trigger_suggest:
        plain["command"] = {"title": "Complete", "command": client.trigger_suggest}
    return plain


def documented(session: Session, item: dict[str, Any]) -> dict[str, Any]:
    """The item with its documentation, from what is listed now."""
    data = item.get("data")
    if session.hub is None or not isinstance(data, dict):
        return item
    from mcp_lectern.features.completion import documentation

    server, uri = data.get("server"), data.get("uri")
    if isinstance(server, str) and isinstance(uri, str):
        text = documentation(session.hub.catalogue, server, uri)
        if text is not None:
            item["documentation"] = markup(text, markdown=session.client.markdown_documentation)
    return item
