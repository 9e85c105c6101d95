"""The web pages of an archive: what was captured, and each page as of a moment.

    app.create_app(archives, clock) -> ASGIApp

Archived documents are hostile. They are shown without scripts, in a sandbox, rewritten so that
nothing in them reaches the live web; our own pages have no script at all and a strict policy.
"""
