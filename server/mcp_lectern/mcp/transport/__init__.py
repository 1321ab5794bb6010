"""Byte pipes to servers; they know framing, not methods."""
