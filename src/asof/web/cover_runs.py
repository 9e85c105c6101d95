"""Covers that are run, stopped and deleted from a browser, by who has the token.

A run is `asof cover --save`, beside the server: it goes on when that ends, and is found again by
the next one. What is known of it lies in the archive's `derived/cover/`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from signal import SIGINT, SIGKILL

from starlette.requests import Request
from starlette.responses import Response

from asof.clock import SECOND, iso, parse_iso
from asof.cover.kept.saved_covers import check_name, cover_names, delete_cover
from asof.web import address
from asof.web.children import Child
from asof.web.machine import json_answer
from asof.web.orders import Refused, needed
from asof.web.pages import Pages, leading
from asof.web.rules import Rules, asked_in, words_of

# Asked to stop, a run ends with the best that was found so far; so long after, at once.
_PATIENCE = 5 * SECOND
_SHARE = re.compile(r"\((\d{1,3}(?:\.\d+)?) %\)")
_SHOWN = 10_000  # characters of a rule


class RunState(StrEnum):
    """How it is with the last run."""

    NONE = "none"
    RUNNING = "running"
    STOPPING = "stopping"
    SAVED = "saved"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Run:
    """The last run: `said` is how far it is, or why nothing was saved; `share` how much is done."""

    state: RunState = RunState.NONE
    name: str = ""
    relation: str = ""
    since: str = ""
    said: str = ""
    share: float | None = None

    @property
    def is_alive(self) -> bool:
        return self.state in (RunState.RUNNING, RunState.STOPPING)

    def shape(self) -> dict[str, object]:
        """As JSON; nothing of it is known without a run."""
        told = {"name": self.name, "relation": self.relation, "since": self.since}
        known = {key: value or None for key, value in {**told, "said": self.said}.items()}
        return {"state": self.state.value, **known, "share": self.share}


class CoverRuns:
    """The last run of one archive, and orders about covers; all of it runs in a thread."""

    def __init__(self, pages: Pages, rules: Rules) -> None:
        self._pages = pages
        self._rules = rules
        self._folder = pages.archive.folder
        self._child = Child(self._folder.root / "derived" / "cover", "run")

    def json(self, request: Request) -> Response:
        return json_answer(self.last().shape())

    def last(self) -> Run:
        is_alive, told = self._child.is_alive, self._child.told()
        name, relation, since = (str(told.get(key, "")) for key in ("name", "relation", "since"))
        if not name or parse_iso(since) is None:
            return Run()
        said = self._pages.inside(self._child.said())
        state, share = RunState.FAILED, None
        if is_alive:
            found = _SHARE.search(said)
            share = float(found[1]) / 100 if found else None
            state = RunState.STOPPING if "stopped" in told else RunState.RUNNING
        elif name in cover_names(self._folder):
            state, said = RunState.SAVED, ""
        elif "stopped" in told:
            state, said = RunState.STOPPED, ""
        return Run(state, name, relation[:_SHOWN], since, said, share)

    def start(self, request: Request, fields: Mapping[str, str]) -> Response:
        """The order to run a cover, once its rule is right and its name is free."""
        asked, name = asked_in(fields), check_name(needed(fields, "name"))
        checked = self._rules.checked(asked)
        if checked.question is None:
            return leading(address.rule(asked), 303)  # where it is told what is wrong
        if name in cover_names(self._folder):
            hint = "Choose another name, or delete that one first."
            raise Refused(409, f"There is a cover {name} already.", hint=hint)
        root = self._folder.root.absolute()
        words = [f"--archive={root}", f"--save={name}", *words_of(checked.question)]
        told = {"name": name, "relation": checked.question.relation}
        since = iso(self._pages.clock.now())
        if not self._child.begin(["cover", *words], {**told, "since": since}, cwd=root):
            hint = "Wait until it is done, or stop it."
            raise Refused(409, "A cover of this archive is being made already.", hint=hint)
        return self._back()

    def stop(self, request: Request, fields: Mapping[str, str]) -> Response:
        """The order to end a run: with the best so far, and if that takes long, at once."""
        now, told = self._pages.clock.now(), self._child.told()
        before = parse_iso(str(told.get("stopped", "")))
        is_slow = before is not None and now - before > _PATIENCE
        if self._child.stop(SIGKILL if is_slow else SIGINT) and before is None:
            self._child.add(stopped=iso(now))
        return self._back()

    def delete(self, request: Request, fields: Mapping[str, str]) -> Response:
        """The order to delete a saved cover."""
        name = needed(fields, "name")
        if self._child.is_alive and self._child.told().get("name") == name:
            raise Refused(409, f"{name[:80]} is being made.", hint="Stop that first.")
        delete_cover(self._folder, name)
        if self._child.told().get("name") == name:
            self._child.forget()
        return self._back()

    @staticmethod
    def _back() -> Response:
        return leading(f"{address.prefix.get()}/covers", 303)
