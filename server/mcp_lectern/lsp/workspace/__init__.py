"""Files of the workspace that no editor has open; knows neither mentions nor LSP's messages."""
