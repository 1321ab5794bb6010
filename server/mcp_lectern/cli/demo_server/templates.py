"""The sample server's resource templates and the values of their arguments; must not know JSON-RPC."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from mcp_lectern.cli.demo_server.tour import Contents, text_item

KEYS = "tour://keys/{editor}/{action}"
GLOSSARY = "tour://glossary/{term}"

_KEYS: dict[str, dict[str, str]] = {
    "VS Code": {
        "complete": "Type @, then a few letters of a name, a title or a URI.",
        "hover": "Rest the pointer on a mention, or press Ctrl+K Ctrl+I.",
        "follow": "Ctrl+click a mention, or press F12 on it.",
        "open": "Run Lectern: Open Resource... from the command palette.",
    },
    "Neovim": {
        "complete": "Type @ with vim.lsp.completion on, or press Ctrl-X Ctrl-O.",
        "hover": "Press K on a mention.",
        "follow": "Press Ctrl-] on a mention.",
    },
    "Emacs": {
        "complete": "Type @, then M-x completion-at-point.",
        "hover": "Put point on a mention; eldoc shows it in the echo area.",
        "follow": "Press M-. on a mention.",
    },
    "Helix": {
        "complete": "Type @ in insert mode.",
        "hover": "Press space, then k on a mention.",
        "follow": "Press g, then d on a mention.",
    },
}

_GLOSSARY = {
    "catalogue": "What all servers list, as one snapshot.",
    "cursor": "A server's bookmark in a long list; handed back as it came.",
    "mention": "An @ with a server and a URI: the short address of a resource in a text.",
    "resource": "Something that a server lets you read, under a URI.",
    "server": "A program that lists resources, and hands them over when asked.",
    "subscription": "The wish to be told when a resource changes.",
    "template": "A URI with blanks to fill in.",
    "virtual document": "A read-only document that stands for a resource and lies in no folder.",
}

DESCRIPTORS: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": KEYS,
        "name": "keys",
        "title": "Keys by editor",
        "description": "What to press: choose an editor, then one of the actions that it has.",
        "mimeType": "text/plain",
        "annotations": {"audience": ["user"], "priority": 0.7},
    },
    {
        "uriTemplate": GLOSSARY,
        "name": "glossary",
        "title": "A word of the glossary",
        "description": "What a word means in Lectern.",
        "mimeType": "text/plain",
    },
)


def read(uri: str) -> Contents | None:
    """The contents of a URI that one of the templates makes, None where none does."""
    scheme, _, path = uri.partition("://")
    parts = [unquote(part) for part in path.split("/")]
    if scheme != "tour":
        return None
    text = None
    if parts[0] == "keys" and len(parts) == 3:
        text = _KEYS.get(parts[1], {}).get(parts[2])
    elif parts[0] == "glossary" and len(parts) == 2:
        text = _GLOSSARY.get(parts[1])
    return None if text is None else [text_item(uri, "text/plain", text + "\n")]


def values(template: str, argument: str, typed: str, context: dict[str, Any]) -> list[str] | None:
    """The values of an argument that begin with what is typed; None for an unknown template or argument.

    ``context`` holds the arguments already chosen: the actions are those of the chosen editor.
    """
    known = _known(template, argument, context)
    if known is None:
        return None
    wanted = typed.casefold()
    return [value for value in known if value.casefold().startswith(wanted)]


def _known(template: str, argument: str, context: dict[str, Any]) -> list[str] | None:
    if template == GLOSSARY and argument == "term":
        return list(_GLOSSARY)
    if template == KEYS and argument == "editor":
        return list(_KEYS)
    if template == KEYS and argument == "action":
        editor = context.get("editor")
        chosen = [_KEYS[editor]] if isinstance(editor, str) and editor in _KEYS else _KEYS.values()
        return list(dict.fromkeys(action for actions in chosen for action in actions))
    return None
