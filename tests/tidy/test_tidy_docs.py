"""The documents agree with the code: links lead somewhere, settings and commands are the real ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.support.tree import ROOT, files, shown

from mcp_lectern.cli.arguments import parser
from mcp_lectern.settings.reading import KEYS

DOCS = [path for path in files() if path.suffix == ".md" and "demo_server" not in path.parts]
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\bsrc=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")


def prose(path: Path) -> str:
    return CODE.sub("", FENCE.sub("", path.read_text(encoding="utf-8")))


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCS, ids=shown)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    broken = []
    for link in (first or second for first, second in LINK.findall(prose(path))):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_documented_settings_are_the_settings() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    section = text.split("\n## Settings\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `([A-Za-z.]+)` \|", section, re.MULTILINE)
    assert sorted(documented) == sorted(KEYS)


def test_the_extension_offers_every_setting_and_no_other() -> None:
    package = json.loads((ROOT / "client-vscode" / "package.json").read_text(encoding="utf-8"))
    configuration = package["contributes"]["configuration"]
    sections = configuration if isinstance(configuration, list) else [configuration]
    offered = {key.removeprefix("lectern.") for section in sections for key in section["properties"]}
    own = {key for key in offered if key.split(".")[0] in ("client", "trace")}
    assert offered - own == set(KEYS)


def test_the_readme_names_every_command_of_the_command_line() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    assert commands
    assert [name for name in commands if f"mcp-lectern {name}" not in text] == []
