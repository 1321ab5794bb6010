"""The file of approvals: private, whole, shared by several editors, and never a reason to crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_lectern.trust import approvals
from mcp_lectern.trust.approvals import Approvals, ApprovalsError, default_path


@pytest.fixture
def store(tmp_path: Path) -> Approvals:
    return Approvals(tmp_path / "data" / "mcp-lectern" / "approvals.json")


def test_an_approval_is_found_again_with_what_it_covered(store: Approvals, tmp_path: Path) -> None:
    store.approve(tmp_path, "日本 \ud800", "abc", {"env": {"A": None}, "name": "\ud800"})
    store.approve(None, "docs", "def", {})
    found = Approvals(store.path).find(tmp_path, "日本 \ud800")
    assert found is not None
    assert (found.fingerprint, found.shows) == ("abc", {"env": {"A": None}, "name": "\ud800"})
    assert store.find(None, "日本 \ud800") is None
    assert store.find(tmp_path, "docs") is None


def test_a_folder_is_the_same_however_it_is_spelled(store: Approvals, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    store.approve(tmp_path / "link", "docs", "abc", {})
    assert store.find(tmp_path / "data" / "..", "docs") is not None


def test_the_newer_approval_replaces_the_older_and_revoking_ends_it(store: Approvals) -> None:
    store.approve(None, "docs", "one", {})
    store.approve(None, "docs", "two", {})
    found = store.find(None, "docs")
    assert found is not None
    assert found.fingerprint == "two"
    assert store.revoke(None, "docs")
    assert not store.revoke(None, "docs")
    assert store.find(None, "docs") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes of this kind")
def test_nobody_else_can_read_it(store: Approvals) -> None:
    store.approve(None, "docs", "one", {})
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in store.path.parent.iterdir()] == ["approvals.json"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"approvals": 1}',
        '{"approvals": [1, {}, {"name": 1}]}',
        "[" * 100_000,
        "\ud800",
    ],
)
def test_a_broken_file_approves_nothing_and_is_replaced(store: Approvals, content: str) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(content.encode("utf-8", "surrogatepass"))
    assert store.find(None, "docs") is None
    store.approve(None, "docs", "one", {})
    assert store.find(None, "docs") is not None


def test_good_approvals_beside_broken_ones_stay(store: Approvals) -> None:
    store.path.parent.mkdir(parents=True)
    good = {"folder": "", "name": "docs", "fingerprint": "x", "shows": {}}
    store.path.write_text(json.dumps({"version": 1, "approvals": [5, good]}))
    assert store.find(None, "docs") is not None


def test_what_cannot_be_stored_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ApprovalsError, match=r"cannot be stored in .*\.$"):
        Approvals(tmp_path / "file" / "approvals.json").approve(None, "docs", "one", {})


def test_two_processes_lose_nothing(store: Approvals) -> None:
    script = (
        "import sys; from pathlib import Path; from mcp_lectern.trust.approvals import Approvals\n"
        "store = Approvals(Path(sys.argv[1]))\n"
        "for number in range(25): store.approve(None, f'{sys.argv[2]}-{number}', 'x', {})\n"
    )
    command = [sys.executable, "-P", "-c", script, str(store.path)]
    children = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    assert [child.wait(timeout=50) for child in children] == [0, 0, 0]
    assert len(json.loads(store.path.read_text())["approvals"]) == 75


def test_the_lock_of_a_process_that_died_is_taken_over(store: Approvals) -> None:
    store.path.parent.mkdir(parents=True)
    lock = store.path.with_name("approvals.json.lock")
    lock.write_text("")
    long_ago = time.time() - 3600
    os.utime(lock, (long_ago, long_ago))
    store.approve(None, "docs", "one", {})
    assert store.find(None, "docs") is not None
    assert not lock.exists()


def test_a_lock_that_is_held_is_not_broken(store: Approvals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "_LOCK_WAIT", 0.05)
    store.path.parent.mkdir(parents=True)
    lock = store.path.with_name("approvals.json.lock")
    lock.write_text("")
    with pytest.raises(ApprovalsError, match="another process"):
        store.approve(None, "docs", "one", {})
    assert lock.exists()


def test_the_file_lies_in_the_users_data_folder() -> None:
    assert default_path().parts[-2:] == ("mcp-lectern", "approvals.json")


def test_nothing_heavy_is_imported() -> None:
    script = (
        "import sys, mcp_lectern.settings, mcp_lectern.config.discover, mcp_lectern.config.launch\n"
        "import mcp_lectern.config.mask, mcp_lectern.trust.policy, mcp_lectern.trust.material\n"
        "print([name for name in ('pydantic', 'httpx', 'sqlite3', 'asyncio') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
