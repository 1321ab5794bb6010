"""The snippets of the documentation, as whoever follows it copies them; must not know any editor."""

from __future__ import annotations

import re

from tests.support.tree import ROOT

EDITORS = ROOT / "docs" / "editors.md"


def section(heading: str) -> str:
    """What stands under a heading of the page about editors."""
    page = EDITORS.read_text(encoding="utf-8")
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def snippets(heading: str, language: str) -> list[str]:
    """The code blocks of one language under a heading, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", section(heading), re.DOTALL | re.MULTILINE)
