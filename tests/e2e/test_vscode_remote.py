"""A person's way with servers that are elsewhere, ask something first, want to know who asks, or are slow."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.support import asking_hook
from tests.support.code_server import CodeServer
from tests.support.oauth import World
from tests.support.scripted_server import ScriptedServer
from tests.support.workbench import Workbench, until

pytestmark = pytest.mark.timeout(300)

PYTHON_OPTIONS = ["-P", "-m", "mcp_lectern"]
WHO = {
    "message": "Who reads [this](command:evil)?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 20},
            "age": {"type": "integer", "title": "Your age", "minimum": 1, "maximum": 150, "default": 42},
            "sure": {"type": "boolean", "title": "Are you sure?", "default": True},
            "colour": {
                "type": "string",
                "title": "Colour",
                "enum": ["r", "b"],
                "enumNames": ["Red", "$(flame) Blue"],
            },
            "days": {
                "type": "array",
                "title": "Days",
                "items": {"anyOf": [{"const": "mo", "title": "Monday"}, {"const": "tu", "title": "Tuesday"}]},
                "minItems": 1,
            },
            "nick": {"type": "string", "title": "Nickname", "default": "none"},
        },
        "required": ["name", "age", "sure", "colour", "days"],
    },
}
LONG = {
    "message": "Line one\nLine two " + "and on " * 40,
    "requestedSchema": {"type": "object", "properties": {}},
}
ODD = "https://xn--pypal-4ve.com/in"


PAGE_URL = "https://pages.example/page?a=1%262&b=c+d&e=%2Bf%25"
"""Letter by letter: what is encoded in it means something else when it is not."""


class NearWorld(World):
    """On this machine code-server leads the browser through its own proxy, which makes ``/`` of ``//``."""

    def _authorize(self, request: httpx.Request) -> httpx.Response:
        answer = super()._authorize(request)
        for asked in self._codes.values():
            asked["resource"] = asked["resource"].replace(":/1", "://1")
        return answer


def named(uri: str) -> dict[str, str]:
    return {"uri": uri, "name": uri.partition("://")[2], "mimeType": "text/plain"}


@contextmanager
def served(world: World) -> Iterator[None]:
    """The world on a port, in a loop of its own."""
    loop, ready, ending = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with world.serve():
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A protected server, its authorization server, and a page that a question leads to."""
    world = NearWorld()
    with served(world):
        yield world


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    """A server that asks something before it answers."""
    questions = {
        "form": WHO,
        "other": WHO,
        "long": LONG,
        "page": {"mode": "url", "message": "Agree there", "url": PAGE_URL, "elicitationId": "1"},
        "odd": {"mode": "url", "message": "Agree there", "url": ODD, "elicitationId": "2"},
    }
    with ScriptedServer(
        tmp_path_factory.mktemp("asker"),
        name="asker",
        era="modern",
        hook=str(Path(asking_hook.__file__)),
        resources=[named(f"ask://{name}") for name in questions],
        questions=questions,
    ) as server:
        yield server


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    """A server that never gets round to a read."""
    with ScriptedServer(
        tmp_path_factory.mktemp("slow"),
        name="slow",
        resources=[named("slow://thing")],
        contents={"slow://thing": "at last"},
        answers={"resources/read": {"gate": "never"}},
    ) as server:
        yield server


@pytest.fixture(scope="module")
def tour_url() -> Iterator[str]:
    """The sample server, at an address."""
    command = [sys.executable, *PYTHON_OPTIONS, "demo-server", "--http", "0", "--tick", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found.group()
        process.terminate()


@pytest.fixture(scope="module")
def code_server(
    tmp_path_factory: pytest.TempPathFactory,
    part: Callable[[str], Path],
    vsix: Path,
    tour_url: str,
    asker: ScriptedServer,
    slow: ScriptedServer,
    world: World,
) -> Iterator[CodeServer]:
    part("code-server")
    servers = {
        "far": {"url": tour_url},
        "asker": asker.entry(),
        "slow": slow.entry(),
        "docs": {"url": world.server_url},
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


def test_a_remote_resource_is_completed_followed_and_changes_by_itself(
    lectern: Workbench, screenshots: Path
) -> None:
    note = lectern.new_text("note.md", "See ")
    lectern.type("@")
    lectern.wait_suggestion("")
    lectern.type("clock")
    lectern.wait_suggestion("clock")
    lectern.press("Enter")
    until(lectern.page, lambda: lectern.saved(note) == "See @far:tour://clock", f"{lectern.saved(note)!r}")
    lectern.follow("tour://clock")
    lectern.wait_editor_text("This resource has changed")
    before = lectern.editor_text()
    until(lectern.page, lambda: lectern.editor_text() not in ("", before), "the clock stands still")
    lectern.picture(screenshots / "remote-live.png")


def step(workbench: Workbench, field: str) -> Locator:
    """The line or list of a field, once it is there."""
    widget = workbench.page.locator(".quick-input-widget:visible")
    expect(widget.locator(".quick-input-title")).to_contain_text(
        "“asker” asks: Who reads [this] (command:evil)?"
    )
    caption = widget.locator(".quick-input-message").or_(widget.locator("input"))
    until(
        workbench.page,
        lambda: any(field in words for words in [widget.inner_text(), *placeholders(caption)]),
        f"no step for {field}",
    )
    return widget


def placeholders(inputs: Locator) -> list[str]:
    return [each.get_attribute("placeholder") or "" for each in inputs.all()]


def test_a_form_is_filled_in_step_by_step_and_answered(
    lectern: Workbench, asker: ScriptedServer, screenshots: Path
) -> None:
    lectern.new_text("note.md", "@asker:ask://form")
    lectern.follow("ask://form")
    widget = step(lectern, "Your name")
    expect(widget.locator(".quick-input-title")).to_contain_text("(1/6)")
    lectern.type("A")
    expect(widget).to_contain_text("At least 2")
    lectern.press("Enter")
    expect(widget).to_contain_text("At least 2")
    lectern.type("da")
    lectern.picture(screenshots / "question-text.png")
    lectern.press("Enter")
    step(lectern, "Your age")
    lectern.press("Control+A")
    lectern.type("200")
    expect(widget).to_contain_text("At most 150")
    widget.get_by_role("button", name="Back").click()
    step(lectern, "Your name")
    expect(widget.locator("input:visible").first).to_have_value("Ada")
    lectern.press("Enter")
    step(lectern, "Your age")
    expect(widget.locator("input:visible").first).to_have_value("42")
    lectern.press("Enter")
    step(lectern, "Are you sure?")
    lectern.press("Enter")
    step(lectern, "Colour")
    expect(widget).to_contain_text("$ (flame) Blue")
    lectern.picture(screenshots / "question-choice.png")
    widget.locator(".monaco-list-row", has_text="Blue").click()
    step(lectern, "Days")
    lectern.press("Enter")
    step(lectern, "At least 1 choices")
    widget.locator(".monaco-list-row", has_text="Tuesday").get_by_role("checkbox").click()
    lectern.picture(screenshots / "question-several.png")
    widget.get_by_role("button", name="OK").click()
    step(lectern, "Nickname")
    lectern.press("Control+A")
    lectern.press("Delete")
    lectern.press("Enter")
    lectern.wait_editor_text('"action": "accept"')
    expected = {"age": 42, "colour": "b", "days": ["tu"], "name": "Ada", "sure": True}
    assert replies(asker)[-1] == {"action": "accept", "content": expected}
    lectern.picture(screenshots / "question-answered.png")


def replies(server: ScriptedServer) -> list[Any]:
    reads = [message["params"] for message in server.received("resources/read")]
    return [read["inputResponses"]["q"] for read in reads if "inputResponses" in read]


@pytest.mark.parametrize(("name", "action"), [("form", "cancel"), ("other", "decline")])
def test_who_leaves_a_form_cancels_and_who_declines_says_so(
    lectern: Workbench, asker: ScriptedServer, name: str, action: str
) -> None:
    lectern.new_text("note.md", f"@asker:ask://{name}")
    lectern.follow(f"ask://{name}")
    widget = step(lectern, "Your name")
    if action == "cancel":
        lectern.press("Escape")
    else:
        widget.get_by_role("button", name="Decline").click()
    lectern.wait_editor_text(f'"action": "{action}"')
    assert replies(asker)[-1] == {"action": action}


def test_a_long_message_is_shown_whole_before_it_is_answered(
    lectern: Workbench, asker: ScriptedServer, screenshots: Path
) -> None:
    lectern.new_text("note.md", "@asker:ask://long")
    lectern.follow("ask://long")
    dialog = lectern.page.locator(".monaco-dialog-box")
    expect(dialog).to_contain_text("“asker” asks something")
    expect(dialog).to_contain_text("Line two and on")
    lectern.picture(screenshots / "question-long.png")
    dialog.get_by_role("button", name="Accept").click()
    lectern.wait_editor_text('"action": "accept"')
    assert replies(asker)[-1] == {"action": "accept", "content": {}}


def test_a_page_is_opened_after_a_yes_alone_letter_by_letter(
    lectern: Workbench, asker: ScriptedServer, screenshots: Path
) -> None:
    opened: list[str] = []

    def arrive(route: Route) -> None:
        opened.append(route.request.url)
        route.abort()

    lectern.page.context.route("https://pages.example/**", arrive)
    lectern.new_text("note.md", "@asker:ask://page")
    lectern.follow("ask://page")
    dialog = lectern.page.locator(".monaco-dialog-box")
    expect(dialog).to_contain_text("“asker” asks you to open a page on pages.example")
    expect(dialog).to_contain_text(PAGE_URL)
    lectern.picture(screenshots / "question-page.png")
    dialog.get_by_role("button", name="Open", exact=True).click()
    # VS Code asks for itself, too, before it leaves for a page that it does not know.
    expect(dialog).to_contain_text("external website")
    assert opened == []
    dialog.get_by_role("button", name="Open", exact=True).click()
    until(lectern.page, lambda: opened == [PAGE_URL], f"{opened}")
    lectern.wait_editor_text('"action": "accept"')
    assert replies(asker)[-1] == {"action": "accept"}


def test_a_disguised_host_is_flagged_and_can_be_declined(
    lectern: Workbench, asker: ScriptedServer, screenshots: Path
) -> None:
    lectern.new_text("note.md", "@asker:ask://odd")
    lectern.follow("ask://odd")
    dialog = lectern.page.locator(".monaco-dialog-box")
    expect(dialog).to_contain_text(ODD)
    expect(dialog).to_contain_text("another alphabet")
    lectern.picture(screenshots / "question-disguised.png")
    dialog.get_by_role("button", name="Decline").click()
    until(lectern.page, lambda: replies(asker)[-1:] == [{"action": "decline"}], "not declined")
    assert len(lectern.page.context.pages) == 1


@pytest.mark.case("SEC-01")
def test_sec_01_resting_on_a_mention_asks_nothing(lectern: Workbench, asker: ScriptedServer) -> None:
    lectern.new_text("note.md", "@asker:ask://form")
    before = len(asker.received("resources/read"))
    lectern.page.keyboard.down("Control")

    def previewed() -> bool:
        # Only once VS Code knows of the link, and only of one that the pointer comes to.
        lectern.rest_on("@asker")
        lectern.rest_on("ask://form")
        return len(asker.received("resources/read")) > before

    # VS Code reads it for its preview, and the server asks.
    until(lectern.page, previewed, "no preview was read")
    until(lectern.page, lambda: replies(asker)[-1:] == [{"action": "cancel"}], "not cancelled")
    expect(lectern.page.locator(".quick-input-widget:visible")).to_have_count(0)
    lectern.page.keyboard.up("Control")
    lectern.page.mouse.move(700, 600)
    lectern.follow("ask://form")
    step(lectern, "Your name")
    lectern.press("Escape")


def test_a_person_signs_in_reads_and_signs_out(
    lectern: Workbench, world: World, code_server: CodeServer, screenshots: Path
) -> None:
    item = lectern.page.locator(".statusbar-item", has_text="Sign in to docs")
    item.wait_for()
    lectern.picture(screenshots / "sign-in.png")
    with lectern.page.context.expect_page() as opened:
        item.click()
    returned(opened.value)
    item.wait_for(state="hidden")
    lectern.new_text("note.md", "@docs:res://secret")
    lectern.follow("res://secret")
    lectern.wait_editor_text("for the signed-in only")
    lectern.picture(screenshots / "signed-in.png")
    assert not [token for token in world.tokens if token in logs(code_server)]
    lectern.command("Lectern: Sign Out of Server…")
    lectern.page.locator(".quick-input-widget .monaco-list-row", has_text="docs").click()
    item.wait_for()
    assert len(world.revoked) == 1


def returned(page: Page) -> None:
    """The browser was led from the authorization server's page back to this machine."""
    expect(page.locator("body")).to_contain_text("Lectern has received the answer")
    page.close()


def logs(server: CodeServer) -> str:
    """All that VS Code wrote down of this session."""
    files = [path for path in server.home.rglob("*.log") if path.is_file()]
    assert files
    return "".join(path.read_text(errors="replace") for path in files)


def cancelled_in_status_bar(workbench: Workbench, words: str, picture: Path) -> None:
    """What lasts is told in the status bar; a click there shows where it is cancelled."""
    item = workbench.page.locator(".statusbar-item", has_text=words)
    item.wait_for()
    item.click()
    notices = workbench.page.locator(".notifications-center .notification-list-item", has_text=words)
    notices.first.hover()
    workbench.picture(picture)
    # The preview and the tab each wait for it.
    for _ in range(notices.count()):
        notices.first.hover()
        notices.first.get_by_role("button", name="Cancel").click()
    item.wait_for(state="hidden")


def test_a_slow_read_is_shown_and_can_be_cancelled(
    lectern: Workbench, slow: ScriptedServer, screenshots: Path
) -> None:
    lectern.new_text("note.md", "@slow:slow://thing")
    lectern.follow("slow://thing")
    cancelled_in_status_bar(lectern, "Reading thing from slow", screenshots / "slow-read.png")
    until(lectern.page, lambda: bool(slow.received("notifications/cancelled")), "the read goes on")


def test_a_slow_listing_is_shown_and_can_be_cancelled(
    lectern: Workbench, slow: ScriptedServer, screenshots: Path
) -> None:
    slow.change(answers={"resources/list": [{"gate": "never"}]}, notify=False)
    lectern.command("Lectern: Refresh")
    cancelled_in_status_bar(lectern, "Listing the resources of all servers", screenshots / "slow-list.png")
