"""Which of one's own resources the demo plays with: one text, where there is any; must not know the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_lectern.lsp.editor import Editor, ResponseError

TRIED = 5
"""Resources that are read to find a text."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A listed resource; ``documents`` are what a read of it gave, None where nobody has read it yet."""

    resource: Json
    documents: Sequence[Json] | None = None

    @property
    def blank(self) -> bool:
        """Whether the server is known to have sent nothing that could be shown."""
        return self.documents is not None and not any(one.get("size") for one in self.documents)

    @property
    def one_text(self) -> bool:
        """Whether it is one document with a text in it."""
        documents = self.documents or ()
        return len(documents) == 1 and documents[0].get("kind") == "text" and not self.blank


async def choose(editor: Editor, items: Sequence[Json], typed: str) -> Chosen:
    """The resource that is meant by what will be typed; else the first single text, or what can be read."""
    wanted = typed.casefold()
    named = [item for item in items if wanted and item["name"].casefold().startswith(wanted)]
    if named:
        return Chosen(named[0])
    likely = sorted(items, key=_unlikely)
    readable: list[Chosen] = []
    for item in likely[:TRIED]:
        chosen = Chosen(item, await _documents(editor, item))
        if chosen.one_text:
            return chosen
        if chosen.documents is not None:
            readable.append(chosen)
    return next((one for one in readable if not one.blank), readable[0] if readable else Chosen(likely[0]))


def _unlikely(item: Json) -> int:
    kind = str(item.get("mimeType") or "")
    return 0 if kind.startswith("text/") else 1 if not kind else 2


async def _documents(editor: Editor, item: Json) -> Sequence[Json] | None:
    where = {"server": item["server"], "uri": item["uri"], "reveal": False}
    try:
        documents: Sequence[Json] = (await editor.command("lectern.open", where))["documents"]
    except ResponseError:
        return None
    return documents
