"""`spark-submit submit.py RELATION --from SOURCE --to TARGET`: a cover on a cluster.

The same as `asof cover --engine spark`, without the command line of asof: on a cluster, its
dependencies need not be there (docs/spark.md says which are).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from asof.change.shingles import K
from asof.cover.question import TIME_LIMIT, Question, parse_at_least
from asof.cover.spark.run import cover_on_spark
from asof.cover.spark.session import spark_session
from asof.errors import AsofError, UsageError


def main(given: Sequence[str] | None = None) -> int:
    """Run with these arguments; the summary goes to stdout as one line of JSON."""
    wanted = _parser().parse_args(given)
    question = Question(
        wanted.relation, wanted.source, wanted.where, wanted.k, at_least=wanted.at_least,
        prefer=wanted.prefer, solver=wanted.solver, time_limit=wanted.time_limit,
        terms=wanted.terms,
    )  # fmt: skip
    try:
        with spark_session(wanted.master) as session:
            summary = cover_on_spark(session, question, wanted.target)
    except AsofError as error:
        sys.stderr.write(f"asof: {error.what}\n{error.hint}\n".rstrip() + "\n")
        return error.exit_code
    told = {**asdict(summary), "dropped": summary.documents - summary.kept}
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="The smallest set of documents that covers all others by RELATION, on Spark."
    )
    add = parser.add_argument
    add("relation", metavar="RELATION", help="when d2 covers d1, as in C(d1,d2) >= 0.7")
    add("--from", dest="source", required=True, metavar="PATH", help="Parquet: a file or a folder")
    add("--to", dest="target", required=True, metavar="PATH", help="folder to write, not there yet")
    add("--where", metavar="FILTER", help="only documents d that meet this condition")
    add("-k", type=_positive, default=K, metavar="N", help="terms of a shingle (%(default)s)")
    add("--terms", choices=("words", "characters"), default="words", help="%(default)s")
    add("--at-least", type=_at_least, metavar="'M per ATTR'", help="keep M documents of each value")
    add("--prefer", metavar="ATTR", help="of the smallest sets, that of the highest sum")
    add("--solver", choices=("auto", "seed"), default="auto", help="%(default)s")
    add("--time-limit", type=float, default=TIME_LIMIT, metavar="S", help="seconds for proofs")
    add("--master", help="where spark-submit names none")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of words")
    return int(text)


def _at_least(text: str) -> tuple[int, str]:
    try:
        return parse_at_least(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not understood: write '2 per hostname'"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
