"""SURT prefixes: which part of the web is meant, as a rule or as a stretch of an index."""

import re

from asof.url.sortkey import surt
from asof.url.whatwg import typed

_SURT_FORM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\(")
_KEY_START = re.compile(r"[^/:]*(?::[0-9]+)?[,)]")
_WWW = re.compile(r"www[0-9]*", re.ASCII)
# Sorts after whatever may follow in a key.
LAST = "\U0010ffff"


def key_ranges(prefix: str) -> tuple[tuple[str, str], ...]:
    """The stretches of keys that a prefix means: half-open, ascending, for scans of an index.

    A prefix is a URL (without a path: the host and its subdomains; with a slash at its end: that
    folder and all below), a key or the beginning of one (`org,example)/a`), or a SURT prefix of
    Spaniol 2010 (`http://(org,example,`).
    """
    key, open_host = _as_key(prefix)
    if open_host:  # the host itself, its subdomains, its other ports
        return tuple((key + mark, key + mark + LAST) for mark in "),:")
    if key.endswith("/") and not key.endswith(")/"):
        folder = key[:-1]  # keys have no slash at their end, but queries may follow
        return ((folder, folder + "\0"), (key, key + LAST), (folder + "?", folder + "?" + LAST))
    return ((key, key + LAST),)


def _as_key(prefix: str) -> tuple[str, bool]:
    """The beginning of the keys meant, and whether it is a host that subdomains may follow."""
    form = _SURT_FORM.match(prefix)
    if form is not None:
        host, closed, path = prefix[form.end() :].partition(")")
        labels = [label for label in host.lower().split(",") if label]
        if labels and _WWW.fullmatch(labels[-1]):
            labels.pop()
        key = ",".join(labels)
        return (f"{key}){path.lower()}", False) if closed else (key, True)
    if _KEY_START.match(prefix):
        return prefix, False
    key = surt(typed(prefix) or prefix)
    if key.endswith(")/") and not prefix.rstrip().endswith("/"):
        return key[:-2], True
    bare = prefix.partition("#")[0].partition("?")
    if not bare[1] and bare[0].endswith("/") and not key.endswith("/"):
        key += "/"
    return key, False
