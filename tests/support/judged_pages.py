"""What strangers' rules say of a page of ours: axe, and what Lighthouse counts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from support.chromium import Chromium

_AXE = Path(__file__).parents[2] / ".venv/replay/npm/axe-core/axe.min.js"
# Of what axe has against a page, or is not sure about, the rule and where. What stands in a frame
# is archived, and of contrast that it is not sure about Chromium.illegible is.
_RUN = """axe.run({
  iframes: false, rules: {"frame-tested": {enabled: false}},
  resultTypes: ["violations", "incomplete"],
}).then(found => [
  ...found.violations, ...found.incomplete.filter(rule => rule.id !== "color-contrast"),
].flatMap(rule => rule.nodes.map(
  node => `${rule.id}: ${node.target.join(" ")}: ${node.any.concat(node.all, node.none)
    .map(each => each.message).join(" ")}`)))"""
_SHIFTS = """new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => {
    for (const each of list.getEntries()) sum += each.hadRecentInput ? 0 : each.value;
  }).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})"""


@cache
def _axe() -> str:
    return _AXE.read_text("utf-8")


def axe(browser: Chromium) -> list[str]:
    """What axe finds on the page that is open."""
    browser.evaluate(f"{_axe()}; 0")
    return [str(each) for each in browser.promised(_RUN)]


def shifted(browser: Chromium, tries: int = 3) -> float:
    """How far things moved while the page loaded (cumulative layout shift), each time that it did.

    On a busy machine Chromium sometimes draws a page in the size of the one before.
    """
    moved = float(browser.promised(_SHIFTS))
    if moved > 0 and tries > 1:
        browser.open(browser.evaluate("location.href"))
        browser.settle(0.2)
        return min(moved, shifted(browser, tries - 1))
    return moved


def complaints(browser: Chromium) -> list[str]:
    """What the page, or the browser about it, has put on the console since it was opened; but not
    that it is an answer of 404 itself, or that scripts of archived pages stay where they are.
    """
    said = []
    own = browser.evaluate("location.href")
    for event in browser.events:
        told = event.get("params", {})
        if event.get("method") == "Log.entryAdded" and not _is_known(told["entry"], own):
            said.append(f"{told['entry']['level']}: {told['entry']['text']}")
        elif event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            said.append(json.dumps(told)[:400])
    return said


def _is_known(entry: dict[str, str], page: str) -> bool:
    text = entry["text"]
    own = "status of 4" in text and entry.get("url", "").partition("#")[0] == page.partition("#")[0]
    return own or "Blocked script execution in" in text


def transferred(browser: Chromium) -> int:
    """Bytes that came over the network since the page was opened."""
    ended = "Network.loadingFinished"
    return sum(
        int(each["params"]["encodedDataLength"])
        for each in browser.events
        if each.get("method") == ended
    )
