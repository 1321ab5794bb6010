"""Where grants are kept: privately, bound to their issuer and client, and never half."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import httpx
import keyring
import keyring.backend
import keyring.backends.fail
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.oauth import Browser, World

from mcp_lectern.mcp.auth.model import OAuthSettings
from mcp_lectern.mcp.auth.tokens import FirstThatCan, InMemory, Keyring, PrivateFolder, decode, encode, key_of


class Backend(keyring.backend.KeyringBackend):
    """A key store in memory; ``broken`` ones raise as real ones do."""

    priority = 5

    def __init__(self, *, broken: bool = False, longest: int = 10_000) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.broken = broken
        self.longest = longest

    def get_password(self, service: str, username: str) -> str | None:
        self._check("")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check(password)
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check("")
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not there")

    def _check(self, password: str) -> None:
        if self.broken or len(password) > self.longest:
            raise keyring.errors.KeyringLocked("locked")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(found: keyring.backend.KeyringBackend) -> Any:
        monkeypatch.setattr(keyring, "get_keyring", lambda: found)
        return found

    return use


def test_the_key_store_keeps_and_forgets(backend: Any) -> None:
    kept = backend(Backend()).kept
    store = Keyring()
    assert store.load("k") is None
    assert store.save("k", "text")
    assert list(kept) == [("mcp-lectern", "k")]
    assert Keyring().load("k") == "text"
    store.delete("k")
    store.delete("k")
    assert kept == {}


@pytest.mark.parametrize("found", [Backend(broken=True), keyring.backends.fail.Keyring()])
def test_a_key_store_that_cannot_be_used_is_an_empty_one(found: Any, backend: Any, tmp_path: Path) -> None:
    backend(found)
    store = FirstThatCan(Keyring(), PrivateFolder(tmp_path))
    assert store.save("k", "text")
    assert store.load("k") == "text"
    store.delete("k")
    assert store.load("k") is None


class Locked(Backend):
    """Answers when somebody has unlocked it."""

    def __init__(self) -> None:
        super().__init__()
        self.unlocked = threading.Event()
        self.answered = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.unlocked.wait(30)
        self.answered.set()
        return super().get_password(service, username)


def test_a_key_store_that_waits_for_a_person_is_passed_over_until_it_answers(backend: Any) -> None:
    locked = backend(Locked())
    store = Keyring(seconds=0.05)
    locked.kept["mcp-lectern", "k"] = "text"
    assert store.load("k") is None
    assert not store.save("k", "other")
    locked.unlocked.set()
    assert locked.answered.wait(20)
    patient = Keyring()
    assert patient.load("k") == "text"


def test_what_is_too_long_for_the_key_store_leaves_nothing_old_in_it(backend: Any, tmp_path: Path) -> None:
    backend(Backend(longest=10))
    store = FirstThatCan(Keyring(), PrivateFolder(tmp_path))
    store.save("k", "short")
    store.save("k", "too long to keep there")
    assert store.load("k") == "too long to keep there"
    store.save("k", "short")
    assert store.load("k") == "short"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes; the folder is the user's own there")
def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "tokens"
    PrivateFolder(folder).save("k", "text")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


def test_each_key_has_a_file_of_its_own_whatever_it_is(tmp_path: Path) -> None:
    store = PrivateFolder(tmp_path)
    keys = ["../../x", "a/b", "CON", "é" * 500, ""]
    for key in keys:
        assert store.save(key, f"text of {key}")
    assert [store.load(key) for key in keys] == [f"text of {key}" for key in keys]
    assert len(list(tmp_path.iterdir())) == len(keys)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"key": "other", "text": "x"}', b'{"text": 5}', b"\xff"]
)
def test_a_broken_file_is_an_empty_one(content: bytes, tmp_path: Path) -> None:
    store = PrivateFolder(tmp_path)
    store.save("k", "text")
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert store.load("k") is None
    assert store.save("k", "again")
    assert store.load("k") == "again"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not PrivateFolder(tmp_path / "file" / "tokens").save("k", "text")


@pytest.mark.anyio
async def test_a_sign_in_that_cannot_be_kept_lasts_while_the_process_does(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    world = World()
    lines: list[str] = []
    authorization = world.authorization(PrivateFolder(tmp_path / "file" / "tokens"), log=lines.append)
    await authorization.sign_in(Browser(world))
    assert (await world.call(authorization)).status_code == 200
    assert any("cannot be kept" in line for line in lines)


@pytest.mark.anyio
async def test_a_grant_survives_and_leaves_the_users_own_secret_out() -> None:
    world, storage = World(), InMemory()
    settings = {"client_id": "mine", "client_secret": "users-own-secret"}
    authorization = world.authorization(storage, settings=settings)
    await authorization.sign_in(Browser(world))
    (text,) = storage._kept.values()
    assert "users-own-secret" not in text
    assert decode(text, OAuthSettings(**settings)) == authorization._grant
    assert (await world.call(world.authorization(storage, settings=settings))).status_code == 200


@pytest.mark.anyio
async def test_another_server_issuer_or_client_finds_nothing() -> None:
    world, storage = World(), InMemory()
    await world.authorization(storage).sign_in(Browser(world))
    for changed in ({"client_id": "x"}, {"issuer": "https://auth.example"}, {"grant": "client_credentials"}):
        other = world.authorization(storage, settings=changed)
        assert await other.bearer() is None
    world.server_url = "https://mcp.example/other"
    assert await world.authorization(storage).bearer() is None


@given(st.text() | st.dictionaries(st.text(max_size=3), st.text(max_size=3)).map(json.dumps))
def test_what_is_no_grant_is_none(text: str) -> None:
    assert decode(text, OAuthSettings()) is None


@pytest.mark.anyio
async def test_a_grant_with_members_that_are_missing_or_new_harms_nothing() -> None:
    world, storage = World(), InMemory()
    authorization = world.authorization(storage)
    await authorization.sign_in(Browser(world))
    assert authorization._grant is not None
    whole = json.loads(encode(authorization._grant))
    whole["metadata"]["from-the-future"] = 1
    assert decode(json.dumps(whole), OAuthSettings()) == authorization._grant
    for member in ("client", "tokens", "metadata", "version", "resource", "identity"):
        part = {name: value for name, value in whole.items() if name != member}
        assert decode(json.dumps(part), OAuthSettings()) is None


@pytest.mark.anyio
async def test_signing_out_forgets_even_where_revoking_fails() -> None:
    world, storage = World(), InMemory()
    lines: list[str] = []
    authorization = world.authorization(storage, log=lines.append)
    await authorization.sign_in(Browser(world))
    world.documents[f"{world.issuer}/revoke"] = httpx.Response(503)
    await authorization.sign_out()
    assert storage._kept == {}
    assert not authorization.signed_in
    assert any("revoking" in line and "503" in line for line in lines)


def test_keys_tell_everything_apart() -> None:
    settings = OAuthSettings
    keys = [
        key_of("https://a", settings()),
        key_of("https://a/", settings()),
        key_of("https://a", settings(issuer="b")),
        key_of("https://a", settings(client_id="b")),
        key_of("https://a", settings(grant="client_credentials")),
    ]
    assert len(set(keys)) == len(keys)
