"""The language of relations: read, checked, analysed, evaluated, explained, written out."""
