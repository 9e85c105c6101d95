"""Office Open XML as a package: its main part, how parts refer to one another, its properties.

ECMA-376 part 2. Relations are what counts; names of parts are habits that not all writers share,
and are tried where the relations are lost.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from asof.text.convert.found import Found, Refused, day_of, tag_of
from asof.text.convert.xml_parts import local, tree
from asof.text.convert.zip_parts import Part, Parts

_USUAL = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml", "xl/workbook.bin")
_MAX_EMBEDDED = 100
_KINDS = (
    ("wordprocessingml", "docx"),
    ("ms-word", "docx"),
    ("presentationml", "pptx"),
    ("ms-powerpoint", "pptx"),
    ("sheet.binary", "xlsb"),
    ("spreadsheetml", "xlsx"),
    ("ms-excel", "xlsx"),
    ("fixedrepresentation", "xps"),
)


@dataclass(frozen=True, slots=True)
class PartRelation:
    """What a part refers to: `kind` is the last word of the relation's type."""

    kind: str
    target: str
    external: bool


class Package:
    """An opened package."""

    def __init__(self, data: bytes) -> None:
        self.parts = Parts(data)
        self.root = self.relations("")
        self.main = self._main()

    def _main(self) -> str:
        for relation in self.root.values():
            # XPS calls it otherwise; all others have an officeDocument.
            if relation.kind in ("officeDocument", "fixedrepresentation"):
                found = self.parts.find(relation.target)
                if found:
                    return found
        for name in _USUAL:
            found = self.parts.find(name)
            if found:
                return found
        raise Refused("is a ZIP archive, but no document")

    def relations(self, part: str) -> dict[str, PartRelation]:
        """The relations of a part by their ids; of the package itself for an empty name."""
        folder, name = posixpath.split(part)
        path = self.parts.find(posixpath.join(folder, "_rels", f"{name}.rels"))
        root = tree(self.parts.read(path)) if path else None
        found: dict[str, PartRelation] = {}
        for child in root.iterchildren() if root is not None else ():
            if local(child) != "Relationship":
                continue
            target = child.get("Target", "")
            external = child.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target)))[1:]
            kind = child.get("Type", "").rpartition("/")[2]
            found[child.get("Id", "")] = PartRelation(kind, target, external)
        return found

    def kind(self) -> str:
        """Which family of documents the main part belongs to: docx, pptx, xlsx, xlsb or xps."""
        content_type = self._content_type().lower()
        for word, kind in _KINDS:
            if word in content_type:
                return kind
        folders = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
        kind = folders.get(self.main.partition("/")[0].lower(), "")
        if not kind:
            raise Refused("is an office document of an unknown kind")
        return "xlsb" if kind == "xlsx" and self.main.endswith(".bin") else kind

    def _content_type(self) -> str:
        path = self.parts.find("[Content_Types].xml")
        root = tree(self.parts.read(path)) if path else None
        wanted = f"/{self.main}".lower()
        for child in root.iterchildren() if root is not None else ():
            if (child.get("PartName") or "").lower() == wanted:
                return str(child.get("ContentType", ""))
        return ""

    def open(self, relation: PartRelation) -> Part | None:
        """The part that a relation leads to, if it is there."""
        found = None if relation.external else self.parts.find(relation.target)
        return self.parts.open(found) if found else None

    def properties(self, found: Found) -> None:
        """Title, date and language from the core properties (part 2, section 11)."""
        for relation in self.root.values():
            part = self.open(relation) if relation.kind == "core-properties" else None
            root = tree(part.read()) if part is not None else None
            if root is None:
                continue
            values = {local(child): child.text for child in root.iterchildren()}
            found.title = found.title or values.get("title")
            found.language = tag_of(values.get("language"))
            found.date = day_of(values.get("modified")) or day_of(values.get("created"))


def put_embeddings(package: Package, part: str, found: Found) -> None:
    """Add the documents that are shown inside a part, such as a workbook on a slide."""
    from asof.text.convert.within import put_embedded

    for relation in islice(related(package, part, "package", "oleObject"), _MAX_EMBEDDED):
        name = None if relation.external else package.parts.find(relation.target)
        if name:
            put_embedded(package.parts.read(name), found)


def related(package: Package, part: str, *kinds: str) -> Iterator[PartRelation]:
    """The relations of a part that are of these kinds, each target once."""
    seen: set[str] = set()
    for relation in package.relations(part).values():
        if relation.kind in kinds and relation.target not in seen:
            seen.add(relation.target)
            yield relation
