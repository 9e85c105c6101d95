"""Relations by name: lines of asof.toml that are put in without touching any other."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.cli import run as cli
from asof.config import Config, is_relation_name, named_relations
from asof.cover.ask import NamedRule, checked, prepare, rule_of
from asof.cover.kept import named_relations as module
from asof.cover.kept.named_relations import check_relation_name, save_relation
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import number_column, text_column, time_column
from asof.cover.question import Question
from asof.errors import ConfigError, UsageError

SETTINGS = """# mine
delay = 2          # polite
rules = ["out media:video/*", "in path:/a"]
"""
RULE = 'C(d1,d2) >= 0.7 and hostname(d1) = "x.example"'

names = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_-]{0,20}\Z")


def read(folder: Path) -> str:
    return (folder / "asof.toml").read_text(encoding="utf-8")


def test_the_first_relation_makes_the_file(tmp_path: Path) -> None:
    assert save_relation(tmp_path, "versions", RULE) == tmp_path / "asof.toml"
    assert read(tmp_path) == f"[relations]\nversions = '{RULE}'\n"
    assert named_relations(tmp_path) == {"versions": RULE}


def test_every_other_line_stays(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_text(SETTINGS)
    save_relation(tmp_path, "versions", RULE)
    save_relation(tmp_path, "copies", "J(d1,d2) = 1")
    save_relation(tmp_path, "versions", "J(d1,d2) > 0.5")
    assert read(tmp_path) == (
        f"{SETTINGS}\n[relations]\nversions = 'J(d1,d2) > 0.5'\ncopies = 'J(d1,d2) = 1'\n"
    )
    assert Config.load(tmp_path, {}).delay == 2


@pytest.mark.parametrize(
    "before",
    [
        "[relations]",
        "[relations]\r\na = 'x'\r\n",
        "[relations]  # by name\n\n# the first\na = 'x'  # y\n\n\n",
        "delay = 1\n[ relations ]\n'versions' = 'x'\n",
        '[relations]\n"versions"="x"\n',
        "delay = 1",
        "# only words",
    ],
)
def test_files_as_people_write_them(tmp_path: Path, before: str) -> None:
    (tmp_path / "asof.toml").write_bytes(before.encode())
    others = {name: text for name, text in named_relations(tmp_path).items() if name == "a"}
    save_relation(tmp_path, "versions", RULE)
    assert named_relations(tmp_path) == {**others, "versions": RULE}
    lines = (tmp_path / "asof.toml").read_bytes().decode().splitlines()
    for line in before.splitlines():
        assert line in lines or "versions" in line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("relations = {a = 'x'}\n", f"relations = {{a = 'x',versions = '{RULE}'}}\n"),
        ('relations.a = "x"\n', f"relations.a = \"x\"\nrelations.versions = '{RULE}'\n"),
        ('[relations]\nversions = """\nx"""\n', f"[relations]\nversions = '{RULE}'\n"),
        (
            'include = ["""\n[relations]\n"""]\n',
            f'include = ["""\n[relations]\n"""]\n\n[relations]\nversions = \'{RULE}\'\n',
        ),
    ],
)
def test_rare_forms_of_toml_stay_what_they_are(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "asof.toml").write_text(before)
    save_relation(tmp_path, "versions", RULE)
    assert read(tmp_path) == after


@pytest.mark.parametrize("made", ["delay = 3\n", "[["], ids=["other settings", "no TOML"])
def test_nothing_is_written_that_says_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    (tmp_path / "asof.toml").write_text(SETTINGS)
    monkeypatch.setattr(module, "_with", lambda *_: made)
    with pytest.raises(ConfigError, match="Write it there yourself: versions = "):
        save_relation(tmp_path, "versions", RULE)
    assert read(tmp_path) == SETTINGS


def test_nothing_is_written_where_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_text(f"relations = {{a = '{RULE}'}}\n")
    save_relation(tmp_path, "a", RULE)
    assert read(tmp_path) == f"relations = {{a = '{RULE}'}}\n"


@pytest.mark.parametrize("value", ["'C # x'", '"C \\" # x"', '"""C # x"""', "'''C ' # x'''"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_and_line_ends_stay(tmp_path: Path, value: str, end: str) -> None:
    before = f"delay = 2.0{end}[relations]{end}versions = {value}  # as agreed # in May{end}"
    (tmp_path / "asof.toml").write_bytes(before.encode())
    save_relation(tmp_path, "versions", RULE)
    after = before.replace(value, f"'{RULE}'")
    assert (tmp_path / "asof.toml").read_bytes() == after.encode()
    save_relation(tmp_path, "a", RULE)
    assert (tmp_path / "asof.toml").read_bytes() == f"{after}a = '{RULE}'{end}".encode()


def test_a_new_table_has_the_line_ends_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_bytes(b"delay = 2.0\r\n")
    save_relation(tmp_path, "a", RULE)
    after = f"delay = 2.0\r\n\r\n[relations]\r\na = '{RULE}'\r\n"
    assert (tmp_path / "asof.toml").read_bytes() == after.encode()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_nobody_sees_more_of_the_file_than_before(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "asof.toml"
    path.write_text('proxy = "http://user:secret@127.0.0.1:3128"\n')
    path.chmod(mode)
    save_relation(tmp_path, "a", RULE)
    assert path.stat().st_mode & 0o777 == mode


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "shared.toml").write_text(SETTINGS)
    (tmp_path / "asof.toml").symlink_to("shared.toml")
    with pytest.raises(UsageError, match="symbolic link"):
        save_relation(tmp_path, "a", RULE)
    assert (tmp_path / "shared.toml").read_text() == SETTINGS


def test_a_file_that_is_no_toml_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_text("[[")
    with pytest.raises(ConfigError, match="not valid TOML"):
        save_relation(tmp_path, "a", RULE)
    assert read(tmp_path) == "[["


def test_where_nothing_can_be_saved(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no folder"):
        save_relation(tmp_path / "none", "a", RULE)
    for name in ("", "a.b", "1", "a b", "x" * 81):
        with pytest.raises(UsageError, match="cannot be the name"):
            check_relation_name(name)
    with pytest.raises(UsageError, match="half a character"):
        save_relation(tmp_path, "a", 'title(d1) = "\ud800"')


@given(relations=st.dictionaries(names, st.text(st.characters(exclude_categories=["Cs"]))))
def test_whatever_is_saved_is_read_again(relations: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "asof.toml").write_text(SETTINGS)
        for name, text in relations.items():
            save_relation(folder, name, text)
        assert named_relations(folder) == relations
        assert read(folder).startswith(SETTINGS)


@given(name=st.one_of(names, st.text(max_size=5)))
def test_no_relation_is_a_name(name: str) -> None:
    if is_relation_name(name):
        with pytest.raises(UsageError):
            parse_relation(name)


# -- as `asof cover` uses them ---------------------------------------------------------------------


def test_a_name_means_its_relation_and_a_relation_itself(tmp_path: Path) -> None:
    save_relation(tmp_path, "copies", "J(d1,d2) = 1")
    assert rule_of(tmp_path, "copies") == NamedRule(
        "J(d1,d2) = 1", "copies", tmp_path / "asof.toml"
    )
    assert rule_of(tmp_path, RULE) == NamedRule(RULE)


def test_an_unknown_name_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--name NAME gives it a name"):
        rule_of(tmp_path, "copies")
    save_relation(tmp_path, "copies", "J(d1,d2) = 1")
    with pytest.raises(UsageError, match="Did you mean copies"):
        rule_of(tmp_path, "copy")
    with pytest.raises(UsageError, match="There are copies"):
        rule_of(tmp_path, "zzz")


COLUMNS = {
    "site": text_column(["a"]),
    "day": time_column([1]),
    "stars": number_column([1.0]),
}


@pytest.mark.parametrize("text", ["J(d1,d2) =", "site(d1) = stars(d2)", "J(d1,d2) = day(d3)"])
def test_an_error_of_a_named_relation_says_where_it_stands(tmp_path: Path, text: str) -> None:
    (tmp_path / "asof.toml").write_text(f"[relations]\nbad = '{text}'\n")
    rule = rule_of(tmp_path, "bad")
    with pytest.raises(UsageError, match=r"The relation bad of .*asof\.toml:\n.*olumn"):
        checked(rule, Question(text), COLUMNS)
    with pytest.raises(UsageError, match=r"^Column"):
        checked(NamedRule(text), Question(text), COLUMNS)


@pytest.mark.parametrize(
    ("where", "options", "complaint"),
    [
        ("sites(d) = 'a'", Question(""), "no attribute is called 'sites'"),
        ("stars(d) = 'a'", Question(""), "cannot be compared"),
        (
            None,
            Question("", at_least=(1, "sites")),
            "There is no attribute 'sites'. Did you mean site",
        ),
        (
            None,
            Question("", prefer="site"),
            "site is a text, and no quality. .*: day, inlinks, stars",
        ),
        (
            None,
            Question("", prefer="recency"),
            "There is no attribute 'timestamp'. There are day, inl",
        ),
        (None, Question("", prefer="inlink"), "Did you mean inlinks"),
    ],
)
def test_what_cannot_be_asked_is_told_before_documents_are_read(
    where: str | None, options: Question, complaint: str
) -> None:
    rule = NamedRule("J(d1,d2) = 1")
    question = replace(options, where=where)
    checked(rule, question, None)
    with pytest.raises(UsageError, match=complaint):
        checked(rule, question, COLUMNS, ["inlinks"])


def test_what_can_be_asked_is_typed(tmp_path: Path) -> None:
    rule = NamedRule("J(d1,d2) = 1 and day(d1) < '2010-01-31'")
    where = "day(d) > '2010-01-31' and text contains 'x'"
    question = Question(rule.text, where=where, at_least=(2, "site"), prefer="stars")
    relation, _ = checked(rule, question, COLUMNS)
    assert relation != parse_relation(rule.text)
    checked(rule, Question("", prefer="inlinks"), COLUMNS, ["inlinks"])
    checked(
        NamedRule("J(d1,d2) = 1"),
        Question("", prefer="recency"),
        {"timestamp": COLUMNS["day"]},
    )


def test_columns_of_an_archive_are_known_if_it_is_there(tmp_path: Path) -> None:
    question = Question("J(d1,d2) = 1 and hosst(d1) = hosst(d2)")
    assert prepare(tmp_path, question).table is None
    (tmp_path / "warc").mkdir()
    with pytest.raises(UsageError, match="no attribute is called 'hosst'"):
        prepare(tmp_path, question)


def test_a_relation_is_given_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rule in ("J(d1,d2) = 1", "J(d1,d2) > 0.9"):
        given = ["cover", rule, "-a", str(tmp_path), "--name", "copies", "--explain"]
        assert cli(given) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].endswith(f"copies is a relation now: `asof cover -a {tmp_path} copies`")
    assert told[1].endswith("(it was: J(d1,d2) = 1)")
