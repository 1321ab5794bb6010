"""One case: a server with an oddity, and what a client is told to do with it; knows neither client.

A step is a verb and its arguments; both clients know the same verbs and answer each with a phrase:

    resources, templates   how many there are
    names, types           those of the listed resources
    read URI               what came
    complete ...           how many values: for a template, an argument, what is typed, earlier arguments
    subscribe URI          whether it is
    heard                  the next notice, or that there was none
    all heard              every notice that comes soon
    version                the revision in use
    ended                  that the server is gone, once it is
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.http_server import Handler, HttpServer
from tests.support.scripted_server import ScriptedServer

Json = Any
Server = ScriptedServer | HttpServer
Step = tuple[Any, ...]
Witness = Callable[[Any], str]

GOOD = {"uri": "a://1", "name": "one"}
ALSO_GOOD = {"uri": "a://2", "name": "two"}
FINE: Json = {"contents": [{"uri": "a://1", "mimeType": "text/plain", "text": "fine"}]}
RESOURCES: tuple[Step, ...] = (("resources",),)
READ: tuple[Step, ...] = (("read", "a://1"),)
TWICE = READ + READ
MOST_PAGES = 200
"""How far a list is followed."""


@dataclass(frozen=True, slots=True)
class Play:
    """What a client process is given: how the server is reached, and what is to be done there.

    ``patience``: seconds that a request may take; ``answers``: a person fills in forms; ``mode``: ``auto`` or
    ``legacy``; ``through_hub``: ours is played with what stands above its client, and starts servers again
    and keeps results; ``sign_in``: the flow of OAuth, through a page that agrees.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    steps: tuple[Step, ...] = ()
    patience: float = 4
    answers: bool = False
    mode: str = "auto"
    sse: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    through_hub: bool = False
    sign_in: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """``script`` is that of a scripted process, ``handler`` makes what answers over HTTP: one of them is set.

    ``witness`` says what the server saw. ``adapted`` makes the client's address of the server's. ``costly``:
    takes the peer so long that its part is played only when the table is written.
    """

    identity: str
    oddity: str
    steps: tuple[Step, ...]
    script: Json = None
    handler: Callable[[], Handler] | None = None
    witness: Witness | None = None
    adapted: Callable[[str], str] = str
    tls: bool = False
    costly: bool = False
    play: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.identity} {self.oddity}"


@dataclass(frozen=True, slots=True)
class Section:
    """``title`` is a heading for people."""

    title: str
    cases: tuple[Case, ...]


def stdio(
    identity: str,
    oddity: str,
    steps: tuple[Step, ...],
    *,
    witness: Witness | None = None,
    play: Mapping[str, Any] | None = None,
    **script: Json,
) -> Case:
    """A case with a process; without ``resources`` and ``contents`` it has the good ones."""
    whole = {"resources": [GOOD], "contents": {"a://1": "fine"}, **script}
    return Case(identity, oddity, steps, script=whole, witness=witness, play=play or {})


def remote(
    identity: str,
    oddity: str,
    steps: tuple[Step, ...],
    handler: Callable[[], Handler],
    *,
    witness: Witness | None = None,
    adapted: Callable[[str], str] = str,
    tls: bool = False,
    **play: Any,
) -> Case:
    """A case with a server over HTTP."""
    return Case(
        identity, oddity, steps, handler=handler, witness=witness, adapted=adapted, tls=tls, play=play
    )


def counted(number: int, what: str, many: str = "") -> str:
    """A number and its noun."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def times_asked(method: str) -> Witness:
    """How often the server got a request."""

    def witness(server: Server) -> str:
        return f"asked {counted(len(server.received(method)), 'time')}"

    return witness


def answered(method: str, *answers: Json, **more: Json) -> dict[str, Json]:
    """The script's keys for a method that answers so, in turn."""
    return {"answers": {method: list(answers) if len(answers) > 1 else answers[0]}, **more}


def refused(code: Json, message: str = "no", data: Json = None) -> dict[str, Json]:
    """An answer of a script that is an error."""
    error = {"code": code, "message": message}
    return {"error": error if data is None else {**error, "data": data}}


def folder_of(name: str) -> Path:
    """A folder of the repository."""
    return Path(__file__).parents[2] / name
