"""A person's way through a real VS Code: type, choose, hover, follow, open, approve."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.support.code_server import CodeServer
from tests.support.scripted_server import ScriptedServer
from tests.support.workbench import Workbench, until

pytestmark = pytest.mark.timeout(300)

PYTHON_OPTIONS = ["-P", "-m", "mcp_lectern"]
LISTED = 10_000


def made_up(number: int) -> str:
    """Ids such as ``aa-149``: after the hyphen an editor asks again only because it is told to."""
    return f"item://{'abcde'[number % 5]}{'abcde'[number // 5 % 5]}-{number // 25}"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    """PAG-06: a long list whose ids differ behind a hyphen only."""
    resources = [{"uri": made_up(number), "name": f"Item {number}"} for number in range(LISTED)]
    folder = tmp_path_factory.mktemp("many")
    with ScriptedServer(folder, name="many", resources=resources, page_size=500) as server:
        yield server


@pytest.fixture(scope="module")
def aging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    """A resource that can be read once, and then not for a while."""
    with ScriptedServer(
        tmp_path_factory.mktemp("aging"),
        name="aging",
        capabilities={"resources": {"subscribe": True}},
        resources=[{"uri": "aging://forecast", "name": "forecast"}],
        contents={"aging://forecast": "It will rain."},
    ) as server:
        yield server


@pytest.fixture(scope="module")
def code_server(
    tmp_path_factory: pytest.TempPathFactory,
    part: Callable[[str], Path],
    vsix: Path,
    many: ScriptedServer,
    aging: ScriptedServer,
) -> Iterator[CodeServer]:
    node_servers = part("npm-servers")
    part("code-server")
    servers = {
        "tour": {"command": sys.executable, "args": [*PYTHON_OPTIONS, "demo-server"]},
        "everything": {"command": str(node_servers / "mcp-server-everything"), "args": ["stdio"]},
        "many": many.entry(),
        "aging": aging.entry(),
    }
    machine = {
        "lectern.client.server": [sys.executable, *PYTHON_OPTIONS, "serve"],
        "lectern.servers": servers,
        "lectern.discover": ["workspace"],
    }
    server = CodeServer(tmp_path_factory.mktemp("vscode"), machine=machine)
    server.install_extension(vsix)
    with server:
        yield server


def test_a_mention_is_completed_hovered_and_followed(lectern: Workbench, screenshots: Path) -> None:
    note = lectern.new_text("note.md", "Read ")
    lectern.type("@")
    lectern.wait_suggestion("")
    lectern.type("welc")
    lectern.wait_suggestion("Welcome to Lectern")
    lectern.picture(screenshots / "completion.png")
    lectern.press("Enter")
    until(
        lectern.page,
        lambda: lectern.saved(note) == "Read @tour:tour://welcome",
        "the mention was not inserted",
    )
    assert "tour" in lectern.hover("tour://welcome")
    lectern.follow("tour://welcome")
    lectern.wait_tab("welcome.md")
    lectern.wait_editor_text("# Welcome")
    lectern.type("X")
    expect(lectern.page.locator(".monaco-editor-overlaymessage")).to_contain_text("read-only")
    assert "X" not in lectern.editor_text()[:1]
    lectern.picture(screenshots / "resource.png")


def test_an_image_opens_in_the_viewer(lectern: Workbench) -> None:
    lectern.new_text("note.md", "@tour:tour://picture")
    lectern.follow("tour://picture")
    lectern.wait_tab("picture.png")
    # The viewer tells the picture's size once it has decoded it.
    expect(lectern.page.locator(".statusbar")).to_contain_text("320x260")


def test_the_quick_pick_finds_and_opens_several(lectern: Workbench, screenshots: Path) -> None:
    lectern.command("Lectern: Open Resource…")
    for typed, uri in (("welcome", "tour://welcome"), ("pixels", "tour://picture")):
        lectern.page.locator(".quick-input-widget input.input").first.fill(typed)
        row = lectern.page.locator(".quick-input-widget .monaco-list-row", has_text=uri)
        row.wait_for()
        row.get_by_role("checkbox").click()
    lectern.picture(screenshots / "quick-pick.png")
    lectern.page.locator(".quick-input-widget").get_by_role("button", name="OK").click()
    until(lectern.page, lambda: {"welcome.md", "picture.png"} <= set(lectern.tabs()), "not both were opened")
    assert not lectern.messages()


@pytest.mark.case("CMP-02")
def test_cmp_02_a_template_is_filled_in_by_choosing(lectern: Workbench, screenshots: Path) -> None:
    note = lectern.new_text("note.md", "Press ")
    lectern.type("@keys")
    lectern.wait_suggestion("Keys by editor")
    lectern.press("Enter")
    lectern.wait_suggestion("VS Code")
    lectern.picture(screenshots / "template.png")
    lectern.press("Enter")
    lectern.wait_suggestion("complete")
    lectern.type("f")
    lectern.wait_suggestion("follow")
    lectern.press("Enter")
    mention = "@tour:tour://keys/VS%20Code/follow"
    until(lectern.page, lambda: lectern.saved(note) == f"Press {mention}", f"{lectern.saved(note)!r}")


def test_a_text_is_copied_with_what_it_mentions(lectern: Workbench) -> None:
    note = lectern.new_text("note.md", "Sum up @tour:tour://rooms and @tour:tour://picture")
    lectern.command("Lectern: Copy with Resources")
    expect(lectern.page.locator(".statusbar")).to_contain_text("copied with 1 resource,")
    expect(lectern.page.locator(".notification-toast")).to_contain_text("Binary content")
    lectern.page.keyboard.press("Escape")
    lectern.page.locator(".view-lines").first.click()
    lectern.press("Control+A")
    lectern.press("Control+V")
    until(lectern.page, lambda: "room,opens with,shows" in lectern.saved(note), "nothing was pasted")
    pasted = lectern.saved(note)
    assert pasted.startswith("<resource-")
    assert pasted.endswith("Sum up @tour:tour://rooms and @tour:tour://picture")


def test_a_mention_gives_way_to_its_content(lectern: Workbench) -> None:
    note = lectern.new_text("note.md", "The rooms: @tour:tour://rooms")
    lectern.page.locator(".monaco-editor [class*=codicon-gutter-lightbulb]").first.click()
    lectern.page.locator(".action-widget .monaco-list-row", has_text="Replace by its content").click()
    until(lectern.page, lambda: "room,opens with,shows" in lectern.saved(note), f"{lectern.saved(note)!r}")
    assert lectern.saved(note).startswith("The rooms: room,opens with,shows\n")
    assert "@tour" not in lectern.saved(note)


@pytest.mark.case("SUB-02")
def test_sub_02_an_open_document_changes_by_itself(lectern: Workbench, screenshots: Path) -> None:
    lectern.new_text("note.md", "@tour:tour://clock")
    lectern.follow("tour://clock")
    lectern.wait_editor_text("This resource has changed")
    before = lectern.editor_text()
    until(lectern.page, lambda: lectern.editor_text() not in ("", before), "the clock stands still")
    lectern.wait_editor_text("This resource has changed")
    lectern.picture(screenshots / "live.png")


def test_a_document_that_is_older_than_its_resource_says_so_until_it_is_not(
    lectern: Workbench, aging: ScriptedServer, screenshots: Path
) -> None:
    lectern.new_text("note.md", "@aging:aging://forecast")
    lectern.follow("aging://forecast")
    lectern.wait_editor_text("It will rain.")
    note = lectern.page.locator(".statusbar").get_by_text("Older than its resource")
    until(lectern.page, lambda: bool(aging.received("resources/subscribe")), "nobody subscribed")
    failing = {"error": {"code": -32603, "message": "the station is closed"}}
    aging.change(answers={"resources/read": failing}, notify=False)
    aging.notify("notifications/resources/updated", {"uri": "aging://forecast"})
    expect(note).to_be_visible()
    assert "It will rain." in lectern.editor_text()
    lectern.picture(screenshots / "older.png")
    aging.change(answers={}, contents={"aging://forecast": "The sun shines."}, notify=False)
    note.click()
    lectern.wait_editor_text("The sun shines.")
    expect(note).to_be_hidden()


def test_a_tab_survives_a_reload(lectern: Workbench) -> None:
    lectern.new_text("note.md", "@tour:tour://welcome")
    lectern.follow("tour://welcome")
    lectern.wait_tab("welcome.md")
    lectern.wait_editor_text("# Welcome")
    lectern.reload()
    lectern.wait_tab("welcome.md")
    # Nothing is read unasked before its server has told what it has.
    lectern.command("Lectern: Refresh")
    lectern.wait_editor_text("# Welcome")


@pytest.mark.case("PAG-06")
@pytest.mark.parametrize("number", [0, 149, 4711, 9999])
def test_pag_06_an_id_typed_in_full_is_the_one_inserted(
    lectern: Workbench, many: ScriptedServer, number: int
) -> None:
    uri = made_up(number)
    note = lectern.new_text("note.md")
    lectern.type("@")
    lectern.wait_suggestion("")
    lectern.type(uri.removeprefix("item://"))
    lectern.wait_suggestion(re.compile(rf"Item {number}(?!\d)"))
    lectern.press("Enter")
    until(lectern.page, lambda: lectern.saved(note) == f"@many:{uri}", "another resource was inserted")


@pytest.mark.case("UI-01")
@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_ui_01_prose_stays_prose(lectern: Workbench, key: str) -> None:
    note = lectern.new_text("note.md", "@many:item")
    expected = "@many:item"
    for prose in ("\nthanks @bob", "\n@dg", "\ncc @all,"):
        lectern.type(prose)
        # What was asked for at @ may still be shown while the last answer is under way; then nothing may be.
        lectern.wait_no_suggestions()
        lectern.press(key)
        expected += prose + ("\n" if key == "Enter" else " ")
    until(lectern.page, lambda: lectern.saved(note).startswith(expected), f"{lectern.saved(note)!r}")
    assert lectern.saved(note) == expected


HOSTILE = "\n".join(
    [
        *(f"Line {n}: @many:{uri} and @many:unlisted://{n}" for n, uri in enumerate(["item://ak-0"] * 25)),
        "[link](lectern://mcp/many/resource-x?WyJtYW55IiwiaXRlbTovL2FrLTAiXQ)",
        "![picture](lectern://mcp/many/x.png?WyJtYW55IiwiaXRlbTovL2FrLTAiXQ)",
    ]
)


@pytest.mark.case("SEC-01")
@pytest.mark.workspace({"hostile.md": HOSTILE})
def test_sec_01_reading_a_hostile_document_starts_nothing(workbench: Workbench, many: ScriptedServer) -> None:
    starts = many.starts
    workbench.open_file("hostile.md")
    workbench.press("Control+Home")
    workbench.rest_on("Line 1: @many:item://ak-0")
    workbench.page.keyboard.down("Control")
    workbench.rest_on("@many:unlisted://0")
    workbench.page.keyboard.up("Control")
    workbench.press("Control+End")
    workbench.press("Shift+Alt+F12")
    # A round trip through the language server, after everything above.
    workbench.command("Lectern: Show Log")
    workbench.page.locator(".quick-input-widget .monaco-list-row", has_text="many").wait_for()
    assert (
        "idle" in workbench.page.locator(".quick-input-widget .monaco-list-row", has_text="many").inner_text()
    )
    assert many.starts == starts


@pytest.mark.case("CFG-05")
def test_cfg_05_a_workspace_server_waits_for_approval(workbench: Workbench, screenshots: Path) -> None:
    marker = workbench.folder.parent / "started"
    entry = {"command": "/bin/sh", "args": ["-c", f"touch {marker}; exec cat"]}
    (workbench.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"planted": entry}}))
    workbench.reload()
    workbench.command("Lectern: Refresh")
    expect(workbench.page.locator(".statusbar")).to_contain_text("resources")
    workbench.new_text("note.md")
    workbench.type("@")
    workbench.wait_suggestion("")
    assert not marker.exists()
    workbench.press("Escape")
    workbench.command("Lectern: Approve Server…")
    workbench.page.locator(".quick-input-widget .monaco-list-row", has_text="planted").click()
    dialog = workbench.page.locator(".monaco-dialog-box")
    expect(dialog).to_contain_text(f"touch {marker}; exec cat")
    expect(dialog).to_contain_text("/bin/sh")
    workbench.picture(screenshots / "approve.png")
    assert not marker.exists()
    dialog.get_by_role("button", name="Approve").click()
    until(workbench.page, marker.exists, "the approved server was not started")


PLANTED_SETTINGS = {
    "lectern.client.server": ["/bin/sh", "-c", "touch planted-client"],
    "lectern.client.python": "./python",
    "lectern.servers": {"planted": {"command": "/bin/sh", "args": ["-c", "touch planted-server"]}},
    "lectern.workspaceServers": "always",
    "lectern.languages": [],
}
PLANTED_MODULE = "open(__file__ + '.imported', 'w')"


@pytest.mark.case("SEC-02")
@pytest.mark.case("SEC-03")
@pytest.mark.workspace(
    {
        "readme.md": "",
        ".vscode/settings.json": json.dumps(PLANTED_SETTINGS),
        "lsprotocol.py": PLANTED_MODULE,
        "json.py": PLANTED_MODULE,
        "sitecustomize.py": PLANTED_MODULE,
    }
)
def test_sec_02_sec_03_a_folder_neither_configures_nor_is_imported(lectern: Workbench) -> None:
    lectern.open_file("readme.md")
    lectern.type("@")
    lectern.wait_suggestion("")
    rows = lectern.suggestions().all_inner_texts()
    assert not any("planted" in row for row in rows)
    assert {file.name for file in lectern.folder.iterdir()} == {
        "readme.md",
        ".vscode",
        "lsprotocol.py",
        "json.py",
        "sitecustomize.py",
    }


def test_what_nobody_lists_is_said_in_one_sentence(lectern: Workbench) -> None:
    lectern.new_text("note.md", "@tour:tour://nowhere")
    lectern.follow("tour://nowhere")
    lectern.wait_editor_text("tour://nowhere")
