"""Where the origin is that archived scripts run in (`asof.web.replay_origin`), for our pages."""

import re
from dataclasses import dataclass

# The names of this machine that a policy can write (no [::1]), each with the other one.
LOOPBACK = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
BOOT = "/-/boot"
# What the worker makes pages of; all else our own pages show as well.
SCRIPTED_TYPES = frozenset(("text/html",))
# Why a page is shown without its scripts.
WHY_STILL = {
    "missing": "What runs archived scripts is not installed: asof setup replay",
    "plain": "Scripts run only on this machine's own addresses, or over https",
    "still": "Asked for without scripts, or the browser could not run them",
}


@dataclass(frozen=True, slots=True)
class Scripted:
    """Where the scripts of a page run, by which plan; or why they do not."""

    origin: str = ""
    plan: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class ReplaySite:
    """Where the replay origin is: at a port of this machine, or at an address of the operator's.

    `main` are the origins of our own pages, the only ones that may frame it.
    """

    port: int
    main: tuple[str, ...]
    url: str = ""

    def origin(self, host: str) -> str:
        """The replay origin for who asked our pages by a host; empty where none can work.

        Service workers need a secure origin. Cookies do not tell ports apart, so that on this
        machine the other one of its two names is taken.
        """
        if self.url:
            return self.url
        name = re.sub(r":\d*$", "", host).lower()
        other = LOOPBACK.get(name)
        return f"http://{other}:{self.port}" if other else ""

    @staticmethod
    def plan(prefix: str, policy: str) -> str:
        """The name of a policy of choosing for the archive whose addresses begin so."""
        return f"{policy}.{prefix[1:]}" if prefix else policy


def scripted(site: ReplaySite | None, host: str, shelf: str, policy: str) -> Scripted:
    """Where scripts run for who asked our pages by a host."""
    if site is None:
        return Scripted(why="missing")
    origin = site.origin(host)
    return Scripted(origin, site.plan(shelf, policy)) if origin else Scripted(why="plain")
