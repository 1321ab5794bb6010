"""Lectern: MCP resources where text is written. Importing this package loads nothing else."""

__version__ = "0.1.0"
