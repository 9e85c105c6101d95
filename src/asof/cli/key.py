"""`asof key`: the keys that certificates and WACZ files are signed and checked by."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.options import Command, examples, file_option, json_option, require_place
from asof.cli.output import print_json, say
from asof.clock import Instant, SystemClock, maybe_iso
from asof.errors import UsageError
from asof.files import output_file
from asof.report.terminal import harmless

if TYPE_CHECKING:  # the library for keys is loaded where keys are used
    from asof.signing.keyring import Keyring, Signer
    from asof.signing.signature import PublicKey

_PASSPHRASE = "ASOF_PASSPHRASE"


def keyring() -> Keyring:
    from asof.signing.keyring import Keyring, config_folder

    return Keyring(config_folder(os.environ))


@click.group("key")
def key_command() -> None:
    """Your keys, and those of others that you trust.

    `asof quality --certificate FILE --sign` and `asof export --format wacz --sign` sign by a key of
    yours; `asof check FILE` says by whom a file is signed.
    """


@key_command.command(
    "new", epilog=examples("asof key new --name 'Town archive'", "asof key new --valid 365")
)
@click.option("--name", help="Whose key it is, as others will read it [your login].")
@click.option(
    "--valid", "days", type=click.IntRange(1, 36500), default=730, show_default=True,
    metavar="DAYS", help="How long it signs.",
)  # fmt: skip
@click.option("--passphrase", is_flag=True, help="Lock it: ask for a passphrase now and to sign.")
@json_option
def new_command(name: str | None, days: int, passphrase: bool, as_json: bool) -> int:
    """Make a new key (Ed25519). Keys that you have stay as they are."""
    secret = ""
    if passphrase:
        secret = os.environ.get(_PASSPHRASE) or click.prompt(
            "Passphrase", hide_input=True, confirmation_prompt=True, err=True
        )
    name = name or os.environ.get("USER") or os.environ.get("LOGNAME") or "asof"
    made = keyring().new(name, days, SystemClock().now(), secret)
    if as_json:
        print_json(_key_json(made.public, made.path))
    else:
        say(f"{made.path}: the private key; keep it to yourself, and keep a copy")
        _print(made.public)
    return 0


@key_command.command("list", epilog=examples("asof key list", "asof key list --json"))
@json_option
def list_command(as_json: bool) -> int:
    """Your keys, then the trusted ones of others."""
    ring = keyring()
    every = [(each.public, each.path) for each in ring.own()]
    others: list[tuple[PublicKey, Path | None]] = [(each, None) for each in ring.trusted()]
    if as_json:
        print_json([_key_json(key, path) for key, path in (*every, *others)])
        return 0
    now = SystemClock().now()
    for key, path in (*every, *others):
        whose = "own" if path else "trusted"
        over = "" if key.holds(now) else "  (signs no more)"
        click.echo(f"{whose:<8}  {key.fingerprint}  {harmless(key.name)}{over}")
    if not every and not others:
        say("There are no keys yet: `asof key new` makes one, `asof key trust FILE` takes one.")
    return 0


@key_command.command(
    "show",
    epilog=examples(
        "asof key show                  fingerprint, validity, and the key in one line",
        "asof key show -o archive.pem   the file that others trust",
    ),
)
@click.argument("key", required=False)
@file_option("-o", "--output", help="Write its certificate (PEM) there; - is stdout.")
@json_option
def show_command(key: str | None, output: Path | None, as_json: bool) -> int:
    """The public part of a key of yours.

    KEY is its name, or how its fingerprint begins; without it, the newest.
    """
    from asof.signing.keyring import certificate_pem, is_meant

    ring = keyring()
    found = [each for each in ring.own() if key is None or is_meant(each.public, key)]
    if not found:
        raise UsageError("You have no such key.", hint="`asof key list` shows those you have.")
    chosen = found[0]
    if output == Path("-"):
        click.echo(certificate_pem(chosen), nl=False)
    elif output is not None:
        require_place(output)
        with output_file(output) as file:
            file.write(certificate_pem(chosen))
        say(f"{output}: for others, who run `asof key trust {output.name}`")
    elif as_json:
        print_json(_key_json(chosen.public, chosen.path))
    else:
        _print(chosen.public)
    return 0


@key_command.command("trust", epilog=examples("asof key trust archive.pem"))
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
def trust_command(file: Path, as_json: bool) -> int:
    """Take the key in FILE for one that you know.

    FILE is what `asof key show -o FILE` writes, or a public key in PEM or OpenSSH form. Ask its
    owner for the fingerprint by another way, and compare.
    """
    key = keyring().trust(file)
    if as_json:
        print_json(_key_json(key, None))
    else:
        _print(key)
    return 0


def _print(key: PublicKey) -> None:
    from asof.signing.keyring import one_line
    from asof.signing.signature import validity

    click.echo(f"{harmless(key.name)}\n  key    {key.fingerprint}\n  valid  {validity(key)}")
    click.echo(f"  line   {harmless(one_line(key))}")


def _key_json(key: PublicKey, path: Path | None) -> dict[str, object]:
    from asof.signing.keyring import one_line

    return {
        "name": key.name,
        "key": key.fingerprint,
        "since": maybe_iso(key.since),
        "until": maybe_iso(key.until),
        "own": path is not None,
        "line": one_line(key),
        "file": None if path is None else str(path),
    }


# -- signing, by other commands ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signing:
    """Whether to sign, and with which key: two options of several commands."""

    wanted: bool
    key: str | None

    def signer(self, now: Instant) -> Signer | None:
        """The key that signs, unlocked; None if nothing is to be signed."""
        if not self.wanted and self.key is None:
            return None
        from asof.signing.keyring import unlock

        own = keyring().signing_key(self.key, now)
        found = unlock(own, os.environ.get(_PASSPHRASE, ""))
        if found is None and sys.stdin.isatty():
            secret = click.prompt(f"Passphrase of {own.public.name}", hide_input=True, err=True)
            found = unlock(own, secret)
        if found is None:
            told = f"The passphrase does not unlock the key {own.public.name}."
            raise UsageError(told, hint=f"Type it, or have it in {_PASSPHRASE}.")
        return found


def sign_options(function: Command) -> Command:
    for option in (
        click.option("--key", metavar="KEY", help="Sign with this key, if you have several."),
        click.option("--sign", "signing", is_flag=True, help="Sign it (`asof key`)."),
    ):
        function = option(function)
    return function
