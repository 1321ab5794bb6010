"""The built-in sample MCP server, a short tour of Lectern; must not import any other part of Lectern.

It uses the standard library alone, so that it starts at once and shows a client nothing but the protocol.
"""

from __future__ import annotations

import argparse


def run(arguments: argparse.Namespace) -> int:
    """``mcp-lectern demo-server``: serves until its input ends or it is told to end; the exit code."""
    if arguments.http is not None:
        from mcp_lectern.cli.demo_server import http

        return http.serve(arguments.http, tick_s=arguments.tick, journal_s=arguments.journal)
    from mcp_lectern.cli.demo_server import stdio

    return stdio.serve(tick_s=arguments.tick, journal_s=arguments.journal)
