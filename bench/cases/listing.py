"""Capabilities and the entries of lists: CAP-01, LST-03, LST-04, LST-05."""

from __future__ import annotations

import json
from typing import Any

from tests.support.http_mcp import HttpMcp
from tests.support.http_server import Reply, Request

from bench.cases.model import (
    ALSO_GOOD,
    GOOD,
    RESOURCES,
    Case,
    Section,
    Server,
    answered,
    counted,
    refused,
    remote,
    stdio,
    times_asked,
)

BOTH = (("resources",), ("templates",))
TEMPLATE = {"uriTemplate": "t://{x}", "name": "t"}
LIST, TEMPLATES = "resources/list", "resources/templates/list"
METHOD_MISSING = refused(-32601)


def lists_asked(server: Server) -> str:
    """How often anything was listed."""
    return f"asked {counted(len(server.received(LIST)) + len(server.received(TEMPLATES)), 'time')}"


def missing_with_404() -> HttpMcp:
    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, -32601, "Method not found", 404)

    mcp = HttpMcp()
    mcp.on[TEMPLATES] = missing
    return mcp


CAPABILITIES = (
    stdio("CAP-01", "no method for templates", BOTH, **answered(TEMPLATES, METHOD_MISSING)),
    stdio(
        "CAP-01",
        "no method for resources, one template",
        BOTH,
        templates=[TEMPLATE],
        **answered(LIST, METHOD_MISSING),
    ),
    stdio(
        "CAP-01",
        "neither method, each list wanted twice",
        BOTH + BOTH,
        witness=lists_asked,
        answers={LIST: METHOD_MISSING, TEMPLATES: METHOD_MISSING},
    ),
    stdio(
        "CAP-01",
        "capabilities are {}, the methods work",
        RESOURCES,
        witness=times_asked(LIST),
        capabilities={},
    ),
    stdio(
        "CAP-01",
        "resources: null in the capabilities",
        RESOURCES,
        witness=times_asked(LIST),
        capabilities={"resources": None},
    ),
    stdio("CAP-01", "resources: {} in the capabilities", RESOURCES, capabilities={"resources": {}}),
    stdio("CAP-01", "templates fail with -32603", BOTH, **answered(TEMPLATES, refused(-32603))),
    stdio("CAP-01", "templates fail with code 0", BOTH, **answered(TEMPLATES, refused(0))),
    remote("CAP-01", "404 with -32601 for templates", BOTH, missing_with_404),
)


def listed(identity: str, oddity: str, *entries: Any, **more: Any) -> Case:
    """A list of these between two good entries."""
    return stdio(identity, oddity, RESOURCES, resources=[GOOD, *entries, ALSO_GOOD], **more)


def odd(field: str, value: Any) -> Case:
    """Three entries, of which one has an odd field."""
    entry = {"uri": "a://odd", "name": "odd", field: value}
    return listed("LST-03", f"three entries, one with {field} {json.dumps(value)}", entry)


def annotated(**annotations: Any) -> Case:
    entry = {"uri": "a://odd", "name": "odd", "annotations": annotations}
    ((field, value),) = annotations.items()
    return listed("LST-03", f"three entries, one with {field} {json.dumps(value)}", entry)


def written(oddity: str, member: str) -> Case:
    """Three entries, of which one has a member that no JSON writer would make."""
    good, also = json.dumps(GOOD), json.dumps(ALSO_GOOD)
    entries = f'[{good},{{"uri":"a://odd","name":"odd",{member}}},{also}]'
    line = f'{{"jsonrpc":"2.0","id":$ID,"result":{{"resources":{entries}}}}}\n'
    return stdio("LST-03", f"three entries, one with {oddity}", RESOURCES, **answered(LIST, {"raw": line}))


METADATA = (
    listed("LST-03", "three entries, one without a name", {"uri": "a://odd"}),
    listed("LST-03", "three entries, one without a URI", {"name": "odd"}),
    listed("LST-03", "three entries, one of them null", None),
    *(odd("size", value) for value in (12.0, "12", "big", -1)),
    written("size 1e400", '"size":1e400'),
    written("size NaN", '"size":NaN'),
    written("a size of 5,000 digits", f'"size":{"9" * 5000}'),
    *(annotated(priority=value) for value in (7, -1, "high")),
    *(annotated(audience=value) for value in ("user", ["robot"])),
    *(annotated(lastModified=value) for value in (123, "yesterday")),
    *(odd("icons", value) for value in ({}, [7], [{"src": "javascript:alert(1)"}])),
    odd("mimeType", 7),
    odd("annotations", []),
    listed(
        "LST-03",
        "three entries, one with a description of 3 MB",
        {**GOOD, "uri": "a://odd", "description": "x" * 3_000_000},
    ),
    written("_meta nested 100,000 deep", f'"_meta":{"[" * 100_000}{"]" * 100_000}'),
    written("the key name twice", '"name":"again"'),
)

TYPES = [
    "text/html;profile=mcp-app",
    "application/json; charset=utf-8",
    "TEXT/Markdown",
    "inode/directory",
    "",
    "not a mime",
]
LISTS = (
    stdio(
        "LST-04",
        "types with parameters, capitals, spaces, none",
        RESOURCES,
        resources=[{"uri": f"a://{n}", "name": "x", "mimeType": kind} for n, kind in enumerate(TYPES)],
    ),
    stdio(
        "LST-04",
        "a type with a line break",
        (("types",),),
        resources=[{**GOOD, "mimeType": "text/html\r\nX: y"}],
    ),
    stdio("LST-05", "no resources, one template", BOTH, resources=[], templates=[TEMPLATE]),
    stdio(
        "LST-05",
        "a template without variables that is a resource, too",
        BOTH,
        templates=[{"uriTemplate": "a://1", "name": "fixed"}],
    ),
    stdio(
        "LST-05",
        "a resource whose URI has braces",
        (("resources",), ("read", "issue://{id}")),
        resources=[{"uri": "issue://{id}", "name": "x"}],
        contents={"issue://{id}": "fine"},
    ),
    stdio("LST-05", "one URI twice in a list", RESOURCES, resources=[GOOD, {**GOOD, "name": "again"}]),
    stdio(
        "LST-05",
        "one URI on two pages",
        RESOURCES,
        resources=[GOOD, ALSO_GOOD, {**GOOD, "name": "again"}],
        page_size=2,
    ),
)

SECTION = Section("Capabilities and lists", CAPABILITIES + METADATA + LISTS)
