"""Make the questions, pseudo-labels and traces from which `pychunk train stitch` learns, with an LLM.

The documents of a folder are indexed at several levels. An LLM asks questions about sentences, sections and documents
drawn at random. Every range of levels is searched for each question. A plan answers it if the text found within --words
words has an F1 of at least 0.9 times that of the best plan. The best plan is the pseudo-label. The LLM then explains
it; these sentences are the trace of an expert. A question that no search answers is left out.

Answers of the LLM are cached, so the same command resumes a run that was killed, and asks nothing twice.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._engine.data.blocks import Blocks
from ..._util.counting import counted
from ..._util.durable_files import whole_file
from ...evaluation import hierarchies
from ...index.index import Index
from ...index.options import Bm25
from ...index.planners import plan_prompt
from ...index.planners.planner import Metadata
from ...io.document_batches import DeadLetter
from ...io.source import open_source
from ...levels.hierarchy_builder import hierarchy_by
from ...levels.level_names import check_levels
from ...llm import LLM, Request
from ...llm.account import parsed_price
from ...llm.prompts import load
from ...llm.question_generation import make_questions
from ...placement import Placement
from ...segmenter import Segmenter
from .. import breadth, breadth_levels
from ..train_options import new_parser

logger = logging.getLogger(__name__)

Plan = tuple[str, str]
#: The levels about whose nodes questions are asked, with the kind of question.
ASKED: dict[str, breadth.Kind] = {"sentence": "sentence", "section": "section", "document": "document"}
#: The fewest words of a sentence about which a question is asked.
LEAST_WORDS = 6
#: A plan answers a question if its F1 is at least this share of the best plan's.
ANSWERS = 0.9
#: The most tokens of a trace.
MOST_TOKENS = 160


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser(
        "pychunk train traces",
        __doc__,
        "example:\n  pychunk train traces docs --out questions.jsonl --llm-url http://127.0.0.1:8000/v1 --llm-model M",
    )
    made.add_argument("documents", type=Path, help="a file or folder of documents")
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file of JSON lines to write")
    made.add_argument("--questions", type=int, default=300, help="questions to ask for (default: %(default)s)")
    made.add_argument("--traces", type=int, default=1, help="traces of each question (default: %(default)s)")
    made.add_argument("--words", type=int, default=500, help="words that a search may return (default: %(default)s)")
    made.add_argument("--levels", default=",".join(breadth.LEVELS), help="levels of the index (default: %(default)s)")
    made.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    made.add_argument("--llm-url", help="URL of an OpenAI-compatible endpoint, up to /v1; default: PYCHUNK_LLM_URL")
    made.add_argument("--llm-model", help="name of the model at the endpoint; default: PYCHUNK_LLM_MODEL")
    made.add_argument("--llm-price", metavar="IN,OUT", help="price of a million tokens in and out, for --max-cost")
    made.add_argument("--max-cost", type=float, help="stop asking once this amount is spent")
    made.add_argument("--max-calls", type=int, help="stop asking after this number of calls")
    made.add_argument("--max-tokens", type=int, help="stop asking after this number of tokens")
    made.add_argument("--seed", type=int, default=0, help="seed of the drawn texts (default: %(default)s)")
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of searches (default: all)")
    return made


def indexed(path: Path, folder: Path, levels: Sequence[str | int], threads: int) -> Index:
    """Return an index of all documents of a file or folder at some levels. Broken documents are logged and left out.

    Raises:
        ValueError: There are no documents, or the levels are not valid.
    """
    placement = Placement(threads=threads)
    made = Index.create(folder, vectors="chunk", bm25=Bm25(stemmer="english"), placement=placement)
    chunks: dict[str, Any] = hierarchies.CHUNKS if "group" in levels else {}
    segmenter = Segmenter(**chunks, vectors="chunk", placement=placement)
    letters: list[DeadLetter] = []
    count = 0
    for batch in open_source(path, dead_letters=letters.append).batches():
        documents = batch.documents()
        made.add(hierarchy_by(segmenter, documents, levels, first_document=count).chunks())
        count += len(documents)
    for letter in letters:
        logger.warning("left out %s: %s", letter.source, letter.reason)
    if not len(made):
        raise ValueError(f"{path} has no documents to ask about: pass a file or folder with text")
    return made


def levels_of(index: Index) -> tuple[str, ...]:
    """Return the levels of an index, from fine to coarse."""
    return index.plan_metadata([""], look=False)[0].levels


def drawn(index: Index, count: int, seed: int) -> list[tuple[breadth.Kind, int]]:
    """Return (kind of question, row of the index) of the nodes to ask about, as many of each kind as there are."""
    rng = np.random.default_rng(seed)
    table = index.table
    levels, words = table["levels"].to_pylist(), [len(text.split()) for text in table["text"].to_pylist()]
    rows = {
        kind: [row for row, own in enumerate(levels) if level in own and words[row] >= LEAST_WORDS]
        for level, kind in ASKED.items()
    }
    found: list[tuple[breadth.Kind, int]] = []
    for number, kind in enumerate(sorted(rows, key=lambda kind: len(rows[kind]))):  # the rarest leave most to others
        most = (count - len(found)) // (len(rows) - number)
        found += [(kind, int(row)) for row in np.sort(rng.permutation(np.array(rows[kind], np.int64))[:most])]
    return found


def questions_about(index: Index, nodes: Sequence[tuple[breadth.Kind, int]], llm: LLM) -> breadth.Questions:
    """Return the questions that an LLM asks about nodes of an index, and the texts of all documents."""
    table = index.table
    texts = table["text"].to_pylist()
    document, start, end = (table[name].to_pylist() for name in ("document_index", "start", "end"))
    made = make_questions(llm, [texts[row] for _, row in nodes])
    for number, reason in made.faults:
        logger.warning("no question about %r: %s", texts[nodes[number][1]][:60], reason)
    rows = [nodes[number] for number in made.rows]
    questions = [
        breadth.Question(text, "", kind, document[row], ((start[row], end[row]),))
        for text, (kind, row) in zip(made.texts, rows, strict=True)
    ]
    coarsest = levels_of(index)[-1]
    documents = [""] * (max(document) + 1)
    for row, levels in enumerate(table["levels"].to_pylist()):
        if levels[-1] == coarsest:  # spaces before the text keep its characters where they are in the document
            documents[document[row]] = documents[document[row]].ljust(start[row]) + texts[row]
    return breadth.Questions([], documents, Blocks.of([]), questions)


def labelled(index: Index, data: breadth.Questions, words: int) -> list[tuple[Plan, list[Plan]] | None]:
    """Return (the pseudo-label, all plans that answer) for each question, or None if no search answers it."""
    levels = levels_of(index)
    queries = [question.text for question in data.questions]
    scores = breadth_levels.scores_of_ranges(index, data, queries, levels=levels, budgets=(words,)).f1[:, :, 0]
    pairs = breadth.ranges(levels)
    best = breadth.pseudo_labels(scores)
    found: list[tuple[Plan, list[Plan]] | None] = []
    for own, label in zip(scores, best.tolist(), strict=True):
        right = [pairs[number] for number in np.flatnonzero(own >= ANSWERS * own.max())]
        found.append(None if label < 0 else (pairs[label], right))
    return found


def explained(llm: LLM, rows: Sequence[tuple[str, Metadata, Plan]], each: int) -> list[list[str]]:
    """Return at most ``each`` traces for each question, its metadata and its plan. An LLM writes them."""
    prompt = load("plan_trace")

    def ask(row: tuple[str, Metadata, Plan], number: int) -> Request:
        query, metadata, (low, high) = row
        user = f"{plan_prompt.user(query, metadata)}\n\nBest levels: {low} to {high}"
        other = f"\n\nGive another explanation than before ({number + 1} of {each})." if number else ""
        return Request(user + other, prompt.system, stage="traces", version=prompt.version, max_tokens=MOST_TOKENS)

    replies = iter(llm.stream(ask(row, number) for row in rows for number in range(each)))
    found: list[list[str]] = []
    for query, _, _ in rows:
        texts = []
        for _ in range(each):
            reply = next(replies)
            text = plan_prompt.sentences_of(reply.text)
            if reply.fault or not text:
                logger.warning("no trace for %r: %s", query[:60], reply.fault or "the answer is empty")
            elif text not in texts:
                texts.append(text)
        found.append(texts)
    return found


def lines(index: Index, data: breadth.Questions, llm: LLM, words: int, traces: int) -> Iterator[dict[str, Any]]:
    """Yield the line of each question that a search answers; see :class:`.hub_task.HubTask`."""
    labels = labelled(index, data, words)
    kept = [(question.text, label) for question, label in zip(data.questions, labels, strict=True) if label]
    told = index.plan_metadata([text for text, _ in kept], max_words=words, headings=True)
    rows = [(text, metadata, label[0]) for (text, label), metadata in zip(kept, told, strict=True)]
    for (text, metadata, label), (_, (_, right)), own in zip(rows, kept, explained(llm, rows, traces), strict=True):
        yield {
            "question": text,
            "levels": list(metadata.levels),
            "nodes": list(metadata.nodes),
            "words": words,
            "headings": list(metadata.headings),
            "answers": [list(plan) for plan in right],
            "label": list(label),
            "traces": own,
        }


def write(options: argparse.Namespace, llm: LLM) -> int:
    """Write the file, and return the number of its lines.

    Raises:
        LLMError: The endpoint fails, or a limit is reached. The same command continues later.
    """
    levels = check_levels(options.levels.split(","))
    for name in ("questions", "traces", "words"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} must be at least 1; got {getattr(options, name)}")
    if options.seed < 0:
        raise ValueError(f"--seed must be at least 0; got {options.seed}")
    check_out(options.out, options.documents, overwrite=options.overwrite)
    with tempfile.TemporaryDirectory() as folder:
        index = indexed(options.documents, Path(folder) / "index", levels, options.threads)
        try:
            logger.info("%s at %s", counted(len(index), "node"), ", ".join(levels_of(index)))
            data = questions_about(index, drawn(index, options.questions, options.seed), llm)
            logger.info("%s from %s", counted(len(data.questions), "question"), llm.model)
            found = list(lines(index, data, llm, options.words, options.traces))
        finally:
            index.close(discard=True)
    if not found:
        raise ValueError(
            f"{options.documents} gave no question that a search answers, so nothing was written: pass more documents"
        )
    with whole_file(options.out) as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in found).encode())
    logger.info("%s with %s, %s", options.out, counted(len(found), "question"), llm.account.line())
    return len(found)


def check_out(out: Path, documents: Path, *, overwrite: bool) -> None:
    """Check that a file can be written, and that it is neither an input nor in the folder of the documents.

    Raises:
        ValueError: It cannot.
    """
    if out.exists() and not overwrite:
        raise ValueError(f"{out} exists: name another file, or replace it with --overwrite")
    if not out.absolute().parent.is_dir():
        raise ValueError(f"{out.absolute().parent} is no folder: make it, or name another file")
    place, source = out.resolve(), documents.resolve()
    if place == source or source in place.parents:
        raise ValueError(f"{out} is among the documents in {documents}: name a file in another folder")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, and return the process's exit status.

    Raises:
        ValueError: An option is out of range, there is nothing to ask about, or the file cannot be written.
        LLMError: See :func:`write`.
    """
    logging.basicConfig(format="%(message)s")
    logging.getLogger("pychunk").setLevel(logging.INFO)  # without a line for each request of the HTTP client
    options = parser().parse_args(arguments)
    price = parsed_price(options.llm_price, options.max_cost)
    try:
        limits = {name: getattr(options, name) for name in ("max_cost", "max_calls", "max_tokens")}
        with LLM(options.llm_url, options.llm_model, price=price, **limits) as llm:
            write(options, llm)
    except KeyboardInterrupt:
        print("interrupted; the same command continues, and asks nothing twice", file=sys.stderr)
        return 130
    return 0
