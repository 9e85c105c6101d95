"""Control of a running crawl through the archive's folder: two files, no sockets.

archive/control/orders.jsonl   one order a line, appended by `asof pause`, `resume`, `exclude` and
                               `stop`; nobody ever rewrites it
archive/control/status.json    how the crawl stands and which orders it has obeyed, replaced by the
                               crawl about once a second; gone when the crawl has ended

A folder works wherever an archive does: over NFS, in containers, for another user. The crawl only
asks for the size of the orders' file, so that control costs nothing while there is none. Orders
from before its start are not for it. An archive may come from anywhere, so whatever lies in
control/ is read with suspicion: what makes no sense is passed over with a note, never an error.
"""

import json
import os
import re
import secrets
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from asof.archive.folder import Folder
from asof.clock import Clock, Instant, iso, parse_iso
from asof.crawl.summary import Snapshot, snapshot_json, snapshot_of
from asof.errors import UsageError
from asof.files import open_plain, storage_errors
from asof.scope.rule_text import expression

# Seconds between looks at the orders: a person does not notice, and a stat over a network file
# system may take a millisecond.
_LOOK_EVERY = 0.2
# Seconds between two writings of the status, unless an order was obeyed or the state changed.
_PUBLISH_EVERY = 1.0
# Orders are short. A longer line is no order, and no more than this is read at one look.
_LONGEST_LINE = 16 << 10
_LONGEST_LOOK = 1 << 20
_LONGEST_STATUS = 256 << 10
# What was done about so many orders is told: enough for the commands that wait now.
_TOLD = 32
# So many ids are remembered, should somebody put a copy in the place of the orders' file.
_REMEMBERED = 1000
_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_STATES = ("running", "revisiting", "paused", "stopping")


class Act(StrEnum):
    """What can be ordered."""

    PAUSE = "pause"
    RESUME = "resume"
    EXCLUDE = "exclude"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Order:
    """One order to a running crawl; `pattern` is the regular expression of an exclude."""

    id: str
    at: Instant
    act: Act
    pattern: str = ""

    def line(self) -> bytes:
        fields = {"id": self.id, "at": iso(self.at), "order": self.act.value}
        if self.act is Act.EXCLUDE:
            fields["pattern"] = self.pattern
        return json.dumps(fields).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Status:
    """What a running crawl says of itself. `obeyed` pairs ids of orders with what was done."""

    crawl: str
    pid: int
    host: str
    at: Instant
    snapshot: Snapshot
    obeyed: tuple[tuple[str, str], ...] = ()

    def did(self, order: Order) -> str | None:
        """What was done about an order; None when the crawl has not obeyed it yet."""
        return dict(self.obeyed).get(order.id)


def parse_order(line: bytes) -> Order | str:
    """The order that a line holds, or what is wrong with it."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(fields, dict):
        return "not an object"
    name, at, act = fields.get("id"), fields.get("at"), fields.get("order")
    pattern = fields.get("pattern", "")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        return "no id"
    instant = parse_iso(at) if isinstance(at, str) else None
    if instant is None:
        return "no date"
    if not isinstance(act, str) or act not in tuple(Act):
        return "unknown order"
    if act == Act.EXCLUDE and not (isinstance(pattern, str) and pattern and _compiles(pattern)):
        return "no regular expression"
    return Order(name, instant, Act(act), pattern if act == Act.EXCLUDE else "")


def _compiles(pattern: str) -> bool:
    try:
        expression(pattern)
    except UsageError:
        return False
    return True


class Control:
    """The crawl's side: hear orders, say how things stand. Nothing here ends a crawl.

    `note` gets a sentence about what was passed over: odd orders, a status that was not written.
    """

    def __init__(
        self,
        folder: Folder,
        clock: Clock,
        crawl: str,
        note: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._clock = clock
        self._crawl = crawl
        self._note = note
        self._orders = orders_file(folder)
        self._status = status_file(folder)
        self._obeyed: deque[tuple[str, str]] = deque(maxlen=_TOLD)
        self._heard: deque[str] = deque(maxlen=_REMEMBERED)
        self._published: tuple[str, int] | None = None
        self._done = 0
        self._next_look = self._next_publish = clock.monotonic()
        self._started, self._since = clock.now(), 0
        self._rest = b""
        self._mute = self._deaf = False
        with storage_errors(folder.root):
            self._orders.parent.mkdir(exist_ok=True)
            os.close(open_plain(self._orders, os.O_RDONLY | os.O_CREAT))
            found = self._orders.stat()
        self._file, self._offset = found.st_ino, found.st_size

    def orders(self) -> list[Order]:
        """Orders that have come since the last call; one stat when there are none."""
        now = self._clock.monotonic()
        if now < self._next_look:
            return []
        self._next_look = now + _LOOK_EVERY
        try:
            found = os.stat(self._orders, follow_symlinks=False)
            if found.st_ino == self._file and found.st_size == self._offset:
                return []
            if found.st_ino != self._file or found.st_size < self._offset:
                # Somebody has put another file there, or emptied it: what is in it is read from
                # the start, and what is older than this crawl is not for it. Only then: the
                # clocks of two machines need not agree.
                self._file, self._offset, self._rest = found.st_ino, 0, b""
                self._since = self._started
            data = self._read()
        except OSError as error:
            if not self._deaf:
                self._note(f"Orders cannot be read: {error.strerror}.")
            self._deaf = True
            return []
        return self._parse(data)

    def obeyed(self, order: Order, did: str) -> None:
        """An order was obeyed; the next publish() tells whoever waits for it, at once."""
        self._obeyed.append((order.id, did))
        self._done += 1

    def publish(self, snapshot: Snapshot) -> None:
        """Say how things stand: at once when something was obeyed, else once a second."""
        now, news = self._clock.monotonic(), (snapshot.state, self._done)
        if news == self._published and now < self._next_publish:
            return
        self._published, self._next_publish = news, now + _PUBLISH_EVERY
        value = {
            "crawl": self._crawl,
            "pid": os.getpid(),
            "host": os.uname().nodename,
            "at": iso(self._clock.now()),
            "state": snapshot.state,
            "obeyed": [{"id": name, "did": did} for name, did in self._obeyed],
            "snapshot": snapshot_json(snapshot),
        }
        try:
            replace_file(self._status, json.dumps(value).encode() + b"\n")
            self._mute = False
        except OSError as error:
            # A full disk is for the WARC files to complain about, not for the monitoring.
            if not self._mute:
                self._note(f"The status cannot be written: {error.strerror}.")
            self._mute = True

    def close(self) -> None:
        try:
            self._status.unlink(missing_ok=True)
        except OSError as error:
            self._note(f"The status cannot be removed: {error.strerror}.")

    def _read(self) -> bytes:
        with os.fdopen(open_plain(self._orders, os.O_RDONLY), "rb") as file:
            data = os.pread(file.fileno(), _LONGEST_LOOK, self._offset)
        self._offset += len(data)
        self._deaf = False
        return data

    def _parse(self, data: bytes) -> list[Order]:
        *lines, rest = (self._rest + data).split(b"\n")
        # The last line is not whole yet: no more of it is kept than is needed.
        self._rest = rest[: _LONGEST_LINE + 1]
        orders = []
        wrong: Counter[str] = Counter()
        for line in filter(bytes.strip, lines):
            order = parse_order(line) if len(line) <= _LONGEST_LINE else "too long"
            if isinstance(order, str):
                wrong[order] += 1
            elif order.at >= self._since and order.id not in self._heard:
                self._heard.append(order.id)
                orders.append(order)
        for reason, count in wrong.items():
            self._note(f"{count} {'line' if count == 1 else 'lines'} ignored: {reason}.")
        return orders


def orders_file(folder: Folder) -> Path:
    return folder.root / "control" / "orders.jsonl"


def status_file(folder: Folder) -> Path:
    return folder.root / "control" / "status.json"


def running(folder: Folder) -> Status | None:
    """The status of the controlled crawl that runs now; what a dead one left counts for nothing."""
    status = _read_status(status_file(folder))
    if status is None or not folder.is_locked():
        return None  # its writer is dead: a lock cannot outlive its process
    # The lock may be another writer's, who came after a crawl that was killed.
    same_machine = status.host == os.uname().nodename
    return None if same_machine and status.pid != writer(folder)[1] else status


def writer(folder: Folder) -> tuple[str, int]:
    """Who holds the archive for writing: the command and its process; ("", 0) when nobody does."""
    try:
        with os.fdopen(open_plain(folder.root / ".lock", os.O_RDONLY), "rb") as file:
            found = re.match(rb"`asof (\w+)` \(process (\d{1,10})\)", file.read(200))
    except OSError:
        return "", 0
    # The last holder's name stays in the file when the lock is free again.
    if found is None or not folder.is_locked():
        return "", 0
    return found[1].decode(), int(found[2])


def send_order(folder: Folder, clock: Clock, act: Act, pattern: str = "") -> Order:
    """Write an order for the crawl that runs; whether it is obeyed shows in its status."""
    if act is Act.EXCLUDE and not expression(pattern).pattern:
        raise UsageError("The pattern is empty.", hint="Write a part of the URLs to leave out.")
    order = Order(secrets.token_hex(4), clock.now(), act, pattern)
    line = order.line()
    if len(line) > _LONGEST_LINE:
        raise UsageError("The pattern is too long.", hint="Give several short ones.")
    path, flags = orders_file(folder), os.O_RDWR | os.O_APPEND
    with storage_errors(path), os.fdopen(open_plain(path, flags), "rb+", buffering=0) as file:
        # What a full disk tore off must not swallow this order.
        size = os.fstat(file.fileno()).st_size
        torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        file.write(b"\n" + line if torn else line)
    return order


def replace_file(path: Path, data: bytes) -> None:
    """Put new content in the place of a file at once, so that a reader sees all of it or none."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _read_status(path: Path) -> Status | None:
    """The status in a file, or None when there is none that makes sense."""
    try:
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            return _status_of(json.loads(file.read(_LONGEST_STATUS)))
    except (OSError, ValueError, RecursionError):
        return None


def _status_of(value: object) -> Status:
    if not isinstance(value, dict):
        raise ValueError("no object")
    crawl, pid, host = value.get("crawl"), value.get("pid"), value.get("host")
    at, obeyed = parse_iso(str(value.get("at"))), value.get("obeyed", [])
    snapshot = snapshot_of(value.get("snapshot"))
    if not isinstance(crawl, str) or not isinstance(pid, int) or not isinstance(host, str):
        raise ValueError("no crawl, pid or host")
    if at is None or snapshot.state not in _STATES or not isinstance(obeyed, list):
        raise ValueError("no date, state or orders")
    rows = [row for row in obeyed if isinstance(row, dict)]
    pairs = tuple((str(row.get("id")), str(row.get("did"))) for row in rows)
    return Status(crawl, pid, host, at, snapshot, pairs)
