"""A person's way through a real Emacs, set up with the very lines that ``docs/editors.md`` gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.documented import snippets
from tests.support.emacs import Emacs
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.timeout(180)

PYTHON_OPTIONS = ["-P", "-m", "mcp_lectern"]
LITERAL = '"mcp-lectern" "serve"'
HOSTILE = """\
-*- mode: emacs-lisp; eval: (setq owned-by-a-line t) -*-
text
Local Variables:
eval: (setq owned-by-a-block t)
buffer-read-only: nil
End:
"""
RESOURCES = [
    {"uri": "memo://hostile", "name": "hostile", "mimeType": "text/plain"},
    {"uri": "memo://two words", "name": "spaced", "mimeType": "text/plain"},
]


@pytest.fixture
def memos(tmp_path: Path) -> Iterator[ScriptedServer]:
    contents = {"memo://hostile": HOSTILE, "memo://two words": "first\r\nsecond\r\n"}
    capabilities = {"resources": {"subscribe": True}}
    with ScriptedServer(
        tmp_path, name="memos", resources=RESOURCES, contents=contents, capabilities=capabilities
    ) as server:
        yield server


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer(tmp_path, name="vault") as server:
        yield server


def started(
    folder: Path, program: Path, memos: ScriptedServer, lisp: list[str], vault: ScriptedServer | None = None
) -> Emacs:
    servers = {
        "tour": {"command": sys.executable, "args": [*PYTHON_OPTIONS, "demo-server"]},
        "memos": memos.entry(),
    }
    asking = vault and {
        "inputs": [
            {"id": "key", "description": "the key", "password": True},
            {"type": "pickString", "id": "where", "options": ["eu", {"label": "America", "value": "us"}]},
        ],
        "servers": {"vault": vault.entry(env={"KEY": "${input:key}", "WHERE": "${input:where}"})},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers, **(asking or {})}))
    options = [*PYTHON_OPTIONS, "serve", "--no-discover", "--config", str(folder / "mcp.json")]
    assert LITERAL in lisp[0]
    command = " ".join(json.dumps(word) for word in [sys.executable, *options])
    return Emacs(program, folder / "home", "\n".join(lisp).replace(LITERAL, command, 1))


@pytest.fixture
def emacs(tmp_path: Path, part: Callable[[str], Path], memos: ScriptedServer) -> Iterator[Emacs]:
    lisp = snippets("Emacs", "elisp")
    assert len(lisp) == 2
    with started(tmp_path, part("emacs"), memos, lisp) as emacs:
        yield emacs


@pytest.fixture
def plain_emacs(tmp_path: Path, part: Callable[[str], Path], memos: ScriptedServer) -> Iterator[Emacs]:
    """Without the lines that make documents buffers."""
    with started(tmp_path, part("emacs"), memos, snippets("Emacs", "elisp")[:1]) as emacs:
        yield emacs


def note(emacs: Emacs, folder: Path, text: str = "") -> Path:
    """A text file, visited and managed; all servers have told what they have."""
    file = folder / "note.txt"
    file.write_text(text)
    emacs.edit(file)
    emacs.until(lambda: emacs.lisp("(buffer-file-name)") == str(file), "the file was not visited")
    managed = "(if (and (eglot-managed-p) (eglot-current-server)) t :json-false)"
    emacs.until(lambda: emacs.lisp(managed), "Lectern does not manage the buffer")
    run(emacs, "refresh")
    return file


def run(emacs: Emacs, command: str) -> None:
    request = f'(list :command "lectern.{command}" :arguments [])'
    emacs.do(f"(jsonrpc-request (eglot-current-server) :workspace/executeCommand {request} :timeout 30)")


def name(emacs: Emacs) -> str:
    return str(emacs.lisp("(or (buffer-file-name) (buffer-name))"))


def shown(emacs: Emacs) -> str:
    """The list of completions."""
    return emacs.buffer("*Completions*")


def read_only(emacs: Emacs) -> bool:
    return bool(emacs.lisp("(if (and buffer-read-only (not (buffer-modified-p))) t :json-false)"))


def test_a_mention_is_completed_hovered_and_followed(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path)
    emacs.keys("Read @")
    emacs.until(lambda: emacs.text() == "Read @", "nothing was typed")
    emacs.command("completion-at-point")
    emacs.until(lambda: "@tour:tour://welcome  Welcome to Lectern" in shown(emacs), "no list was shown")
    emacs.keys("welc")
    emacs.until(lambda: emacs.text() == "Read @welc", "nothing was typed")
    emacs.command("completion-at-point")
    emacs.until(lambda: emacs.text() == "Read @tour:tour://welcome", "the mention was not inserted")
    emacs.keys("C-b")
    emacs.until(lambda: "Welcome to Lectern" in emacs.echo(), "the echo area does not tell what it is")
    assert "**" not in emacs.echo()
    emacs.keys("M-.")
    emacs.until(lambda: name(emacs).startswith("lectern://mcp/tour/welcome.md?"), "it was not followed")
    assert emacs.text().startswith("# Welcome to Lectern\n")
    assert read_only(emacs)
    assert emacs.lisp("(buffer-name)") == "welcome.md"
    assert emacs.echo() in ("", "Note: file is write protected")


def test_a_row_of_the_list_is_chosen(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path)
    emacs.keys("🙂 Read @")
    emacs.until(lambda: emacs.text() == "🙂 Read @", "nothing was typed")
    emacs.command("completion-at-point")
    emacs.until(lambda: "How a mention is written" in shown(emacs), "no list was shown")
    emacs.keys("C-x", "o")
    emacs.until(lambda: emacs.lisp("(buffer-name)") == "*Completions*", "the list is not in front")
    emacs.keys("C-s", "tour://mention", "<RET>")
    row = "(if (get-text-property (point) 'mouse-face) (thing-at-point 'line) \"\")"
    emacs.until(lambda: "tour://mentions" in emacs.lisp(row), "the row was not found")
    emacs.keys("<RET>")
    emacs.until(lambda: emacs.text() == "🙂 Read @tour:tour://mentions", "the mention was not inserted")


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ('say "@tour:tour://ment', '" now', 'say "@tour:tour://mentions" now'),
        ('@"tour:tour://a page', '" now', '@"tour:tour://a page with spaces" now'),
        ("日本@tour:tour://ment", ".", "日本@tour:tour://mentions."),
    ],
)
def test_no_more_than_the_mention_is_replaced(
    emacs: Emacs, tmp_path: Path, before: str, after: str, whole: str
) -> None:
    note(emacs, tmp_path, before + after)
    emacs.do(f"(goto-char {len(before) + 1})")
    emacs.do(f"(set-window-point nil {len(before) + 1})")
    emacs.command("completion-at-point")
    emacs.until(lambda: emacs.text() == whole, "the mention was not completed")


def test_a_template_continues_into_its_variables(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path)
    for typed, whole in [
        ("@tour:tour://ke", "@tour:tour://keys/"),
        ("Ema", "@tour:tour://keys/Emacs/"),
        ("hov", "@tour:tour://keys/Emacs/hover"),
    ]:
        emacs.keys(typed)
        emacs.until(lambda typed=typed: emacs.text().endswith(typed), "nothing was typed")
        # Values are asked for once the typing pauses: they are in a later answer.
        emacs.until(lambda whole=whole: completed(emacs, whole), f"{whole} was not inserted")


def completed(emacs: Emacs, whole: str) -> bool:
    before = emacs.text()
    emacs.command("completion-at-point")
    emacs.until(lambda: emacs.text() != before or emacs.echo() == "No match", "nothing came of it")
    return emacs.text() == whole


def test_an_open_document_changes_by_itself(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, "@tour:tour://clock")
    emacs.keys("M-.")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "the clock was not followed")
    first = emacs.text()
    assert first.startswith("It is")
    emacs.until(lambda: emacs.text() != first, "the clock stands still")
    assert emacs.text().startswith("It is")
    assert emacs.text().count("It is") == 1
    assert read_only(emacs)
    assert subscriptions(emacs) == 1
    emacs.keys("C-x", "k", "<RET>")
    emacs.until(lambda: subscriptions(emacs) == 0, "a document that nobody shows is still subscribed to")


def test_a_document_that_is_older_than_its_resource_says_so(
    emacs: Emacs, tmp_path: Path, memos: ScriptedServer
) -> None:
    note(emacs, tmp_path, "@memos:memo://hostile")
    emacs.keys("M-.")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "it was not followed")
    emacs.until(lambda: memos.received("resources/subscribe"), "it is not subscribed to")
    memos.change(answers={"resources/read": {"error": {"code": -32603, "message": "on fire"}}}, notify=False)
    memos.notify("notifications/resources/updated", {"uri": "memo://hostile"})
    said = '(with-current-buffer "*Messages*" (buffer-string))'
    emacs.until(
        lambda: "older than the resource" in emacs.lisp(said), "nothing was said of a text that is old"
    )
    assert emacs.text() == HOSTILE
    memos.change(answers={}, contents={"memo://hostile": "new"}, notify=False)
    memos.notify("notifications/resources/updated", {"uri": "memo://hostile"})
    emacs.until(lambda: emacs.text() == "new", "the new text did not come")
    assert read_only(emacs)


def subscriptions(emacs: Emacs) -> int:
    request = '(list :command "lectern.servers" :arguments [])'
    servers = emacs.lisp(
        f"(plist-get (jsonrpc-request lectern--server :workspace/executeCommand {request}) :servers)"
    )
    return next(server["subscriptions"] for server in servers if server["name"] == "tour")


def test_a_mistake_is_shown_and_what_was_meant_is_written_instead(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, "🙂 see @tour:tour://welcom\n")
    said = "(mapcar #'flymake-diagnostic-text (flymake-diagnostics))"
    emacs.until(lambda: "tour://welcome" in str(emacs.lisp(said)), "nothing was said of the mistake")
    emacs.keys("C-u", "10", "C-f")
    emacs.command("eglot-code-actions")
    emacs.until(lambda: emacs.lisp("(if (active-minibuffer-window) t :json-false)"), "no action was offered")
    emacs.keys("<RET>")
    emacs.until(lambda: emacs.text() == "🙂 see @tour:tour://welcome\n", "it was not corrected")
    emacs.until(lambda: not emacs.lisp(f"(vconcat {said})"), "the mistake is gone, and still shown")


def test_a_text_is_expanded(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, '@"memos:memo://two words" please\n')
    emacs.command("lectern-expand")
    emacs.until(lambda: emacs.lisp("(buffer-name)") == "*lectern-expand*", "nothing was shown")
    assert "first\n" in emacs.text().replace("\r", "")
    assert emacs.text().endswith('@"memos:memo://two words" please\n')
    assert emacs.lisp("(if buffer-read-only t :json-false)")


def test_a_resource_with_line_ends_of_windows_is_shown_without_them(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, '@"memos:memo://two words"')
    emacs.keys("C-f", "C-f", "M-.")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "it was not followed")
    assert emacs.text() == "first\nsecond\n"


@pytest.mark.case("SEC-01")
def test_sec_01_a_resource_sets_no_variable_and_chooses_no_mode(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, "@memos:memo://hostile")
    emacs.keys("M-.")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "it was not followed")
    assert emacs.text() == HOSTILE
    owned = "(if (or (boundp 'owned-by-a-line) (boundp 'owned-by-a-block)) t :json-false)"
    assert not emacs.lisp(owned)
    assert not emacs.lisp("(if (active-minibuffer-window) t :json-false)"), "it asks about variables"
    assert emacs.lisp("(symbol-name major-mode)") != "emacs-lisp-mode"
    assert read_only(emacs)


def test_without_documents_a_mention_leads_to_a_read_only_file(plain_emacs: Emacs, tmp_path: Path) -> None:
    note(plain_emacs, tmp_path, "@tour:tour://welcome")
    plain_emacs.keys("M-.")
    plain_emacs.until(lambda: "materialized" in name(plain_emacs), "it was not followed")
    assert plain_emacs.text().startswith("# Welcome to Lectern\n")
    assert read_only(plain_emacs)
    assert name(plain_emacs).startswith(str(tmp_path))


def test_an_unlisted_resource_is_opened_by_a_code_action(emacs: Emacs, tmp_path: Path) -> None:
    note(emacs, tmp_path, "@tour:tour://glossary/cursor")
    emacs.keys("M-.")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "it was not followed")
    assert emacs.text().startswith("Nothing was read yet")
    emacs.keys("C-x", "b", "<RET>")
    emacs.until(lambda: name(emacs).endswith("note.txt"), "the note is not in front")
    emacs.command("eglot-code-actions")
    emacs.until(lambda: emacs.lisp("(if (active-minibuffer-window) t :json-false)"), "no action was offered")
    emacs.keys("Lectern: Open", "<TAB>", "<RET>")
    emacs.until(lambda: name(emacs).startswith("lectern:"), "it was not opened")
    emacs.until(lambda: "bookmark" in emacs.text(), "what was read is not shown")


@pytest.fixture
def asked_emacs(
    tmp_path: Path, part: Callable[[str], Path], memos: ScriptedServer, vault: ScriptedServer
) -> Iterator[Emacs]:
    """With a server more, whose entry asks for something."""
    with started(tmp_path, part("emacs"), memos, snippets("Emacs", "elisp"), vault) as emacs:
        yield emacs


def test_what_an_entry_asks_for_is_typed_hidden(
    asked_emacs: Emacs, tmp_path: Path, vault: ScriptedServer
) -> None:
    emacs = asked_emacs
    note(emacs, tmp_path)
    sign_in = '(list :command "lectern.signIn" :arguments [(:server "vault")])'
    emacs.do(f"(jsonrpc-async-request (eglot-current-server) :workspace/executeCommand {sign_in})")
    asking = "(window-buffer (active-minibuffer-window))"
    words = "(buffer-substring-no-properties (point-min) (minibuffer-prompt-end))"
    prompt = f'(if (active-minibuffer-window) (with-current-buffer {asking} {words}) "")'
    emacs.until(lambda: emacs.lisp(prompt) == "vault asks for the key: ", "nothing was asked for")
    emacs.keys("hush-hush", "<RET>")
    emacs.until(lambda: emacs.lisp(prompt) == "vault asks for where: ", "the second was not asked for")
    emacs.keys("us", "<RET>")
    emacs.until(lambda: vault.starts, "it was not started")
    assert (vault.started[0]["env"]["KEY"], vault.started[0]["env"]["WHERE"]) == ("hush-hush", "us")
    assert "hush-hush" not in emacs.lisp('(with-current-buffer "*Messages*" (buffer-string))')
