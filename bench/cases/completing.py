"""Templates and values for them: TPL-02, CMP-01, CMP-02."""

from __future__ import annotations

import json
from typing import Any

from bench.cases.model import GOOD, Case, Section, Server, answered, refused, stdio, times_asked

METHOD = "completion/complete"
OFFERED = {"resources": {}, "completions": {}}
TEMPLATE = "gh://{owner}/{repo}"
STEP = ("complete", TEMPLATE, "repo", "x y", {"owner": "a/b"})
BROKEN = [
    "x://{a",
    "x://{}",
    "x://{a?}",
    "x://{a}}",
    "x://{v:0}",
    "x://{v:3*}",
    "file:///caf\u00e9/{n}",
    "file:///my docs/{n}",
]


def what_was_sent(server: Server) -> str:
    """The parameters of the last request."""
    params: Any = server.received(METHOD)[-1]["params"]  # type: ignore[index]
    value, context = params["argument"]["value"], params.get("context", {}).get("arguments")
    return f"sent {params['ref']['uri']}, {json.dumps(value)} and {json.dumps(context)}"


def values(oddity: str, completion: Any) -> Case:
    """A server that offers these."""
    return stdio(
        "CMP-01",
        oddity,
        (STEP,),
        capabilities=OFFERED,
        **answered(METHOD, {"result": {"completion": completion}}),
    )


SECTION = Section(
    "Templates and their values",
    (
        stdio(
            "TPL-02",
            "two templates in order, six that are none, two with literals outside ASCII and with a space",
            (("templates",),),
            templates=[{"uriTemplate": each, "name": "t"} for each in ["x://{v:3}", "x://{/s*}", *BROKEN]],
        ),
        stdio(
            "TPL-02",
            "an entry without a template between two good ones",
            (("templates",),),
            templates=[
                {"uriTemplate": "x://{a}", "name": "t"},
                {"name": "t"},
                {"uriTemplate": "y://{a}", "name": "t"},
            ],
        ),
        stdio(
            "CMP-01",
            "no completions in the capabilities",
            (STEP,),
            witness=times_asked(METHOD),
            resources=[GOOD],
            capabilities={"resources": {}},
        ),
        stdio(
            "CMP-01",
            "completions offered, but -32601, wanted twice",
            (STEP, STEP),
            witness=times_asked(METHOD),
            capabilities=OFFERED,
            **answered(METHOD, refused(-32601)),
        ),
        values(
            "250 values, hasMore, total 2",
            {"values": [f"v{n}" for n in range(250)], "hasMore": True, "total": 2},
        ),
        values("values: null", {"values": None}),
        values("three good values, a number and null", {"values": ["a", "", "b\nc", 7, None]}),
        stdio(
            "CMP-02",
            "an earlier argument with a slash, a typed space",
            (STEP,),
            witness=what_was_sent,
            capabilities=OFFERED,
            **answered(METHOD, {"result": {"completion": {"values": ["foo/bar", "x y", "<b>", "$1}"]}}}),
        ),
    ),
)
