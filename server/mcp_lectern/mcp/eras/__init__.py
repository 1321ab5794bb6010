"""The two eras of the protocol as pure objects; no I/O, no coroutine."""
