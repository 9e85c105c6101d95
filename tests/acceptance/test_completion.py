"""`asof completion`: the shells themselves take what it prints and complete by it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from asof.cli import run as cli

BIN = str(Path(sys.executable).parent)


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli(["completion", shell]) == 0
    return capsys.readouterr().out


def run(*command: str) -> str:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_bash_completes_commands_options_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    completing = script("bash", capsys)
    for words, expected in [
        ("asof cr", "crawl"),
        ("asof crawl --coh", "--coherence"),
        ("asof export --format wac", "wacz"),
    ]:
        code = (
            f"{completing}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))\n"
            'COMPREPLY=(); _asof_completion asof; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        assert expected in run("bash", "-c", code).split()


@pytest.mark.needs("zsh")
def test_zsh_takes_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_asof").write_text(script("zsh", capsys), encoding="utf-8")
    code = f"autoload -U compinit && compinit -u -d {tmp_path}/dump; source {tmp_path}/_asof"
    assert run("zsh", "-f", "-c", f"{code}; print $_comps[asof]").strip() == "_asof_completion"


@pytest.mark.needs("fish")
def test_fish_completes_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "asof.fish").write_text(script("fish", capsys), encoding="utf-8")
    told = run("fish", "--no-config", "-c", f"source {tmp_path}/asof.fish; complete -C 'asof qu'")
    assert "quality" in told


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
