"""What no file of the project may say: where it was made, what is still to be done, two versions at once."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.support.tree import ROOT, files, shown

from mcp_lectern import __version__

THIS = Path(__file__)
BINARY = {".png", ".ico", ".gif", ".jpg", ".woff", ".woff2", ".vsix"}
TEXTS = [path for path in files() if path.suffix not in BINARY and path != THIS]
LOCKS = {"package-lock.json", "uv.lock"}
PATHS = re.compile(
    r"(?<![\w.~}/*])/(wor[k]|roo[t]|home/(?!user\b|you\b|me\b|alice\b|someone\b)\w+|Users/(?!you\b|me\b|alice\b)\w+)/"
)
# A letter in brackets, so that these words themselves stand nowhere.
REGISTRIES = re.compile(
    r"\b(files\.python[h]osted\.org|pyp[i]\.org/simple|registry\.npm[j]s\.org|registry\.yarn[p]kg\.com|deb\.de[b]ian\.org|[\w.-]*artifactory[\w.-]*)",
    re.IGNORECASE,
)
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


@pytest.mark.parametrize("path", TEXTS, ids=shown)
def test_a_file_says_nothing_of_the_machine_it_was_made_on(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [found.group() for found in PATHS.finditer(text)] == []
    assert [found.group() for found in REGISTRIES.finditer(text)] == []


@pytest.mark.parametrize("path", [path for path in TEXTS if path.name not in LOCKS], ids=shown)
def test_a_file_leaves_nothing_for_later(path: Path) -> None:
    assert [found.group() for found in LEFT_OVER.finditer(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("folder", [("work", "main"), ("root", ".cache"), ("home", "builder")])
def test_a_path_of_a_machine_is_recognised(folder: tuple[str, str]) -> None:
    assert PATHS.search("see " + "".join(f"/{part}" for part in folder) + "/")


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extension = json.loads((ROOT / "client-vscode" / "package.json").read_text(encoding="utf-8"))
    changes = re.findall(
        r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {project["version"], extension["version"], changes[0], __version__} == {__version__}
