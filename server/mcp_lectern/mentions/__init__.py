"""The mention grammar: text in, spans out; knows no catalogue, no server, no editor."""
