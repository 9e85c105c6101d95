"""HOW a URL is asked for: connections, TLS, proxies, cookies, limits; the grammar is in `http`."""
