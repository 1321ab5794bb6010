"""Documents as an editor sends them: lines, offsets, edits, encodings."""
