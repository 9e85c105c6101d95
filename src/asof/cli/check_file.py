"""`asof check FILE`: whether a certificate or a WACZ is what it was, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.archive.folder import Folder
from asof.archive.reindex import total_bytes
from asof.cli.key import keyring
from asof.cli.output import count_progress, heavy_work, print_json
from asof.clock import SystemClock
from asof.errors import ConfigError, InputError, UsageError
from asof.report.terminal import harmless
from asof.report.words import missing_audits, number
from asof.warc.foreign.zip_reader import open_zip

if TYPE_CHECKING:  # the library for keys is loaded where signatures are checked
    from asof.coherence.recheck import Rechecked
    from asof.signing.signature import Malformed, PublicKey, Signature, SignatureVerdict

_MOST_PROBLEMS = 50
_DIGITS = 64  # of a fingerprint
# What a command ends with, where all else is well: by the state of the signature.
_CODES = {
    "good": 0, "changed": 1, "foreign-key": 3, "outside-validity": 4, "missing": 5, "malformed": 6,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Whose signature is asked for: `keys` are those that are known, or one by its fingerprint."""

    keys: list[PublicKey]
    fingerprint: str
    demanded: bool

    def judge(
        self, found: Signature | Malformed | None, *, whole: bool
    ) -> tuple[SignatureVerdict, int]:
        """The verdict on a signature, and what the command ends with for it."""
        from asof.signing.signature import PublicKey, Signature, judge

        keys = self.keys
        if self.fingerprint and isinstance(found, Signature):
            keys = [
                key for key in (*keys, PublicKey(found.key)) if key.fingerprint == self.fingerprint
            ]
        verdict = judge(found, keys, SystemClock().now(), whole=whole)
        code = _CODES[verdict.state]
        return verdict, 0 if verdict.state == "missing" and not self.demanded else code


def check_file(file: Path, folder: Path, key: str | None, *, signed: bool, as_json: bool) -> int:
    """Check a WACZ by itself, or a certificate by the archive it is of."""
    wanted = _wanted(key, signed)
    with open_zip(file) as opened:
        is_zip = opened.read(2) == b"PK"
    if is_zip:
        return _check_wacz(file, wanted, as_json=as_json)
    return _check_certificate(Folder(folder), file, wanted, as_json=as_json)


def _wanted(key: str | None, signed: bool) -> _Wanted:
    if key is None:
        return _Wanted(_known(), "", signed)
    if Path(key).is_file():
        from asof.signing.keyring import read_key

        return _Wanted([read_key(Path(key))], "", True)
    if len(key) != _DIGITS:
        told = f"{key!r} is neither a file nor a fingerprint of {_DIGITS} digits."
        raise UsageError(told, hint="`asof key list` shows fingerprints.")
    return _Wanted(_known(), key.lower(), True)


def _known() -> list[PublicKey]:
    """Of somebody without a home, such as a service, none."""
    try:
        return keyring().known()
    except ConfigError:
        return []


def _check_wacz(file: Path, wanted: _Wanted, *, as_json: bool) -> int:
    from asof.warc.foreign.wacz_check import MOST_PROBLEMS, check_wacz

    size = file.stat().st_size
    with count_progress("checking", size, column="DownloadColumn") as progress:
        result = check_wacz(file, progress)
    verdict, code = wanted.judge(result.signature, whole=not result.problems)
    code = 1 if result.problems else code
    if as_json:
        told = {"ok": code == 0, "file": click.format_filename(file), "files": result.files}
        print_json({**told, "problems": result.problems, "signature": verdict.as_json()})
        return code
    count = number(len(result.problems), "problem")
    held = f"{count} in" if result.problems else f"all {result.files:,} files hold their digests:"
    click.echo(f"{held} {click.format_filename(file)}")
    _print_lines(result.problems, MOST_PROBLEMS)
    click.echo(f"  {harmless(verdict.told)}")
    return code


def _check_certificate(place: Folder, certificate: Path, wanted: _Wanted, *, as_json: bool) -> int:
    from asof.coherence.certificate import read_certificate
    from asof.coherence.recheck import certificate_bytes, recheck
    from asof.coherence.signed import signature_of

    data = certificate_bytes(certificate)
    try:
        claim = read_certificate(data, str(certificate))
    except InputError as error:
        verdict, code = wanted.judge(signature_of(data, None), whole=True)
        if verdict.state != "changed":
            raise
        _print_certificate(certificate, None, (error.what,), verdict, code, as_json=as_json)
        return code
    verdict, code = wanted.judge(signature_of(data, claim.document), whole=True)
    place.require()
    size = total_bytes(place) + 2 * sum(item.size for item in claim.files)
    with heavy_work("checking", size) as (spread, progress):
        result = recheck(place, claim, spread=spread, progress=progress)
    code = code if result.ok else 1
    _print_certificate(certificate, result, result.differences, verdict, code, as_json=as_json)
    return code


def _print_certificate(
    certificate: Path, result: Rechecked | None, differences: tuple[str, ...],
    verdict: SignatureVerdict, code: int, *, as_json: bool,
) -> None:  # fmt: skip
    from asof.coherence.recheck import MOST_DIFFERENCES

    drawn, unaudited = (0, 0) if result is None else result.audits
    digest = None if result is None else result.claim.digest
    if as_json:
        told = {"ok": code == 0, "certificate": click.format_filename(certificate)}
        told |= {"digest": digest, "drawn": drawn, "unaudited": unaudited}
        print_json({**told, "differences": differences, "signature": verdict.as_json()})
        return
    if result is not None and result.ok:
        click.echo(f"the certificate holds: {result.summary}\n  sealed with {digest}")
        if unaudited:
            click.echo(f"  {missing_audits(drawn, unaudited)}")
    else:
        click.echo(f"the certificate does not hold: {number(len(differences), 'difference')}")
        _print_lines(differences, MOST_DIFFERENCES)
    click.echo(f"  {harmless(verdict.told)}")


def _print_lines(lines: tuple[str, ...], most: int) -> None:
    for line in lines[:_MOST_PROBLEMS]:
        click.echo(f"  {harmless(line)}")
    if len(lines) > _MOST_PROBLEMS:
        more = f"{len(lines) - _MOST_PROBLEMS:,} more (--json lists up to {most:,})"
        click.echo(f"  ... and {more}")
