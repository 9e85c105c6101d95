"""Signatures: keys of the user and of others, and who says that a file is what it was."""
