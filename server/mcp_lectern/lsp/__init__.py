"""The skin towards editors; the only importer of pygls and lsprotocol."""
