"""One file per subcommand; stdout carries the answer alone."""
