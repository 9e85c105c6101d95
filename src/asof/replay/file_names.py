"""Names of files for URLs: readable, and safe wherever a folder may be copied to.

URLs come from strangers. A name is of ASCII letters, digits, `.`, `_`, `-` and `~`, so that nothing
leads out of the folder and no two names are the same after a change of case or of Unicode's forms;
short enough for Windows; none of its reserved names. What two URLs would share, the second gets
with a digest of itself.
"""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from posixpath import dirname, relpath
from urllib.parse import quote, unquote

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# Windows takes these for devices, with any ending.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin|conout|clock|com[0-9]|lpt[0-9])(?:\.|$)", re.I)
_LONGEST_PART = 60
# With the folder that a user chooses it shall stay below the 260 characters of Windows.
_LONGEST_PATH = 160
_DIGEST = 8
_SAME_ENDINGS = {".htm": ".html", ".jpeg": ".jpg", ".jpe": ".jpg", ".tif": ".tiff", ".mjs": ".js"}

_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "text/css": ".css",
    "text/javascript": ".js",
    "application/javascript": ".js",
    "application/x-javascript": ".js",
    "application/ecmascript": ".js",
    "application/json": ".json",
    "application/ld+json": ".json",
    "application/manifest+json": ".json",
    "application/xml": ".xml",
    "application/rss+xml": ".xml",
    "application/atom+xml": ".xml",
    "text/csv": ".csv",
    "text/vtt": ".vtt",
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/apng": ".apng",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
    "image/bmp": ".bmp",
    "image/tiff": ".tiff",
    "image/x-icon": ".ico",
    "image/svg+xml": ".svg",
    "font/woff": ".woff",
    "font/woff2": ".woff2",
    "font/ttf": ".ttf",
    "font/otf": ".otf",
    "application/font-woff": ".woff",
    "application/font-woff2": ".woff2",
    "application/x-font-ttf": ".ttf",
    "application/x-font-woff": ".woff",
    "application/vnd.ms-fontobject": ".eot",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "application/ogg": ".ogg",
    "audio/wav": ".wav",
    "audio/mp4": ".m4a",
    "audio/flac": ".flac",
    "audio/webm": ".weba",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "video/ogg": ".ogv",
    "video/quicktime": ".mov",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "application/epub+zip": ".epub",
    "application/msword": ".doc",
    "application/rtf": ".rtf",
}


def ending_of(media_type: str) -> str:
    """The ending by which a browser takes a file for what it is; `.bin` is saved, never shown."""
    if (known := _ENDINGS.get(media_type)) is not None:
        return known
    if media_type.endswith(("+xml", "/xml")):
        return ".xml"
    return ".txt" if media_type.startswith("text/") else ".bin"


@dataclass(slots=True)
class FileNames:
    """Gives names, each once: no file has the name of another or of a folder, whatever the case."""

    _files: set[str] = field(default_factory=set)
    _folders: set[str] = field(default_factory=set)

    def give(self, url: str, ending: str, version: str = "") -> str:
        """A path below the root, with `/`; another one each time. `version` tells apart what one
        URL was at several moments.
        """
        host, folders, stem = _wished(url, ending)
        digest = sha256(f"{url}\n{version}".encode("utf-8", "surrogatepass")).hexdigest()
        tag = f"~{digest[:_DIGEST]}"
        for again in count():
            tagged = tag if version or again else ""
            tagged += f"-{again}" if again > 1 else ""
            for within in ((host, *folders), (host,)):
                path = "/".join((*within, f"{stem}{tagged}{ending}"))
                if len(path) <= _LONGEST_PATH and self._is_free(path):
                    self._take(path)
                    return path
        raise AssertionError("numbers do not end")

    def _is_free(self, path: str) -> bool:
        key = path.lower()
        return (
            key not in self._files
            and key not in self._folders
            and self._files.isdisjoint(_parents(key))
        )

    def _take(self, path: str) -> None:
        self._files.add(path.lower())
        self._folders.update(_parents(path.lower()))


def reference(path: str, source: str) -> str:
    """The relative reference from one file to another."""
    return quote(relpath(path, dirname(source) or "."))


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _wished(url: str, ending: str) -> tuple[str, list[str], str]:
    """Host, folders and the name without its ending, as the URL would have them."""
    rest = url.partition("://")[2]
    place, mark, query = rest.partition("?")
    host, _, path = place.partition("/")
    *folders, last = path.split("/")
    stem = _safe(last) if last else "index"
    dot = stem.rfind(".")
    if dot > 0:
        said = stem[dot:].lower()
        stem = stem[:dot] if _SAME_ENDINGS.get(said, said) == ending else stem
    if mark:
        stem += f"-{_safe(query)}"
    # At the root there are files of ours, none of which begins so.
    host = _safe(host.rpartition("@")[2])
    host = host if "." in host and not host.lower().startswith(_OURS) else f"_{host}"
    return host, [_safe(each) for each in folders if each], _no_device(_cut(stem))


# What stands at the root beside the sites.
_OURS = ("index", "manifest", "missing")


def _safe(written: str) -> str:
    """A part of a path in characters that are safe everywhere."""
    plain = _UNSAFE.sub("-", unquote(written, errors="replace"))
    return _no_device(_cut(plain).strip(".-") or "_")


def _no_device(plain: str) -> str:
    return f"_{plain}" if _DEVICE.match(plain) else plain


def _cut(part: str) -> str:
    return part[:_LONGEST_PART].rstrip(".-")
