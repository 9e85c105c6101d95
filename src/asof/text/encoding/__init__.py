"""Which characters the bytes of a document stand for, as browsers decide it."""
