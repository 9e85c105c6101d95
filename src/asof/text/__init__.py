"""READ: what documents say, and where they lead."""
