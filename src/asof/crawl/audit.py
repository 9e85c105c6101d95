"""Which words of servers are checked: by bytes, and where no server can foresee it.

A 304 is the server's word only; the bytes tell whether it was true (asof.coherence.host_trust).
Where they are cheap they are asked for at once, and so they are where a 304 would not be a firm
word (`wants_bytes`). Of other 304 answers one in ten is audited, more among the first of a
host: the page is asked for again at once, without conditions. Which ones is drawn by a secret of
the crawl (asof.coherence.lots). Other content than the 304 spoke of may be an honest change in
between. So the host is a suspect then, of which every 304 is audited; after three such finds it is
not asked by conditions any more.

A probe asks by a validator that is known to be out of date (`outdated`); a server that answers 304
then has been caught. Half of them are made before the first visit, by what earlier crawls saw to
change, the rest when all has been seen again: so no page waits between its two looks. Of a host of
which no earlier changes are known the first ones are asked about at once, though pages wait: at the
end they may be gone, and who lies about them would not be found.
"""

from collections import Counter
from collections.abc import Sequence

from asof.catalog.observe import Observation, is_strong
from asof.catalog.referents import is_304
from asof.clock import DAY, Instant
from asof.coherence.lots import ONE_IN, draw
from asof.coherence.observations import same_bytes
from asof.coherence.verdict import MARGIN
from asof.model import Capture, Exchange, State, Target

# A server that lies one time in ten is caught by so many questions in 29 of 30 cases.
PROBES = 33
# Of so many of its pages a host is asked before the end.
PROBED_EARLY = 4
_AT_FIRST, _ONE_IN_AT_FIRST = 3, 2
_ENOUGH = 3
# A payload of so many bytes costs about as much as the request for it.
CHEAP = 256 << 10


def wants_bytes(last: Capture | None, *, audit: bool = False) -> bool:
    """Whether to ask for the bytes of a page rather than whether it is still what it was.

    Where they are few, if words are to be checked at all (`audit`). And where a 304 would be no
    firm word: that is one by a strong ETag of a page that had not changed just before (its tag may
    be that of the next content as well), or by a date that is old by any clock
    (asof.coherence.credibility).
    """
    if last is None:
        return True
    modified = last.last_modified
    if is_strong(last.etag):
        is_firm = modified is None or modified + MARGIN <= last.at
    else:
        is_firm = modified is not None and modified + DAY <= last.at
    return not is_firm or (audit and last.size <= CHEAP)


class Audits:
    """Chooses among the answers of one phase of a crawl, and remembers what is being checked."""

    def __init__(self, secret: str, *, wanted: bool) -> None:
        self._secret = secret
        self._wanted = wanted
        self._chosen_of: Counter[str] = Counter()
        self._found_of: Counter[str] = Counter()
        self._checked: set[str] = set()

    def checks(self, target: Target) -> bool:
        """Whether the next request for a target is an audit, which has no conditions."""
        return target.url in self._checked

    def choose(self, target: Target, host: str, exchange: Exchange, *, firm: bool) -> bool:
        """Whether this answer to a conditional request is to be checked by the next request.

        `firm` says that it would be good evidence if it was true.
        """
        if not self._wanted or exchange.status != 304 or self.checks(target):
            return False
        one_in = _ONE_IN_AT_FIRST if self._chosen_of[host] < _AT_FIRST else ONE_IN
        by_lot = draw(self._secret, target.url) % one_in == 0
        chosen = by_lot or not firm or self._found_of[host] > 0
        if chosen:
            self._chosen_of[host] += 1
            self._checked.add(target.url)
        return chosen

    def differed(self, host: str) -> bool:
        """An audit found other content; whether that happened often enough to ask no more."""
        self._found_of[host] += 1
        return self._found_of[host] >= _ENOUGH

    def done(self, target: Target) -> None:
        """The target was asked for as often as was wanted."""
        self._checked.discard(target.url)


def outdated(seen: Sequence[Observation]) -> Capture | None:
    """The last capture of a URL that its server must not confirm any more, by a firm validator."""
    shown = [each for each in seen if each.is_bytes and each.state is State.PRESENT]
    if not shown:
        return None
    # A 304 of something else that nobody checked is what is in question.
    later = seen[seen.index(shown[-1]) + 1 :]
    if not all(is_304(s.capture) and same_bytes(s, shown[-1]) is False for s in later):
        return None
    now = shown[-1].capture
    for each in reversed(shown):
        is_other = same_bytes(each, shown[-1]) is False
        if is_other and is_outdated(each.capture, now.etag, now.last_modified):
            return each.capture
    return None


def is_outdated(old: Capture, etag: str | None, modified: Instant | None) -> bool:
    """Whether a server that has sent other bytes, with these validators, must not confirm it."""
    if old.status != 200 or old.truncated:
        return False
    if old.etag:
        return is_strong(old.etag) and old.etag != etag
    if old.last_modified is None or modified is None:
        return False
    return old.last_modified < modified
