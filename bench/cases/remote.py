"""Sessions, streams, redirects and refusals over HTTP: HTTP-01 to HTTP-05, HTTP-07."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.http_mcp import HttpMcp, in_turn
from tests.support.http_server import Handler, HttpServer, Reply, Request

from bench.cases.model import READ, TWICE, Case, Section, Server, counted
from bench.cases.model import remote as case

METHOD = "resources/read"
FINE = {"contents": [{"uri": "a://1", "mimeType": "text/plain", "text": "fine"}]}
GLOBE = {"contents": [{"uri": "a://1", "text": "\u00e4\u2028\u20ac"}]}
COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
LEGACY, MODERN = "legacy", "modern"


def serving(era: str = LEGACY, **options: Any) -> HttpMcp:
    """A right server, whose resource is fine."""
    mcp = HttpMcp(era, **options)

    async def read(request: Request, reply: Reply) -> None:
        if era == LEGACY and request.headers.get("mcp-session-id") != mcp.sessions[-1]:
            await reply.error(request, -32000, "Bad Request: No valid session", 400)
        else:
            await reply.result(request, FINE if era == LEGACY else {**COMPLETE, **FINE})

    mcp.on[METHOD] = read
    return mcp


def reads(*handlers: Handler, era: str = LEGACY) -> Callable[[], HttpMcp]:
    """A server whose reads go to these, in turn; then it is right."""

    def make() -> HttpMcp:
        mcp = serving(era)
        mcp.on[METHOD] = in_turn(*handlers, mcp.on[METHOD])
        return mcp

    return make


def always(handler: Handler, method: str = METHOD, era: str = LEGACY) -> Callable[[], HttpMcp]:
    """A server in which one method, or verb, always goes to this."""

    def make() -> HttpMcp:
        mcp = serving(era)
        mcp.on[method] = handler
        return mcp

    return make


def status(code: int, body: str = "", **headers: str) -> Handler:
    """Answers with a status."""

    async def handle(_request: Request, reply: Reply) -> None:
        await reply.send(code, body, **headers)

    return handle


def requests(method: str | None = None, verb: str | None = None) -> Callable[[Server], str]:
    """How often the server got such a request."""

    def witness(server: Server) -> str:
        assert isinstance(server, HttpServer)
        return f"{method or verb}: {counted(len(server.received(method, verb)), 'time')}"

    return witness


async def lost_in_stream(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    error = {"code": -32000, "message": "Session not found"}
    await stream.message({"id": request.message["id"], "error": error})
    await stream.end()


async def missing(request: Request, reply: Reply) -> None:
    await reply.error(request, -32601, "Method not found", 404)


def no_valid_session() -> Handler:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.error(request, -32000, "Bad Request: No valid session ID provided", 400)

    return handle


GREETED = requests("initialize")
SESSIONS = (
    case("HTTP-01", "404 in a session, once", READ, reads(status(404)), witness=GREETED),
    case("HTTP-01", "400 No valid session, once", READ, reads(no_valid_session()), witness=GREETED),
    case(
        "HTTP-01", "200 with the error Session not found, once", READ, reads(lost_in_stream), witness=GREETED
    ),
    case("HTTP-01", "404 in every session", READ, always(status(404)), witness=GREETED),
    case(
        "HTTP-01",
        "404 with -32601 (2026-07-28)",
        TWICE,
        reads(missing, era=MODERN),
        witness=requests("server/discover"),
    ),
)


async def silent_get(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.end()


def getting(oddity: str, handler: Handler) -> Case:
    """A server that treats the GET stream so; a read after a while."""
    steps = (*READ, ("all heard",), *READ)
    return case("HTTP-02", f"GET: {oddity}", steps, always(handler, "GET"), witness=tries)


def tries(server: Server) -> str:
    """How often the stream was asked for: once, a few times, or in a loop."""
    assert isinstance(server, HttpServer)
    count = len(server.received(verb="GET"))
    return (
        f"GET: {'once' if count == 1 else 'never' if not count else 'again' if count < 10 else 'in a loop'}"
    )


async def hanging(_request: Request, reply: Reply) -> None:
    await reply.gone.wait()


STREAMS = (
    *(getting(f"{code}", status(code)) for code in (405, 404, 406, 400, 401)),
    getting("200 with plain text", status(200, "hello", content_type="text/plain")),
    getting("200, a stream that ends at once", silent_get),
    *(
        case(
            "HTTP-02",
            f"DELETE: {code}",
            READ,
            always(status(code), "DELETE"),
            witness=requests(verb="DELETE"),
        )
        for code in (405, 404)
    ),
    case("HTTP-02", "DELETE is never answered", READ, always(hanging, "DELETE")),
)


def event(text: str) -> Handler:
    """Answers with an event stream; ``$M`` is the message, whose text has more than ASCII."""

    async def handle(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(text.replace("$M", message_of(request, GLOBE)))
        await stream.end()

    return handle


def message_of(request: Request, result: Any) -> str:
    message = {"jsonrpc": "2.0", "id": request.message["id"], "result": result}
    return json.dumps(message, ensure_ascii=False)


def typed(kind: str) -> Handler:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(200, message_of(request, GLOBE), content_type=kind)

    return handle


def stream_typed(kind: str) -> Handler:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(200, f"data: {message_of(request, GLOBE)}\n\n", content_type=kind)

    return handle


async def bytewise(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    for byte in f"data: {message_of(request, GLOBE)}\r\n\r\n".encode():
        await stream.send(bytes([byte]))
    await stream.end()


async def over_lines(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    lines = json.dumps(json.loads(message_of(request, GLOBE)), indent=1, ensure_ascii=False).split("\n")
    await stream.send("".join(f"data: {line}\n" for line in lines) + "\n")
    await stream.end()


async def trailing(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.send(f"data: {message_of(request, FINE)}\n\n")
    await stream.message({"method": "notifications/message", "params": {"level": "info", "data": "x"}})
    await stream.end()


async def cut(_request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.send(": nothing yet\n\n")
    stream.cut()


def resumable() -> HttpMcp:
    """The first read's stream has an id and is cut; the answer comes where it is taken up."""
    mcp = serving()
    asked: list[Request] = []

    async def read(request: Request, reply: Reply) -> None:
        asked.append(request)
        stream = await reply.stream()
        await stream.send("id: r1\nretry: 30\ndata:\n\n")
        stream.cut()

    async def get(request: Request, reply: Reply) -> None:
        if request.headers.get("last-event-id") != "r1":
            await reply.send(405)
            return
        stream = await reply.stream()
        await stream.result(asked[0], FINE, id="r2")
        await stream.end()

    mcp.on[METHOD], mcp.on["GET"] = read, get
    return mcp


def parsed(oddity: str, handler: Handler, steps: Any = READ) -> Case:
    return case("HTTP-03", oddity, steps, reads(handler))


EVENTS = (
    parsed("lines end with CRLF", event("data: $M\r\n\r\n")),
    parsed("lines end with CR", event("data: $M\r\r")),
    parsed("CRLF and UTF-8 in pieces of one byte", bytewise),
    parsed("no space after data:", event("data:$M\n\n")),
    parsed("one message over many data lines", over_lines),
    parsed("comments to keep alive", event(": x\n\n:\n\ndata: $M\n\n")),
    parsed("an empty event with id and retry first", event("id: 1\nretry: 1\ndata:\n\ndata: $M\n\n")),
    parsed("a byte order mark", event("\ufeffdata: $M\n\n")),
    parsed("an event of another name first", event("event: ping\ndata: {}\n\ndata: $M\n\n")),
    parsed("an event that is no JSON first", event("data: hello\n\ndata: $M\n\n")),
    parsed("events after the answer, and one more read", trailing, TWICE),
    parsed("application/json; charset=utf-8", typed("application/json; charset=utf-8")),
    parsed("Text/Event-Stream;charset=UTF-8", stream_typed("Text/Event-Stream;charset=UTF-8")),
    parsed("a stream without ids is cut, then the resource", cut, TWICE),
    case("HTTP-03", "a stream with an id is cut", READ, resumable),
    case(
        "HTTP-03",
        "a stream is cut once (2026-07-28)",
        READ,
        reads(cut, era=MODERN),
        witness=requests(METHOD),
    ),
    case(
        "HTTP-03", "every stream is cut (2026-07-28)", READ, always(cut, era=MODERN), witness=requests(METHOD)
    ),
)


def redirecting(code: int, target: str = "/mcp/") -> Callable[[], Handler]:
    """Everything at the first address is redirected; the right server is at the other."""

    def make() -> Handler:
        mcp = serving()

        async def handle(request: Request, reply: Reply) -> None:
            if request.target == "/mcp":
                await reply.send(code, location=target)
            else:
                await mcp(request, reply)

        return handle

    return make


def kept_path(server: Server) -> str:
    assert isinstance(server, HttpServer)
    return "asked at " + ", ".join(sorted({request.target for request in server.requests}))


def told_the_token(server: Server) -> str:
    assert isinstance(server, HttpServer)
    held = [
        request.headers.get("authorization", "") for request in server.requests if request.target == "/mcp/"
    ]
    return f"the token {'kept' if held and all(held) else 'not sent there'}"


ELSEWHERE = "http://localhost:9/mcp"
TOKEN = {"headers": {"Authorization": "Bearer t"}}
WAYS = (
    *(
        case(
            "HTTP-04", f"{code} to the same origin", READ, redirecting(code), witness=told_the_token, **TOKEN
        )
        for code in (307, 308, 301, 302)
    ),
    case("HTTP-04", "307 to another origin", READ, redirecting(307, ELSEWHERE), **TOKEN),
    case("HTTP-04", "307 to itself", READ, redirecting(307, "/mcp")),
    case(
        "HTTP-04",
        "the address ends with a slash",
        READ,
        serving,
        adapted=lambda url: url + "/",
        witness=kept_path,
    ),
    case("HTTP-04", "a certificate that nobody signed", READ, serving, tls=True),
    case(
        "HTTP-04",
        "a proxy in the environment, NO_PROXY names the server",
        READ,
        serving,
        environment={
            "HTTP_PROXY": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        },
    ),
)

SCOPED = 'Bearer error="insufficient_scope", scope="a b"'
PAGE = "<!doctype html><title>Blocked</title><p>Who are you?</p>"
BUSY = status(429, retry_after="1")
REFUSALS = (
    case("HTTP-05", "401, with a header of the user's own", READ, lambda: status(401), **TOKEN),
    case("HTTP-05", "401 to a read, without WWW-Authenticate", TWICE, reads(status(401))),
    case("HTTP-05", "403 that names scopes", TWICE, reads(status(403, www_authenticate=SCOPED))),
    case("HTTP-05", "403 with a page", TWICE, reads(status(403, PAGE, content_type="text/html"))),
    case("HTTP-05", "200 with a page", TWICE, reads(status(200, PAGE, content_type="text/html"))),
    case("HTTP-05", "429 with Retry-After: 1, once", READ, reads(BUSY), witness=requests(METHOD)),
    case("HTTP-05", "500, then the resource", TWICE, reads(status(500))),
)


def named(uri: str, shown: str) -> Case:
    """A read of an odd URI; the header that names it is shown."""
    return case("HTTP-07", f"reads {shown}", (("read", uri),), lambda: serving(MODERN), witness=headers_sent)


def headers_sent(server: Server) -> str:
    assert isinstance(server, HttpServer)
    if not (sent := server.received(METHOD)):
        return "not asked"
    params, headers = sent[-1].message["params"], sent[-1].headers
    version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    equal = headers["mcp-method"] == METHOD and headers["mcp-protocol-version"] == version
    return f"Mcp-Name: {headers['mcp-name']}{'' if equal else ', other headers differ'}"


HEADERS = (
    named("a://plain", "a plain URI"),
    named("oni://\u6d4b\u8bd5", "a URI outside ASCII"),
    named("note:// a ", "a URI with spaces around"),
    named("a://1\r\nX-Evil: 1", "a URI with a line break"),
    named("=?base64?eA==?=", "a URI that looks encoded"),
)

SECTION = Section("Streamable HTTP", SESSIONS + STREAMS + EVENTS + WAYS + REFUSALS + HEADERS)
