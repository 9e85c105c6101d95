"""replayweb.page as people use it, served on loopback beside WACZ files."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.chromium import Chromium

PACKAGE = Path(__file__).parents[2] / ".venv/replay/npm/replaywebpage"
_TYPES = {".js": "text/javascript", ".html": "text/html", ".wacz": "application/wacz"}
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
# Has the worker of replayweb.page load a WACZ, then asks it for captures.
_ASK = """(async () => {
  const workers = navigator.serviceWorker;
  await workers.register("/sw.js");
  await workers.ready;
  if (!workers.controller)
    await new Promise(done => workers.addEventListener("controllerchange", done, {once: true}));
  const added = new Promise((done, failed) => workers.addEventListener("message", event => {
    if (event.data.msg_type === "collAdded") done();
    if (event.data.error) failed(event.data.error);
  }));
  const file = {sourceUrl: `${location.origin}/NAME`};
  workers.controller.postMessage({msg_type: "addColl", name: "NAME", file});
  await added;
  const found = [];
  for (const [stamp, url] of ASKED) {
    const answer = await fetch(`/w/NAME/${stamp}/${url}`);
    const body = new Uint8Array(await answer.arrayBuffer());
    found.push([answer.status, answer.url, answer.headers.get("content-type"),
                Array.from(body, byte => byte.toString(16).padStart(2, "0")).join("")]);
  }
  return found;
})()"""


@contextmanager
def serving(wacz: dict[str, Path]) -> Iterator[str]:
    """The address of a server that has the program, and these files by name."""
    files = {f"/{path.name}": path for path in PACKAGE.iterdir()}
    files |= {f"/{name}": path for name, path in wacz.items()} | {"/": PACKAGE / "index.html"}

    class Handler(BaseHTTPRequestHandler):
        """Answers for parts of a file, as the program asks for them."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = files.get(self.path.partition("?")[0])
            data = path.read_bytes() if path is not None and path.is_file() else None
            part = _RANGE.match(self.headers.get("Range") or "")
            self.send_response(404 if data is None else 206 if part else 200)
            data = data or b""
            if part and data:
                first = int(part[1]) if part[1] else len(data) - int(part[2])
                last = min(int(part[2] or len(data)) if part[1] else len(data), len(data) - 1)
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
                data = data[first : last + 1]
            kind = _TYPES.get(path.suffix if path is not None else "", "application/octet-stream")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def ask(browser: Chromium, address: str, name: str, asked: list[tuple[str, str]]) -> list[Any]:
    """What it answers for each stamp, with its modifier, and URL: status, URL, type, body."""
    browser.open(f"{address}/sw.js")  # any page of the server
    script = _ASK.replace("NAME", name).replace("ASKED", json.dumps(asked))
    answer = browser.call(
        "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
    )
    assert "exceptionDetails" not in answer, answer
    found: list[Any] = answer["result"]["value"]
    return found


def text_of(browser: Chromium, wanted: str, patience: float = 20) -> tuple[str, str]:
    """All text that the page shows, also in components and frames, once `wanted` is there; and the
    colour of the text in the innermost frame.
    """
    script = """(() => {
      const texts = [];
      let inner = document;
      const visit = node => {
        if (node.nodeType === 3) texts.push(node.data);
        if (node.shadowRoot) visit(node.shadowRoot);
        if (node.localName === "iframe" && node.contentDocument)
          visit(inner = node.contentDocument);
        if (!["script", "style"].includes(node.localName)) node.childNodes.forEach(visit);
      };
      visit(document);
      const style = inner.body && inner.defaultView.getComputedStyle(inner.body);
      const is_loaded = inner.readyState === "complete";
      return [texts.join(" "), style ? style.color : "", is_loaded];
    })()"""
    until = time.monotonic() + patience
    while True:
        text, colour, is_loaded = browser.evaluate(script)
        text = " ".join(text.split())
        if (wanted in text and is_loaded) or time.monotonic() > until:
            return text, colour
        browser.settle(0.2)
