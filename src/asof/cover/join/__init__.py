"""The exact join: who covers whom, in memory or on disk."""
