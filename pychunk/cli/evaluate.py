"""The command that compares ways of chunking on questions with known answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..evaluation import contenders, datasets, peers, report, runner
from ..plumbing.durable import write_text
from .errors import readable_errors
from .grammar import method_of
from .outputs import Overwrite, check_output

EPILOG = """Examples:

pychunk eval dev-v2.0.json

pychunk eval dev-v2.0.json -m recursive:size=110 -m fixed:size=100 -m pic --mode hybrid --mode recipe --html out.html

pychunk eval chunking_evaluation/ --encoder minilm --peers --json out.json

pychunk eval questions.jsonl -m recursive:size=80 --stemmer none"""

#: Methods that this command counts in words unless told otherwise.
_SIZED = ("fixed", "recursive")
_METHODS = ["recursive:size=110", "fixed:size=100", "pic:max_tokens=150", "semantic:max_tokens=150", "sentence"]


def evaluate(
    dataset: Annotated[
        str,
        typer.Argument(
            help="SQuAD JSON; a folder with questions.csv and .md files of reference spans; Wikipedia articles "
            "(.parquet) for section breaks; JSONL with question, answers, document; UNLP leaflets."
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--method",
            metavar="METHOD[:OPTION=VALUE,...]",
            help=f"May be repeated; default: {' '.join(_METHODS)}.",
        ),
    ] = None,
    modes: Annotated[
        list[str] | None,
        typer.Option("--mode", help=f"How chunks are found: {', '.join(runner.MODES)}; default: hybrid and dense."),
    ] = None,
    encoder: Annotated[str, typer.Option(help="Of chunks and questions; see `pychunk model list`.")] = "static",
    with_peers: Annotated[
        bool, typer.Option("--peers", help="Other packages' chunkers, too, at equal mean length.")
    ] = (False),
    stemmer: Annotated[str, typer.Option(help="Language that BM25 stems words in, or none.")] = "english",
    terms: Annotated[str, typer.Option(help="What BM25 counts: words or ngrams.")] = "words",
    ngram: Annotated[int, typer.Option(min=1, help="Characters of an n-gram.")] = 4,
    weight: Annotated[float, typer.Option(help="Of BM25 beside the cosine.")] = 1.5,
    dtype: Annotated[str, typer.Option(help="Of the index's vectors: int8, float16 or float32.")] = "int8",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions (or articles).")] = None,
    json_out: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write all figures.")] = None,
    html_out: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with plots.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Compare methods on the same questions, with 95 % bootstrap intervals, paired differences and what each costs."""
    errors = Console(stderr=True, highlight=False)
    with readable_errors("interrupted; nothing was written"):
        for out in filter(None, (json_out, html_out)):
            check_output(out, [dataset], overwrite=overwrite)
        chosen = modes or ["hybrid", "dense"]
        for mode in chosen:
            if mode not in runner.MODES:
                raise ValueError(f"--mode must be one of {', '.join(runner.MODES)}; got {mode!r}")
        data = datasets.load(dataset, limit)
        made = contenders.Encoder(encoder)
        makers: list[Callable[[], contenders.Chunked]] = []
        for each in methods or _METHODS:
            name, options = method_of(each)
            if name in _SIZED:
                options.setdefault("unit", "words")
            makers.append(partial(contenders.by_method, name, options, data, made, each))
        usable, absent = peers.available() if with_peers else ([], [])
        if usable:
            first = makers[0]()
            words = float(first.words.mean())
            makers[0] = lambda: first
            makers += [partial(contenders.by_peer, peer, words, data, made) for peer in usable]
        options = {"stemmer": None if stemmer == "none" else stemmer, "terms": terms, "ngram": ngram, "weight": weight}
        options["dtype"] = dtype
        with errors.status("reading") as status:
            results = runner.run(data, makers, made, chosen, options, step=status.update)
        results["absent"] = [{"name": each.name, "reason": each.reason} for each in absent]
        console = Console(highlight=False)
        if not console.is_terminal:  # who reads a pipe wants lines whole
            console.width = 10_000
        report.print_table(results, console)
        for path, text in ((json_out, report.to_json), (html_out, report.html)):
            if path is not None:
                write_text(path.resolve(), text(results))
                errors.print(f"wrote {path}")
