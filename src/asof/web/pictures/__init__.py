"""Pictures of archived pages, taken by the user's own Chromium."""
