"""Pages of HTML: their blocks of text, main content, and what they say of themselves."""
