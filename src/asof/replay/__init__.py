"""SHOW: turn stored documents into documents that work inside the archive.

Rewriting is pure: bytes in, bytes out, given the document's own URL and a function that says where
an absolute URL shall lead. `rewrite` dispatches on the media type; `html` and `css` replace nothing
but references, so that all other bytes stay as they were captured, in whatever encoding they are.

    rewrite.rewrite(data, media_type, charset, place) -> Rewritten
"""
