"""How much of what a crawl found it has taken: completeness (Spaniol 2010).

Spaniol 2010, "Completeness": vertically, the number of relevant nodes found from the entry point;
horizontally, the number of relevant entry points found within the designated perimeter. An
extensive collection prefers the second, an intensive one the first.

**Vertical.** A node is a URL that belongs to the crawl: a seed, or what was found from one and was
in scope. It is *taken* when an answer to it is stored, whatever its status (a dead link that
answers 404 is captured as such). Found and not taken are: failures, what is still queued (a limit,
an interruption), what robots.txt refused, and what looked like a trap: nobody has seen whether it
was one, so it is told beside the share. Not counted at all are: what the scope's rules left
out (it is not relevant, by the user's own word), robots.txt itself, and guesses from scripts that
brought nothing (nobody says that there is such a node), and the same page under another session id.

**Horizontal.** An entry point is a host that a seed names or that a link, a sitemap or a feed of
the crawl leads to. It is *taken* when at least one answer of it is stored. Hosts that the scope
left out count as found: the collection knows of them and has not gone there. Hosts of which the
crawl knows only parts of pages (images, styles, fonts) or guesses are no entry points.

Both say how much of what is *known* was taken. What no link, sitemap or feed names is unknown to
every crawler (the hidden web, Spaniol 2010), so 100 % is not the whole site. A crawl whose frontier
was lost (`asof reindex`) knows nothing of this: its shares are None.
"""

from dataclasses import asdict, dataclass

from asof.frontier.report import STEP
from asof.ledger import Ledger
from asof.scope.traps import SESSION

_TRAP = f"(state = 'left_out' AND reason LIKE 'trap:%' AND reason <> '{SESSION}' AND {STEP} <> 'X')"
# Belonging to the crawl: everything that was queued at some time, and what robots.txt refused or
# looked like a trap. What the rules left out does not belong, nor a guess that brought nothing.
_BELONGS = f"""(state = 'done' OR {STEP} <> 'X' AND
    (state IN ('failed', 'queued') OR reason LIKE 'robots.txt%') OR {_TRAP})"""
_TRAPS = f"""SELECT count(*), url, min(no) FROM targets NOT INDEXED
    WHERE crawl = ? AND revisit = 0 AND {_TRAP}"""
# An entry point: somebody's word leads there, and not only what a page needs or a guess.
_HOSTS = f"""SELECT host, coalesce(sum({_BELONGS}), 0), sum(state = 'done'),
    max({STEP} NOT IN ('E', 'X')) FROM targets NOT INDEXED
    WHERE crawl = ? AND revisit = 0 AND {STEP} <> 'P' GROUP BY host ORDER BY host"""


@dataclass(frozen=True, slots=True)
class Share:
    """So many were found, and so many of them taken."""

    found: int
    taken: int

    @property
    def share(self) -> float | None:
        """Taken of found, 0 to 1; None when nothing was found."""
        return self.taken / self.found if self.found else None

    @property
    def missing(self) -> int:
        return self.found - self.taken


@dataclass(frozen=True, slots=True)
class Traps:
    """So many addresses were left out as a likely trap, and the first of them."""

    count: int = 0
    example: str | None = None


@dataclass(frozen=True, slots=True)
class Completeness:
    """Of one crawl. `hosts` are those that belong to it, the one that misses most first."""

    vertical: Share
    horizontal: Share
    hosts: tuple[tuple[str, Share], ...]
    traps: Traps


def completeness(ledger: Ledger, crawl_no: int) -> Completeness:
    """The completeness of a crawl as it stands now; see above for what counts."""
    known = ledger.db.execute(_HOSTS, (crawl_no,)).fetchall()
    shares = [(host, Share(found, taken)) for host, found, taken, _ in known if found]
    shares.sort(key=lambda row: (-row[1].missing, -row[1].found, row[0]))
    entered = [taken > 0 for _, _, taken, entry in known if entry]
    return Completeness(
        vertical=Share(sum(row[1] for row in known), sum(row[2] for row in known)),
        horizontal=Share(len(entered), sum(entered)),
        hosts=tuple(shares),
        traps=likely_traps(ledger, crawl_no),
    )


def likely_traps(ledger: Ledger, crawl_no: int) -> Traps:
    count, example, _ = ledger.db.execute(_TRAPS, (crawl_no,)).fetchone()
    return Traps(count, example)


def completeness_json(value: Completeness, most: int = 100) -> dict[str, object]:
    """The shape that `status --json` and `quality --json` print; at most so many hosts."""
    return {
        "vertical": share_json(value.vertical),
        "horizontal": share_json(value.horizontal),
        "hosts": [{"host": host, **share_json(share)} for host, share in value.hosts[:most]],
        "traps": asdict(value.traps),
    }


def share_json(share: Share) -> dict[str, object]:
    part = None if share.share is None else round(share.share, 6)
    return {"share": part, "found": share.found, "taken": share.taken}
