"""Pages, cursors and notices of change: PAG-01 to PAG-06, SUB-01, SUB-02."""

from __future__ import annotations

from typing import Any

from bench.cases.model import (
    ALSO_GOOD,
    GOOD,
    READ,
    RESOURCES,
    Section,
    Server,
    answered,
    counted,
    folder_of,
    refused,
    stdio,
    times_asked,
)

LIST, TEMPLATES = "resources/list", "resources/templates/list"
SUBSCRIBE, LISTEN = "resources/subscribe", "subscriptions/listen"
CHANGED, UPDATED = "notifications/resources/list_changed", "notifications/resources/updated"
EIGHT = [{"uri": f"a://{number}", "name": f"n{number}"} for number in range(8)]
MANY = [{"uri": f"a://{number}", "name": f"n{number}"} for number in range(30)]
TEMPLATE_LIST = [{"uriTemplate": f"t{number}://{{x}}", "name": "t"} for number in range(30)]
HOOK = str(folder_of("bench") / "cases" / "paging_hook.py")
BOTH = (("resources",), ("templates",))


def page(entries: list[Any], cursor: Any = None) -> dict[str, Any]:
    """An answer with one page."""
    more = {} if cursor is None else {"nextCursor": cursor}
    return {"result": {"resources": entries, **more}}


def cursors_sent(server: Server) -> str:
    """Whether each cursor went back as it came; long ones by their length."""
    sent = [message["params"]["cursor"] for message in server.received(LIST)[1:]]  # type: ignore[index]
    return "sent back " + ", ".join(repr(each) if len(each) < 20 else f"{len(each):,} long" for each in sent)


def with_page_two(answer: dict[str, Any], *rest: dict[str, Any]) -> dict[str, Any]:
    """The first page is fine; then these."""
    return answered(LIST, page([GOOD], "p2"), answer, *rest)


PAGES = (
    stdio(
        "PAG-01",
        "the same cursor for ever, the same 8 entries",
        RESOURCES,
        **answered(LIST, page(EIGHT, "p1")),
    ),
    stdio(
        "PAG-01",
        "two cursors in turn for ever",
        RESOURCES,
        hook=HOOK,
        paging="alternating",
    ),
    stdio("PAG-01", "a new cursor and a new entry for ever", RESOURCES, hook=HOOK, paging="endless"),
    stdio(
        "PAG-03",
        "three pages of each list",
        BOTH,
        resources=MANY,
        templates=TEMPLATE_LIST,
        page_size=10,
    ),
    stdio(
        "PAG-03", "refuses a first request that has a cursor", RESOURCES, hook=HOOK, paging="no first cursor"
    ),
    stdio(
        "PAG-03",
        "the second page's cursor has expired, once",
        RESOURCES,
        **with_page_two(refused(-32602, "expired"), page([GOOD], "p2"), page([ALSO_GOOD])),
    ),
    stdio(
        "PAG-03",
        "the second page's cursor has always expired",
        RESOURCES,
        hook=HOOK,
        paging="expired",
        witness=times_asked(LIST),
    ),
    stdio(
        "PAG-03",
        "the third page fails",
        RESOURCES,
        **with_page_two(page([ALSO_GOOD], "p3"), refused(-32603)),
    ),
    stdio(
        "PAG-03",
        "cursors with control characters, and 100,000 long",
        RESOURCES,
        witness=cursors_sent,
        **answered(LIST, page([GOOD], "\0\n%"), page([ALSO_GOOD], "c" * 100_000), page([])),
    ),
    stdio(
        "PAG-03",
        "an empty cursor, followed by one more page",
        RESOURCES,
        **answered(LIST, page([GOOD], ""), page([ALSO_GOOD])),
    ),
    stdio(
        "PAG-04",
        "the list changes between its two pages",
        (("resources",), ("heard",), ("resources",)),
        **answered(
            LIST,
            page([GOOD], "p2"),
            {"before": [{"notify": [CHANGED]}], **page([ALSO_GOOD])},
            page([{"uri": "a://new", "name": "new"}]),
        ),
    ),
    stdio(
        "PAG-04",
        "a notice of change before the answer to initialize",
        (("resources",), ("heard",)),
        answers={"initialize": {"before": [{"notify": [CHANGED]}]}},
    ),
    stdio(
        "PAG-04",
        "a notice of change right after the list",
        (("resources",), ("heard",), ("resources",)),
        **answered(LIST, {**page([GOOD]), "after": [{"notify": [CHANGED]}]}, page([GOOD, ALSO_GOOD])),
    ),
    stdio(
        "PAG-06",
        "10,000 entries on 100 pages",
        RESOURCES,
        generate=10_000,
        page_size=100,
        play={"patience": 10},
    ),
)

DIRECTORY = "dir://p"
WATCHED: tuple[Any, ...] = (("subscribe", DIRECTORY), ("heard",))
SUBSCRIBABLE = {"resources": {"subscribe": True, "listChanged": True}}


def notice(uri: str | None) -> dict[str, Any]:
    """An action: something has changed."""
    return {"notify": [UPDATED, {} if uri is None else {"uri": uri}]}


def subscribed(*notices: dict[str, Any]) -> dict[str, Any]:
    """A script that takes the subscription, and then sends these."""
    return {"capabilities": SUBSCRIBABLE, "answers": {SUBSCRIBE: {"result": {}, "after": list(notices)}}}


def subscriptions_asked(server: Server) -> str:
    """How often the server was asked to watch, in either era."""
    return f"asked {counted(len(server.received(SUBSCRIBE)), 'time')}"


EMPTY_ACKNOWLEDGEMENT = {
    "era": "modern",
    "capabilities": SUBSCRIBABLE,
    "hook": str(folder_of("bench") / "cases" / "listening_hook.py"),
}
LIVE = (
    stdio(
        "SUB-01",
        "no subscribe in the capabilities",
        WATCHED[:1],
        witness=subscriptions_asked,
        capabilities={"resources": {}},
    ),
    stdio(
        "SUB-01",
        "subscribe: false",
        WATCHED[:1],
        witness=subscriptions_asked,
        capabilities={"resources": {"subscribe": False}},
    ),
    stdio(
        "SUB-01",
        "subscribe: true, but -32601, then a read",
        WATCHED[:1] + READ,
        capabilities=SUBSCRIBABLE,
        **answered(SUBSCRIBE, refused(-32601)),
    ),
    stdio(
        "SUB-01",
        "an acknowledgement that leaves the URI out",
        WATCHED[:1],
        listening="nothing",
        **EMPTY_ACKNOWLEDGEMENT,
    ),
    stdio(
        "SUB-01",
        "a notice without any subscription, then a read",
        READ + READ,
        **answered("resources/read", {"after": [notice("x://y")]}),
    ),
    stdio("SUB-02", "a notice for the URI itself", WATCHED, **subscribed(notice(DIRECTORY))),
    stdio("SUB-02", "a notice for something below it", WATCHED, **subscribed(notice(f"{DIRECTORY}/a"))),
    stdio(
        "SUB-02",
        "a notice without a URI, then one with it",
        (*WATCHED, ("heard",)),
        **subscribed(notice(None), notice(DIRECTORY)),
    ),
    stdio(
        "SUB-02",
        "a notice for something below it (2026-07-28)",
        WATCHED,
        listening="child",
        **EMPTY_ACKNOWLEDGEMENT,
    ),
    stdio(
        "SUB-02",
        "a notice for another resource (2026-07-28)",
        WATCHED,
        listening="other",
        **EMPTY_ACKNOWLEDGEMENT,
    ),
    stdio(
        "SUB-02",
        "the server cancels the stream with the next read (2026-07-28)",
        (("subscribe", DIRECTORY), *READ, ("all heard",)),
        listening="cancelled",
        **EMPTY_ACKNOWLEDGEMENT,
    ),
)

SECTION = Section("Pages and changes", PAGES + LIVE)
