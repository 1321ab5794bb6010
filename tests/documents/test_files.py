"""Binary content on disk: exact, private, inside its folder, and not for ever."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_lectern.documents.address import Key
from mcp_lectern.documents.files import evict, materialize, purge

KEY = Key("docs", "img://logo.png")
posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "content"


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def aged(path: Path, seconds: float) -> None:
    os.utime(path, (seconds, seconds))


def test_a_file_holds_exactly_the_bytes_and_has_a_passive_name(folder: Path) -> None:
    path = materialize(folder, KEY, b"\x00\r\n\xff", "image/png")
    assert path.read_bytes() == b"\x00\r\n\xff"
    assert path.name == "logo.png"
    assert materialize(folder, KEY, b"", "application/x-sh").name == "logo-png.bin"
    assert materialize(folder, KEY, b"x", "text/html", "text").name == "logo-png.txt"
    assert materialize(folder, Key("docs", "x://CON", 3), b"x", "image/png").name == "resource-CON-4.png"


@posix
def test_files_and_folders_are_private_and_read_only(folder: Path) -> None:
    path = materialize(folder, KEY, b"x", "image/png")
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    for each in (folder, path.parent, path.parent.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700


def test_equal_content_is_one_file_and_other_content_another(folder: Path) -> None:
    first = materialize(folder, KEY, b"one", "image/png")
    aged(first, 1000)
    assert materialize(folder, KEY, b"one", "image/png") == first
    assert first.stat().st_mtime > 1000
    second = materialize(folder, KEY, b"two", "image/png")
    third = materialize(folder, Key("other", KEY.uri), b"one", "image/png")
    assert len({first, second, third}) == 3
    assert first.read_bytes() == b"one"
    assert files(folder) == sorted([first, second, third])


def test_a_changed_file_is_written_again(folder: Path) -> None:
    path = materialize(folder, KEY, b"one", "image/png")
    path.chmod(0o600)
    path.write_bytes(b"two")
    path.chmod(0o400)
    assert materialize(folder, KEY, b"one", "image/png").read_bytes() == b"one"


@posix
def test_a_file_that_others_may_read_or_write_is_made_private_again(folder: Path) -> None:
    path = materialize(folder, KEY, b"one", "image/png")
    for mode in (0o404, 0o600, 0o500):
        path.chmod(mode)
        materialize(folder, KEY, b"one", "image/png")
        assert stat.S_IMODE(path.stat().st_mode) == 0o400


@posix
def test_a_link_in_the_file_s_place_is_replaced_and_its_target_left_alone(
    folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"one")
    path = materialize(folder, KEY, b"one", "image/png")
    for make in (path.symlink_to, path.hardlink_to):
        path.unlink()
        make(precious)
        materialize(folder, KEY, b"one", "image/png")
        assert not path.is_symlink()
        assert path.stat().st_nlink == 1
        assert precious.read_bytes() == b"one"
        assert stat.S_IMODE(precious.stat().st_mode) != 0o400


@posix
@pytest.mark.parametrize("content", [b"one", b"two"], ids=["equal", "other"])
def test_a_second_name_of_a_private_file_is_replaced_though_it_looks_like_ours(
    folder: Path, tmp_path: Path, content: bytes
) -> None:
    """Whoever may write through the first name later would change what stands under ours."""
    precious = tmp_path / "precious"
    precious.write_bytes(content)
    precious.chmod(0o400)
    aged(precious, 1000)
    path = materialize(folder, KEY, b"one", "image/png")
    path.unlink()
    path.hardlink_to(precious)
    assert materialize(folder, KEY, b"one", "image/png") == path
    assert not path.samefile(precious)
    assert path.read_bytes() == b"one"
    assert precious.read_bytes() == content
    assert precious.stat().st_mtime == 1000
    assert files(folder) == [path]


@posix
def test_a_link_in_a_folder_s_place_is_refused(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(NotADirectoryError, match="is no folder"):
        materialize(folder, KEY, b"x", "image/png")
    assert list(elsewhere.iterdir()) == []


@posix
def test_a_failed_write_leaves_nothing(folder: Path) -> None:
    path = materialize(folder, KEY, b"one", "image/png")
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        materialize(folder, KEY, b"one", "image/png")
    assert files(folder) == []


odd = st.one_of(
    st.text(st.characters()), st.sampled_from(["..", "../../x", "/etc/passwd", "C:\\x", "a\0b", ".", "nul"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(odd, odd, st.one_of(st.none(), st.text(), st.sampled_from(["image/png", "text/../../x"])))
def test_no_name_escapes_the_folder(folder: Path, server: str, uri: str, mime: str | None) -> None:
    path = materialize(folder, Key(server, uri), b"x", mime)
    assert path.parent.parent.parent == folder
    assert path.resolve().is_relative_to(folder.resolve())
    assert len(path.name) <= 80
    assert path.name.isascii()
    assert not path.name.startswith((".", "-"))


def test_the_oldest_go_first_until_the_rest_fits(folder: Path) -> None:
    paths = [materialize(folder, Key("docs", f"x://{number}"), bytes(100), None) for number in range(4)]
    for number, path in enumerate(paths):
        aged(path, 1000 + number)
    evict(folder, max_bytes=250, max_days=30, now=2000)
    assert files(folder) == sorted(paths[2:])
    assert not paths[0].parent.exists()


def test_what_is_too_old_goes_and_what_is_in_use_stays(folder: Path) -> None:
    old = materialize(folder, KEY, b"old", None)
    used = materialize(folder, KEY, b"used", None)
    new = materialize(folder, KEY, b"new", None)
    aged(old, 0)
    aged(used, 0)
    aged(new, 31 * 86_400)
    evict(folder, max_bytes=10**9, max_days=30, now=31 * 86_400, keep=used)
    assert files(folder) == sorted([used, new])


def test_purging_removes_one_server_or_all(folder: Path) -> None:
    kept = materialize(folder, Key("a", "x://1"), b"1", None)
    materialize(folder, Key("b", "x://1"), b"1", None)
    purge(folder, "b")
    assert files(folder) == [kept]
    purge(folder)
    assert list(folder.iterdir()) == []
    purge(folder / "missing")
    evict(folder / "missing", max_bytes=0, max_days=0)


@posix
def test_cleaning_up_follows_no_link_and_touches_no_stranger(folder: Path, tmp_path: Path) -> None:
    path = materialize(folder, KEY, b"x", None)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"1")
    stranger = folder / "notes.txt"
    stranger.write_bytes(b"mine")
    (folder / ("0" * 32)).symlink_to(precious)
    (path.parent.parent / ("1" * 32)).symlink_to(precious)
    purge(folder)
    evict(folder, max_bytes=0, max_days=0)
    assert (precious / "file").read_bytes() == b"1"
    assert stranger.exists()
    assert not path.exists()
