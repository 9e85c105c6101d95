"""`python -m asof` is the `asof` command."""

from asof.cli import main

if __name__ == "__main__":
    main()
