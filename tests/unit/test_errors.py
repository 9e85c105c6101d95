from __future__ import annotations

import inspect
import pickle
import re

import pytest

from asof import errors
from asof.errors import ArchiveError, AsofError, DamageError, StorageError

KINDS = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, AsofError) and kind is not AsofError
]


def make(kind: type[AsofError]) -> AsofError:
    if issubclass(kind, DamageError):
        return kind("It broke.", file="000001-x.warc.gz", offset=77, hint="Mend it.")
    return kind("It broke.", hint="Mend it.")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_says_what_happened_and_then_what_to_do(kind: type[AsofError]) -> None:
    error = make(kind)
    assert str(error).endswith("It broke. Mend it.")
    assert error.hint == "Mend it."


def test_without_a_hint_the_sentence_stands_alone() -> None:
    assert str(ArchiveError("It broke.")) == "It broke."


def test_damage_names_its_place() -> None:
    error = DamageError("no whole record.", file="000001-x.warc.gz", offset=77)
    assert (error.file, error.offset) == ("000001-x.warc.gz", 77)
    assert str(error) == "000001-x.warc.gz at offset 77: no whole record."


@pytest.mark.parametrize("kind", KINDS)
def test_errors_cross_process_borders_whole(kind: type[AsofError]) -> None:
    error = make(kind)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (str(copy), copy.exit_code, vars(copy)) == (str(error), error.exit_code, vars(error))


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = {}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r" *(│ *)?[├└]── (\w+)", line):
            drawn[match[2]] = (match[1] is None, line)
    assert list(drawn) == [kind.__name__ for kind in KINDS]
    for kind in KINDS:
        at_the_stem, line = drawn[kind.__name__]
        assert at_the_stem == (kind.__base__ is AsofError)
        if at_the_stem:
            assert int(line.split()[-1]) == kind.exit_code


def test_bad_usage_is_2_and_a_plain_no_is_1() -> None:
    codes = {kind.__name__: kind.exit_code for kind in KINDS}
    assert codes == {
        "UsageError": 2,
        "ConfigError": 2,
        "ArchiveError": 2,
        "InputError": 2,
        "NotCaptured": 1,
        "DamageError": 1,
        "StorageError": 1,
    }


def test_storage_errors_are_told_apart_from_a_broken_archive() -> None:
    assert not issubclass(StorageError, ArchiveError)
