"""Where documents lead: HTML, CSS, headers, scripts, PDF, sitemaps, feeds."""
