"""VS Code's own URI class leaves an address as it is, byte for byte."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from mcp_lectern.documents.address import address, parse

PACKAGE = Path(__file__).parents[2] / "client-vscode" / "node_modules" / "vscode-uri"
SCRIPT = """
const { URI } = require(process.argv[1]);
const addresses = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(addresses.map((text) => {
    const uri = URI.parse(text, true);
    const again = URI.revive(JSON.parse(JSON.stringify(uri.toJSON())));
    return [uri.toString(), uri.toString(true), again.toString(), uri.with({ fragment: '' }).toString(),
        uri.scheme, uri.authority, uri.query];
})));
"""


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    missing = "node" if found is None else "client-vscode/node_modules/vscode-uri"
    if found and PACKAGE.is_dir():
        return found
    sentence = f"{missing} is missing: install Node 20 or newer and run npm ci in client-vscode"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


def addresses() -> list[tuple[str, str]]:
    """Addresses of servers and URIs made of everything that URI handling may stumble over."""
    chance = random.Random(7)
    alphabet = "abcXYZ019 .:/?#[]@!$&'()*+,;=%~_-\\\"<>^`{|}\n\0日é😀\u202e\ud800"
    words = ["", "a:b", "..", "C:", "/", "%2F", "%", "?", "#", "日本", "\ud800"]
    words += ["".join(chance.choices(alphabet, k=chance.randrange(30))) for _ in range(500)]
    types = [None, "text/markdown", "image/png", "text/x-c++", "application/json;charset=utf-8"]
    pairs = [(chance.choice(words), chance.choice(words)) for _ in range(1000)]
    return [
        (
            server,
            address(server, uri, chance.choice([None, 0, 12]), chance.choice(types), binary_extension=True),
        )
        for server, uri in pairs
    ]


def test_the_uri_class_of_vs_code_changes_no_byte(node: str) -> None:
    made = addresses()
    run = subprocess.run(
        [node, "-e", SCRIPT, str(PACKAGE)],
        input=json.dumps([text for _, text in made]),
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    answers = json.loads(run.stdout)
    assert len(answers) == len(made)
    for (server, text), (plain, unencoded, revived, changed, scheme, authority, query) in zip(
        made, answers, strict=True
    ):
        assert [plain, unencoded, revived, changed] == [text] * 4
        assert (scheme, authority, query) == ("lectern", "mcp", text.partition("?")[2])
        key = parse(plain)
        assert key is not None
        assert key.server == server
