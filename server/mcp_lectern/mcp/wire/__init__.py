"""What goes over the wire: tolerant models and exact messages; no I/O, no coroutine."""
