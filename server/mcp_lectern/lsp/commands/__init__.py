"""One file per server command."""
