"""What is behind a mention, as documents: addresses, types, texts and private files."""
