"""The hands of a person in VS Code's workbench: keys, lists, tabs; must not know Lectern.

Everything waits for what it needs to see, with a deadline; nothing sleeps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Locator, Page, expect

DEADLINE_MS = 20_000
BETWEEN_KEYS_MS = 80
POLL_MS = 100
SETTLED = 12
"""Looks in a row after which nothing more is to come."""

Answer = TypeVar("Answer")

FRONT = ".editor-group-container.active"
QUICK_INPUT = ".quick-input-widget"
QUICK_ROWS = f"{QUICK_INPUT} .monaco-list-row"
SUGGESTIONS = ".suggest-widget.visible .monaco-list-row"


_PLACE = """([front, text]) => {
  for (const line of [...document.querySelectorAll(`${front} .view-line`)].reverse()) {
    const at = line.textContent.replaceAll("\\u00a0", " ").lastIndexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    const pieces = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    let end = 0;
    while (pieces.nextNode()) {
      const begin = end;
      end += pieces.currentNode.length;
      if (begin <= at && at < end) range.setStart(pieces.currentNode, at - begin);
      if (at + text.length <= end) {
        range.setEnd(pieces.currentNode, at + text.length - begin);
        return range.getBoundingClientRect().toJSON();
      }
    }
  }
  return null;
}"""
"""The box of a text in the editor, in however many pieces it is drawn."""


class Workbench:
    """One window. ``folder`` is the workspace that it shows, on the disk of this machine."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder
        page.set_default_timeout(DEADLINE_MS)
        expect.set_options(timeout=DEADLINE_MS)

    def wait_ready(self) -> None:
        """Wait until the workbench has drawn itself."""
        self.page.wait_for_selector(".monaco-workbench")
        self.page.wait_for_selector(".explorer-folders-view .monaco-list")

    def reload(self) -> None:
        """Load the window anew, as its own command does, so that VS Code can save what it remembers."""
        with self.page.expect_navigation():
            self.command("Developer: Reload Window")
        self.wait_ready()

    # Commands and files.

    def command(self, title: str) -> None:
        """Run a command by its title in the palette."""
        row = self._row(title, f">{title}")
        row.click()

    def _row(self, text: str, typed: str) -> Locator:
        # An extension's command is in the palette only once its host has told: until then we ask again.
        row = self.page.locator(QUICK_ROWS).filter(has_text=text).first

        def asked() -> bool:
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("F1" if typed.startswith(">") else "Control+P")
            self.page.locator(f"{QUICK_INPUT} input").first.fill(typed)
            try:
                row.wait_for(timeout=2_000)
            except Exception:  # noqa: BLE001 - playwright's TimeoutError, whatever its module
                return False
            return True

        until(self.page, asked, f"no row {text!r}")
        return row

    def open_file(self, name: str) -> None:
        """Open a file of the workspace and put the cursor at its end."""
        self._row(name, name).click()
        self.page.locator(".tab.active", has_text=name).wait_for()
        self.page.locator(f"{FRONT} .monaco-editor").first.wait_for()
        self.page.keyboard.press("Control+End")

    def new_text(self, name: str, text: str = "") -> Path:
        """A new file of the workspace, opened, the cursor at its end."""
        file = self.folder / name
        file.write_text(text)
        self.open_file(name)
        return file

    def saved(self, file: Path) -> str:
        """What the editor holds: saved, and read from disk."""
        dirty = self.page.locator(".tab.active.dirty")
        if dirty.count():
            self.page.keyboard.press("Control+S")
            dirty.wait_for(state="detached")
        return file.read_text()

    # Typing and suggestions.

    def type(self, text: str) -> None:
        """Type as a person does, one key after the other."""
        self.page.keyboard.type(text, delay=BETWEEN_KEYS_MS)

    def press(self, key: str) -> None:
        """Press one key."""
        self.page.keyboard.press(key)

    def suggestions(self) -> Locator:
        """The rows of the list of suggestions that is shown."""
        return self.page.locator(SUGGESTIONS)

    def wait_suggestion(self, text: str | re.Pattern[str]) -> Locator:
        """Wait until the focused suggestion, which Enter would take, holds a text."""
        row = self.page.locator(f"{SUGGESTIONS}.focused").filter(has_text=text)
        row.wait_for()
        return row

    def wait_no_suggestions(self) -> None:
        """Wait until none are shown, and none come: an answer may still be under way."""
        until(self.page, self._none_for_a_while, "suggestions stay")

    def _none_for_a_while(self) -> bool:
        for _ in range(SETTLED):
            if self.suggestions().count():
                return False
            self.page.wait_for_timeout(POLL_MS)
        return True

    # What is shown.

    def active_tab(self) -> str:
        """The name of the tab in front."""
        return self.page.locator(f"{FRONT} .tab.active").get_attribute("data-resource-name") or ""

    def tabs(self) -> Sequence[str]:
        """The names of all tabs."""
        names = (tab.get_attribute("data-resource-name") for tab in self.page.locator(".tab").all())
        return [name or "" for name in names]

    def wait_tab(self, name: str | re.Pattern[str]) -> None:
        """Wait until a tab of that name is in front."""
        expect(self.page.locator(f"{FRONT} .tab.active")).to_have_attribute("data-resource-name", name)

    def editor_text(self) -> str:
        """The lines that the editor in front shows, white space as spaces."""
        lines = self.page.locator(f"{FRONT} .view-lines").first.text_content() or ""
        return lines.replace("\u00a0", " ")

    def wait_editor_text(self, text: str) -> None:
        """Wait until the editor in front shows a text."""
        until(self.page, lambda: text in self.editor_text(), f"the editor never showed {text!r}")

    def messages(self) -> Sequence[str]:
        """The notifications that are shown."""
        shown = self.page.locator(".notification-toast .notification-list-item-message")
        return [message.strip() for message in shown.all_text_contents()]

    def hover(self, text: str) -> str:
        """Put the pointer on a text of the editor in front; what the hover says."""
        self.rest_on(text)
        hover = self.page.locator(".monaco-resizable-hover .monaco-hover-content")
        hover.wait_for()
        said = hover.inner_text().replace("\u00a0", " ")
        self.page.keyboard.press("Escape")
        hover.wait_for(state="hidden")
        return said

    def follow(self, text: str) -> None:
        """Click on a text of the editor in front while holding Control."""
        self.page.keyboard.down("Control")
        self.page.mouse.click(*self.rest_on(text))
        self.page.keyboard.up("Control")

    def rest_on(self, text: str) -> tuple[float, float]:
        """Put the pointer on a text of the editor in front; the place."""
        # The editor draws its lines anew as links and diagnostics arrive, so that one look may miss.
        place = until(self.page, lambda: self.page.evaluate(_PLACE, [FRONT, text]), f"{text!r} is not there")
        x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
        self.page.mouse.move(x - 1, y)
        self.page.mouse.move(x, y)
        return x, y

    def picture(self, file: Path) -> None:
        """Keep a screenshot."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(file))


def until(page: Page, condition: Callable[[], Answer], complaint: str) -> Answer:
    """Look again and again, since the workbench tells nobody when it has drawn; fail with ``complaint``."""
    for _ in range(DEADLINE_MS // POLL_MS):
        if answer := condition():
            return answer
        page.wait_for_timeout(POLL_MS)
    msg = f"{complaint} within {DEADLINE_MS / 1000:.0f} s"
    raise AssertionError(msg)
