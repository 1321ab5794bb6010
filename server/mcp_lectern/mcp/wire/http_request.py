"""The head of an HTTP/1.1 request as bytes, refused where it would not be read as one; must not do I/O.

RFC 9112, 3 and 5. A value with a line break in it would say what its author wants in the name of the client.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_NAME: Final = re.compile(rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_VALUE: Final = re.compile(rb"(?:[^\x00-\x20\x7f]+(?:[ \t]+[^\x00-\x20\x7f]+)*)?")
_TARGET: Final = re.compile(rb"[\x21-\x7e]+")


def request_line(verb: str, target: bytes) -> bytes:
    """The first line. Raises ValueError for a target that is none."""
    if not _TARGET.fullmatch(target):
        raise ValueError("its address holds what cannot be sent")
    return b"%b %b HTTP/1.1\r\n" % (verb.encode("ascii"), target)


def header_lines(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A line for each header. Raises ValueError, which names the header and does not show its value."""
    lines = []
    for name, value in fields:
        if not _NAME.fullmatch(name):
            raise ValueError("a header has a name that cannot be sent")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"the header {name.decode('ascii')} has a value that cannot be sent")
        lines.append(b"%b: %b\r\n" % (name, value))
    return b"".join(lines)


def with_body(head: bytes, content: bytes | None) -> bytes:
    """The whole request."""
    if content is None:
        return head + b"\r\n"
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(content), content)
