"""`asof completion`: the script that lets a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

from asof.cli.options import examples


@click.command(
    "completion",
    epilog=examples(
        'eval "$(asof completion bash)"                  in ~/.bashrc',
        'eval "$(asof completion zsh)"                   in ~/.zshrc, after compinit',
        "asof completion fish > ~/.config/fish/completions/asof.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> int:
    """Print what a shell needs to complete commands and options."""
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root()
    click.echo(found(root.command, {}, "asof", "_ASOF_COMPLETE").source())
    return 0
