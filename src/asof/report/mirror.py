"""A mirror of a site on disk: its files, an index of its pages, and a manifest to check it by."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.archive.export import Selection
from asof.clock import Instant, iso
from asof.config import Config
from asof.errors import NotCaptured
from asof.files import new_file, output_folder, reserve_reached
from asof.replay.choose import Chooser, Policy, Verdict
from asof.replay.file_names import reference
from asof.replay.mirror import PAGES, Mirror, MirrorFile
from asof.report.composition_words import choice_json, why
from asof.report.render import render

FORMAT = "asof-mirror"
_ON_A_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be mirrored, and how."""

    selection: Selection
    at: Instant
    policy: Policy = Policy.COHERENT
    scripts: bool = False


@dataclass(frozen=True, slots=True)
class _Page:
    url: str
    path: str
    shown: Instant
    verdict: Verdict
    counts: dict[Verdict, int]


@dataclass(slots=True)
class Mirrored:
    """What was written. `missing` is led to, and not there."""

    pages: list[_Page] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    missing: int = 0
    counts: Counter[Verdict] = field(default_factory=Counter)


def export_mirror(
    archive: OpenArchive,
    chooser: Chooser,
    wanted: Wanted,
    out: Path,
    config: Config,
    advance: Callable[[int], None] = lambda done: None,
) -> Mirrored:
    """Write a mirror into a new folder, which appears when it is whole."""
    done = Mirrored()
    mirror = Mirror(
        archive, chooser, wanted.selection, wanted.at, wanted.policy,
        lambda number: _numbered("missing", number // _ON_A_PAGE), scripts=wanted.scripts,
    )  # fmt: skip
    with output_folder(out) as folder:
        with new_file(folder / "manifest.json") as manifest:
            told = {"asked": iso(wanted.at), "policy": wanted.policy.value}
            start = json.dumps({"format": FORMAT, "version": 1, **told, "scripts": wanted.scripts})
            manifest.write(start[:-1].encode() + b', "files": [')
            for file in mirror.files():
                if config.room(folder) < 0:
                    raise reserve_reached(out)
                entry = _written(folder, file, done)
                comma = b",\n" if done.files > 1 else b"\n"
                manifest.write(comma + json.dumps(entry, ensure_ascii=False).encode())
                advance(1)
            manifest.write(b"\n]}\n")
        if not done.files:
            hint = "Nothing selected is known as of then; `asof list` shows what there is."
            raise NotCaptured("There is nothing to be written.", hint=hint)
        done.missing = len(mirror.missing)
        _write_missing(folder, mirror)
        _write_index(folder, wanted, done)
    return done


def _written(folder: Path, file: MirrorFile, done: Mirrored) -> dict[str, object]:
    digest, size = sha256(), 0
    with new_file(folder / file.path) as out:
        for piece in _bytes(file):
            digest.update(piece)
            size += out.write(piece)
    done.files += 1
    done.bytes += size
    page: dict[str, object] = {}
    if file.page is not None:
        made = file.page
        done.counts.update(made.counts)
        page = {"shown": iso(made.shown), "counts": made.counts, "whole": made.is_whole}
        if file.path.endswith(PAGES) and file.onward is None:
            root = made.root
            done.pages.append(_Page(root.url, file.path, made.shown, root.verdict, made.counts))
    names = {"file": file.path, "sha256": digest.hexdigest(), "bytes": size}
    source = {"source": True} if file.is_source else {}
    return {**names, **source, **choice_json(file.choice), **({"page": page} if page else {})}


def _bytes(file: MirrorFile) -> Iterator[bytes]:
    if file.onward is None:
        yield from file.data
        return
    led, target = file.onward
    at = file.choice.at if file.choice.capture is None else file.choice.capture.at
    yield render("mirror_onward.html", url=file.choice.url, target=target, led=led, at=at).encode()


def _write_missing(folder: Path, mirror: Mirror) -> None:
    """What is led to and is not there, by its number: many on a page, of which one is shown."""
    urls = list(mirror.missing)
    for start in range(0, len(urls), _ON_A_PAGE):
        rows = []
        for number, url in enumerate(urls[start : start + _ON_A_PAGE], start):
            choice, status = mirror.why_not(url)
            if choice.capture is None:
                reason = why(choice)
            elif status is not None and status >= 400:
                reason = f"the server answered {status}"
            else:
                reason = "not among what was exported"
            rows.append((number, url, reason))
        name = _numbered("missing", start // _ON_A_PAGE)
        _write(folder / name, render("mirror_missing.html", rows=rows))


def _write_index(folder: Path, wanted: Wanted, done: Mirrored) -> None:
    pages = [done.pages[at : at + _ON_A_PAGE] for at in range(0, len(done.pages), _ON_A_PAGE)]
    for place, batch in enumerate(pages or [[]]):
        rows = [(page, reference(page.path, "index.html")) for page in batch]
        told = render(
            "mirror.html", rows=rows, wanted=wanted, done=done,
            previous=_numbered("index", place - 1) if place else "",
            next=_numbered("index", place + 1) if place + 1 < len(pages) else "",
        )  # fmt: skip
        _write(folder / _numbered("index", place), told)


def _numbered(name: str, place: int) -> str:
    return f"{name}.html" if place == 0 else f"{name}-{place + 1}.html"


def _write(path: Path, told: str) -> None:
    with new_file(path) as file:
        file.write(told.encode("utf-8", "replace"))
