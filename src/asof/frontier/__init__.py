"""WHEN: the life of a target, the queue that survives a crash, and politeness between hosts."""
