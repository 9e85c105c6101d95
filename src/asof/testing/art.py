"""Stylesheets, scripts and pictures of the synthetic web, each a function of its version."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from importlib.resources import files

from asof.testing.chance import Purpose, mix, uniform
from asof.testing.layout import CSS_PICTURE, FAVICON
from asof.testing.words import Paper

# Sky above, sky below, sun, far hills, near hills, sea, light on the sea.
_MOODS = (
    ("#f6d9b0", "#f3a77a", "#fff3d6", "#8c7a92", "#5b5573", "#3f6b8a", "#f7c99b"),  # dawn
    ("#cfe7ee", "#8fc3d6", "#fffbe8", "#86a98f", "#4f7d6a", "#2f7390", "#e4f4f5"),  # noon
    ("#f2c1a0", "#c8607a", "#ffe2b8", "#6a4a73", "#43325a", "#4b4a7c", "#f4a98f"),  # dusk
    ("#2b3a5c", "#16213c", "#f3efdc", "#25304f", "#131b31", "#1d3152", "#8fa3c4"),  # night
    ("#d8dcdc", "#9aa9ad", "#f5f5ee", "#7d8c8c", "#56686c", "#4c6a72", "#c9d6d6"),  # fog
)
_Mood = tuple[str, str, str, str, str, str, str]


@cache
def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def stylesheet(paper: Paper, number: int, version: int, imports: tuple[str, ...]) -> bytes:
    """The main stylesheet (number 0), which imports the others; those hold a print rule each."""
    if number:
        return (
            f"/* layer {number}, plate {version + 1} */\n"
            f"@media print {{ .layer-{number}, aside {{ display: none; }} }}\n"
        ).encode()
    head = "".join(f'@import url("{path}");\n' for path in imports)
    colours = f":root {{ --accent: {paper.accent}; --tint: {paper.tint}; }}\n"
    return f"{head}/* plate {version + 1} */\n{colours}{_file('gazette.css')}".encode()


def script(number: int, version: int) -> bytes:
    """The main script (number 0), or one of the small ones."""
    if number:
        mark = f'document.documentElement.dataset.part{number} = "{version + 1}";'
        return f'"use strict";\n{mark}\n'.encode()
    return f"/* plate {version + 1} */\n{_file('gazette.js')}".encode()


def favicon(paper: Paper) -> bytes:
    """An anchor in the paper's colour."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="6" fill="{paper.accent}"/>'
        '<g fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round">'
        '<circle cx="16" cy="8" r="3"/><path d="M16 11v15M10 15h12M6 19c0 9 20 9 20 0"/></g>'
        "</svg>\n"
    ).encode()


def paper_grain() -> bytes:
    """The faint texture behind every page; found only by reading the stylesheet."""
    specks = "".join(
        f'<circle cx="{mix(k, 1) % 160}" cy="{mix(k, 2) % 160}" r=".7"/>' for k in range(46)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="160">'
        f'<g fill="#8a7a55" opacity=".13">{specks}</g></svg>\n'
    ).encode()


def image(paper: Paper, path: str, version: int, key: tuple[int, ...]) -> tuple[str, bytes]:
    """Media type and bytes of a picture, by its path."""
    if path.endswith(".png"):
        return "image/png", poster(version, *key)
    fixed = {FAVICON: lambda: favicon(paper), CSS_PICTURE: paper_grain}
    return "image/svg+xml", fixed[path]() if path in fixed else scene(version, *key)


def scene(version: int, *key: int) -> bytes:
    """A view of the coast as SVG; the light changes with the version."""
    mood = _mood(version, *key)
    high, low, sun, far, near, sea, shine = mood
    w = [uniform(*key, Purpose.PICTURE, k) for k in range(12)]
    waves = "".join(
        f'<path d="M{mix(*key, 40 + k) % 560} {232 + 12 * k}q14 -5 28 0t28 0t28 0"/>'
        for k in range(10)
    )
    motif = (_lighthouse, _boats, _town)[key[-1] // 2 % 3](w, mood)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" width="640" height="360">'
        f"<!-- plate {version + 1} -->"
        f'<defs><linearGradient id="s" x1="0" y1="0" x2="0" y2="1"><stop stop-color="{low}"/>'
        f'<stop offset="1" stop-color="{high}"/></linearGradient></defs>'
        '<rect width="640" height="360" fill="url(#s)"/>'
        f'<circle cx="{90 + 460 * w[0]:.0f}" cy="{60 + 90 * w[1]:.0f}" r="{22 + 16 * w[2]:.0f}" '
        f'fill="{sun}"/>'
        f'<path fill="{far}" d="M0 220L0 {190 - 50 * w[3]:.0f}'
        f'Q120 {120 + 50 * w[4]:.0f} 260 190T640 {150 + 40 * w[5]:.0f}L640 220Z"/>'
        f'<rect y="216" width="640" height="144" fill="{sea}"/>'
        f'<g fill="none" stroke="{shine}" stroke-width="2" stroke-linecap="round" opacity=".55">'
        f"{waves}</g>"
        f'<path fill="{near}" d="M640 360L640 {200 + 30 * w[6]:.0f}Q540 {210 + 20 * w[7]:.0f} '
        f'{440 + 60 * w[8]:.0f} 270T{330 + 70 * w[9]:.0f} 360Z"/>'
        f"{motif}{_gulls(w, near)}</svg>\n"
    ).encode()


def poster(version: int, *key: int) -> bytes:
    """A sunset in flat colours as a real PNG (480 x 270, palette); about a kilobyte."""
    mood = _mood(version, *key)
    width, height, horizon, bands = 480, 270, 168, 21
    palette = [_blend(mood[1], mood[0], k / (bands - 1)) for k in range(bands)]
    palette += [_rgb(colour) for colour in mood[2:]]
    sun, far, near, sea, shine = (bytes([bands + k]) for k in range(5))
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


def _png(
    width: int, height: int, palette: list[tuple[int, int, int]], raw: bytes, note: str
) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"PLTE", bytes(level for colour in palette for level in colour)),
            chunk(b"tEXt", b"Comment\0" + note.encode("latin-1")),
            # Runs of one colour: nothing is gained by a longer search.
            chunk(b"IDAT", zlib.compress(raw, 1)),
            chunk(b"IEND", b""),
        )
    )


def _mood(version: int, *key: int) -> _Mood:
    """Neighbouring plates and successive versions never share a light."""
    *host, number = key
    return _MOODS[(mix(*host) + number + version) % len(_MOODS)]


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _blend(one: str, other: str, share: float) -> tuple[int, int, int]:
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(_rgb(one), _rgb(other), strict=True)
    )
    return red, green, blue


def _lighthouse(w: list[float], mood: _Mood) -> str:
    return (
        '<defs><linearGradient id="b"><stop stop-color="#fff" stop-opacity="0"/>'
        f'<stop offset="1" stop-color="{mood[2]}" stop-opacity=".7"/></linearGradient></defs>'
        f'<g transform="translate({490 + 90 * w[10]:.0f} 92)">'
        '<path fill="url(#b)" d="M14 10L-560 -50L-560 80L14 16Z"/>'
        '<path fill="#fbf8f0" d="M4 22h20l8 150h-36z"/>'
        '<path fill="#b5382f" d="M2 60h24l2 34h-28zM-1 124h30l2 34h-34z"/>'
        f'<rect x="2" y="4" width="24" height="18" fill="{mood[2]}" stroke="#333" '
        'stroke-width="2"/><path d="M-1 4L14 -9L29 4Z" fill="#333"/></g>'
    )


def _boats(w: list[float], mood: _Mood) -> str:
    """Three, the nearest the largest."""
    places = (
        (50 + 110 * w[3], 292, 1.4),
        (250 + 70 * w[4], 258, 0.85),
        (420 + 90 * w[5], 236, 0.5),
    )
    return "".join(
        f'<g transform="translate({x:.0f} {y}) scale({size})">'
        '<path fill="#fdfaf2" d="M30 -78L30 -8L-14 -8Z"/>'
        f'<path fill="{mood[2]}" opacity=".8" d="M36 -70L36 -8L64 -8Z"/>'
        '<path fill="#3b2b25" d="M-20 0h94l-14 20h-62z"/></g>'
        for x, y, size in places
    )


def _town(w: list[float], mood: _Mood) -> str:
    walls = ("#f4ead6", "#e3b9a0", "#c9d8d2", "#efd9a7", "#dcc3c9")
    houses = []
    x = 20 + 40 * w[10]
    for k in range(7):
        wide, tall = 36 + 24 * w[k], 44 + 46 * w[(k + 5) % 12]
        houses.append(
            f'<g transform="translate({x:.0f} {226 - tall:.0f})">'
            f'<rect width="{wide:.0f}" height="{tall:.0f}" fill="{walls[k % 5]}"/>'
            f'<path d="M-4 0L{wide / 2:.0f} -18L{wide + 4:.0f} 0Z" fill="#7c3f35"/>'
            f'<path d="M8 12h8v11h-8zM{wide - 16:.0f} 12h8v11h-8z" fill="{mood[4]}"/>'
            f'<rect x="{wide / 2 - 5:.0f}" y="{tall - 18:.0f}" width="10" height="18" '
            f'fill="#5a4636"/></g>'
        )
        x += wide + 3
    quay = f'<rect y="224" width="{x + 14:.0f}" height="9" fill="#5b5148"/>'
    return "".join(houses) + quay


def _gulls(w: list[float], colour: str) -> str:
    return "".join(
        f'<path d="M{60 + 380 * w[k]:.0f} {30 + 60 * w[k + 4]:.0f}q8 -9 14 0q6 -9 14 0" '
        f'fill="none" stroke="{colour}" stroke-width="2.4" stroke-linecap="round"/>'
        for k in range(4)
    )
