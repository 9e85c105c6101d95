"""Documents in XML that do in browsers what no archived page may: they ask the live web, or run.

`LEAKS` are of all languages that a browser draws, with markup that is hidden in every way known to
us; a `{live}` in them is an address that must not be reached, however little is asked of it.
"""

from __future__ import annotations

from base64 import b64encode

_XHTML = 'xmlns:h="http://www.w3.org/1999/xhtml"'
_SVG = f'<svg xmlns="http://www.w3.org/2000/svg" {_XHTML} width="200" height="100">%s</svg>'
_FEED = f'<feed xmlns="http://www.w3.org/2005/Atom" {_XHTML}><title>feed</title>%s</feed>'
_PAGE = '<html xmlns="http://www.w3.org/1999/xhtml">%s</html>'
_LINK = '<link xmlns="http://www.w3.org/1999/xhtml" rel="preconnect" href="{live}"/>'
_DRAWN = '<image width="9" height="9" href="x.png">%s</image>'
_RECT = '<rect width="9" height="9">%s</rect>'
_RUN = "new Image().src='{live}ran'"
TYPES = {
    "svg": "image/svg+xml",
    "xml": "application/xml",
    "atom": "application/atom+xml",
    "xhtml": "application/xhtml+xml",
}
# Of what is a file, Chromium asks for filters; of what is on the web it does not.
FILES_ONLY = frozenset(("filter.svg",))
LEAKS = {
    "photo.atom": _FEED % '<h:div><h:img src="{live}photo.jpg"/></h:div>',
    "frame.xml": _FEED % '<h:iframe src="{live}frame"/>',
    "data.xml": _FEED % '<h:iframe src="data:text/html;base64,{data}"/>',
    "object.xml": _FEED % '<h:object data="data:text/html;base64,{data}"/>',
    "sheet.xml": _FEED % '<h:link rel="stylesheet" href="{live}sheet.css"/>',
    "connect.xml": _FEED % '<h:link rel="preconnect" href="{live}"/>',
    "refresh.xml": _FEED % '<h:meta http-equiv="refresh" content="0;url={live}refresh"/>',
    "poster.xml": _FEED % '<h:video poster="{live}poster"/>',
    "srcdoc.xml": _FEED % '<h:iframe srcdoc="&lt;script&gt;{run}&lt;/script&gt;"/>',
    "drawing.xml": _FEED % (_SVG % '<image width="9" height="9" href="{live}drawing"/>'),
    "numbers.xml": '<r><h:img xmlns:h="http://&#119;ww.w3.org/1999/xhtml" src="{live}n"/></r>',
    "comment.xml": _FEED % "<!--> <a b=' --><h:img src=\"{live}c\"/><!-- '> -->",
    "styled.xml": '<?xml-stylesheet type="text/css" href="{live}pi.css"?><r>words</r>',
    "srcdoc.svg": _SVG % '<foreignObject width="9" height="9"><h:iframe'
    ' srcdoc="&lt;script&gt;{run}&lt;/script&gt;"/></foreignObject>',
    "data.svg": _SVG % '<foreignObject width="9" height="9"><h:iframe'
    ' src="data:text/html;base64,{data}"/></foreignObject>',
    "script.svg": _SVG % "<script>{run}</script>",
    "handler.svg": _SVG % '<g><set attributeName="x" onbegin="{run}" to="1"/></g>',
    "values.svg": _SVG
    % _DRAWN
    % '<animate attributeName="href" values="{live}a;{live}b" dur="1s"/>',
    "set.svg": _SVG % _DRAWN % '<set attributeName="href" to="{live}set"/>',
    "filter.svg": _SVG % _RECT % '<set attributeName="filter" to="url({live}f.svg#a)"/>',
    "import.svg": _SVG % '<style>@im&#112;ort "{live}import.css";</style>',
    "connect.svg": _SVG % '<h:link rel="preconnect" href="{live}"/>',
    "entity.svg": f"<!DOCTYPE svg [<!ENTITY e '{_LINK}'>]>" + _SVG % "&e;",
    "entity.xhtml": f"<!DOCTYPE html [<!ENTITY e '{_LINK}'>]>"
    + _PAGE % "<head><title>t</title>&e;</head><body/>",
    "attribute.svg": "<!DOCTYPE svg [<!ATTLIST h:img src CDATA '{live}default'>]>"
    + _SVG % '<foreignObject width="9" height="9"><h:img/></foreignObject>',
    "headless.xhtml": _PAGE % '<body><img src="{live}headless"/><script>{run}</script></body>',
    "prefix.xhtml": f"<h:html {_XHTML}><h:head/>"
    "<h:body><h:script>{run}</h:script></h:body></h:html>",
    "comment.xhtml": _PAGE % "<!--> <html><head> --><body><script>{run}</script></body>",
    "hidden.xhtml": _PAGE % ("<head></head><body><!--> <a b=' -->" + _LINK + "<!-- '> --></body>"),
}
PLAIN = {
    "plain.svg": _SVG % '<rect width="200" height="100" fill="url(#a)"/><image href="x.png"/>',
    "plain.atom": _FEED % '<link href="http://site.example/"/><entry><title>words</title></entry>',
    "said.xml": _FEED % '<h:p>words <h:img src="/x.png"/> <h:a href="/">home</h:a></h:p>',
}


def written(text: str, live: str) -> bytes:
    """A document that knows where the live web is."""
    run = _RUN.replace("{live}", live)
    data = b64encode(f"<script>{run}</script>".encode()).decode()
    return text.replace("{run}", run).replace("{live}", live).replace("{data}", data).encode()


def media(name: str) -> str:
    return TYPES[name.rpartition(".")[2]]
