"""asof: a web archive that can say what a site looked like as of a moment."""
