"""READ: what documents say. For now, the links in them."""
