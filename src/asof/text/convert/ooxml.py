"""Office Open XML as a package: its main part, how parts refer to one another, its properties.

ECMA-376 part 2. Relations are what counts; names of parts are habits that not all writers share,
and are tried where the relations are lost.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from asof.text.convert.found import Found, Refused, day_of, tag_of
from asof.text.convert.within import put_embedded
from asof.text.convert.xml_parts import local, part_tree, tree
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
        self._known: dict[str, dict[str, PartRelation]] = {}
        self.main = self._main()

    def _main(self) -> str:
        kinds = ("officeDocument", "fixedrepresentation")  # XPS has the second
        named = [each.target for each in self.relations("").values() if each.kind in kinds]
        for found in map(self.parts.find, [*named, *_USUAL]):
            if found:
                return found
        raise Refused("is a ZIP archive, but no document")

    def relations(self, part: str) -> dict[str, PartRelation]:
        """The relations of a part by their ids; of the package itself for an empty name."""
        if part in self._known:
            return self._known[part]
        folder, name = posixpath.split(part)
        root = part_tree(self.parts, posixpath.join(folder, "_rels", f"{name}.rels"))
        found = self._known[part] = {}
        for child in root.iterchildren():
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
        wanted, declared = f"/{self.main}".lower(), ""
        for child in part_tree(self.parts, "[Content_Types].xml").iterchildren():
            if (child.get("PartName") or "").lower() == wanted:
                declared = child.get("ContentType", "").lower()
                break
        kinds = (kind for word, kind in _KINDS if word in declared)
        folder = self.main.partition("/")[0].lower()
        workbook = "xlsb" if self.main.endswith(".bin") else "xlsx"
        kind = next(kinds, {"word": "docx", "ppt": "pptx", "xl": workbook}.get(folder))
        if kind is None:
            raise Refused("is an office document of an unknown kind")
        return kind

    def find(self, relation: PartRelation) -> str | None:
        """The name of the part that a relation leads to, if it is there."""
        return None if relation.external else self.parts.find(relation.target)

    def open(self, relation: PartRelation) -> Part | None:
        found = self.find(relation)
        return self.parts.open(found) if found else None

    def opened(self, part: str, kind: str) -> Iterator[Part]:
        """The parts of a kind that a part refers to, as far as they are there."""
        return filter(None, map(self.open, related(self, part, kind)))

    def properties(self, found: Found) -> None:
        """Title, date and language from the core properties (part 2, section 11)."""
        for part in self.opened("", "core-properties"):
            root = tree(part.read())
            if root is None:
                continue
            values = {local(child): child.text for child in root.iterchildren()}
            found.title = found.title or values.get("title")
            found.language = tag_of(values.get("language"))
            found.date = day_of(values.get("modified")) or day_of(values.get("created"))


def put_embeddings(package: Package, part: str, found: Found) -> None:
    """Add the documents that are shown inside a part, such as a workbook on a slide."""
    for relation in islice(related(package, part, "package", "oleObject"), _MAX_EMBEDDED):
        name = package.find(relation)
        if name:
            put_embedded(package.parts.read(name), found)


def put_link(relations: dict[str, PartRelation], key: str | None, found: Found) -> None:
    """Add the address outside of the package that a relation leads to."""
    relation = relations.get(key or "")
    if relation is not None and relation.external:
        found.link(relation.target)


def related(package: Package, part: str, *kinds: str) -> Iterator[PartRelation]:
    """The relations of a part that are of these kinds, each target once."""
    seen: set[str] = set()
    for relation in package.relations(part).values():
        if relation.kind in kinds and relation.target not in seen:
            seen.add(relation.target)
            yield relation
