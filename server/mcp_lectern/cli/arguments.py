"""The grammar of the command line; must not import what a subcommand needs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from mcp_lectern import __version__

PROGRAM = "mcp-lectern"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the usage in one sentence, and where help is; exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{PROGRAM}: {message}. Help: {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """The whole grammar. A parsed line has ``module``, the module under ``cli`` that runs it."""
    top = _Parser(prog=PROGRAM, description="MCP resources in your editor.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _serve(_command(commands, "serve", "the language server, on standard input and output"))
    _demo(_command(commands, "demo", "the main job without an editor: complete, hover, follow, open, expand"))
    _demo_server(_command(commands, "demo-server", "the built-in sample MCP server, over stdio or HTTP"))
    _list(_command(commands, "list", "resources and templates of all servers, best match first"))
    _read(_command(commands, "read", "the content of one resource"))
    _expand(_command(commands, "expand", "a text with the resources that it mentions"))
    _approve(_command(commands, "approve", "show what a server's entry would start, and approve it"))
    _named(_command(commands, "revoke", "take an approval back"))
    _named(_command(commands, "sign-in", "sign in to a remote server, in a browser"))
    _named(_command(commands, "sign-out", "revoke the sign-in to a remote server, and forget it"))
    _doctor(_command(commands, "doctor", "which servers were found where, and how each of them is"))
    return top


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, summary: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    command.set_defaults(module=name.replace("-", "_"))
    return command


def _configuration(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--config", type=Path, action="append", default=[], metavar="FILE",
        help="settings, or an mcp.json of any known shape; repeatable, the last one wins",
    )  # fmt: skip
    command.add_argument("--no-discover", action="store_true", help="look for no other configuration files")


def _workspace(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workspace", type=_folder, default=Path(), metavar="DIR",
        help="the folder whose configuration counts (default: this one)",
    )  # fmt: skip


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="answer in JSON")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds")
    return seconds


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--stdio", action="store_true", help="the default, and the only transport")
    _configuration(command)
    command.add_argument(
        "--workspace-servers", choices=("ask", "never", "always"), default=None,
        help="what to do with servers that a workspace file names (default: ask; always is for CI)",
    )  # fmt: skip
    command.add_argument(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        default="warning",
        help="default: warning",
    )
    command.add_argument(
        "--log-file", type=Path, metavar="FILE", help="write the log there instead of to stderr"
    )


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--config", type=Path, action="append", default=[], metavar="FILE",
        help="play it against the servers of this file instead of the sample server",
    )  # fmt: skip


def _demo_server(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--http", type=_port, default=None, metavar="PORT",
        help="serve over HTTP on 127.0.0.1 instead; 0 = a port that the system chooses, told on stderr",
    )  # fmt: skip
    command.add_argument(
        "--tick",
        type=_seconds,
        default=3.0,
        metavar="SECONDS",
        help="how often the clock changes (default: 3)",
    )
    command.add_argument(
        "--journal", type=_seconds, default=0.0, metavar="SECONDS",
        help="list one more page that often (default: 0, never)",
    )  # fmt: skip


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _list(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "query", nargs="?", default="", metavar="QUERY", help="letters of a name, title or URI"
    )
    command.add_argument("--server", metavar="NAME", help="only this server")
    command.add_argument("--limit", type=_positive, metavar="N", help="at most so many (default: all)")
    _json(command)
    _configuration(command)
    _workspace(command)


def _read(command: argparse.ArgumentParser) -> None:
    command.add_argument("mention", metavar="MENTION", help="@server:uri, or the URI alone with --server")
    command.add_argument("--server", metavar="NAME", help="MENTION is a URI of this server")
    command.add_argument("--out", type=Path, metavar="PATH", help="write the content to this new file")
    _json(command)
    _configuration(command)
    _workspace(command)


def _expand(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="a text file, read as Markdown; - for standard input")
    command.add_argument(
        "--format", choices=("xml", "markdown", "json"), default="xml",
        help="how each resource is framed (default: xml)",
    )  # fmt: skip
    command.add_argument(
        "--max-bytes", type=_positive, metavar="N", help="include at most so much text, in bytes, in all"
    )
    command.add_argument("--unlisted", action="store_true", help="read URIs that no server lists, too")
    _configuration(command)
    _workspace(command)


def _approve(command: argparse.ArgumentParser) -> None:
    command.add_argument("server", metavar="SERVER")
    command.add_argument("--yes", action="store_true", help="approve what is shown without asking")
    _json(command)
    _configuration(command)
    _workspace(command)


def _named(command: argparse.ArgumentParser) -> None:
    command.add_argument("server", metavar="SERVER")
    _json(command)
    _configuration(command)
    _workspace(command)


def _doctor(command: argparse.ArgumentParser) -> None:
    _json(command)
    _configuration(command)
    _workspace(command)
