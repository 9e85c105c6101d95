# ruff: noqa: RUF001 (signs of China)
"""Chromium is the referee of pages that say nothing of their encoding."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.decoders import decode_as
from support.chromium import Chromium

TEXTS = [
    *(text.encode("cp1252") for text in ("naïve", "£5", "résumé", "10 °C", "à procura")),
    *(text.encode("cp1252") for text in ("Málaga", "La città è più bella", "på sida", "Tromsø")),
    "Рано утром старый рыбак вышел в море на своей лодке.".encode("cp1251"),
    "早朝、年老いた漁師は小さな舟で海に出た。".encode("cp932"),
    "清晨，老渔夫划着小船出海，直到太阳下山才回来。".encode("gbk"),
]
PAGES = {f"/{at}": b"<!doctype html><title>x</title><p>%s</p>" % t for at, t in enumerate(TEXTS)}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, b"")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.needs("chromium")
def test_short_pages_have_the_text_that_chromium_gives_them() -> None:
    differ = []
    with served() as origin, Chromium.fresh() as browser:
        for path, page in PAGES.items():
            browser.open(origin + path)
            name = browser.evaluate("document.characterSet").lower()
            if decode_as(page, name) != decoded(page, charset_of(page, "text/html")):
                differ.append((page, name))
    assert not differ
