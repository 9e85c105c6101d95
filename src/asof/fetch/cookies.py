"""Cookies of one crawl (RFC 6265). A jar lives as long as its client and sends only what it got."""

import re
from dataclasses import dataclass

from asof.clock import SECOND, Clock, Instant, parse_http_date
from asof.fetch.request import Place, is_address
from asof.model import Headers
from asof.url import is_public_suffix

# RFC 6265 section 6.1 asks for at least this much, and nobody gives more.
_MOST_BYTES = 4096
_MOST_PER_DOMAIN = 50
# nginx and Apache refuse a request with a header line of more than 8 KiB, and so would all pages be
# refused after one that sets too many.
_MOST_SENT = 6 << 10
_MOST_DOMAINS = 3000
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie as stored: `host_only` means that no Domain was named."""

    name: str
    value: str
    domain: str
    path: str
    host_only: bool
    secure: bool
    expires: Instant | None


class CookieJar:
    """What servers asked to be told again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # By domain, then (path, name); dicts keep the order of creation that section 5.4 wants.
        self._cookies: dict[str, dict[tuple[str, str], Cookie]] = {}

    def line_for(self, place: Place, target: str) -> str:
        """The Cookie header line of a request, or nothing (section 5.4)."""
        path = target.partition("?")[0]
        now = self._clock.now()
        fitting = [
            cookie
            for domain in _domains(place.host)
            for cookie in self._cookies.get(domain, {}).values()
            if _path_matches(path, cookie.path)
            and (place.host == domain or not cookie.host_only)
            and (place.scheme == "https" or not cookie.secure)
            and (cookie.expires is None or cookie.expires > now)
        ]
        fitting.sort(key=lambda cookie: -len(cookie.path))
        pairs, room = [], _MOST_SENT
        for cookie in fitting:
            pair = f"{cookie.name}={cookie.value}" if cookie.name else cookie.value
            room -= len(pair) + 2
            if room < 0:
                break
            pairs.append(pair)
        return f"Cookie: {'; '.join(pairs)}\r\n" if pairs else ""

    def keep(self, place: Place, target: str, headers: Headers) -> None:
        """Take the Set-Cookie headers of a response (section 5.3)."""
        for name, value in headers:
            if name.lower() == "set-cookie":
                cookie = _parse(value, place, target, self._clock.now())
                if cookie is not None:
                    self._store(cookie)

    def _store(self, cookie: Cookie) -> None:
        shelf = self._cookies.setdefault(cookie.domain, {})
        key = (cookie.path, cookie.name)
        if cookie.expires is not None and cookie.expires <= self._clock.now():
            shelf.pop(key, None)
            return
        shelf[key] = cookie
        if len(shelf) > _MOST_PER_DOMAIN:
            del shelf[next(iter(shelf))]
        if len(self._cookies) > _MOST_DOMAINS:
            del self._cookies[next(iter(self._cookies))]


def _parse(text: str, place: Place, target: str, now: Instant) -> Cookie | None:
    """One Set-Cookie value (section 5.2), or None when it must be ignored."""
    pair, *rest = text.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(), value.strip()
    if not (name or value) or len(text) > _MOST_BYTES or _UNSENDABLE.search(pair):
        return None
    # The last of several attributes of one name counts.
    given = {key.strip().lower(): said.strip() for key, _, said in (a.partition("=") for a in rest)}
    secure = "secure" in given
    domain = given.get("domain", "").removeprefix(".").lower()
    above = place.host.endswith("." + domain) and not is_address(place.host)
    allowed = domain in ("", place.host) or (above and not is_public_suffix(domain))
    if (secure and place.scheme != "https") or not allowed:
        return None
    # Max-Age before Expires (section 5.3, step 3); None means until the crawl ends.
    age, until = given.get("max-age", ""), given.get("expires")
    expires = parse_http_date(until) if until else None
    if _MAX_AGE.fullmatch(age):
        expires = now + int(age) * SECOND
    path = given.get("path", "")
    asked = target.partition("?")[0]
    default = asked[: asked.rfind("/")] or "/"  # section 5.1.4: the directory of the request's path
    return Cookie(
        name,
        value,
        domain or place.host,
        path if path.startswith("/") else default,
        not domain or is_public_suffix(domain),
        secure,
        expires,
    )


def _domains(host: str) -> list[str]:
    if is_address(host):
        return [host]
    labels = host.split(".")
    return [".".join(labels[at:]) for at in range(len(labels))]


def _path_matches(path: str, cookie_path: str) -> bool:
    """Section 5.1.4: equal, or below it."""
    return path == cookie_path or path.startswith(cookie_path.removesuffix("/") + "/")
