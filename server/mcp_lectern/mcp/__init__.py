"""A lean MCP client for resources. It stands alone: nothing in it knows of editors, files or settings."""
