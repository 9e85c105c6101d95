"""`asof key`, `--sign` and `asof check FILE`: each answer with its sentence and its exit code; and
that openssl and py-wacz, which know nothing of asof, agree.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from support import rig
from support.rig import Result, crawl, links, ok, page, site

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/signatures.md").read_text(encoding="utf-8")
WACZ = ROOT / ".venv/replay/bin/wacz"


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive, and what its owner signed and gives away."""
    root = tmp_path_factory.mktemp("signed")
    owner = {"XDG_CONFIG_HOME": str(root / "owner")}
    with site({"/": page(links("/a")), "/a": page("<p>boats</p>")}) as server:
        crawl(root / "archive", server.url + "/")
    ok("key", "new", "--name", "Town archive", env=owner)
    ok("key", "show", "-o", root / "archive.pem", env=owner)
    words = ("-a", root / "archive")
    said = ok("quality", "--certificate", root / "certificate.json", "--sign", *words, env=owner)
    assert "signed by Town archive" in said.err
    out = root / "site.wacz"
    assert (
        "signed by Town"
        in ok("export", "--format", "wacz", "-o", out, "--sign", *words, env=owner).err
    )
    ok("quality", "--certificate", root / "unsigned.json", *words, env=owner)
    ok("export", "--format", "wacz", "-o", root / "unsigned.wacz", *words, env=owner)
    return root


@pytest.fixture
def given(signed: Path, tmp_path: Path) -> Path:
    """What somebody else got."""
    for name in ("certificate.json", "site.wacz", "archive.pem", "unsigned.json", "unsigned.wacz"):
        shutil.copy(signed / name, tmp_path)
    return tmp_path


FILES = pytest.mark.parametrize("name", ["certificate.json", "site.wacz"])


def check(given: Path, signed: Path, name: str, *more: object, code: int = 0) -> Result:
    """As somebody with a keyring of one's own; in words and in JSON, with the same code."""
    words = ("check", given / name, "-a", signed / "archive", *more)
    env = {"XDG_CONFIG_HOME": str(given / "config")}
    told = ok(*words, code=code, env=env)
    said = ok(*words, "--json", code=code, env=env).json()
    assert said["ok"] is (code == 0)
    assert said["signature"]["told"] in told.out.decode()
    told.out = json.dumps(said).encode()
    return told


def state(result: Result) -> str:
    return result.json()["signature"]["state"]


def trust(given: Path, name: str = "archive.pem") -> dict[str, Any]:
    env = {"XDG_CONFIG_HOME": str(given / "config")}
    return ok("key", "trust", given / name, "--json", env=env).json()


@FILES
def test_a_stranger_s_key_is_not_good_until_it_is_trusted(
    signed: Path, given: Path, name: str
) -> None:
    assert state(check(given, signed, name, code=3)) == "foreign-key"
    key = trust(given)
    found = check(given, signed, name).json()["signature"]
    assert (found["state"], found["name"], found["key"]) == ("good", "Town archive", key["key"])
    assert key["own"] is False


@FILES
def test_a_key_can_be_asked_for(signed: Path, given: Path, name: str) -> None:
    assert state(check(given, signed, name, "--key", given / "archive.pem")) == "good"
    fingerprint = trust(given)["key"]
    shutil.rmtree(given / "config")
    assert state(check(given, signed, name, "--key", fingerprint)) == "good"
    assert state(check(given, signed, name, "--key", "0" * 64, code=3)) == "foreign-key"
    env = {"XDG_CONFIG_HOME": str(given / "config")}
    words = ("check", given / name, "-a", signed / "archive", "--key", "Town", "--json")
    assert "neither a file nor a fingerprint" in ok(*words, code=2, env=env).err


@FILES
def test_a_changed_byte_is_told(signed: Path, given: Path, name: str) -> None:
    trust(given)
    data = (given / name).read_bytes()
    for place in (len(data) // 7, len(data) // 3, len(data) // 2):
        changed = bytearray(data)
        changed[place] ^= 0x11
        (given / name).write_bytes(changed)
        assert state(check(given, signed, name, code=1)) == "changed"


def test_a_certificate_that_is_no_json_any_more_is_told_to_be_changed(
    signed: Path, given: Path
) -> None:
    trust(given)
    file = given / "certificate.json"
    file.write_bytes(file.read_bytes().replace(b'"mode"', b"'mode'"))
    assert state(check(given, signed, "certificate.json", code=1)) == "changed"


def test_white_space_is_a_change(signed: Path, given: Path) -> None:
    """What it says still holds by the files."""
    trust(given)
    file = given / "certificate.json"
    file.write_bytes(file.read_bytes().replace(b'"mode": ', b'"mode":  '))
    found = check(given, signed, "certificate.json", code=1)
    assert (state(found), found.json()["differences"]) == ("changed", [])


@FILES
def test_a_key_that_was_not_valid_then_is_told(signed: Path, given: Path, name: str) -> None:
    (own,) = (signed / "owner/asof/keys").iterdir()
    private: Any = load_pem_private_key(own.read_bytes(), None)
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Town archive")])
    made = x509.CertificateBuilder(who, who, private.public_key(), 7)
    made = made.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2021, 1, 1, tzinfo=UTC))
    (given / "old.pem").write_bytes(made.sign(private, None).public_bytes(Encoding.PEM))
    trust(given, "old.pem")
    assert state(check(given, signed, name, code=4)) == "outside-validity"


@pytest.mark.parametrize("name", ["unsigned.json", "unsigned.wacz"])
def test_a_missing_signature_matters_where_it_is_asked_for(
    signed: Path, given: Path, name: str
) -> None:
    assert state(check(given, signed, name)) == "missing"
    assert state(check(given, signed, name, "--signed", code=5)) == "missing"
    assert state(check(given, signed, name, "--key", given / "archive.pem", code=5)) == "missing"


@FILES
def test_a_malformed_signature_is_told(signed: Path, given: Path, name: str) -> None:
    trust(given)
    if name == "site.wacz":
        with zipfile.ZipFile(given / name) as zipped:
            held = {each: zipped.read(each) for each in zipped.namelist()}
        said = json.loads(held["datapackage-digest.json"])
        said["signedData"]["signature"] = "none!"
        held["datapackage-digest.json"] = json.dumps(said).encode()
        with zipfile.ZipFile(given / name, "w") as zipped:
            for each, content in held.items():
                zipped.writestr(each, content)
    else:
        text = (given / name).read_text()
        (given / name).write_text(re.sub(r'"signature": "..', '"signature": "', text))
    assert state(check(given, signed, name, code=6)) == "malformed"


def test_an_entry_that_nobody_signed_is_named(signed: Path, given: Path) -> None:
    trust(given)
    with zipfile.ZipFile(given / "site.wacz", "a") as zipped:
        zipped.writestr("archive/more.warc.gz", b"")
    found = check(given, signed, "site.wacz", code=1)
    assert any("archive/more.warc.gz" in each for each in found.json()["problems"])


def test_what_is_neither_is_refused_in_a_sentence(signed: Path, tmp_path: Path) -> None:
    for data in (b"", b"PK", b"PK\x03\x04" + bytes(100), b"{}", b"[" * 100_000, b"\xff" * 5000):
        (tmp_path / "odd").write_bytes(data)
        done = ok("check", tmp_path / "odd", "-a", signed / "archive", "--signed", code=2)
        assert len(done.err.splitlines()) == 1
    ok("check", tmp_path / "none", code=2)
    ok("check", tmp_path, code=2)
    assert "none is named" in ok("check", "-a", signed / "archive", "--signed", code=2).err


def test_who_has_no_home_can_check_and_has_no_keys(signed: Path) -> None:
    env = {"HOME": "", "XDG_CONFIG_HOME": ""}
    ok("check", signed / "site.wacz", env=env, code=3)
    ok("check", signed / "unsigned.wacz", env=env)
    assert "XDG_CONFIG_HOME" in ok("key", "list", env=env, code=2).err


def test_a_file_is_named_once(signed: Path) -> None:
    words = ("check", signed / "site.wacz", "--certificate", signed / "certificate.json")
    assert "Give one" in ok(*words, code=2).err


def test_the_archive_as_a_whole_is_checked_as_before(signed: Path) -> None:
    assert "all well" in ok("check", "-a", signed / "archive").out.decode()


# -- keys ------------------------------------------------------------------------------------------


def test_keys_are_made_listed_and_shown(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert "no keys yet" in ok("key", "list", env=env).err
    made = ok("key", "new", "--name", "A", "--valid", "10", "--json", env=env).json()
    assert Path(made["file"]).stat().st_mode & 0o777 == 0o600
    ok("key", "new", "--name", "B", env=env)
    listed = json.loads(ok("key", "list", "--json", env=env).out)
    assert {each["name"] for each in listed} == {"A", "B"}
    shown = ok("key", "show", "A", env=env).out.decode()
    assert made["key"] in shown
    assert made["line"] in shown
    pem = ok("key", "show", "A", "-o", "-", env=env).out
    assert x509.load_pem_x509_certificate(pem).subject.rfc4514_string() == "CN=A"
    assert b"PRIVATE" not in pem
    (tmp_path / "there").write_text("mine")
    assert "exists" in ok("key", "show", "A", "-o", tmp_path / "there", code=2, env=env).err


def test_signing_without_a_key_or_with_two_says_what_to_do(signed: Path, tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    words = ("export", "--format", "wacz", "-o", tmp_path / "s.wacz", "-a", signed / "archive")
    assert "asof key new" in ok(*words, "--sign", code=2, env=env).err
    ok("key", "new", "--name", "A", env=env)
    ok("key", "new", "--name", "B", env=env)
    assert "--key" in ok(*words, "--sign", code=2, env=env).err
    assert not (tmp_path / "s.wacz").exists()
    ok(*words, "--key", "B", env=env)
    assert ok("check", tmp_path / "s.wacz", "--json", env=env).json()["signature"]["name"] == "B"
    other = ("export", "--format", "warc", "-o", tmp_path / "x", "-a", signed / "archive")
    assert "no other format" in ok(*other, "--sign", code=2, env=env).err
    assert "none is asked for" in ok("quality", "--sign", "-a", signed / "archive", code=2).err


def test_a_locked_key_takes_its_passphrase(signed: Path, tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    right = env | {"ASOF_PASSPHRASE": "open sesame"}
    ok("key", "new", "--name", "A", "--passphrase", env=right)
    words = ("quality", "--certificate", tmp_path / "c.json", "--sign", "-a", signed / "archive")
    for wrong in (env, env | {"ASOF_PASSPHRASE": "open"}):
        assert "passphrase" in ok(*words, code=2, env=wrong).err
    ok(*words, env=right)
    ok("check", tmp_path / "c.json", "-a", signed / "archive", "--signed", env=env)


# -- others ----------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    return iter(re.findall(r"^```bash run\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


def sh(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euc", code], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.needs("openssl", "unzip")
def test_openssl_verifies_by_the_commands_of_the_guide(given: Path) -> None:
    certificate, wacz, fingerprint = commands()
    for code in (certificate, wacz):
        assert "Verified Successfully" in sh(code, given).stdout
    assert sh(fingerprint, given).stdout.split()[0] == trust(given)["key"]
    file = given / "certificate.json"
    file.write_bytes(file.read_bytes().replace(b'"mode"', b'"mood"'))
    assert "Verified Successfully" not in sh(certificate, given).stdout


@pytest.mark.needs("replay")
def test_py_wacz_finds_a_signed_wacz_valid(given: Path) -> None:
    done = subprocess.run(
        [WACZ, "validate", "--file", given / "site.wacz"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Has signature" in done.stdout
    assert "succeeded" in done.stdout


def test_a_signed_wacz_is_imported_as_any_other(given: Path) -> None:
    ok("import", given / "site.wacz", "-a", given / "again")
    assert len(rig.rows_of(given / "again")) == 3
