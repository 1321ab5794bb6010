"""A remote entry as written to what a server is reached with; connects to nothing.

Everything that can be known to fail before a connection exists fails here, with a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import SplitResult, unquote, urlsplit

from mcp_lectern.config.dialects.oauth import GRANTS, TEXTS, port, scopes
from mcp_lectern.config.launch import SECRET_NAME, expanded
from mcp_lectern.config.mask import masker
from mcp_lectern.config.model import OAuthEntry, Problem, Remote, ServerSpec
from mcp_lectern.config.places import Machine, expand_home
from mcp_lectern.settings.sentences import quoted

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[\ud800-\udfff]")
_LOOPBACK = re.compile(r"localhost|.*\.localhost|127(\.\d{1,3}){3}|::1")


@dataclass(frozen=True, slots=True)
class Network:
    """Settings of trusted origin alone: whoever names the proxy or the authority reads what is sent."""

    ca_file: str | None = None
    proxy: str | None = None


_NOTHING: Mapping[str, str] = MappingProxyType({})


def remote(
    spec: ServerSpec,
    *,
    machine: Machine,
    network: Network,
    workspace_folder: Path | None = None,
    given: Mapping[str, str] = _NOTHING,
) -> Remote | tuple[Problem, ...]:
    """How to reach a server, or why it cannot be reached. Reads and connects to nothing.

    ``given`` are the values of its inputs, by id.
    """
    return _Reaching(spec, machine, network, spec.origin.folder or workspace_folder, given).run()


@dataclass(slots=True)
class _Reaching:
    spec: ServerSpec
    machine: Machine
    network: Network
    folder: Path | None
    given: Mapping[str, str]
    secrets: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def run(self) -> Remote | tuple[Problem, ...]:
        url = self._expand(self.spec.url or "", "url").strip()
        headers = {name: self._header(name, text) for name, text in self.spec.headers.items()}
        oauth = self._oauth()
        parts = self._parts(url)
        if parts is None or self.problems:
            return tuple(self._problem(reason) for reason in self.problems)
        ca_file, proxy = self.network.ca_file, self.network.proxy
        return Remote(
            url,
            headers,
            self.spec.kind,
            self.machine.home / expand_home(ca_file, self.machine.home) if ca_file else None,
            proxy,
            tuple(dict.fromkeys(self.secrets)),
            self._warning(parts, headers),
            oauth,
        )

    def _problem(self, reason: str) -> Problem:
        origin = self.spec.origin
        message = masker(self.secrets)(f"Cannot reach {quoted(self.spec.name)}: {reason}.")
        return Problem(message, origin.path, origin.line, origin.column, server=self.spec.name)

    def _expand(self, text: str, where: str) -> str:
        expansion = expanded(
            text, self.spec, machine=self.machine, workspace_folder=self.folder, given=self.given
        )
        self.secrets.extend(secret for secret in expansion.secrets if secret)
        self.problems.extend(f"in “{where}”, {problem}" for problem in expansion.problems)
        return expansion.text

    def _header(self, name: str, written: str) -> str:
        text = self._expand(written, f"headers.{name}").strip()
        if _CONTROL.search(text):
            self.problems.append(f"“headers.{name}” holds a character that no header can hold")
        if text and SECRET_NAME.search(name):
            self.secrets.extend((text, text.rpartition(" ")[2]))
        return text

    def _oauth(self) -> OAuthEntry:
        written = self.spec.raw.get("oauth")
        if not isinstance(written, Mapping):
            return OAuthEntry()
        texts = {
            name: self._expand(str(written[name]), f"oauth.{name}") for name in TEXTS if written.get(name)
        }
        self.secrets.extend(text for name in ("clientSecret", "privateKey") if (text := texts.get(name)))
        return OAuthEntry(
            texts.get("clientId"),
            texts.get("clientSecret"),
            texts.get("privateKey"),
            texts.get("issuer"),
            scopes(written),
            port(written),
            texts.get("clientMetadataUrl"),
            str(written.get("grant") or GRANTS[0]),
        )

    def _parts(self, url: str) -> SplitResult | None:
        """The address taken apart; None, and a problem, where it is none."""
        if self.problems:
            return None
        try:
            parts = urlsplit(url)
            usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or _CONTROL.search(url) or any(character.isspace() for character in url):
            self.problems.append("“url” is no http or https address that names a host")
            return None
        if parts.password:
            self.secrets.extend((parts.password, unquote(parts.password)))
        return parts

    def _warning(self, parts: SplitResult, headers: dict[str, str]) -> str | None:
        credentials = bool(parts.password) or any(map(SECRET_NAME.search, headers))
        credentials = credentials or self.spec.raw.get("oauth") is not None
        if parts.scheme.lower() == "https" or not credentials or _LOOPBACK.fullmatch(parts.hostname or ""):
            return None
        return (
            f"The credentials of {quoted(self.spec.name)} are sent unprotected, as its address begins with "
            "http://: use https:// if the server has that."
        )
