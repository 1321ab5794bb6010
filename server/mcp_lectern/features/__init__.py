"""Pure answers to an editor's questions: text and a snapshot in, plain data out."""
