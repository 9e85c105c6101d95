"""SURT forms and prefixes as Spaniol 2010 ("SURT Prefix") has them: a referee for our prefixes.

The plain transform: it keeps the scheme and every label, which keys of an index do not.
"""

from __future__ import annotations

import re

_SURT_FORM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\(")
_HIERARCHICAL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_DOTTED_QUAD = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}", re.ASCII)


def surt_form(url: str) -> str:
    """The URL with its host turned round and nothing else changed: `http://(org,example,www,)/x`.

    The scheme and the host fold to lower case. A URL that is already in this form, or that has no
    authority, stays as it is. Addresses in numbers are not turned round.
    """
    match = None if _SURT_FORM.match(url) else _HIERARCHICAL.fullmatch(url)
    if match is None:
        return url
    scheme, authority, rest = match.groups()
    userinfo, at, host_and_port = authority.rpartition("@")
    host, colon, port = host_and_port.partition(":")
    if host_and_port.startswith("["):
        host, bracket, after = host_and_port.partition("]")
        host, colon, port = host + bracket, after[:1], after[1:]
    host = host.lower()
    if not (host.startswith("[") or _DOTTED_QUAD.fullmatch(host)):
        host = "".join(label + "," for label in reversed(host.split(".")) if label)
    suffix = (colon + port if port else "") + (at + userinfo)
    return f"{scheme.lower()}://({host}{suffix}){rest}"


def surt_prefix(url: str) -> str:
    """The prefix that a URL implies for everything below it, by the three steps of Spaniol 2010.

    1. The URL in its SURT form. 2. With three slashes or more, nothing after the last slash.
    3. No closing parenthesis at the end, so that a bare host includes its subdomains.
    """
    form = surt_form(url)
    if form.count("/") >= 3:
        form = form[: form.rindex("/") + 1]
    return form.removesuffix(")")
