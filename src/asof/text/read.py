"""Reading a document: from bytes, and what is said of them, to what they say.

Media type, then charset, then the reader of the format, then the language. Nothing is raised for
any bytes: what cannot be read is a `Document` with a reason in `error`, and with whatever was found
before. Readers in C and C++ can crash, and all can be kept busy by a hostile file: what comes from
the web belongs into a child process (`sandbox`).
"""

from dataclasses import replace

from asof.text.convert import CONVERTERS, Convert, Refused, by_magic, text_reader
from asof.text.convert.found import broken
from asof.text.document import Document, Method
from asof.text.kinds.media import PAGES, media_of

_UNKNOWN = "application/octet-stream"
OUT_OF_MEMORY = "needed more memory than there is"


def read(
    data: bytes,
    declared: str | None = None,
    url: str | None = None,
    name: str | None = None,
    method: Method = "default",
) -> Document:
    """What a document says, read in this process.

    `declared` is the Content-Type it came with, `url` where it came from, `name` its file's name.
    """
    from asof.text.language import language_of

    try:
        found = read_page(data, declared, url, name, method)
        return replace(found, language=language_of(found.main or found.text, found.language))
    except MemoryError:
        return Document(_UNKNOWN, error=OUT_OF_MEMORY)


def read_page(
    data: bytes,
    declared: str | None = None,
    url: str | None = None,
    name: str | None = None,
    method: Method = "default",
) -> Document:
    """The same, its language only as it is declared."""
    media_type, charset = _UNKNOWN, None
    try:
        media_type = media_of(data, declared, name or url)
        if not data.strip(b"\0 \t\r\n"):
            raise Refused("has nothing but blanks" if data else "is empty")
        convert = _converter(media_type, data)
        if convert is not None:
            return replace(convert(data), media_type=media_type)
        text, charset = _characters(data, declared, media_type)
        page = _page(text, media_type, url, method)
        return replace(page, media_type=media_type, charset=charset)
    except Refused as refused:
        page, why = refused.page, refused.reason
        return replace(page, media_type=media_type, charset=charset, error=why)
    except MemoryError:
        raise
    except RecursionError:
        return Document(media_type, charset, error="is nested too deeply")
    except Exception as error:  # noqa: BLE001 (no document may stop an archive; the reason is kept)
        return Document(media_type, charset, error=broken(error))


def _converter(media_type: str, data: bytes) -> Convert | None:
    """The reader of bytes for a type; where it is unknown, the first bytes may know better."""
    convert = CONVERTERS.get(media_type)
    if convert is None and media_type not in PAGES and text_reader(media_type) is None:
        convert = by_magic(data)
        if convert is None:
            raise Refused(f"is {media_type}, of which no text is read")
    return convert


def _characters(data: bytes, declared: str | None, media_type: str) -> tuple[str, str]:
    from asof.text.encoding.charset import charset_of, decoded

    markup = media_type.endswith(("html", "xml"))
    charset = charset_of(data, declared, markup=markup, sheet=media_type == "text/css")
    return decoded(data, charset), charset.name


def _page(text: str, media_type: str, url: str | None, method: Method) -> Document:
    if media_type in PAGES:
        from asof.text.html.page import read_html
        from asof.text.html.tag_row import MOST_CHARACTERS

        page = read_html(text, url, method)
        if len(text) > MOST_CHARACTERS:
            reason = f"has more than {MOST_CHARACTERS:,} characters, the rest is left out"
            raise Refused(reason, page)
        return page
    reader = text_reader(media_type)
    assert reader is not None
    return reader(text)
