"""Which kind of document bytes are."""
