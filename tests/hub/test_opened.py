"""What was opened in a workspace outlives the process, for its owner alone, and only so much of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mcp_lectern.hub.opened import Opened, place

ODD = ("a:b \u65e5", 'memo://\ud800\n"x')


def test_what_was_opened_is_known_to_a_later_process(tmp_path: Path) -> None:
    path = tmp_path / "new" / "opened.json"
    first = Opened(path)
    first.add(("docs", "memo://a"))
    first.add(ODD)
    again = Opened(path)
    assert ("docs", "memo://a") in again
    assert ODD in again
    assert ("docs", "memo://b") not in again
    assert again.latest(1) == [ODD]


def test_a_server_that_is_not_trusted_any_more_is_forgotten_for_good(tmp_path: Path) -> None:
    path = tmp_path / "opened.json"
    first = Opened(path)
    first.add(("docs", "memo://a"))
    first.add(("other", "memo://a"))
    first.forget("docs")
    assert Opened(path).latest(9) == [("other", "memo://a")]


def test_only_the_latest_are_kept(tmp_path: Path) -> None:
    opened = Opened(tmp_path / "opened.json")
    for number in range(520):
        opened.add(("docs", f"memo://{number}"))
    again = Opened(tmp_path / "opened.json")
    assert ("docs", "memo://19") not in again
    assert ("docs", "memo://20") in again


@pytest.mark.parametrize("content", ["", "{", "{}", '[["a"], 7, ["a", 7], null]', "[" * 100_000])
def test_a_file_that_is_not_ours_is_no_obstacle(tmp_path: Path, content: str) -> None:
    path = tmp_path / "opened.json"
    path.write_text(content, encoding="utf-8")
    opened = Opened(path)
    assert opened.latest(9) == []
    opened.add(("docs", "memo://a"))
    assert ("docs", "memo://a") in Opened(path)


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    opened = Opened(blocked / "opened.json")
    opened.add(("docs", "memo://a"))
    assert ("docs", "memo://a") in opened


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "private" / "opened.json"
    Opened(path).add(("docs", "memo://a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_each_workspace_has_a_file_of_its_own() -> None:
    one, other = Path("/a"), Path("/b")
    assert place([one, other]) == place([other, one])
    assert len({place([]), place([one]), place([other]), place([one, other])}) == 4
