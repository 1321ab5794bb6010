"""What the servers list, as immutable snapshots that can be searched; no I/O, no coroutine."""
