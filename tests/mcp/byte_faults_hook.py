"""What a scripted server does with reads under byte faults: waits for them all, then plays its bytes.

``faults`` of the script: by URI what is done to its answer, in which order the answers come, where the stream
is cut, which pieces come late, and how it ends.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

Json = Any
LATE = 0.004


def handle(server: Any, message: dict[str, Json]) -> bool:
    """Collect the reads; with the last of them, play. What is read afterwards is answered in order."""
    if message.get("method") != "resources/read":
        return False
    faults = server.script["faults"]
    asked = server.state.setdefault("asked", {})
    asked[message["params"]["uri"]] = message["id"]
    if server.state.get("played"):
        server.write(answer(message["params"]["uri"], message["id"]))
    elif len(asked) == len(faults["order"]):
        server.state["played"] = True
        stream = b"".join(damaged(answer(uri, asked[uri]), *faults["of"][uri]) for uri in faults["order"])
        _play(server, stream, faults)
    return True


def answer(uri: str, identity: Json) -> bytes:
    """The whole line; its text is of more than one byte a character, and ends in what was asked for."""
    contents = [{"uri": uri, "text": f"\u00e4\u20ac\U0001f600 {uri}"}]
    message = {"jsonrpc": "2.0", "id": identity, "result": {"contents": contents}}
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def damaged(line: bytes, kind: str, value: Json) -> bytes:
    """One answer as a broken server or pipe delivers it."""
    if kind == "garbage":
        return bytes.fromhex(value) + line
    if kind == "truncate":
        return line[: value % len(line)] + b"\n"
    if kind == "behead":
        return line[value % len(line) :]
    if kind == "flip":
        place = value % (len(line) - 1)
        return line[:place] + bytes([line[place] ^ 0x80]) + line[place + 1 :]
    if kind == "endless":
        return line[: line.index(b'"text": "') + 9] + b"x" * value + b'"}]}}\n'
    return line * 2 if kind == "twice" else line


def _play(server: Any, stream: bytes, faults: Json) -> None:
    cuts = sorted(cut % (len(stream) + 1) for cut in faults["cuts"])
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(stream)], strict=True)):
        if number in faults["late"]:
            time.sleep(LATE)
        server.write(stream[begin:end])
    if faults["ending"] == "exit":
        os._exit(3)
    if faults["ending"] == "close":
        os.close(1)
