"""The cost of levels, their vectors and plans compared with a model's: of the index, of a question, and in total.

The script counts an LLM's tokens but does not call one. A summary reads its span and writes 128 tokens, as in
SmartChunk, for each section and document that is longer. A plan reads what
:class:`pychunk.index.planners.llm_planner.LLMPlanner` sends, and writes a sentence and its JSON. An answer reads 500
words and the question. Prices are those of --llm-price. Seconds are those of this machine's processor, without the
model's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pychunk
from pychunk.evaluation import hierarchies
from pychunk.evaluation.systems import count_tokens
from pychunk.index import Bm25, Ranking
from pychunk.index.planners import plan_prompt
from pychunk.llm.account import Account
from pychunk.training import breadth
from pychunk.training.breadth import LEVELS, Questions

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: The price of a million tokens in and a million out that SmartChunk assumes for its largest model (its table 6).
PRICE = "2.5,10"
#: The tokens of a summary, and the words passed on for an answer.
SUMMARY, WORDS = 128, 500
#: What a model writes as its plan.
PLAN = 'It asks for a date, which one sentence of a paragraph says. {"low": "sentence", "high": "paragraph"}'
#: The numbers of questions in the table of total costs.
ASKED = (0, 1_000, 10_000, 100_000, 1_000_000)
#: The number of queries that are timed.
TIMED = 400
HITS = 20


@dataclass(frozen=True)
class Way:
    """The cost of an index and a question: tokens encoded, seconds by stage, and an LLM's tokens in and out.

    ``memory`` has the bytes of the index's files, and the memory that a process needs to open and search it.
    """

    name: str
    encoded: float
    seconds: dict[str, float]
    memory: dict[str, int]
    made: tuple[float, float]
    question: dict[str, float]
    asked: tuple[float, float]


#: Searches an index for the questions in a file, and prints the peak memory above that of imports.
SEARCHING = """
import json, sys
import pychunk, pyarrow.dataset, pychunk.index.index, pychunk.index.planners.planner
folder, plan, file, hits = sys.argv[1:]
peak = lambda: 1024 * int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before = peak()
with pychunk.Index.open(folder) as index:
    ranking = pychunk.index.Ranking(planner=plan or None)
    for query in json.load(open(file)):
        index.search(query, int(hits), ranking=ranking)
    print(peak() - before)
"""


def memory_of(folder: Path, queries: Sequence[str], plan: str = "") -> dict[str, int]:
    """Return the bytes of an index's files, and of the memory of a process that searches it."""
    asked = folder.with_suffix(".json")
    asked.write_text(json.dumps(list(queries[:100])))
    command = [sys.executable, "-c", SEARCHING, str(folder), plan, str(asked), str(HITS)]
    needed = int(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder.parent).stdout)
    return {"index": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), "search": needed}


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result, and the processor seconds of all threads."""
    begin = time.process_time()
    found = make()
    return found, time.process_time() - begin


@dataclass
class Measured:
    """The measurements of each index, by its name: seconds of its stages and of a question, and bytes.

    ``whole`` is the hierarchy of the last index, and ``told`` what a planner receives for each query.
    """

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    asked: dict[str, dict[str, float]] = field(default_factory=dict)
    memory: dict[str, dict[str, int]] = field(default_factory=dict)
    whole: Any = None
    told: Any = None


def measured(data: Questions, queries: list[str], threads: int | None) -> Measured:
    """Build and search an index of plain chunks, and one of levels with each pooling."""
    ids, placement = [str(row) for row in range(len(data.documents))], pychunk.Placement(threads=threads)
    of_index: dict[str, Any] = {"bm25": Bm25(stemmer="english"), "placement": placement}
    chunks: dict[str, Any] = {**hierarchies.CHUNKS, "ids": ids, "placement": placement}
    found = Measured()

    def plain() -> Any:
        return pychunk.segment(data.documents, vectors="sentence", **chunks)

    def levelled(pooling: str) -> Any:
        blocks = {"blocks": data.blocks}
        return pychunk.segment_levels(
            data.documents, list(LEVELS), vectors="chunk", columns=blocks, pooling=pooling, **chunks
        )

    def searched(index: pychunk.Index, pairs: Sequence[tuple[str, str]]) -> float:
        index.rank(queries[:2], 1, ranking=Ranking(levels=pairs[0]))  # the first call opens the saved files
        _, spent = timed(lambda: hierarchies.ranked(index, pairs, queries, None, HITS, "hybrid", Ranking()))
        return spent / len(queries)

    def built(name: str, make: Callable[[], Any], path: Path, vectors: str) -> pychunk.Index:
        make()  # warm up
        found.whole, cut = timed(make)
        index = pychunk.Index.create(path, vectors=vectors, **of_index)
        rows = found.whole if vectors == "sentence" else found.whole.chunks
        _, added = timed(lambda: (index.add(rows if vectors == "sentence" else rows()), index.save()))
        found.seconds[name] = {"chunks": cut, "index": added}
        return index

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain"
        with built("plain", plain, path, "sentence") as index:
            index.rank(queries[:2], 1)
            _, spent = timed(lambda: index.rank(queries, HITS))
        found.asked["plain"] = {"plan": 0.0, "search": spent / len(queries)}
        found.memory["plain"] = memory_of(path, queries)
        for name, pooling in (("means", "tokens"), ("compressor", "compressor")):
            path = Path(folder) / name
            with built(name, partial(levelled, pooling), path, "chunk") as index:
                search = searched(index, [(LEVELS[0], LEVELS[-1])] * len(queries))
                found.asked[name] = {"plan": 0.0, "search": search}
                if name == "compressor":
                    index.plan(queries[:2], "learned")
                    plans, spent = timed(partial(index.plan, queries, "learned"))
                    search = searched(index, [plan[:2] for plan in plans])
                    found.asked["learned"] = {"plan": spent / len(queries), "search": search}
                    found.told = index.plan_metadata(queries, max_words=WORDS, headings=True)
            found.memory[name] = memory_of(path, queries)
        found.memory["learned"] = memory_of(path, queries, "learned")
    return found


def ways(data: Questions, threads: int | None) -> tuple[list[Way], dict[str, Any]]:
    """Return the ways, and what they have in common."""
    queries = [question.text for question in data.questions][:TIMED]
    tokens = count_tokens(data.documents)
    words = sum(len(text.split()) for text in data.documents)
    per_query = count_tokens(queries) / len(queries)
    answer = tokens / words * WORDS + per_query
    of = measured(data, queries, threads)
    system = plan_prompt.system().system
    prompts = [f"{system}\n{plan_prompt.user(query, each)}" for query, each in zip(queries, of.told, strict=True)]
    read = count_tokens(prompts) / len(prompts)
    wrote = float(count_tokens([PLAN]))
    spans = np.concatenate([of.whole.token_counts(level)[of.whole.stored(level)] for level in ("section", "document")])
    long = spans[spans > SUMMARY]
    written = float(SUMMARY * len(long))
    of_model = {"plan": 0.0, "search": of.asked["learned"]["search"]}

    def way(name: str, index: str, searched: str, **own: Any) -> Way:
        told: dict[str, Any] = {"encoded": tokens, "made": (0.0, 0.0), "asked": (answer, 0.0)}
        told |= {"question": of.asked[searched], "memory": of.memory[searched], "seconds": of.seconds[index]}
        return Way(name, **told | own)

    found = [
        way("plain chunks", "plain", "plain"),
        way("all levels, means", "means", "means"),
        way("compressor, learned plans", "compressor", "learned"),
        way(
            "compressor, plans of a model",
            "compressor",
            "compressor",
            question=of_model,
            asked=(answer + read, wrote),
        ),
        way(
            "summaries of a model, learned plans",
            "means",
            "learned",
            encoded=tokens + written,
            made=(float(long.sum()), written),
        ),
    ]
    return found, {
        "documents": len(data.documents),
        "nodes": len(of.whole),
        "tokens encoded a question": round(per_query, 1),
        "spans that a model would sum up": len(long),
    }


def rows_of(found: Sequence[Way], price: tuple[float, float]) -> list[dict[str, Any]]:
    """Return a row for each way: what a corpus and a question encode, the seconds of each stage, an LLM's tokens."""
    account = Account(price=price)
    return [
        {
            "way": way.name,
            "tokens encoded": round(way.encoded),
            **{f"{stage}, s": round(spent, 2) for stage, spent in way.seconds.items()},
            **{f"{what}, MB": round(size / 1e6, 1) for what, size in way.memory.items()},
            "LLM tokens": round(sum(way.made)),
            "money": round(account.cost(*map(round, way.made)), 2),
            **{f"{stage} of a question, ms": round(1000 * spent, 2) for stage, spent in way.question.items()},
            "LLM tokens a question": round(sum(way.asked)),
            "money, 1,000 questions": round(1000 * account.cost(*way.asked), 3),
        }
        for way in found
    ]


def in_sum(found: Sequence[Way], price: tuple[float, float]) -> list[dict[str, Any]]:
    """Return a row for each way: the price of the index and of this many questions together."""
    account = Account(price=price)
    return [
        {"way": way.name}
        | {
            f"{count:,} questions": round(account.cost(*map(round, way.made)) + count * account.cost(*way.asked), 2)
            for count in ASKED
        }
        for way in found
    ]


def break_even(found: Sequence[Way], price: tuple[float, float]) -> list[dict[str, Any]]:
    """Return, for each two ways that cross, the number of questions after which the other one is cheaper."""
    account = Account(price=price)
    rows = []
    for first, one in enumerate(found):
        for other in found[first + 1 :]:
            begin = account.cost(*map(round, other.made)) - account.cost(*map(round, one.made))
            slope = account.cost(*one.asked) - account.cost(*other.asked)
            if begin * slope > 0:
                cheap, dear = (one, other) if begin > 0 else (other, one)
                rows.append({"cheaper at first": cheap.name, "later": dear.name, "questions": round(begin / slope)})
    return rows


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="in all; 0: all (default)")
    parser.add_argument(
        "--llm-price",
        default=PRICE,
        metavar="IN,OUT",
        help="money for a million tokens in and out (default: %(default)s, that of SmartChunk's largest model)",
    )
    parser.add_argument("--threads", type=int, default=None, metavar="N")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/levels_costs.json")
    return parser.parse_args()


def main() -> None:
    """Print the tables and save them."""
    options = arguments()
    into, out = map(float, options.llm_price.split(","))
    found, common = ways(breadth.load(options.data, "test", options.questions), options.threads)
    tables = {
        "Of the corpus and of a question": rows_of(found, (into, out)),
        "Money of the index and of so many questions": in_sum(found, (into, out)),
        "Where one way begins to cost more than another": break_even(found, (into, out)),
    }
    print(common)
    for name, rows in tables.items():
        print(f"\n{name}", *rows, sep="\n  ")
    if options.save:
        record.save(
            options.save,
            "What levels and their plans cost",
            common | {"price of a million tokens in, out": options.llm_price} | tables,
            about=(
                "The documents of the questions of mixed breadth, at five levels or in plain chunks of 110 words. "
                "Seconds are CPU time of all threads. Memory is that of a process for one query at a time, above that "
                "of its imports. No LLM was called; the script counted the tokens that one would read and write. They "
                "are those of a summary of 128 tokens for each section and article that is longer, of a plan with its "
                "prompt, and of an answer that is written from 500 words."
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
