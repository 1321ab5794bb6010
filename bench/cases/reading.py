"""What comes of a read: RD-01, RD-03, RD-05, RD-08, RD-09, RD-10."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from bench.cases.model import (
    FINE,
    READ,
    TWICE,
    Case,
    Section,
    answered,
    folder_of,
    refused,
    stdio,
    times_asked,
)

METHOD = "resources/read"
HOOK = str(folder_of("bench") / "cases" / "reading_hook.py")
MISSING: list[tuple[str, dict[str, Any]]] = [
    ("-32602 with data.uri", refused(-32602, "no", {"uri": "a://1"})),
    ("-32602, Missing argument", refused(-32602, "Missing argument")),
    ("-32002", refused(-32002)),
    ("-32001", refused(-32001)),
    ("0, Unknown resource: a://1", refused(0, "Unknown resource: a://1")),
    ("-32603", refused(-32603)),
    ("-32000", refused(-32000)),
    ('the code "404"', refused("404")),
    ("an error without a message", {"error": {"code": -32603}}),
    ("an error that is a text", {"error": "no such thing"}),
]
ERRORS = tuple(
    stdio("RD-01", f"answers {what}, then the resource", TWICE, **answered(METHOD, error, {"result": FINE}))
    for what, error in MISSING
)

TEXT = {"uri": "a://1", "text": "fine"}


def contents(oddity: str, *items: Any) -> Case:
    """A read that gives these items."""
    return stdio("RD-03", oddity, READ, **answered(METHOD, {"result": {"contents": list(items)}}))


def result(oddity: str, whole: Any) -> Case:
    """A read with this result, and then a good one."""
    return stdio(
        "RD-03",
        f"{oddity}, then the resource",
        TWICE,
        **answered(METHOD, {"result": whole}, {"result": FINE}),
    )


SHAPES = (
    contents("contents: []"),
    contents("an empty text", {"uri": "a://1", "text": ""}),
    contents("a text and an item without a shape", TEXT, {"uri": "a://1"}),
    contents("a text and an item whose text is 123", TEXT, {"uri": "a://1", "text": 123}),
    contents("an item with both text and blob", {**TEXT, "blob": "AAAA"}),
    contents("a text and an item without a URI", TEXT, {"text": "fine"}),
    contents("a text and null", TEXT, None),
    result("contents: null", {"contents": None}),
    result("contents is an object", {"contents": TEXT}),
    result("no contents", {}),
    result("the result is null", None),
    result("content for contents", {"content": [TEXT]}),
)


def blob(data: str, kind: str | None = None) -> dict[str, Any]:
    """A binary item."""
    return {"uri": "a://1", "blob": data, **({"mimeType": kind} if kind else {})}


ENCODED = base64.b64encode(b"\xfb\xff bytes").decode()
KINDS = (
    stdio(
        "RD-05",
        "a text whose type is image/png",
        READ,
        contents={"a://1": [{**TEXT, "mimeType": "image/png"}]},
    ),
    stdio(
        "RD-05",
        "a blob whose type is text/plain, not UTF-8",
        READ,
        contents={"a://1": [blob(ENCODED, "text/plain")]},
    ),
    stdio("RD-05", "a blob without padding", READ, contents={"a://1": [blob(ENCODED.rstrip("="))]}),
    stdio(
        "RD-05",
        "a blob in the URL alphabet",
        READ,
        contents={"a://1": [blob(ENCODED.replace("+", "-").replace("/", "_"))]},
    ),
    stdio(
        "RD-05",
        "a blob in lines of 4",
        READ,
        contents={"a://1": [blob("\n".join(ENCODED[at : at + 4] for at in range(0, 12, 4)))]},
    ),
    stdio(
        "RD-05",
        "a text and a blob that is no base64",
        READ,
        contents={"a://1": [TEXT, blob("*** nonsense ***")]},
    ),
)


def large(size: int, shown: str, **play: Any) -> Case:
    """One line with a text of so many characters."""
    return stdio("RD-08", f"a text of {shown} on one line", READ, contents={"a://1": "x" * size}, play=play)


def costly(case: Case) -> Case:
    """One that takes the peer long."""
    return replace(case, costly=True)


LARGE = (
    large(65_537, "65,537 bytes"),
    large(1_100_000, "1.1 MB"),
    large(12_000_000, "12 MB", patience=15),
    costly(large(60_000_000, "60 MB", patience=280)),
    costly(
        stdio(
            "RD-08",
            "100 MB without a line break, then the resource",
            TWICE,
            hook=HOOK,
            reading="endless",
            play={"patience": 10},
        )
    ),
    stdio("RD-08", "an answer in pieces of one byte", READ, hook=HOOK, reading="bytewise"),
)

ASKED = {
    "resultType": "input_required",
    "inputRequests": {
        "who": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Who?",
                "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
        }
    },
    "requestState": "s\u00e4\n",
}
MODERN = {"era": "modern"}


def typed(kind: Any) -> Case:
    """A result of some type, with contents."""
    return stdio(
        "RD-09",
        f"resultType {json.dumps(kind)}",
        READ,
        witness=times_asked(METHOD),
        **MODERN,
        **answered(METHOD, {"result": {**FINE, "resultType": kind}}),
    )


RESULTS = (
    stdio("RD-09", "no resultType", READ, **MODERN, **answered(METHOD, {"result": FINE})),
    *(typed(kind) for kind in ("complete", "task", "banana", 7)),
    stdio(
        "RD-09",
        "input_required, nobody to ask",
        READ,
        witness=times_asked(METHOD),
        **MODERN,
        **answered(METHOD, {"result": ASKED}, {"result": FINE}),
    ),
    stdio(
        "RD-09",
        "input_required, somebody answers",
        READ,
        play={"answers": True},
        hook=HOOK,
        reading="asks",
        **MODERN,
    ),
    stdio(
        "RD-09",
        "input_required for ever, somebody answers",
        READ,
        play={"answers": True},
        witness=times_asked(METHOD),
        **MODERN,
        **answered(METHOD, {"result": ASKED}),
    ),
    stdio(
        "RD-09",
        "input_required for sampling, which was not declared",
        READ,
        play={"answers": True},
        **MODERN,
        **answered(
            METHOD,
            {
                "result": {
                    "resultType": "input_required",
                    "inputRequests": {
                        "x": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
                    },
                }
            },
        ),
    ),
)


def hinted(**hints: Any) -> Case:
    """Two reads of a resource with these hints."""
    shown = ", ".join(f"{name} {json.dumps(value)}" for name, value in hints.items()) or "no hints"
    return stdio(
        "RD-10",
        f"{shown}; two reads",
        TWICE,
        witness=times_asked(METHOD),
        play={"through_hub": True},
        **MODERN,
        **answered(METHOD, {"result": {"resultType": "complete", **FINE, **hints}}),
    )


HINTS = (
    hinted(),
    hinted(ttlMs=600_000, cacheScope="private"),
    *(
        hinted(ttlMs=value, cacheScope="private")
        for value in (-5, 0, None, "60000", 60_000.5, 9_000_000_000_000_000_000)
    ),
    hinted(ttlMs=600_000, cacheScope="secret"),
    hinted(ttlMs=600_000),
    stdio(
        "RD-10",
        "a lasting answer after a question; two reads",
        TWICE,
        witness=times_asked(METHOD),
        play={"answers": True},
        hook=HOOK,
        reading="asks",
        **MODERN,
    ),
)

SECTION = Section("Reads", ERRORS + SHAPES + KINDS + LARGE + RESULTS + HINTS)
