"""From plain data to LSP shapes."""
