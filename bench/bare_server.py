"""The yardstick: a pygls server with one completion feature that returns 100 ready-made items."""

from __future__ import annotations

from functools import cache

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from bench.descriptors import descriptor

ITEMS = 100
server = LanguageServer("bare", "1.0")


@cache
def ready_made() -> types.CompletionList:
    """The one answer, made when it is first asked for: the start of the process is another row's business."""
    return types.CompletionList(is_incomplete=True, items=[_item(number) for number in range(ITEMS)])


def _item(number: int) -> types.CompletionItem:
    entry = descriptor(number)
    mention = f"@bench:{entry['uri']}"
    covered = types.Range(types.Position(2, 4), types.Position(2, 5))
    return types.CompletionItem(
        label=entry["name"],
        kind=types.CompletionItemKind.File,
        detail=f"{entry['title']} · bench · {entry['mimeType']}",
        text_edit=types.TextEdit(range=covered, new_text=mention),
        filter_text=f"@ {entry['name']} {entry['title']} {entry['uri']}",
        sort_text=f"{number:05}",
    )


@server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["@"]))
def completion(_params: types.CompletionParams) -> types.CompletionList:
    """The same list, whatever was typed."""
    return ready_made()


if __name__ == "__main__":
    server.start_io()
