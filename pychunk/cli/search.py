"""The command that searches an index."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..defaults import SEARCH
from ..index.index import Index
from ..index.search.hit_pages import pages_text
from ..index.search.hits import DocumentHits, Hit
from .shared.console import counted, say
from .shared.errors import readable_errors

_PLAIN = re.compile(r"\s*([^\s()=<>!,'\"]+)\s*==?\s*([^\s(),'\"]+|'[^']*'|\"[^\"]*\")\s*")
#: What is said once of scores that hold spans of all sizes against each other.
_BITS = "scores are bits: +1 is half as likely by chance; good hits, too, may be below 0 (pychunk search --help)"
_REWRITES = ("feedback", "hyde", "multi")
_OPTIONS = ", which Index.search takes in Python: here write the answers to choose from behind the question"
EPILOG = """Examples:

pychunk search wiki.idx "Who crossed the Andes?" -k 3

pychunk search wiki.idx "glacier" "volcano" --mode sparse --json

pychunk search wiki.idx "treaty" --where "language = 'en' and year >= 1900" --expand 1

pychunk search docs.idx "How do I resume a run?" --expand subtree --words 500

pychunk search levels.idx "Why did Rome fall?" --plan rules"""


def search(
    path: Annotated[Path, typer.Argument(metavar="INDEX", help="The index's folder.")],
    queries: Annotated[list[str], typer.Argument(metavar="QUERY...", help="One question or several.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Hits for each query, or documents (--by-document).")] = 5,
    mode: Annotated[str, typer.Option(help="dense (vectors), sparse (BM25) or hybrid (both).")] = "hybrid",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Only chunks of which this is true: language=en, \"year >= 2015 and tags in ('art', 'law')\", with "
            "and, or, not, brackets, is null. May be repeated: all must be true, of values of one column any.",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL[,LEVEL]",
            help="In an index of levels: the level to look at, or the finest and the coarsest: paragraph,section, of "
            "which what is best per word comes first.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="learned|rules|fixed|llm",
            help="In an index of levels: what chooses the levels for each query; says which, and why.",
        ),
    ] = None,
    expand: Annotated[
        str,
        typer.Option(
            metavar="N|subtree|section",
            help="Show so many chunks before and after each hit, or what hangs on it in the tree of headings, or its "
            "whole section.",
        ),
    ] = "0",
    words: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most so many words for each query; hits too long for what is left are passed over."
        ),
    ] = None,
    parents: Annotated[bool, typer.Option("--parents", help="With a tree: the chunks above each hit, too.")] = False,
    document_weight: Annotated[
        float, typer.Option(min=0, help="What a chunk's whole document counts beside it; 1 for pages of documents.")
    ] = SEARCH.document_weight,
    rewrite: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_REWRITES),
            help="Search by what the first hits of a query say, too; by a passage that a model writes (hyde); or by "
            "other queries that it writes (multi). The model is that of PYCHUNK_LLM_URL and PYCHUNK_LLM_MODEL.",
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="What orders the best hits anew: features (what search knows of them), or a cross-encoder: reranker "
            "(pychunk model get reranker), or a folder that pychunk export wrote; or an LLM: logprob, listwise.",
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help=f"With --rerank: how many hits are ordered anew; default: {SEARCH.depth}.")
    ] = None,
    by_document: Annotated[
        bool, typer.Option("--by-document", help="Find -k documents, of each the best chunk alone.")
    ] = False,
    min_score: Annotated[
        float | None,
        typer.Option(
            help="Only hits of at least this score: dense and sparse reach 1, hybrid 2.5; bits (two levels, --plan) "
            "and a reranker's may be below 0."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a query, with scores and spans.")] = False,
) -> None:
    """Find the chunks that answer a question; the sentence that matched best is highlighted.

    Behind a hit stand its characters and its score, in brackets what that is made of: dense is the cosine, sparse BM25
    as a share of the most that the question allows, hybrid dense + 1.5 sparse. A reranker's scores are its own.

    Across two levels, and with --plan, scores are bits, which hold short and long passages against each other: one more
    means that a passage which has nothing to do with the question reaches it half as often. Bits are taken off for how
    many passages a level has, and for length, so that good hits, too, may be below 0.
    """
    with readable_errors("interrupted"):
        if not all(map(str.strip, queries)):
            raise ValueError("a question is empty: it would find any chunk")
        if rewrite not in (None, *_REWRITES):
            options = "" if rewrite != "options" else _OPTIONS
            raise ValueError(f"--rewrite must be {', '.join(_REWRITES)}; got {rewrite!r}{options}")
        if depth is not None and rerank is None:
            raise ValueError("--depth says how many hits --rerank orders anew: give both, or neither")
        if not (path / "manifest.json").is_file():  # the index behind the questions, as with grep
            for each in queries:
                if os.path.isfile(os.path.join(each, "manifest.json")):
                    raise ValueError(f"{each} is an index: name it before the questions")
        made = Index.open(path, verify="headers")
        empty = len(made) == 0
        plans = None if plan is None or empty else made.plan(queries, plan, words=words)
        wanted = _levels(levels)
        across = (plan is not None or isinstance(wanted, tuple)) and not (document_weight or by_document)
        found: Any = made.search(
            queries,
            k,
            mode,
            plan=plans,
            fusion="levels" if across else "score",
            document_weight=document_weight,
            rewrite=rewrite,
            where=_where(where),
            levels=wanted,
            expand=int(expand) if expand.isdecimal() else expand,
            words=words,
            parents=parents,
            rerank=rerank,
            depth=depth or SEARCH.depth,
            by_document=by_document,
            min_score=min_score,
        )
        console = Console(highlight=False)
        console.soft_wrap = not console.is_terminal  # who reads a pipe wants lines whole
        if empty:
            message = f"{path} holds no chunks: add documents that have text with pychunk index INPUT -o {path}"
            say(message, "yellow")
        elif across and rerank is None and not as_json:
            console.print(Text(_BITS, style="dim"))
        failed = sum(each.failed for each in plans or ())
        if failed:
            say(f"planner {plan} failed for {failed} of {counted(len(queries), 'query', 'queries')}")
        for row, (query, hits) in enumerate(zip(queries, found, strict=True)):
            if as_json:
                answer: dict[str, Any] = {"query": query, "hits": [asdict(hit) for hit in hits]}
                if plans is not None:
                    answer["plan"] = plans[row]._asdict()
                typer.echo(json.dumps(answer, ensure_ascii=False, default=str))  # UUIDs, dates
                continue
            if len(queries) > 1:
                console.print(Text(query, style="bold"))
            if plans is not None:
                console.print(Text(f"levels {plans[row]}", style="dim"))
            if not hits and not empty:
                fits = "" if words is None else f" of at most {words:,} words (--words)"
                say(f"nothing found{fits}")
            for rank, hit in enumerate(hits, 1):
                for line in _shown(rank, hit):
                    console.print(line)
                console.print()


def _levels(given: str | None) -> str | tuple[str, ...] | None:
    """One level, or the finest and the coarsest."""
    if given is None or "," not in given:
        return given
    return tuple(given.split(","))


def _where(given: list[str] | None) -> str | None:
    """Conditions as one; of those that are COLUMN=VALUE and name the same column one is enough."""
    if not given or len(given) == 1:
        return given[0] if given else None
    groups: dict[str, list[str]] = {}
    for number, each in enumerate(given):
        plain = _PLAIN.fullmatch(each)
        groups.setdefault(plain[1] if plain else f" {number}", []).append(f"({each})")
    return " and ".join(f"({' or '.join(group)})" for group in groups.values())


def _shown(rank: int, hit: Hit | DocumentHits) -> Iterator[Text]:
    if isinstance(hit, DocumentHits):
        hit = hit.hits[0]
    page = "" if hit.page is None else f", {pages_text(hit.page, hit.page_end)}"
    header = Text(f"{rank}. document {_name(hit)}{page}, chunk {hit.chunk}{_level(hit)}", style="bold cyan")
    header.append(f"  {hit.start}:{hit.end}  {hit.score:.3f}", style="dim")
    parts = ", ".join(
        f"{name} {score:.3f}" if isinstance(score, float) else f"{name}: {score}"
        for name, score in hit.scores.items()
        if name != "plan"  # stands above the hits
    )
    yield header.append(f" ({parts})", style="dim")
    if hit.path:
        yield Text(" › ".join(hit.path), style="green")
    yield from _body(hit)


def _level(hit: Hit) -> str:
    """Of an index of levels, at which it is: ``, section``, ``, paragraph to section``."""
    levels = hit.metadata.get("levels")
    if not isinstance(levels, list) or not levels:
        return ""
    return f", {levels[0]}" if len(levels) == 1 else f", {levels[0]} to {levels[-1]}"


def _name(hit: Hit) -> Any:
    return hit.document if hit.id is None else hit.id


def _body(hit: Hit) -> Iterator[Text]:
    for passage in hit.around or (hit,):
        text = Text(passage.text, style="" if passage.chunk == hit.chunk else "dim")
        if hit.sentence and passage.chunk == hit.chunk:
            text.stylize("bold yellow", hit.sentence[0] - hit.start, hit.sentence[1] - hit.start)
        yield text
