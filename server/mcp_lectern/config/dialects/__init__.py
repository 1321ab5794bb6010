"""One module per configuration host; each knows its own file's shape and variables."""
