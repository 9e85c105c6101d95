"""Presentations of Office Open XML (PPTX, PPTM, PPSX, POTX): slides in order, with their notes."""

from asof.text.convert.flow import Flow
from asof.text.convert.found import Found
from asof.text.convert.ooxml import Package, PartRelation, put_embeddings
from asof.text.convert.xml_parts import part_tree

# What a slide leads to and shows.
_SHOWN = ("diagramData", "chart", "chartEx", "notesSlide", "comments")


def fill_pptx(package: Package, found: Found) -> None:
    """The text of all slides, each with its diagrams, charts, notes and comments."""
    package.properties(found)
    flow = Flow(found)
    behind: set[str] = set()
    for slide in _slides(package):
        part = package.open(slide)
        if part is None:
            continue
        relations = package.relations(slide.target)
        flow.read(part, relations)
        shown = [each for each in relations.values() if each.kind in _SHOWN]
        flow.follow(package, sorted(shown, key=lambda each: _SHOWN.index(each.kind)))
        put_embeddings(package, slide.target, found)
        _behind(package, relations, found, behind)
        found.line()


def _behind(
    package: Package, relations: dict[str, PartRelation], found: Found, seen: set[str]
) -> None:
    """What stands on all slides of a layout or master; once, and without "Click to edit"."""
    for relation in relations.values():
        if relation.kind not in ("slideLayout", "slideMaster") or relation.target in seen:
            continue
        seen.add(relation.target)
        part = package.open(relation)
        if part is not None:
            further = package.relations(relation.target)
            Flow(found, placeholders=False).read(part, further)
            if relation.kind == "slideLayout":
                _behind(package, further, found, seen)


def _slides(package: Package) -> list[PartRelation]:
    """In the order of the show; a presentation whose list is lost, in that of its relations."""
    relations = package.relations(package.main)
    listed: list[PartRelation] = []
    for each in part_tree(package.parts, package.main).iter("{*}sldId"):
        # Its plain `id` is a number of another kind.
        key = next((value for name, value in each.items() if name.endswith("}id")), "")
        if key in relations:
            listed.append(relations[key])
    return listed or [each for each in relations.values() if each.kind == "slide"]
