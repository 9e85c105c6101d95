"""TRUST: how far an archive can say what a site looked like as of a moment (Spaniol 2009)."""
