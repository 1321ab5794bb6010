"""``textDocument/codeAction``: what can be done with the mention at the cursor; does nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from mcp_lectern.lsp.session import SCHEME

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer actions."""
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.Empty]
    options = types.CodeActionOptions(code_action_kinds=kinds)

    @lectern.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    def actions(params: types.CodeActionParams) -> list[dict[str, Any]]:
        return [*page_actions(params), *mention_actions(lectern, params)]


def page_actions(params: types.CodeActionParams) -> list[dict[str, Any]]:
    """On the page of a resource that was not read: read it."""
    from mcp_lectern.documents.address import parse

    uri = params.text_document.uri
    key = parse(uri) if uri.startswith(SCHEME) else None
    if key is None:
        return []
    return [_command("Lectern: read this resource", "lectern.open", {"server": key.server, "uri": key.uri})]


def mention_actions(lectern: Lectern, params: types.CodeActionParams) -> list[dict[str, Any]]:
    """On a mention: the fixes of its diagnostic, and opening it."""
    from mcp_lectern.features.definition import target
    from mcp_lectern.lsp.from_proto import mention_at

    session = lectern.session
    found = mention_at(session, params.text_document.uri, params.range.start)
    if found is None or session.hub is None:
        return []
    document, mention = found
    answer = [_replacement(document.uri, diagnostic, text) for diagnostic, text in _fixes(params)]
    aim = target(session.hub.catalogue, mention)
    if aim is not None:
        argument = {"server": aim.server, "uri": aim.uri}
        answer.append(_command("Lectern: open this resource", "lectern.open", argument))
    return answer


def _fixes(params: types.CodeActionParams) -> list[tuple[types.Diagnostic, str]]:
    fixes = []
    for diagnostic in params.context.diagnostics:
        data = diagnostic.data if diagnostic.source == "Lectern" and isinstance(diagnostic.data, dict) else {}
        suggestions = data.get("suggestions")
        texts = suggestions if isinstance(suggestions, list) else []
        fixes += [(diagnostic, text) for text in texts if isinstance(text, str)]
    return fixes


def _replacement(uri: str, diagnostic: types.Diagnostic, text: str) -> dict[str, Any]:
    from lsprotocol import converters

    from mcp_lectern.text.untrusted import single_line

    plain = converters.get_converter().unstructure
    span = plain(diagnostic.range)
    return {
        "title": f"Write {single_line(text, 120)}",
        "kind": "quickfix",
        "diagnostics": [plain(diagnostic)],
        "edit": {"changes": {uri: [{"range": span, "newText": text}]}},
    }


def _command(title: str, command: str, argument: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "command": {"title": title, "command": command, "arguments": [argument]}}
