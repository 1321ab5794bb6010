"""The steps of the demo, each of which checks what it says; must not know where they are printed.

A step drives the language server as an editor does, and returns a sentence about what happened.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_lectern.cli.choosing import Chosen, choose
from mcp_lectern.lsp.editor import Editor, ResponseError

POLL_SECONDS = 0.05
_VALUE = 12
"""LSP's kind for a value."""
SHOWN = 3
"""How many of the offered resources are printed."""

Step = Callable[[], Awaitable["Told"]]


class FailedStepError(Exception):
    """A step did not do what it says; ``str()`` says what happened instead."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a step did, in one sentence, with lines below it; or why there was nothing to play."""

    sentence: str
    details: Sequence[str] = ()
    played: bool = True


NOTHING = Told("there is nothing to play: no server lists a resource, templates alone", played=False)


def expect(holds: object, otherwise: str) -> None:
    """Raise FailedStepError with this sentence unless something holds."""
    if not holds:
        raise FailedStepError(otherwise)


class Play:
    """One run: what earlier steps found is what later steps use. ``typed`` follows the ``@``.

    ``changing`` is a URI of the first server that changes by itself, ``template`` the name of a template with
    values to choose from; without them, these steps are not played.
    """

    def __init__(
        self,
        editor: Editor,
        workspace: Path,
        typed: str,
        changing: str | None = None,
        template: str | None = None,
    ) -> None:
        self._editor = editor
        self._workspace = workspace
        self._typed = typed
        self._changing = changing
        self._template = template
        self._note = (workspace / "note.md").as_uri()
        self._text = "Have a look at @"
        self._resource: Mapping[str, Any] = {}
        self._chosen = Chosen(self._resource)
        self._link = ""

    def steps(self) -> list[tuple[str, Step]]:
        """All steps with their names, in order."""
        return [
            ("start", self.start),
            ("find", self.find),
            ("complete", self._with_a_resource(self.complete)),
            ("hover", self._with_a_resource(self.hover)),
            ("follow", self._with_a_resource(self.follow)),
            ("open", self._with_a_resource(self.open)),
            *([("live", self.live)] if self._changing is not None else []),
            ("expand", self._with_a_resource(self.expand)),
            *([("template", self.template)] if self._template is not None else []),
            ("end", self.end),
        ]

    def _with_a_resource(self, step: Step) -> Step:
        async def played() -> Told:
            return await step() if self._resource else NOTHING

        return played

    async def start(self) -> Told:
        """``initialize`` is answered, and the server says that it completes after ``@``."""
        began = time.monotonic()
        result = await self._editor.initialize([self._workspace])
        capabilities = result.get("capabilities", {})
        triggers = (capabilities.get("completionProvider") or {}).get("triggerCharacters") or []
        expect("@" in triggers, "the language server does not offer completion at @.")
        self._editor.open(self._note, self._text)
        return Told(f"the language server answered after {time.monotonic() - began:.2f} s")

    async def find(self) -> Told:
        """Typing ``@`` starts the servers; their lists arrive while the editor goes on."""
        await self._complete()
        answer = await self._editor.command("lectern.resources", {"limit": 1000})
        while answer["incomplete"]:
            await asyncio.sleep(POLL_SECONDS)
            answer = await self._editor.command("lectern.resources", {"limit": 1000})
        items, templates = answer["items"], answer["templates"]
        expect(items or templates, f"no server lists a resource. {await self._troubles()}".strip())
        if items:
            self._chosen = await choose(self._editor, items, self._typed)
            self._resource = self._chosen.resource
        servers = sorted({entry["server"] for entry in (*items, *templates)})
        names = ", ".join(servers[:SHOWN]) + (f" and {len(servers) - SHOWN} more" if servers[SHOWN:] else "")
        counts = f"{_count(len(items), 'resource')}, {_count(len(templates), 'template')}"
        return Told(f"typing @ started {names}: {counts}")

    async def _troubles(self) -> str:
        """What the servers that failed say of themselves."""
        servers = (await self._editor.command("lectern.servers"))["servers"]
        return " ".join(f"{server['lastError']}" for server in servers if server.get("lastError"))

    async def complete(self) -> Told:
        """The list holds the resource, and accepting it writes a mention over what was typed."""
        mention, begin = self._resource["mention"], len(self._text)
        for typed in self._spellings():
            self._type(typed, begin)
            items = await self._complete()
            found = next((item for item in items if item["textEdit"]["newText"] == mention), None)
            if found is not None:
                break
        if found is None:
            raise FailedStepError(f"“@{typed}” offers {_count(len(items), 'item')}, but not {mention}.")
        self._accept(found)
        labels = [f"- {_label(item)}" for item in items[:SHOWN]]
        return Told(f"“@{typed}” offers {_count(len(items), 'item')}; Enter writes {mention}", labels)

    def _spellings(self) -> Sequence[str]:
        """What a person types to find the resource: a word of its name, or more where many begin alike."""
        if self._typed:
            return [self._typed]
        name, whole = self._resource["name"], self._resource["mention"].removeprefix("@")
        return [*name.split()[:1], whole]

    def _accept(self, item: Mapping[str, Any]) -> None:
        edit = item["textEdit"]
        span = edit.get("range") or edit["insert"]
        start = span["start"]["character"]
        expect(self._text[start] == "@", "the edit does not begin at the @.")
        expect(span["end"]["character"] >= len(self._text), "the edit leaves a part of what was typed.")
        self._type(edit["newText"], start)

    async def hover(self) -> Told:
        """The mention says what it is."""
        answer = await self._editor.at("textDocument/hover", self._note, 0, len(self._text) - 1)
        contents = answer["contents"] if answer else ""
        text = contents["value"] if isinstance(contents, dict) else str(contents)
        expect(text.strip(), "the mention says nothing about itself.")
        server = self._resource["server"]
        expect(_plain(server) in _plain(text), f"the hover does not name the server “{server}”.")
        lines = [_plain(line).strip(" -*#_`") for line in text.splitlines() if line.strip(" -*#_`")]
        return Told("the mention tells what it is", [f"- {line[:100]}" for line in lines[:SHOWN]])

    async def follow(self) -> Told:
        """The mention is a link to a read-only document, which holds the server's text."""
        document = {"textDocument": {"uri": self._note}}
        links = await self._editor.request("textDocument/documentLink", document)
        expect(links, "the mention is not a link.")
        link = links[0]
        if "target" not in link:
            link = await self._editor.request("documentLink/resolve", link)
        self._link = link["target"]
        expect(self._link.startswith("lectern:"), f"the link leads to {self._link}.")
        content = await self._editor.request("workspace/textDocumentContent", {"uri": self._link})
        text = content["text"]
        path = self._link.partition("?")[0]
        if self._chosen.blank and not text.strip():
            return Told(f"{path} opens read-only, as empty as its server sent it")
        expect(text.strip(), "the document is empty.")
        lines = text.strip().splitlines()
        return Told(f"{path} opens read-only, {_count(len(lines), 'line')}:", [f"> {lines[0][:100]}"])

    async def open(self) -> Told:
        """``lectern.open`` shows the document; an image, where there is one, becomes a private file."""
        answer = await self._editor.command("lectern.open", {"mention": self._resource["mention"]})
        documents = answer["documents"]
        expect(documents or self._chosen.blank, "the resource has no document.")
        addresses = [place for each in documents for place in _places(each)]
        # Of several parts, the link shows the list.
        same = self._link in addresses or len(documents) != 1
        expect(same, "a link and a command open different documents.")
        shown = await self._editor.heard("window/showDocument")
        expect(shown["uri"] in (self._link, *addresses), f"the editor is asked to show {shown['uri']}.")
        return Told(_opened(self._resource["name"], documents), await self._image())

    async def _image(self) -> Sequence[str]:
        items = (await self._editor.command("lectern.resources", {"mimeType": "image/*"}))["items"]
        document = await self._binary(items[0]) if items else None
        if document is None:
            return ()
        file = await self._editor.command("lectern.materialize", {"document": document["document"]})
        path = Path(file["path"])
        status = await asyncio.to_thread(path.stat)
        expect(status.st_size == file["size"] == document["size"], f"{path} is not what the server sent.")
        expect(not status.st_mode & stat.S_IWUSR, f"{path} can be written to.")
        return (f"“{document['title']}” becomes a read-only file of {file['size']:,} bytes, {path.name}",)

    async def _binary(self, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
        where = {"server": item["server"], "uri": item["uri"], "reveal": False}
        try:
            documents = (await self._editor.command("lectern.open", where))["documents"]
        except ResponseError:
            return None
        usable = (each for each in documents if each.get("kind") == "binary" and "error" not in each)
        return next(usable, None)

    async def live(self) -> Told:
        """A document that is open changes when its resource does, without being asked."""
        where = {"server": self._resource["server"], "uri": self._changing, "reveal": False}
        opened = (await self._editor.command("lectern.open", where))["documents"][0]
        document = {"uri": opened["document"]}
        before = (await self._editor.request("workspace/textDocumentContent", document))["text"]
        self._editor.open(document["uri"], before, "plaintext")
        refresh = "workspace/textDocumentContent/refresh"
        await self._editor.heard(refresh, lambda params: params["uri"] == document["uri"])
        after = (await self._editor.request("workspace/textDocumentContent", document))["text"]
        self._editor.close(document["uri"])
        expect(after != before, "the editor was asked to look again, and saw the same text.")
        lines = [f"> {_first_line(before)}", f"> {_first_line(after)}"]
        return Told(f"“{opened['title']}” changed by itself while it was open:", lines)

    async def expand(self) -> Told:
        """The text becomes one that has its resource with it, for a language model or a colleague."""
        answer = await self._editor.command("lectern.expand", {"textDocument": {"uri": self._note}})
        text, resources = answer["text"], answer["resources"]
        expect(len(resources) == 1, f"the text mentions one resource, and {len(resources)} were found.")
        (one,) = resources
        included = one["status"] in ("included", "binary") or self._chosen.blank
        expect(included, f"{one['uri']} is not included: {one['status']}.")
        expect(text.endswith(self._text) and len(text) > len(self._text), "the expanded text is not whole.")
        facts = f"{one['bytes']:,} bytes of {one['uri']}, about {_count(one['tokens'], 'token')}"
        return Told(f"the text goes out with {facts}", [f"> {_first_line(text)}"])

    async def template(self) -> Told:
        """A template is completed variable by variable, with values that its server proposes."""
        self._type(f" and @{self._template}")
        items = await self._complete()
        expect(items, f"“@{self._template}” offers nothing.")
        self._accept(items[0])
        chosen: list[str] = []
        while value := await self._value():
            chosen.append(value["label"])
            self._accept(value)
        expect(chosen, f"no server proposes a value for {self._text.rpartition('@')[2]}.")
        answer = await self._editor.at("textDocument/hover", self._note, 0, _utf16(self._text) - 1)
        shown = _plain(answer["contents"]["value"]) if answer else ""
        expect(all(value in shown for value in chosen), "the hover does not name the arguments.")
        return Told(f"{', then '.join(chosen)}: a template became @{self._text.rpartition('@')[2]}")

    async def _value(self) -> Mapping[str, Any] | None:
        """The first value for the next variable, None once the mention is whole."""
        mentioned = self._text.rpartition("@")[2]
        while mentioned.endswith("/"):
            values = [item for item in await self._complete() if item.get("kind") == _VALUE]
            if values:
                return values[0]
            await asyncio.sleep(POLL_SECONDS)
        return None

    async def end(self) -> Told:
        """``shutdown`` and ``exit`` end the language server and what it started."""
        servers = (await self._editor.command("lectern.servers"))["servers"]
        code = await self._editor.end()
        expect(code == 0, f"the language server ended with exit code {code}.")
        left = [server["name"] for server in servers if "pid" in server and _lives(server["pid"])]
        expect(not left, f"still running: {', '.join(left)}.")
        return Told("the language server has ended, and so has every server that it started")

    def _type(self, text: str, start: int | None = None) -> None:
        """Replace what stands from ``start`` on (default: nothing) by ``text``, as one edit."""
        begin = len(self._text) if start is None else start
        span = {
            "start": {"line": 0, "character": _utf16(self._text[:begin])},
            "end": {"line": 0, "character": _utf16(self._text)},
        }
        self._text = self._text[:begin] + text
        self._editor.change(self._note, {"range": span, "text": text})

    async def _complete(self) -> Sequence[Mapping[str, Any]]:
        context = {"triggerKind": 1}
        answer = await self._editor.at(
            "textDocument/completion", self._note, 0, _utf16(self._text), context=context
        )
        items = answer["items"] if isinstance(answer, dict) else answer or []
        expect(isinstance(items, list), "the completion is no list.")
        found: Sequence[Mapping[str, Any]] = items
        return found


def _places(document: Mapping[str, Any]) -> Sequence[str]:
    """Where a document is shown: at its address, or as a file."""
    return [document["document"], *([Path(document["path"]).as_uri()] if "path" in document else [])]


def _opened(name: str, documents: Sequence[Mapping[str, Any]]) -> str:
    if not documents:
        return f"“{name}” is shown, as empty as its server sent it"
    first = documents[0]
    kind = "text" if first.get("kind", "text") == "text" else first.get("mimeType") or "binary content"
    part = f", the first of {len(documents)} parts" if documents[1:] else ""
    return f"“{first['title']}” is shown, {first.get('size', 0):,} bytes of {kind}{part}"


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0][:100]


def _lives(process_id: int) -> bool:
    """Whether a process is still there; not to be asked on Windows, where the question would end it."""
    if os.name != "posix":
        return False
    try:
        os.kill(process_id, 0)
    except OSError:
        return False
    return True


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _label(item: Mapping[str, Any]) -> str:
    details = item.get("labelDetails") or {}
    parts = (item["label"], details.get("detail"), details.get("description"))
    return "  ".join(part.strip() for part in parts if part)


def _plain(markdown: str) -> str:
    return markdown.replace("\\", "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
