"""One file per LSP method; each converts, asks a feature, converts back."""
