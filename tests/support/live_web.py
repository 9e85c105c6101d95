"""The live web, which nothing archived may reach: a port that tells of visits, and a page that
tries every way to it.
"""

from __future__ import annotations

import socket
import threading
import zlib

SITE = "http://site.example/"


def png(width: int, height: int, colour: bytes) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data).to_bytes(4)
        return len(data).to_bytes(4) + name + data + check

    head = width.to_bytes(4) + height.to_bytes(4) + bytes((8, 2, 0, 0, 0))
    rows = zlib.compress((b"\0" + colour * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class Canary:
    """The live web: a port that must never be connected to."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.visits = 0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)


def leaky(live: str) -> bytes:
    """A page that reaches for the live web in every way known to us, and runs scripts."""
    host = live.removeprefix("http:").rstrip("/")
    return f"""<!doctype html><html><head><title>quiet</title>
<meta http-equiv="Content-Security-Policy" content="img-src *">
<link rel=preconnect href="{live}"><link rel=dns-prefetch href="{host}">
<link rel=prefetch href="{live}prefetch"><link rel=preload as=image href="{live}preload">
<link rel=modulepreload href="{live}m.js"><link rel=icon href="{live}icon">
<link rel=stylesheet href="{live}s.css"><link rel=stylesheet href=/style.css integrity="sha256-no">
<link rel=manifest href="{host}/manifest"><link rel=prerender href="{live}prerender">
<style>@import "{live}i.css"; body {{ background: url({live}bg.png) }}
@font-face {{ font-family: f; src: url("{host}/f.woff") }} p {{ font-family: f }}
div {{ background: image-set("{live}set.png" 1x) }} iframe {{ display: none !important }}</style>
<script>document.title = "inline script ran"</script><script src=/app.js></script>
<script src="{live}x.js"></script>
<script type=speculationrules>{{"prefetch":[{{"urls":["{live}spec"]}}]}}</script>
<base href="{live}base/"></head><body onload="document.title='handler ran'">
<h1>The page</h1><p style="background: url({live}style.png)">Text</p><div>x</div>
<img id=ours src="{SITE}ours.png"><img src="{live}a.png"><img src="{host}/b.png" srcset="{live}c">
<img src=relative.png><picture><source srcset="{live}d.png"><img src=e.png></picture>
<video src="{live}v.mp4" poster="{live}poster.png" autoplay></video>
<audio src="{live}a.mp3" autoplay></audio>
<object data="{live}o.swf"></object><embed src="{live}e.swf">
<iframe src="{live}frame"></iframe>
<iframe srcdoc="<img src='{live}doc.png'><script>parent.document.title='doc ran'</script>"></iframe>
<iframe src="javascript:parent.document.title='url ran'"></iframe>
<iframe src="data:text/html,<img src='{live}data.png'><script>fetch('{live}d')</script>"></iframe>
<svg><image href="{live}svg.png"/><use href="{live}sprite.svg#a"/><style>rect{{fill:url({live}p)}}
</style><rect width=9 height=9 /><script>document.title='svg ran'</script></svg>
<noscript><img src="{live}noscript.png"></noscript><input type=image src="{live}input.png">
<table background="{live}table.png"><tr><td>x</table>
<a id=link href="{SITE}next.html#here" ping="{live}ping">next</a> <a href="{live}">away</a>
<img src=x onerror="document.title='error handler ran'"></body></html>""".encode()
