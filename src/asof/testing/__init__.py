"""A synthetic web that changes over time, served on loopback, on real or virtual time.

Public: `asof demo`, the tests and the benchmarks use it, and so can you. The web is a small
town's newspapers; every page, picture and change is a function of a `SiteSpec`, and the site
knows the truth that an archive can only estimate (`changes`, `version`, `expected`).

>>> from asof.testing import Rates, SimulatedClock, SiteSpec, serve_in_thread
>>> from urllib.request import urlopen
>>> clock = SimulatedClock()
>>> spec = SiteSpec(seed=7, pages=20, rates=Rates.fixed(1.0))
>>> with serve_in_thread(spec, clock=clock) as server:
...     before = urlopen(server.url).read()
...     _ = clock.jump(days=30)
...     after = urlopen(server.url).read()
...     changes = server.site.version("/", clock.now())
>>> before != after, changes
(True, 32)
>>> [(entry.method, entry.path, entry.status) for entry in server.log]
[('GET', '/', 200), ('GET', '/', 200)]

Inside a coroutine: `async with serve(spec, clock=clock) as server`. As a process of its own:
`python -m asof.testing --pages 2000 --port 0 --log asked.jsonl`, which prints its URL first.
"""

from asof.testing.answer import Response
from asof.testing.layout import Kind
from asof.testing.request_log import LoggedRequest, RequestLog
from asof.testing.server import Limits, SyntheticServer, serve, serve_in_thread
from asof.testing.simclock import START, SimulatedClock
from asof.testing.site import SyntheticSite
from asof.testing.spec import Rates, SiteSpec

__all__ = [
    "START", "Kind", "Limits", "LoggedRequest", "Rates", "RequestLog", "Response",
    "SimulatedClock", "SiteSpec", "SyntheticServer", "SyntheticSite", "serve", "serve_in_thread",
]  # fmt: skip
