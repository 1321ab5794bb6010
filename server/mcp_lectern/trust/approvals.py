"""What a person has approved, kept in one file; must not know what an approval is good for.

Several editors share the file: each change reads it again under a lock and replaces it whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mcp_lectern.config.files import UnreadableFileError, read_file

LARGEST = 16 * 1024 * 1024
_LOCK_WAIT = 5.0
"""Seconds to wait for another process."""
_LOCK_STALE = 10.0
"""Seconds after which a lock is a crashed process's: the work under it takes milliseconds."""


class ApprovalsError(Exception):
    """An approval could not be stored; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class Approval:
    """``folder`` is the workspace folder of a workspace entry, ``""`` for any other."""

    folder: str
    name: str
    fingerprint: str
    shows: Mapping[str, object]


def default_path() -> Path:
    """``approvals.json`` in this user's data folder of Lectern."""
    from platformdirs import user_data_path

    return user_data_path("mcp-lectern", appauthor=False) / "approvals.json"


@dataclass(frozen=True, slots=True)
class Approvals:
    """The file at ``path``, which need not exist. A file that cannot be understood approves nothing."""

    path: Path

    def find(self, folder: Path | None, name: str) -> Approval | None:
        """The approval of this name in this folder, whatever its fingerprint."""
        return self._read().get((folder_key(folder), name))

    def stamp(self) -> object:
        """Something that differs once the file has changed, without reading it."""
        try:
            status = self.path.stat()
        except (OSError, ValueError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def approve(self, folder: Path | None, name: str, fingerprint: str, shows: Mapping[str, object]) -> None:
        """Store an approval, in place of an earlier one of that name. Raises `ApprovalsError`."""
        approval = Approval(folder_key(folder), name, fingerprint, shows)
        with self._locked():
            known = self._read()
            known[approval.folder, name] = approval
            self._write(known)

    def revoke(self, folder: Path | None, name: str) -> bool:
        """Forget the approval of this name; False where there was none. Raises `ApprovalsError`."""
        with self._locked():
            known = self._read()
            if known.pop((folder_key(folder), name), None) is None:
                return False
            self._write(known)
            return True

    def _read(self) -> dict[tuple[str, str], Approval]:
        try:
            content = json.loads(read_file(self.path, LARGEST))
        except (UnreadableFileError, ValueError, RecursionError):
            return {}
        written = content.get("approvals") if isinstance(content, dict) else None
        approvals = map(_approval, written if isinstance(written, list) else [])
        return {(found.folder, found.name): found for found in approvals if found}

    def _write(self, known: Mapping[tuple[str, str], Approval]) -> None:
        content = {"version": 1, "approvals": [_json(approval) for approval in known.values()]}
        text = json.dumps(content, ensure_ascii=True, indent=1)
        try:
            # mkstemp creates the file for its owner alone (0600), and os.replace keeps that.
            descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".approvals-")
            try:
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                Path(temporary).replace(self.path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise ApprovalsError(
                f"The approval cannot be stored in {self.path}: {error.strerror}."
            ) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _take(lock)
        except OSError as error:
            raise ApprovalsError(
                f"The approval cannot be stored in {self.path}: {error.strerror}."
            ) from error
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def folder_key(folder: Path | None) -> str:
    """One spelling for a folder, however a client names it; ``""`` for none."""
    if folder is None:
        return ""
    try:
        return str(folder.resolve())
    except (OSError, RuntimeError):
        return str(folder)


def _take(lock: Path) -> None:
    """Creates the lock file, or raises OSError when another process keeps it too long."""
    deadline = time.monotonic() + _LOCK_WAIT
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            _remove_if_stale(lock)
            if time.monotonic() > deadline:
                raise TimeoutError(0, f"another process holds {lock}") from None
            # There is no event to wait for: the lock is a file, so that it works on every file system.
            time.sleep(0.01)
        else:
            return


def _remove_if_stale(lock: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - lock.stat().st_mtime > _LOCK_STALE:
            lock.unlink()


def _approval(written: object) -> Approval | None:
    """An approval as stored; None for anything else."""
    if not isinstance(written, dict):
        return None
    texts = [written.get(key) for key in ("folder", "name", "fingerprint")]
    covered = written.get("shows")
    if not all(isinstance(text, str) for text in texts) or not isinstance(covered, dict):
        return None
    folder, name, fingerprint = cast("list[str]", texts)
    return Approval(folder, name, fingerprint, covered)


def _json(approval: Approval) -> dict[str, object]:
    return {
        "folder": approval.folder,
        "name": approval.name,
        "fingerprint": approval.fingerprint,
        "shows": dict(approval.shows),
    }
