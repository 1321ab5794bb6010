"""Where servers are configured, and how each file is read; starts nothing."""
