"""The command `search`, which searches an index."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.text import Text

from .._util.counting import counted
from ..defaults import SEARCH
from ..index.index import Index
from ..index.options import Expansion, Ranking, Rerank, Rewrite, Stage
from ..index.search.hit_pages import pages_text
from ..index.search.hits import DocumentHits, Hit
from .shared.console import say
from .shared.errors import readable_errors

_PLAIN = re.compile(r"\s*([^\s()=<>!,'\"]+)\s*==?\s*([^\s(),'\"]+|'[^']*'|\"[^\"]*\")\s*")
#: The line above the hits if their scores are comparable between spans of all sizes.
_BITS = "scores are in bits: 1 more is half as likely by chance; good hits may also be below 0 (pychunk search --help)"
_REWRITES = ("feedback", "hyde", "multi")
_OPTIONS = (
    ", which only Index.search takes, in Python; on the command line, write the possible answers after the question"
)
EPILOG = """Examples:

pychunk search wiki.idx "Who crossed the Andes?" -k 3

pychunk search wiki.idx "glacier" "volcano" --mode sparse --json

pychunk search wiki.idx "treaty" --where "language = 'en' and year >= 1900" --expand 1

pychunk search docs.idx "How do I resume a run?" --expand subtree --words 500

pychunk search levels.idx "Why did Rome fall?" --plan rules"""


def search(
    path: Annotated[Path, typer.Argument(metavar="INDEX", help="The index's folder.")],
    queries: Annotated[list[str], typer.Argument(metavar="QUERY...", help="One query or more.")],
    k: Annotated[
        int, typer.Option("-k", min=1, help="Number of hits for each query, or of documents with --by-document.")
    ] = 5,
    mode: Annotated[str, typer.Option(help="Search mode: dense (vectors), sparse (BM25) or hybrid (both).")] = "hybrid",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Filter on columns, such as language=en or \"year >= 2015 and tags in ('art', 'law')\", with and, or, "
            "not, brackets and is null. May be repeated: a hit must meet all conditions. If several are COLUMN=VALUE "
            "with the same column, it must meet one of these.",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL[,LEVEL]",
            help="Level to search in an index of levels, or the finest and the coarsest of several, such as "
            "paragraph,section. Scores then allow for the length of hits.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="learned|rules|fixed|llm|DIR",
            help="Planner that chooses the levels for each query in an index of levels, or the folder of one that "
            "pychunk train made; the output names the levels and the reason.",
        ),
    ] = None,
    expand: Annotated[
        str,
        typer.Option(
            metavar="N|subtree|section",
            help="Also return with each hit the N chunks before and after it (N), its subtree in the tree of headings "
            "(subtree), or its whole section (section).",
        ),
    ] = "0",
    words: Annotated[
        int | None,
        typer.Option(
            min=1, help="Largest number of words in all hits of a query. The search skips hits that would exceed it."
        ),
    ] = None,
    parents: Annotated[
        bool, typer.Option("--parents", help="Also return the chunks above each hit in the tree of headings.")
    ] = False,
    distinct: Annotated[
        float | None,
        typer.Option(
            help="Leave out each hit that has at least this share of its text, such as 0.9, in common with a better "
            "hit; further hits take its place. 1 leaves out exact copies only."
        ),
    ] = None,
    document_weight: Annotated[
        float,
        typer.Option(
            min=0, help="Weight of a whole document's score relative to its chunks' scores; use 1 if chunks are pages."
        ),
    ] = SEARCH.document_weight,
    rewrite: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_REWRITES),
            help="Query rewriting: add terms of the first hits (feedback), or search with a passage (hyde) or with "
            "other queries (multi) that the LLM of PYCHUNK_LLM_URL and PYCHUNK_LLM_MODEL writes.",
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Reranker of the best hits: features (the search's own figures), a cross-encoder (reranker, from "
            "`pychunk model get reranker`, or a folder from `pychunk export`), or an LLM (logprob, listwise).",
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help=f"Number of hits to rerank; default: {SEARCH.rerank_depth}.")
    ] = None,
    by_document: Annotated[
        bool, typer.Option("--by-document", help="Find documents, as many as -k says, each with its best chunk.")
    ] = False,
    min_score: Annotated[
        float | None,
        typer.Option(
            help="Return only hits with at least this score. Dense and sparse scores are at most 1, hybrid scores at "
            "most 2.5. Scores in bits (two levels, --plan) and a reranker's scores may be below 0."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each query, with scores and spans.")
    ] = False,
) -> None:
    """Find the chunks that answer a question, and highlight the sentence that matches best.

    Each hit shows its span in characters, its score and the parts of the score. Dense is the cosine. Sparse is BM25 as
    a share of the highest score that the query allows. Hybrid is dense + 1.5 sparse. A reranker has scores of its own.

    Across two levels, and with --plan, scores are in bits, which make short and long passages comparable. One bit more
    means that an irrelevant passage reaches the score half as often. The score subtracts bits for the number of
    passages in a level and for length, so even a good hit may be below 0.
    """
    with readable_errors("interrupted"):
        if blank := [number for number, query in enumerate(queries, 1) if not query.strip()]:
            raise ValueError(
                f"query {blank[0]} of {len(queries)} is empty, and would match any chunk; write a question"
            )
        if rewrite not in (None, *_REWRITES):
            options = "" if rewrite != "options" else _OPTIONS
            raise ValueError(f"--rewrite must be {', '.join(_REWRITES)}; got {rewrite!r}{options}")
        if depth is not None and rerank is None:
            raise ValueError("--depth changes nothing without --rerank; add --rerank, or leave out --depth")
        if not (path / "manifest.json").is_file():  # perhaps the index follows the queries, as files do with grep
            for each in queries:
                if os.path.isfile(os.path.join(each, "manifest.json")):
                    raise ValueError(f"{each} is an index; name it before the queries")
        made = Index.open(path, verify="headers")
        empty = len(made) == 0
        plans = None if plan is None or empty else made.plan(queries, plan, max_words=words)
        wanted = _levels(levels)
        across = (plan is not None or isinstance(wanted, tuple)) and not (document_weight or by_document)
        stages: list[Stage] = [] if rewrite is None else [Rewrite(rewrite)]
        if rerank is not None:
            stages.append(Rerank(rerank, depth or SEARCH.rerank_depth))
        find: Any = made.search_documents if by_document else made.search
        found: Any = find(
            queries,
            k,
            mode,
            where=_where(where),
            ranking=Ranking(
                fusion="levels" if across else "score",
                document_weight=document_weight,
                levels=wanted,
                planner=plans,
                min_score=min_score,
            ),
            expansion=Expansion(int(expand) if expand.isdecimal() else cast(Any, expand), words, parents, distinct),
            stages=stages,
        )
        console = Console(highlight=False)
        console.soft_wrap = not console.is_terminal  # do not wrap lines in a pipe
        if empty:
            message = f"{path} holds no chunks; add documents that have text with pychunk index INPUT -o {path}"
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
                typer.echo(json.dumps(answer, ensure_ascii=False, default=str))  # str for UUIDs and dates
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
    """Return a single level as text, or two levels as (finest, coarsest)."""
    if given is None or "," not in given:
        return given
    return tuple(given.split(","))


def _where(given: list[str] | None) -> str | None:
    """Join the conditions by `and`, but those of the form COLUMN=VALUE on one column by `or`."""
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
    header = Text(f"{rank}. document {_name(hit)}{page}, chunk {hit.chunk_index}{_level(hit)}", style="bold cyan")
    header.append(f"  {hit.start}:{hit.end}  {hit.score:.3f}", style="dim")
    parts = ", ".join(
        f"{name} {score:.3f}" if isinstance(score, float) else f"{name}: {score}"
        for name, score in hit.scores.items()
        if name != "plan"  # printed above the hits
    )
    yield header.append(f" ({parts})", style="dim")
    if hit.path:
        yield Text(" › ".join(hit.path), style="green")
    if hit.proposition:
        yield Text(hit.proposition, style="yellow")
    yield from _body(hit)


def _level(hit: Hit) -> str:
    """Return the levels of a hit in an index of levels, such as ``, section`` or ``, paragraph to section``."""
    levels = hit.metadata.get("levels")
    if not isinstance(levels, list) or not levels:
        return ""
    return f", {levels[0]}" if len(levels) == 1 else f", {levels[0]} to {levels[-1]}"


def _name(hit: Hit) -> Any:
    return hit.document_index if hit.document_id is None else hit.document_id


def _body(hit: Hit) -> Iterator[Text]:
    for passage in hit.around or (hit,):
        text = Text(passage.text, style="" if passage.chunk_index == hit.chunk_index else "dim")
        if hit.sentence and passage.chunk_index == hit.chunk_index:
            text.stylize("bold yellow", hit.sentence[0] - hit.start, hit.sentence[1] - hit.start)
        yield text
