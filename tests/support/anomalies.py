"""The names of what can be odd about a response. Stable words: they are stored in archives.

An anomaly never costs a byte: it says that a server broke a rule, and which one, so that a person
can tell later why a capture looks as it does. The tests hold one response for every name, and let
no other pass.
"""

from __future__ import annotations

ANOMALIES: dict[str, str] = {
    # where the head is
    "http-0.9": "no status line at all: every byte is body, as in HTTP/0.9",
    "leading-blank-lines": "blank lines before the status line",
    "unfinished-head": "the bytes end before the blank line that ends the head",
    "head-too-long": "the head is longer than the limit and was cut there",
    "interim-only": "no final response followed the 1xx block, which is taken for the head",
    # the status line (RFC 9112 section 4)
    "bad-status-line": "no three-digit status can be read from the status line",
    "odd-status": "a status outside 100 to 599 (RFC 9110 section 15)",
    "odd-version": "a version other than HTTP/1.0 or HTTP/1.1, such as ICY",
    "status-line-spacing": "other than one space between the parts of the status line",
    "missing-reason": "the status line ends right after the status, without its last space",
    # the header fields (RFC 9112 section 5)
    "lf-line-ends": "lines end in LF alone instead of CR LF",
    "bare-cr": "a CR that no LF follows, read as a space",
    "nul-byte": "a NUL byte in the head, read as a space",
    "non-ascii-head": "bytes above 127 in the head, read as Latin-1",
    "obs-fold": "a header value goes on in the next line",
    "fold-without-header": "a line begins with a space but continues no header; left out",
    "header-without-colon": "a header line without a colon; left out of the headers",
    "header-without-name": "a header line that begins with its colon; left out of the headers",
    "space-before-colon": "white space between a header's name and its colon",
    "odd-header-name": "a header name with characters that names cannot have",
    # how the body is delimited (RFC 9112 section 6)
    "duplicate-length": "Content-Length said more than once, always the same",
    "conflicting-length": "Content-Length said more than once, differently; read until close",
    "bad-length": "Content-Length is not a number; read until close",
    "length-and-coding": "Content-Length beside Transfer-Encoding, which is the one that counts",
    "length-without-body": "a 204 that announces a body, which it cannot have",
    "chunked-in-http-1.0": "Transfer-Encoding in a version of HTTP that has none",
    "chunked-twice": "chunked named more than once in Transfer-Encoding",
    "coding-without-chunked": "a transfer coding that does not end in chunked; read until close",
    "identity-coding": "Transfer-Encoding: identity, which means nothing and is not allowed",
    "upgrade": "a 101 that nobody asked for",
    # the body
    "bad-chunk-size": "a chunk's size cannot be read; from there on read until close",
    "bad-chunk-end": "a chunk is longer than it says; from there on read until close",
    "long-chunk-line": "a chunk extension or trailer beyond all measure; read until close",
    "missing-final-crlf": "the last chunk came, but not the empty line after it",
    "surplus-bytes": "more bytes after the end of the message; they belong to nobody",
    "too-slow": "the body dripped in more slowly than the least rate and was cut",
    # nothing
    "empty": "the connection ended without a byte",
}
