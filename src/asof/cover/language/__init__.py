"""The language of relations: read, checked, analysed, evaluated, written out."""
