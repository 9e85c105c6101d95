"""Giving a relation a name: a line in the table `[relations]` of an archive's asof.toml.

The file is its user's: every other line of it stays as it is, and so do its rights and the comment
behind a relation that is replaced. After a line was put in, the whole is read as TOML, and it is
written only if it says what it said before, and the new relation.
"""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path

from asof.config import FILE, RELATIONS, is_relation_name, named_relations
from asof.errors import ConfigError, UsageError
from asof.warc.atomic_file import whole_file

_HEADER = re.compile(rf"\s*\[\s*{RELATIONS}\s*\]\s*(#.*)?")
_TABLE = re.compile(r"\s*\[")
_STRING = r"""\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'[^']*'"""
_UNQUOTABLE = re.compile(r"['\x00-\x08\x0a-\x1f\x7f]")


def check_relation_name(name: str) -> str:
    """The same name, if it can be one."""
    if not is_relation_name(name):
        raise UsageError(
            f"{name[:80]!r} cannot be the name of a relation.",
            hint="Use up to 80 letters (A to Z), digits, '_' and '-', a letter in front.",
        )
    return name


def save_relation(folder: Path, name: str, relation: str) -> Path:
    """Give a relation a name in asof.toml of an archive; one of that name is replaced."""
    check_relation_name(name)
    path = folder / FILE
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Make it, or name another with -a.")
    if named_relations(folder).get(name) == relation:  # reads the file, and tells what is wrong
        return path
    before = path.read_bytes().decode("utf-8") if path.is_file() else ""  # line ends as they are
    line = f"{name} = {_quoted(relation)}"
    try:
        after = _with(before, name, line)
        meant = tomllib.loads(before)
        meant.setdefault(RELATIONS, {})[name] = relation
        fits = tomllib.loads(after) == meant
        data = after.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("The relation has half a character in it.", hint="Mend it.") from error
    except tomllib.TOMLDecodeError:
        fits = False
    if not fits:
        raise ConfigError(
            f"{path} has its relations in a form that is not changed here.",
            hint=f"Write it there yourself: {line}",
        )
    # A proxy's password may stand in it: it is to be seen by no more people than before.
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    with whole_file(path.resolve(), mode=mode) as file:  # a link to it stays one
        file.write(data)
    return path


def _with(text: str, name: str, line: str) -> str:
    """The text with a line of the table put in, or another one in its place."""
    lines = text.splitlines(keepends=True)
    end_of_line = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end_of_line
    header = next((at for at, each in enumerate(lines) if _HEADER.fullmatch(each.rstrip())), None)
    if header is None:
        gap = end_of_line if lines else ""
        return "".join([*lines, gap, f"[{RELATIONS}]{end_of_line}", line, end_of_line])
    end = header + 1
    last = header  # of the table, so that a blank line before the next one stays there
    own = re.compile(rf"""\s*(["']?){re.escape(name)}\1\s*=\s*(?:{_STRING})?(\s*#.*)?""")
    while end < len(lines) and not _TABLE.match(lines[end]):
        if replaced := own.match(lines[end].rstrip()):
            comment = replaced[2] or ""
            return "".join([*lines[:end], line, comment, end_of_line, *lines[end + 1 :]])
        last = end if lines[end].strip() else last
        end += 1
    return "".join([*lines[: last + 1], line, end_of_line, *lines[last + 1 :]])


def _quoted(text: str) -> str:
    """A string of TOML; without escapes where that is possible, as relations have quotes."""
    if not _UNQUOTABLE.search(text):
        return f"'{text}'"
    escaped = re.sub(r'["\\]', r"\\\g<0>", text)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\u{ord(c[0]):04x}", escaped) + '"'
