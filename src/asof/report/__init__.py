"""What is shown and is not a live page: quality, differences, reading lists, figures."""
