"""Stylesheets, scripts and pictures of the synthetic web, each a function of its version."""

import struct
import tomllib
import zlib
from collections.abc import Sequence

from asof.testing.chance import Purpose, mix, uniform
from asof.testing.layout import CSS_PICTURE, FAVICON
from asof.testing.words import Paper, read

_COAST = tomllib.loads(read("coast.toml"))
_WALLS = ("#f4ead6", "#e3b9a0", "#c9d8d2", "#efd9a7", "#dcc3c9")
_Mood = dict[str, str]


def _drawn(name: str, chances: Sequence[float] = (), /, **values: object) -> str:
    numbers = _COAST["numbers"].get(name, {}).items()
    placed = {each: start + width * chances[k] for each, (start, width, k) in numbers}
    return str(_COAST["drawings"][name].format(**placed, **values))


def stylesheet(paper: Paper, number: int, version: int, imports: tuple[str, ...]) -> bytes:
    """The main stylesheet (number 0), which imports the others; those hold a print rule each."""
    if number:
        return (
            f"/* layer {number}, plate {version + 1} */\n"
            f"@media print {{ .layer-{number}, aside {{ display: none; }} }}\n"
        ).encode()
    head = "".join(f'@import url("{path}");\n' for path in imports)
    colours = f":root {{ --accent: {paper.accent}; --tint: {paper.tint}; }}\n"
    return f"{head}/* plate {version + 1} */\n{colours}{read('gazette.css')}".encode()


def script(number: int, version: int) -> bytes:
    """The main script (number 0), or one of the small ones."""
    if number:
        mark = f'document.documentElement.dataset.part{number} = "{version + 1}";'
        return f'"use strict";\n{mark}\n'.encode()
    return f"/* plate {version + 1} */\n{read('gazette.js')}".encode()


def favicon(paper: Paper) -> bytes:
    """An anchor in the paper's colour."""
    return _drawn("favicon", accent=paper.accent).encode()


def paper_grain() -> bytes:
    """The faint texture behind every page; found only by reading the stylesheet."""
    specks = (_drawn("speck", x=mix(k, 1) % 160, y=mix(k, 2) % 160) for k in range(46))
    return _drawn("grain", specks="".join(specks)).encode()


def image(paper: Paper, path: str, version: int, key: tuple[int, ...]) -> tuple[str, bytes]:
    """Media type and bytes of a picture, by its path."""
    if path.endswith(".png"):
        return "image/png", poster(version, *key)
    fixed = {FAVICON: lambda: favicon(paper), CSS_PICTURE: paper_grain}
    return "image/svg+xml", fixed[path]() if path in fixed else scene(version, *key)


def scene(version: int, *key: int) -> bytes:
    """A view of the coast as SVG; the light changes with the version."""
    mood = _mood(version, *key)
    w = [uniform(*key, Purpose.PICTURE, k) for k in range(12)]
    waves = (_drawn("wave", x=mix(*key, 40 + k) % 560, y=232 + 12 * k) for k in range(10))
    gulls = (_drawn("gull", x=60 + 380 * w[k], y=30 + 60 * w[k + 4], **mood) for k in range(4))
    motif = (_lighthouse, _boats, _town)[key[-1] // 2 % 3](w, mood)
    parts = {"waves": "".join(waves), "motif": motif, "gulls": "".join(gulls)}
    return _drawn("scene", w, plate=version + 1, **parts, **mood).encode()


def poster(version: int, *key: int) -> bytes:
    """A sunset in flat colours as a real PNG (480 x 270, palette); about a kilobyte."""
    mood = _mood(version, *key)
    width, height, horizon, bands = 480, 270, 168, 21
    palette = [_blend(mood["low"], mood["high"], k / (bands - 1)) for k in range(bands)]
    shapes = ("sun", "far", "near", "sea", "shine")
    palette += [_rgb(mood[shape]) for shape in shapes]
    sun, far, near, sea, shine = (bytes([bands + k]) for k in range(len(shapes)))
    middle, radius = 105 + mix(*key, 1) % 270, 27 + mix(*key, 2) % 21
    peak, slope = 60 + mix(*key, 3) % 360, 1.4 + uniform(*key, 4) * 2
    top, corner = 105 + mix(*key, 5) % 36, mix(*key, 6) % 60
    rows = []
    for y in range(height):
        if y < horizon:
            row = bytearray([y * bands // horizon]) * width
            half = int(max(0, radius**2 - (y - horizon + 33) ** 2) ** 0.5)
            row[middle - half : middle + half] = sun * (2 * half)
            reach = int(max(0, y - top) * slope)
            left, right = max(0, peak - reach), min(width, peak + reach)
            row[left:right] = far * (right - left)
        else:
            row = bytearray(sea) * width
            glint = max(6, radius - (y - horizon) // 3) if y % 7 < 2 else 0
            row[middle - glint : middle + glint] = shine * (2 * glint)
            reach = min(width, (y - 207) * 4 + corner) if y > 207 else 0
            row[width - reach :] = near * reach
        rows.append(b"\0" + bytes(row))
    return _png(width, height, palette, b"".join(rows), f"plate {version + 1}")


def _png(width: int, height: int, palette: list[bytes], raw: bytes, note: str) -> bytes:
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": b"".join(palette),
        b"tEXt": b"Comment\0" + note.encode("latin-1"),
        b"IDAT": zlib.compress(raw, 1),  # runs of one colour: a longer search gains nothing
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks.items()
    )


def _mood(version: int, *key: int) -> _Mood:
    """Neighbouring plates and successive versions never share a light."""
    *host, number = key
    moods: list[_Mood] = _COAST["moods"]
    return moods[(mix(*host) + number + version) % len(moods)]


def _rgb(colour: str) -> bytes:
    return bytes.fromhex(colour[1:])


def _blend(one: str, other: str, share: float) -> bytes:
    return bytes(round(a + (b - a) * share) for a, b in zip(_rgb(one), _rgb(other), strict=True))


def _lighthouse(w: list[float], mood: _Mood) -> str:
    return _drawn("lighthouse", w, **mood)


def _boats(w: list[float], mood: _Mood) -> str:
    """Three, the nearest the largest."""
    near = _drawn("boat", x=50 + 110 * w[3], y=292, size=1.4, **mood)
    middle = _drawn("boat", x=250 + 70 * w[4], y=258, size=0.85, **mood)
    return near + middle + _drawn("boat", x=420 + 90 * w[5], y=236, size=0.5, **mood)


def _town(w: list[float], mood: _Mood) -> str:
    houses = []
    x = 20 + 40 * w[10]
    for k in range(7):
        wide, tall = 36 + 24 * w[k], 44 + 46 * w[(k + 5) % 12]
        walls = {"x": x, "roof": 226 - tall, "wide": wide, "tall": tall, "wall": _WALLS[k % 5]}
        holes = {"window": wide - 16, "door": wide / 2 - 5, "lintel": tall - 18}
        roof = {"middle": wide / 2, "eaves": wide + 4}
        houses.append(_drawn("house", **walls, **roof, **holes, **mood))
        x += wide + 3
    return "".join(houses) + _drawn("quay", wide=x + 14)
