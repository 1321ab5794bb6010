"""``mcp-lectern expand``: a text in, the text with its resources out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import DEMO, Run

Config = Callable[..., Path]


def test_a_file_is_expanded_to_stdout(lectern: Run, config: Config, workspace: Path) -> None:
    prompt = workspace / "prompt.md"
    prompt.write_bytes("Größe?\r\n@demo:tour://rooms and @demo:tour://picture".encode())
    result = lectern("expand", prompt, "--config", config(demo=DEMO))
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.endswith(b"\r\n@demo:tour://rooms and @demo:tour://picture")
    assert b"room,opens with,shows" in result.stdout
    assert b'uri="tour://picture" type="image/png" status="binary"' in result.stdout


@pytest.mark.parametrize("style", ["xml", "markdown", "json"])
def test_standard_input_in_every_format(lectern: Run, config: Config, style: str) -> None:
    words = ("expand", "-", "--format", style, "--config", config(demo=DEMO))
    result = lectern(*words, stdin=None, input=b"see @demo:tour://rooms")
    assert (result.returncode, result.stderr) == (0, b"")
    text = result.stdout.decode()
    if style == "json":
        (one,) = json.loads(text)["resources"]
        assert (one["status"], one["server"], one["bytes"]) == ("included", "demo", len(one["text"].encode()))
    else:
        assert "room,opens with,shows" in text


def test_what_could_not_be_had_is_said_on_stderr_and_in_place(lectern: Run, config: Config) -> None:
    words = ("expand", "-", "--config", config(demo=DEMO))
    text = b"@demo:tour://keys/Neovim/hover @demo:tour://rooms"
    result = lectern(*words, stdin=None, input=text)
    assert result.returncode == 1
    assert "does not list it" in result.stderr.decode()
    assert b'status="notListed"' in result.stdout
    result = lectern(*words, "--unlisted", stdin=None, input=text)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"Press K on a mention." in result.stdout
    result = lectern(*words, "--unlisted", "--max-bytes", "50", stdin=None, input=text)
    assert result.returncode == 1
    assert b'status="tooLarge"' in result.stdout


def test_the_limit_is_for_text_whatever_binary_stands_beside_it(lectern: Run, config: Config) -> None:
    words = ("expand", "-", "--format", "json", "--config", config(demo=DEMO))

    def expanded(text: bytes, *more: str) -> tuple[int, list[dict[str, Any]]]:
        result = lectern(*words, *more, stdin=None, input=text)
        return result.returncode, json.loads(result.stdout)["resources"]

    _, (parcel,) = expanded(b"@demo:tour://parcel")
    texts = [part["bytes"] for part in parcel["parts"] if "text" in part]
    binary = [part["bytes"] for part in parcel["parts"] if "text" not in part]
    assert (len(texts), len(binary), parcel["bytes"]) == (2, 1, sum(texts) + sum(binary))
    both = b"@demo:tour://parcel and @demo:tour://picture"
    code, found = expanded(both, "--max-bytes", str(sum(texts)))
    assert (code, [one["status"] for one in found]) == (0, ["included", "binary"])
    code, found = expanded(both, "--max-bytes", str(sum(texts) - 1))
    assert (code, [one["status"] for one in found]) == (1, ["tooLarge", "binary"])
    assert found[0]["bytes"] == parcel["bytes"]
    assert expanded(b"@demo:tour://picture", "--max-bytes", "1")[0] == 0


def test_what_is_no_text_is_a_usage_error(lectern: Run, workspace: Path) -> None:
    result = lectern("expand", "nowhere.md", "--no-discover")
    assert (result.returncode, result.stdout) == (2, b"")
    assert "nowhere.md" in result.stderr.decode()
    (workspace / "bad.md").write_bytes(b"ab\xff")
    result = lectern("expand", "bad.md", "--no-discover")
    assert (result.returncode, result.stdout) == (2, b"")
    assert "offset 2" in result.stderr.decode()
