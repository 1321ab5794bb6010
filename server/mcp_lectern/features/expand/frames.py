"""Writes an expansion down so that no content can leave its frame; must not know where content came from.

Resources come first and the text after them: nothing that the text leaves open (a code fence, a comment) can
take a frame's end for its own, and a reader of long material is best asked at its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from mcp_lectern.documents.media import language_id
from mcp_lectern.documents.render import well_formed
from mcp_lectern.features.describe import size_shown
from mcp_lectern.features.expand.model import Outcome, Part
from mcp_lectern.text.untrusted import code_span, markdown_escape, single_line, spelled_out

Format: TypeAlias = Literal["xml", "markdown", "json"]
FORMATS: tuple[Format, ...] = ("xml", "markdown", "json")

_TOKENS = ("token", "tokens")
_REASON_LIMIT = 600
_URI_LIMIT = 2000
_AT_ONCE = 65_536
_BACK_TICKS = re.compile("`+")
_TO_ESCAPE = re.compile(r"[&<>\"]|[^\S ]|[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def framed(text: str, outcomes: Sequence[Outcome], style: Format, nonces: Callable[[], str]) -> str:
    """The whole expansion. ``nonces`` gives texts that nobody can guess, another one with each call."""
    text = well_formed(text)
    if style == "json":
        plain = {"resources": [_json(outcome) for outcome in outcomes], "text": text}
        return _spelled_json(json.dumps(plain, ensure_ascii=False, indent=2)) + "\n"
    if style == "markdown":
        blocks = [_markdown(outcome) for outcome in outcomes]
    else:
        nonce = _unused(text, outcomes, nonces)
        blocks = [_xml(outcome, nonce) for outcome in outcomes]
    return "".join(f"{block}\n" for block in blocks) + text


def _unused(text: str, outcomes: Sequence[Outcome], nonces: Callable[[], str]) -> str:
    """A nonce that occurs nowhere in what is framed."""
    while True:
        nonce = nonces()
        if not any(nonce in each for each in _written(text, outcomes)):
            return nonce


def _written(text: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield text
    for outcome in outcomes:
        yield from (outcome.server or "", outcome.uri, outcome.mime_type or "", outcome.reason)
        yield outcome.stale or ""
        for part in outcome.parts:
            yield from (part.uri, part.mime_type or "", part.text or "", part.remark)


def _json(outcome: Outcome) -> dict[str, object]:
    plain: dict[str, object] = {key: _sendable(value) for key, value in outcome.to_json().items()}
    if len(outcome.parts) == 1:
        plain["text"] = outcome.parts[0].text
    elif outcome.parts:
        plain["parts"] = [_part_json(part) for part in outcome.parts]
    return plain


def _spelled_json(text: str) -> str:
    """The same JSON, with escapes for what a person would not see. In slices: much text takes a while."""
    slices = (text[start : start + _AT_ONCE] for start in range(0, len(text), _AT_ONCE))
    return "".join(spelled_out(each, _json_escape) if _may_hide(each) else each for each in slices)


def _may_hide(text: str) -> bool:
    return not text.isascii() or "\x7f" in text


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def _sendable(value: object) -> object:
    return well_formed(value) if isinstance(value, str) else value


def _part_json(part: Part) -> dict[str, object]:
    plain = {
        "uri": well_formed(part.uri),
        "mimeType": part.mime_type,
        "bytes": part.size,
        "text": part.text,
        "reason": well_formed(part.remark) or None,
    }
    return {key: value for key, value in plain.items() if value is not None}


def _xml(outcome: Outcome, nonce: str) -> str:
    tag = f"resource-{nonce}"
    sizes = {"bytes": str(outcome.size), "tokens": str(outcome.tokens)} if outcome.parts else {}
    status = {} if outcome.status == "included" else {"status": outcome.status}
    stale = {"stale": _reason(outcome.stale)} if outcome.stale else {}
    attributes = _attributes(
        {"server": outcome.server, "uri": outcome.uri, "type": outcome.mime_type, **sizes, **status, **stale}
    )
    if not outcome.parts:
        body = _reason(outcome.reason)
    elif len(outcome.parts) == 1:
        body = outcome.parts[0].text or ""
    else:
        body = "".join(_xml_part(part, nonce) for part in outcome.parts)
    return f"<{tag}{attributes}>\n{_ended(body)}</{tag}>\n"


def _xml_part(part: Part, nonce: str) -> str:
    attributes = _attributes({"uri": part.uri, "type": part.mime_type, "bytes": str(part.size)})
    body = part.text if part.text is not None else _reason(part.remark)
    return f"<part-{nonce}{attributes}>\n{_ended(body)}</part-{nonce}>\n"


def _attributes(values: dict[str, str | None]) -> str:
    return "".join(f' {name}="{_escaped(value)}"' for name, value in values.items() if value is not None)


def _escaped(value: str) -> str:
    """The value exactly, with nothing in it that a person would not see."""
    return spelled_out(_TO_ESCAPE.sub(lambda match: _reference(match[0]), value), _reference)


def _reference(character: str) -> str:
    return f"&#{ord(character)};"


def _markdown(outcome: Outcome) -> str:
    origin = f" of {code_span(outcome.server)}" if outcome.server is not None else ""
    name = f"Resource {code_span(outcome.uri, _URI_LIMIT)}{origin}"
    if not outcome.parts:
        return f"{name} is not included ({outcome.status}): {_inert(_reason(outcome.reason))}\n"
    facts = [
        outcome.mime_type,
        size_shown(outcome.size),
        f"about {outcome.tokens} {_TOKENS[outcome.tokens != 1]}",
    ]
    head = f"{name} ({_inert(', '.join(fact for fact in facts if fact))}):\n\n"
    if outcome.stale:
        head += f"{_inert(_reason(outcome.stale))}\n\n"
    if len(outcome.parts) == 1:
        return head + _fenced(outcome.parts[0])
    return head + "\n".join(_markdown_part(part) for part in outcome.parts)


def _markdown_part(part: Part) -> str:
    facts = ", ".join(fact for fact in (part.mime_type, size_shown(part.size)) if fact)
    head = f"Part {code_span(part.uri, _URI_LIMIT)} ({_inert(facts)})"
    if part.text is None:
        return f"{head}: {_inert(_reason(part.remark))}\n"
    return f"{head}:\n\n{_fenced(part)}"


def _fenced(part: Part) -> str:
    text = part.text or ""
    longest = max(map(len, _BACK_TICKS.findall(text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language_id(part.mime_type) or ''}\n{_ended(text)}{marks}\n"


def _ended(text: str) -> str:
    """The text as whole lines."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _reason(text: str) -> str:
    return single_line(text, _REASON_LIMIT)


def _inert(text: str) -> str:
    return markdown_escape(text, _REASON_LIMIT)
