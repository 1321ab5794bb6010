"""Typed resource operations over a session; they know methods, not transports."""
