"""FIND WORDS. What an archive said, and when: full text over contents and their intervals."""
