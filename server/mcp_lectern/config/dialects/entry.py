"""One entry of any host, JSON in, `ServerSpec` out; must not know files, hosts or what starts a server.

Strict about what it understands and loud about the rest: an entry is taken whole or rejected with a
sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from mcp_lectern.config.dialects import oauth
from mcp_lectern.config.dialects.model import Dialect
from mcp_lectern.config.model import Origin, ServerSpec
from mcp_lectern.settings.sentences import kind_of, quoted

FIELDS = (
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "envFile",
    "url",
    "headers",
    "disabled",
    "roots",
    "oauth",
    "protocol",
)
_KINDS = {"stdio": "stdio", "http": "http", "streamablehttp": "http", "sse": "sse"}
_LOCAL = ("command", "args", "env", "cwd", "envFile")
_REMOTE = ("url", "headers", "oauth")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""What HTTP calls a token: the letters of a header's name."""
_BREAK = re.compile(r"[\r\n\0]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class RejectedError(Exception):
    """The entry cannot be used. ``str()`` is the sentence's end, ``field`` the member at fault or None."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def read_entry(name: str, value: object, dialect: Dialect, origin: Origin) -> ServerSpec:
    """The entry as a spec. Raises `RejectedError`."""
    _check_name(name)
    if not isinstance(value, Mapping):
        raise RejectedError(f"an entry is an object, not {kind_of(value)}")
    if not any(field in value for field in ("command", "url", "type")):
        _reject_shapeless(value, dialect)
    kind = _kind(value)
    return ServerSpec(
        name=name,
        kind=kind,
        origin=origin,
        dialect=dialect.name,
        raw=dict(value),
        command=_text(value, "command") if kind == "stdio" else None,
        args=_arguments(value) if kind == "stdio" else (),
        env=_environment(value) if kind == "stdio" else {},
        cwd=_optional(value, "cwd") if kind == "stdio" else None,
        env_file=_optional(value, "envFile") if kind == "stdio" else None,
        url=_address(value) if kind != "stdio" else None,
        headers=_headers(value) if kind != "stdio" else {},
        disabled=_switch(value, "disabled") or False,
        roots=_switch(value, "roots"),
        protocol=_protocol(value),
    )


def unused(spec: ServerSpec, dialect: Dialect) -> tuple[str, ...]:
    """Members of the entry that Lectern does not use, because they are unknown or of the other transport."""
    other = _REMOTE if spec.kind == "stdio" else _LOCAL
    known = (set(FIELDS) - set(other)) | dialect.ignored
    members = [member for member, written in spec.raw.items() if written is not None and member not in known]
    inner = oauth.unknown(spec.raw.get("oauth")) if "oauth" in known else ()
    return (*members, *(f"oauth.{member}" for member in inner))


def _check_name(name: str) -> None:
    if not name:
        raise RejectedError("a server needs a name: write one in the quotes")
    if _SURROGATE.search(name):
        raise RejectedError("its name holds half a character (a lone surrogate), which no document can hold")


def _reject_shapeless(value: Mapping[str, object], dialect: Dialect) -> NoReturn:
    inner = [member for member in value.values() if isinstance(member, Mapping)]
    deeper = [member for members in inner for member in members.values() if isinstance(member, Mapping)]
    if any("command" in member or "url" in member for member in (*inner, *deeper)):
        raise RejectedError(
            f"it is not a server but holds servers: move them up, right under {quoted(dialect.section)}"
        )
    raise RejectedError("it has neither “command” (a program to start) nor “url” (a server to reach)")


def _kind(value: Mapping[str, object]) -> str:
    written = value.get("type")
    if written is None:
        return _kind_by_members(value)
    plain = written.lower().replace("-", "").replace("_", "") if isinstance(written, str) else ""
    kind = _KINDS.get(plain)
    if kind is None:
        raise RejectedError(f"“type” is “stdio”, “http” or “sse”, not {kind_of(written)}", "type")
    needed = "command" if kind == "stdio" else "url"
    if value.get(needed) is None:
        raise RejectedError(f"a server of type {quoted(str(written))} needs “{needed}”", "type")
    return kind


def _kind_by_members(value: Mapping[str, object]) -> str:
    local, remote = value.get("command") is not None, value.get("url") is not None
    if local and remote:
        raise RejectedError("it has both “command” and “url”: remove one, or say which counts with “type”")
    if not local and not remote:
        raise RejectedError("it has neither “command” (a program to start) nor “url” (a server to reach)")
    return "stdio" if local else "http"


def _text(value: Mapping[str, object], field: str) -> str:
    text = value[field]
    if not isinstance(text, str) or not text.strip():
        advice = ": put what follows the program into “args”" if isinstance(text, list) else ""
        raise RejectedError(f"“{field}” is a text, not {kind_of(text)}{advice}", field)
    return _clean(text, field)


def _optional(value: Mapping[str, object], field: str) -> str | None:
    return None if value.get(field) is None else _text(value, field)


def _arguments(value: Mapping[str, object]) -> tuple[str, ...]:
    arguments = value.get("args")
    if arguments is None:
        return ()
    if not isinstance(arguments, list):
        raise RejectedError(f"“args” is a list with one text per argument, not {kind_of(arguments)}", "args")
    return tuple(_scalar(argument, "args") for argument in arguments)


def _environment(value: Mapping[str, object]) -> dict[str, str | None]:
    members = _object(value, "env")
    for name in members:
        if not name or "=" in name:
            raise RejectedError(f"{quoted(name)} in “env” is not the name of a variable", "env")
        _clean(name, "env")
    return {name: None if text is None else _scalar(text, "env") for name, text in members.items()}


def _headers(value: Mapping[str, object]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, written in _object(value, "headers").items():
        text = _scalar(written, "headers")
        if not _TOKEN.fullmatch(name) or _BREAK.search(text):
            raise RejectedError(f"{quoted(name)} in “headers” is not a header that can be sent", "headers")
        headers[name] = text
    return headers


def _address(value: Mapping[str, object]) -> str:
    url = _text(value, "url")
    if "${" not in url and not url.lower().startswith(("http://", "https://")):
        raise RejectedError(f"“url” begins with http:// or https://, unlike {quoted(url)}", "url")
    wrong = oauth.complaint(value.get("oauth"))
    if wrong:
        raise RejectedError(wrong, "oauth")
    return url


def _protocol(value: Mapping[str, object]) -> str:
    protocol = value.get("protocol", "auto")
    if protocol not in ("auto", "legacy", "modern"):
        raise RejectedError(
            f"“protocol” is “auto”, “legacy” or “modern”, not {kind_of(protocol)}", "protocol"
        )
    return str(protocol)


def _switch(value: Mapping[str, object], field: str) -> bool | None:
    switch = value.get(field)
    if switch is not None and not isinstance(switch, bool):
        raise RejectedError(f"“{field}” is true or false, not {kind_of(switch)}", field)
    return switch


def _object(value: Mapping[str, object], field: str) -> Mapping[str, object]:
    members = value.get(field)
    if members is None:
        return {}
    if not isinstance(members, Mapping):
        raise RejectedError(f"“{field}” is an object, not {kind_of(members)}", field)
    return members


def _scalar(value: object, field: str) -> str:
    """Numbers and switches stand for their own spelling: people write ports and flags without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and abs(value) < 1e300:
        return str(value)
    if not isinstance(value, str):
        raise RejectedError(f"“{field}” holds {kind_of(value)} where a text belongs", field)
    return _clean(value, field)


def _clean(text: str, field: str) -> str:
    """No operating system takes these in a command, an argument or a variable."""
    if "\0" in text or _SURROGATE.search(text):
        raise RejectedError(f"“{field}” holds a character that cannot be passed to a program", field)
    return text
