"""The command `eval`, which compares methods of chunking on questions with known answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from .._util.durable_files import write_text
from ..augmentation.augment import with_client
from ..augmentation.llm_contexts import asks_model
from ..defaults import SEARCH
from ..evaluation import custom as own_methods
from ..evaluation import datasets, hierarchies, peers, retrieval_setups, runner, systems
from ..evaluation.judges.answer_generation import AnswerSetup
from ..evaluation.reports import report
from ..index.options import Bm25, Ranking
from ..methods import METHODS
from .llm import LLMOptions, LLMReport, asks_a_model
from .shared.console import errors, say
from .shared.errors import readable_errors
from .shared.grammar import method_of
from .shared.judge_options import JudgeOptions
from .shared.option_groups import with_groups
from .shared.outputs import Overwrite, check_output

EPILOG = """Examples:

pychunk eval dev-v2.0.json

pychunk eval dev-v2.0.json -m recursive:size=110 -m fixed:size=100 -m pic --mode hybrid --mode recipe --html out.html

pychunk eval chunking_evaluation/ --encoder minilm --peers --json out.json

pychunk eval questions.jsonl -m recursive:size=80 --stemmer none

pychunk eval unlp2026 -m page --mode sparse --augment none --augment head --document-weight 1

pychunk eval questions.jsonl -m recursive:size=80 -m sentence --judge completeness,retrieval --dry-run

pychunk eval dev-v2.0.json -m recursive:size=110 -m hierarchy:plan=learned -m hierarchy:plan=sentence+paragraph"""

#: The methods whose sizes this command counts in words by default.
_SIZED = ("fixed", "recursive")
#: The values of --rerank that ask an LLM.
_ASKED = ("logprob", "listwise")
#: The values of --rewrite that ask an LLM.
_REWRITING = ("hyde", "multi")
#: The width of tables, in columns, that are written to a file or a pipe.
_OF_A_FILE = 120
_METHODS = ["recursive:size=110", "fixed:size=100", "pic:max_tokens=150", "semantic:max_tokens=150", "sentence"]


@with_groups
def evaluate(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="Questions with answers and documents (JSONL, JSON or CSV); SQuAD (JSON); a folder with .md files and "
            "a questions.csv of reference spans in them; the folder of the UNLP leaflets; or Wikipedia articles "
            "(.parquet), to compare chunks with the starts of sections.",
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--method",
            metavar="METHOD[:OPTION=VALUE,...]",
            help=f"Method to compare; may be repeated; default: {' '.join(_METHODS)}. Name a method of your own as "
            "module:Class[:OPTION=VALUE,...], or as module:function, which turns a text into its chunks. "
            f"{hierarchies.NAME} holds all levels in one index and takes levels={hierarchies.LEVELS}, "
            "pooling=tokens|compressor and plan=learned|rules|fixed|llm, the folder of a planner, or LEVEL or "
            "LEVEL+LEVEL.",
        ),
    ] = None,
    modes: Annotated[
        list[str] | None,
        typer.Option(
            "--mode", help=f"Search mode: {', '.join(runner.MODES)}; may be repeated; default: hybrid and dense."
        ),
    ] = None,
    augment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WAY",
            help="Context to index with each chunk, as in pychunk index --augment, or none; may be repeated.",
        ),
    ] = None,
    answer: Annotated[
        bool,
        typer.Option(
            "--answer", help="Let an LLM answer the questions from the chunks that are found, and measure its answers."
        ),
    ] = False,
    document_weight: Annotated[
        list[float] | None,
        typer.Option(min=0, help="Weight of a whole document's score relative to its chunks' scores; may be repeated."),
    ] = None,
    rewrite: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOW",
            help="Query rewriting: feedback, options (multiple choice), hyde or multi (an LLM), or none; may be "
            "repeated.",
        ),
    ] = None,
    rerank: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="Reranker: features, a cross-encoder, an LLM (logprob, listwise), or none; may be repeated.",
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Number of hits to rerank.")] = SEARCH.evaluation_depth,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            help="Encoder of chunks and questions: a name from `pychunk model list`, or module:name for one of your "
            "own; may be repeated."
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table or folder of documents with ids, if the questions name their documents by id."
        ),
    ] = None,
    with_peers: Annotated[
        bool,
        typer.Option("--peers", help="Also compare the chunkers of other packages, at the same mean length of chunks."),
    ] = (False),
    stemmer: Annotated[
        str | None, typer.Option(help="Language of BM25's stemmer, or none; default: english, or none for n-grams.")
    ] = None,
    terms: Annotated[str | None, typer.Option(help="Terms of BM25: auto (default), words or ngrams.")] = None,
    ngram: Annotated[int, typer.Option(min=1, help="Length of an n-gram in characters.")] = 4,
    weight: Annotated[float, typer.Option(help="Weight of BM25 relative to the cosine.")] = SEARCH.bm25_weight,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Read the leaflets' PDF files instead of their text files.")
    ] = False,
    dtype: Annotated[str, typer.Option(help="Type of the vectors in the index: int8, float16 or float32.")] = "int8",
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first N questions or articles.")] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all figures to a JSON file.")
    ] = None,
    html_out: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML page with plots.")
    ] = None,
    overwrite: Overwrite = False,
    *,
    judging: JudgeOptions,
    asking: LLMOptions,
) -> None:
    """Compare methods on the same questions, with 95 % bootstrap intervals, paired differences and costs.

    The table has a row for every combination of methods, modes, --augment, --document-weight, --rewrite and --rerank.
    """
    with readable_errors("interrupted; nothing was written"):
        for out in filter(None, (json_out, html_out)):
            check_output(out, [dataset, *([str(documents)] if documents else [])], overwrite=overwrite)
        chosen = modes or ["hybrid", "dense"]
        for mode in chosen:
            if mode not in runner.MODES:
                raise ValueError(f"--mode must be one of {', '.join(runner.MODES)}; got {mode!r}")
        if judging.of_answers and not answer:
            raise ValueError("--judge answers needs the answers of an LLM; add --answer")
        if len(encoder or ()) > 1 and (judging.names or with_peers):
            raise ValueError(f"--judge and --peers take a single --encoder; got {', '.join(encoder or ())}")
        named = [_method(each) for each in methods or _METHODS]
        asks = [asks_a_model({"method": name, **options}) or options.get("plan") == "llm" for name, options in named]
        told = LLMReport(
            asking.opened(
                any(asks)
                or asks_model(augment)
                or bool({*_ASKED, *_REWRITING} & {*(rerank or ()), *(rewrite or ())})
                or bool(judging.names)
                or answer,
                f", --rerank {' or '.join(_ASKED)}, --rewrite {' or '.join(_REWRITING)}, --answer, --judge",
            )
        )
        ways = retrieval_setups.combined(
            chosen,
            augment=[each if told.llm is None else with_client(each, told.llm) for each in _each(augment)],
            document_weight=document_weight or [SEARCH.document_weight],
            rewrite=[_rewriter(each, told) for each in _each(rewrite)],
            rerank=[_reranker(each, told) for each in _each(rerank)],
            depth=[depth],
        )
        data = datasets.load(dataset, limit, pdf=pdf, documents=documents)
        encoders = [systems.Encoder(each) for each in dict.fromkeys(encoder or ["static"])]
        made = encoders[0]
        makers: list[Callable[[], systems.SystemChunks]] = []
        for each_encoder in encoders:
            for each, (name, options), of_model in zip(methods or _METHODS, named, asks, strict=True):
                own = {"unit": "words", **options} if name in _SIZED else options
                llm = told.llm if of_model else None
                shown = each if len(encoders) == 1 else f"{each}, {each_encoder.name}"
                if name == hierarchies.NAME:
                    makers.append(partial(hierarchies.by_levels, own, data, each_encoder, shown, llm=llm))
                else:
                    makers.append(partial(systems.of_any, name, own, data, each_encoder, shown, llm=llm))
        usable, absent = peers.available() if with_peers else ([], [])
        if usable:
            first = makers[0]()
            words = float(first.words.mean())
            makers[0] = lambda: first
            makers += [partial(systems.by_peer, peer, words, data, made) for peer in usable]
        of_each = [one for one in encoders for _ in named] + [made] * len(usable)
        terms = terms or "auto"
        stemmer = stemmer or ("none" if terms == "ngrams" else "english")
        bm25 = Bm25(terms=cast(Any, terms), ngram=ngram, stemmer=None if stemmer == "none" else stemmer)
        options = {"bm25": bm25, "dtype": dtype, "ranking": Ranking(bm25_weight=weight)}
        with told, errors().status("reading") as status:
            judges = judging.rows(told.llm, data, made, ways, options, status.update)
            answering = AnswerSetup(told.llm, judged=judging.of_answers) if answer and told.llm is not None else None
            results = runner.run(
                data,
                makers,
                of_each,
                ways,
                options,
                step=status.update,
                judging=judges,
                answering=answering,
                account=None if told.llm is None else told.llm.account,
            )
        if asking.dry_run:
            return
        results["absent"] = [{"name": each.name, "reason": each.reason} for each in absent]
        console = Console(highlight=False)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console.width = _OF_A_FILE
        report.print_table(results, console)
        for path, text in ((json_out, report.to_json), (html_out, report.html)):
            if path is not None:
                write_text(path.resolve(), text(results))
                say(f"wrote {path}")


def _method(text: str) -> tuple[str, dict[str, Any]]:
    """Return (name, options) of a method, or of one that the caller names as ``module:name[:OPTION=VALUE,...]``."""
    place = ":".join(text.split(":")[:2])
    known = text.partition(":")[0] in (*METHODS, hierarchies.NAME)
    if known or not own_methods.is_place(place):
        return method_of(text)
    _, options = method_of("own" + text[len(place) :])
    return place, options


def _reranker(name: str | None, told: LLMReport) -> Any:
    """Return the reranker as a search takes it: a function if the reranker asks an LLM, else its name."""
    if name not in _ASKED or told.llm is None:
        return name
    from ..llm.llm_reranker import Listwise, Logprob

    return Logprob(told.llm) if name == "logprob" else Listwise(told.llm)


def _rewriter(name: str | None, told: LLMReport) -> Any:
    """Return the query rewriting as a search takes it: a function if the rewriting asks an LLM, else its name."""
    if name not in _REWRITING or told.llm is None:
        return name
    from ..llm.query_generation import Hyde, MultiQuery

    return Hyde(told.llm) if name == "hyde" else MultiQuery(told.llm)


def _each(given: list[str] | None) -> list[str | None]:
    """Return the values of an option that may be repeated, with None for ``none``."""
    return [None if each == "none" else each for each in given or ["none"]]
