"""``textDocument/codeAction``: what can be done with the mention at the cursor; does nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from mcp_lectern.lsp.session import SCHEME

if TYPE_CHECKING:
    from mcp_lectern.features.actions import Replacement
    from mcp_lectern.features.definition import Target
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document

_FIX = types.CodeActionKind.QuickFix.value


def register(lectern: Lectern) -> None:
    """Offer actions."""
    options = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Empty]
    )

    @lectern.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: types.CodeActionParams) -> list[dict[str, Any]]:
        await lectern.loaded(params.text_document.uri)
        found = [*page_actions(params), *mention_actions(lectern, params)]
        if not lectern.session.client.code_action_literals:
            found = [action for action in found if "command" in action]
        return [action for action in found if _asked_for(action.get("kind", ""), params.context.only)]


def _asked_for(kind: str, only: Any) -> bool:
    wanted = [str(getattr(one, "value", one)) for one in only or [""]]
    return any(not one or kind == one or kind.startswith(f"{one}.") for one in wanted)


def page_actions(params: types.CodeActionParams) -> list[dict[str, Any]]:
    """On the page of a resource that was not read: read it."""
    from mcp_lectern.documents.address import parse

    uri = params.text_document.uri
    key = parse(uri) if uri.startswith(SCHEME) else None
    if key is None:
        return []
    return [_command("Lectern: Read this resource", "lectern.open", {"server": key.server, "uri": key.uri})]


def mention_actions(lectern: Lectern, params: types.CodeActionParams) -> list[dict[str, Any]]:
    """On a mention where mentions are alive in full: what may be meant, opening it, and its server."""
    from mcp_lectern.features.actions import Replacement, actions
    from mcp_lectern.features.definition import target
    from mcp_lectern.features.inline import may_be_inlined
    from mcp_lectern.lsp.from_proto import mention_at

    session, uri = lectern.session, params.text_document.uri
    if session.hub is None or session.living(uri) is None:
        return []
    found = mention_at(session, uri, params.range.start) or mention_at(session, uri, params.range.end)
    if found is None:
        return []
    document, mention = found
    resolution = session.resolutions(session.hub.catalogue).of(mention, suggest=True)
    offered = actions(mention, resolution, session.hub.states_shown())
    answer = [
        _replacement(lectern, params, document, mention, one)
        if isinstance(one, Replacement)
        else _command(one.title, one.command, dict(one.argument))
        for one in offered
    ]
    aim = target(session.hub.catalogue, mention)
    if aim is not None and session.client.applies_edits and may_be_inlined(resolution):
        answer.append(_inlining(lectern, document, mention, aim))
    return answer


def _inlining(lectern: Lectern, document: Document, mention: Mention, aim: Target) -> dict[str, Any]:
    from mcp_lectern.lsp.to_proto.ranges import position_of

    position = position_of(document, mention.start, lectern.session.encoding)
    place = {"textDocument": {"uri": document.uri}, "position": position}
    argument = {**place, "server": aim.server, "uri": aim.uri}
    return _command("Lectern: Replace by its content", "lectern.replace", argument)


def _replacement(
    lectern: Lectern, params: types.CodeActionParams, document: Document, mention: Mention, one: Replacement
) -> dict[str, Any]:
    from mcp_lectern.lsp.to_proto.ranges import range_of

    span = range_of(document, mention.start, mention.end, lectern.session.encoding)
    fixed = [lectern.plain(each) for each in params.context.diagnostics if each.source == "Lectern"]
    return {
        "title": one.title,
        "kind": _FIX,
        "diagnostics": [each for each in fixed if each["range"] == span and each.get("code") == one.fixes],
        "edit": _edit(lectern, document, {"range": span, "newText": one.text}),
    }


def _edit(lectern: Lectern, document: Document, edit: dict[str, Any]) -> dict[str, Any]:
    """Of the version that was looked at, where the client can tell whether that is its own."""
    if not lectern.session.client.document_changes:
        return {"changes": {document.uri: [edit]}}
    which = {"uri": document.uri, "version": document.version}
    return {"documentChanges": [{"textDocument": which, "edits": [edit]}]}


def _command(title: str, command: str, argument: dict[str, Any]) -> dict[str, Any]:
    """A bare command: every client knows those, whatever it makes of literals."""
    return {"title": title, "command": command, "arguments": [argument]}
