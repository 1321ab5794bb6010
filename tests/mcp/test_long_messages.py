"""A long message says the same whether it is read as a whole or taken apart while it arrives."""

from __future__ import annotations

import base64
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.contents import read_result
from mcp_lectern.mcp.wire.framing import LineSplitter
from mcp_lectern.mcp.wire.gathering import LONG_MESSAGE, Gathered, Gathering
from mcp_lectern.mcp.wire.jsonrpc import Answer, Batch, Message, Rubbish, read
from mcp_lectern.mcp.wire.long_messages import STEP, Lifter, LongMessage
from mcp_lectern.mcp.wire.long_strings import LongBase64, LongText
from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

TEXTS = st.text(
    st.sampled_from('\\"/\n\tAb+=-_ {}:,[]u\x7fä\u20ac\U0001f600\ud83d\ude00\ud800\udc00\ufeff\u2028')
    | st.characters(),
    max_size=40,
) | st.sampled_from(['"text":"', '{"blob" : "x"}', "\\" * 9, "\\ud83d\\ude00", "\U0001f600" * 9, "ABCD" * 9])
BASE64 = st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode())
KEYS = st.sampled_from(["text", "blob", "uri", "contents", "result", 'a"text', "text\\", "x" * 30]) | TEXTS
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS | BASE64,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ITEMS = st.fixed_dictionaries({}, optional={"uri": TEXTS, "text": TEXTS | VALUES, "blob": BASE64 | TEXTS})
OBJECTS = st.lists(st.dictionaries(TEXTS, TEXTS, max_size=2), max_size=3)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "uri": TEXTS | st.sampled_from(['},{"uri":"a://1"', "a://1"]),
            "uriTemplate": st.sampled_from(["a://{x}", '},{"}']),
            "name": TEXTS,
            "icons": OBJECTS,
            "annotations": st.dictionaries(st.sampled_from(["priority", "x"]), st.integers() | OBJECTS),
            "resources": OBJECTS,
        },
    )
    | VALUES,
    max_size=8,
)
PAGES = st.fixed_dictionaries(
    {},
    optional={
        "resources": ENTRIES,
        "resourceTemplates": ENTRIES,
        "nextCursor": TEXTS,
        "contents": st.lists(ITEMS, max_size=3),
    },
)
MESSAGES = st.one_of(
    st.fixed_dictionaries({"id": st.just(7), "result": PAGES}),
    st.fixed_dictionaries({"id": st.just(7), "result": st.fixed_dictionaries({"_meta": PAGES, "x": PAGES})}),
    st.fixed_dictionaries({"id": st.just(7), "result": st.fixed_dictionaries({"contents": st.lists(ITEMS)})}),
    st.fixed_dictionaries({"id": st.just(7), "result": VALUES}),
    st.fixed_dictionaries({"id": st.just(7), "error": VALUES}),
    st.fixed_dictionaries({"method": TEXTS, "params": VALUES}),
    st.lists(st.fixed_dictionaries({"id": st.just(7), "result": VALUES})),
    VALUES,
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A message in any spelling, now and then damaged."""
    value, ascii_only = draw(MESSAGES), draw(st.booleans())
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t :\r\n ")]))
    text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    if draw(st.booleans()):
        text = text.replace("/", "\\/")
    line = text.encode("utf-8", "surrogatepass")
    match draw(st.sampled_from(["whole", "whole", "whole", "cut", "flip", "insert", "bom"])):
        case "cut":
            return line[: draw(st.integers(0, len(line)))]
        case "flip":
            place = draw(st.integers(0, len(line) - 1))
            return line[:place] + bytes([line[place] ^ draw(st.integers(1, 255))]) + line[place + 1 :]
        case "insert":
            place = draw(st.integers(0, len(line)))
            odd = draw(
                st.sampled_from([b"\xff", b"\xe2\x82", b"\xf0\x9f", b"\\", b'"', b"\x01", b"\xed\xa0\x80"])
            )
            return line[:place] + odd + line[place:]
        case "bom":
            return b"\xef\xbb\xbf" + line
        case _:
            return line


def lifted(line: bytes, cuts: list[int], step: int, long_string: int) -> Gathered:
    lifter = Lifter(step=step, long_string=long_string)
    start = 0
    for cut in [*cuts, len(line)]:
        lifter.feed(line[start : start + cut])
        start += cut
    return lifter.end(line[:1024], line[-1024:])


def plain(value: Any) -> Any:
    """The same with strings in place of long strings; numbers that are none are made comparable."""
    if isinstance(value, LongText | LongBase64):
        return value.text()
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    # What is no number is not even what it is itself.
    return repr(value) if isinstance(value, float) else value


def told(message: Message) -> Any:
    """What is to be the same; where in a broken text the first fault lies may be told in other words."""
    if isinstance(message, Rubbish) and message.reason.startswith("not JSON"):
        return ("not JSON", message.id)
    if isinstance(message, Answer):
        return Answer(message.id, plain(message.result))
    if isinstance(message, Batch):
        return [told(each) for each in message.messages]
    return message


CUTS = st.lists(st.integers(0, 12), max_size=60)


@given(lines(), CUTS, st.integers(1, 40), st.integers(1, 12))
@example(b'{"text":"\\\\","text":"x"}', [1] * 12, 1, 1)
@example(b'{"id":7,"result":{"contents":[{"text":"long one","text":"x"}]}}', [1] * 60, 1, 4)
@example(b'{"id":7,"result":{"contents":[{"a\\"text":"long one"}]}}', [1] * 60, 1, 4)
@example(
    b'{"id":7,"error":{"message":"no","data":{"text":"long one","blob":"AAAAAAAAAAAAAAAAAAAA"}}}', [9], 1, 4
)
@example(
    b'{"id":7,"result":{"x":' + b"9" * 500 + b',"contents":[{"blob":"AAAAAAAAAAAA\\ud800"}]}}', [9], 1, 4
)
@settings(max_examples=600, deadline=None)
def test_taking_a_message_apart_changes_nothing(
    line: bytes, cuts: list[int], step: int, long_string: int
) -> None:
    apart = lifted(line, cuts, step, long_string)
    assert isinstance(apart, LongMessage) or apart == line
    assert told(read(apart)) == told(read(line))


@given(lines(), CUTS, st.integers(1, 40), st.integers(1, 12))
@settings(max_examples=300, deadline=None)
def test_contents_are_the_same(line: bytes, cuts: list[int], step: int, long_string: int) -> None:
    whole, apart = read(line), read(lifted(line, cuts, step, long_string))
    if isinstance(whole, Answer) and isinstance(whole.result, dict):
        assert isinstance(apart, Answer)
        assert read_result(apart.result) == read_result(whole.result)


@given(
    st.lists(
        st.sampled_from(["AAAA", "+/+/", "-_-_", "QQ==", "QQ", "=", "A", "\n ", "é", "*", "zZ9/"]),
        max_size=40,
    ),
    CUTS,
    st.integers(1, 40),
)
@example(["AAAA", "AAAA", "QQ==", "AAAA", "+/+/", "-_-_"], [4, 12, 12, 12, 12, 12], 1)
@settings(max_examples=300, deadline=None)
def test_base64_of_every_dialect_is_the_same_and_so_are_its_faults(
    parts: list[str], cuts: list[int], step: int
) -> None:
    line = json.dumps({"id": 7, "result": {"contents": [{"blob": "".join(parts)}]}}).encode()
    whole, apart = read(line), read(lifted(line, cuts, step, 4))
    assert isinstance(whole, Answer)
    assert isinstance(apart, Answer)
    assert read_result(apart.result) == read_result(whole.result)


def result_of(line: bytes, size: int = 65_536) -> Any:
    """What a read is, whose answer comes as one long line."""
    splitter = LineSplitter(100 * LONG_MESSAGE)
    found = []
    for start in range(0, len(line), size):
        found += list(splitter.feed(line[start : start + size]))
    (message,) = found
    assert isinstance(message, LongMessage)
    answer = read(message)
    assert isinstance(answer, Answer)
    return read_result(answer.result)


@pytest.mark.case("RD-08")
def test_rd_08_a_text_of_many_megabytes_is_whole() -> None:
    text = 'A "line" with an ä,\t a \\ and a \U0001f600 now and then.\n' * 200_000
    line = json.dumps({"id": 7, "result": {"contents": [{"uri": "a://1", "text": text}]}}).encode() + b"\n"
    assert result_of(line).items == (TextItem("a://1", None, text),)


@pytest.mark.case("RD-08")
def test_rd_08_a_blob_costs_little_more_than_its_bytes() -> None:
    data = bytes(range(256)) * 64 * 1024
    encoded = base64.b64encode(data).decode()
    line = json.dumps({"id": 7, "result": {"contents": [{"blob": encoded}]}}).encode() + b"\n"
    tracemalloc.start()
    result = result_of(line)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.items == (BlobItem(None, None, data),)
    assert peak < 1.5 * len(data) + 4 * LONG_MESSAGE


def test_a_string_that_is_no_json_is_forgotten_at_once() -> None:
    gathering = Gathering()
    gathering.add(b'{"id":7,"result":{"contents":[{"text":"' + b"x" * LONG_MESSAGE + b"\x01")
    tracemalloc.start()
    for _ in range(100):
        gathering.add(b"x" * LONG_MESSAGE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * LONG_MESSAGE
    gathering.add(b'"}]}}')
    message = gathering.take()
    assert isinstance(message, LongMessage)
    answer = read(message)
    assert isinstance(answer, Rubbish)
    assert answer.id == 7


def page_of(count: int, name: str = "resources") -> bytes:
    icons = [{"src": "x"}, {"src": "},{"}]
    entries = [
        {"uri": f"a://{number}", "uriTemplate": f"a://{number}", "icons": icons} for number in range(count)
    ]
    return json.dumps({"id": 7, "result": {name: entries, "nextCursor": "two"}}).encode()


def gathered(line: bytes) -> Gathered:
    gathering = Gathering()
    for start in range(0, len(line), 65_536):
        gathering.add(line[start : start + 65_536])
    return gathering.take()


@pytest.mark.parametrize("name", ["resources", "resourceTemplates"])
def test_a_long_page_is_read_while_it_arrives(name: str) -> None:
    line = page_of(30_000, name)
    apart = gathered(line)
    assert isinstance(apart, LongMessage)
    left = sum(len(part) for part in apart.parts if isinstance(part, bytes))
    assert left < STEP + 1024
    assert told(read(apart)) == told(read(line))


def test_a_long_page_that_cannot_be_taken_apart_is_read_as_a_whole() -> None:
    for odd in (b"\\ud800", b"\xff", b"x" * 3 * STEP):
        line = page_of(30_000).replace(b"},{", b"}," + odd + b",{", 1)
        assert told(read(gathered(line))) == told(read(line))


def test_a_long_message_without_long_values_stays_as_it_came() -> None:
    for name in ("things", "resources"):
        values = [{"a": number} if name == "things" else number for number in range(200_000)]
        line = json.dumps({"id": 7, "result": {name: values}}).encode()
        assert gathered(line) == line
