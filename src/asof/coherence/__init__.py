"""TRUST: how far an archive can say what a site looked like as of a moment (seeds 000 and 001)."""
