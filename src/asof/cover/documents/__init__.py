"""Documents to be thinned out: of an archive or of a table, as sets of shingles with attributes."""
