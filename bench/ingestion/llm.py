"""The cost of steps that query an LLM, for 1,000 pages, against the tests' server: calls, tokens, overhead.

The server answers at once, by a script and not by a model. The figures are calls, tokens and pychunk's own work, not
quality. A page is 3,000 characters of an article, or more up to the end of its last paragraph.

    python bench/ingestion/llm.py
    python bench/ingestion/llm.py --pages 100 --save bench/results/llm.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

import pychunk
from pychunk.evaluation.judges.chunk_judge import judge
from pychunk.llm import LLM, Request
from pychunk.llm.llm_reranker import Listwise, Logprob
from pychunk.llm.query_generation import Hyde, MultiQuery

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

SERVER = record.ROOT / "tests" / "helpers" / "llm_server.py"
PAGE = 3000
QUESTIONS, DEPTH = 100, 50
CONCURRENCY = 32
ABOUT = (
    "The tests' server answers at once, by a script without a model. So the figures show calls, tokens and pychunk's "
    "own work, and nothing about the quality of a model. Tokens are estimated as one for every four bytes; tokens out "
    'are an upper bound. "S, cached" is the time if all answers are in the cache. "CPU ms a call" is the CPU time of '
    'pychunk\'s process, which also reads, cuts and encodes. "S without" is the time of the step that needs no model.'
)


class Step(NamedTuple):
    """A step: ``run`` takes a client, ``default`` works without one, ``of`` names and counts its inputs."""

    name: str
    instead: str
    of: str
    run: Callable[[LLM], object]
    default: Callable[[], object] | None


def pages(folder: Path, count: int) -> list[str]:
    """Return pages of articles, in order."""
    found: list[str] = []
    for batch in pq.ParquetFile(folder / "wiki" / "articles.parquet").iter_batches(100, columns=["text"]):
        for text in batch.column("text").to_pylist():
            held = ""
            for paragraph in text.split("\n"):
                held += paragraph + "\n"
                if len(held) >= PAGE:
                    found.append(held)
                    held = ""
                    if len(found) == count:
                        return found
    return found


class Hits:
    """The hits of questions, in the form that rerankers expect."""

    def __init__(self, texts: list[str]) -> None:
        self.questions = [" ".join(text.split()[:12]) for text in texts[:QUESTIONS]]
        chunks = pychunk.segment(texts).texts
        self.lists = [
            [Hit(chunks[(7 * row + at) % len(chunks)]) for at in range(DEPTH)] for row in range(len(self.questions))
        ]


class Hit(NamedTuple):
    """One hit of a question."""

    text: str


def steps(texts: list[str], folder: Path) -> list[Step]:
    hits = Hits(texts)
    chunks = pychunk.segment(texts)
    index = pychunk.Index.create(folder / "pages.idx", encoder="static")
    index.add(pychunk.segment(texts, vectors="sentence", ids=[str(row) for row in range(len(texts))]))
    index.save()
    per, of_chunks = f"{len(texts):,} pages", f"{len(chunks):,} chunks"
    ask = f"{len(hits.questions)} questions"
    ranked = f"{ask}, {DEPTH} hits"

    def augmented(way: str) -> Callable[..., object]:
        return lambda llm=None: pychunk.augment(chunks, way, **({"llm": llm} if llm else {}))

    def cut(method: str, **options: Any) -> Callable[..., object]:
        return lambda llm=None: pychunk.segment(texts, method, **options, **({"llm": llm} if llm else {}))

    judged = [
        Step(
            f"judge {name}",
            "counts",
            of_chunks,
            lambda llm, own=name: judge(llm, own, chunks.texts),
            None,
        )
        for name in ("noise", "completeness", "context_switch", "task")
    ]
    return [
        Step("autochunker", "structure", per, cut("autochunker"), cut("structure")),
        Step("llm_semantic", "topic", per, cut("llm_semantic"), cut("topic")),
        Step("lumber", "topic", per, cut("lumber"), cut("topic")),
        Step("proposition", "structure", per, cut("proposition"), cut("structure")),
        Step("pic, summary=llm", "pic, summary=extractive", per, cut("pic", summary="llm"), cut("pic")),
        Step("augment summary:llm", "summary", per, augmented("summary:llm"), augmented("summary")),
        Step("augment context:llm", "neighbours", of_chunks, augmented("context:llm"), augmented("neighbours")),
        Step("rewrite=hyde", "none", ask, lambda llm: Hyde(llm)(hits.questions), None),
        Step("rewrite=multi", "none", ask, lambda llm: MultiQuery(llm)(hits.questions), None),
        Step("rerank, Logprob", "none", ranked, lambda llm: Logprob(llm)(hits.questions, hits.lists), None),
        Step("rerank, Listwise", "none", ranked, lambda llm: Listwise(llm)(hits.questions, hits.lists), None),
        Step("answer", "none", ask, lambda llm: pychunk.answer(index, hits.questions, llm=llm), None),
        *judged,
    ]


@contextmanager
def server(script: str = "good", delay: float = 0.0) -> Iterator[str]:
    """Yield the URL of a server in a process of its own."""
    command = [sys.executable, str(SERVER), "--port", "0", "--script", script, "--delay", str(delay)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        found = re.match(r"(http://\S+/v1)", process.stdout.readline() if process.stdout else "")
        if found is None:
            raise SystemExit("the server of the tests does not start")
        yield found[1]
    finally:
        process.terminate()
        process.wait()


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the elapsed seconds and those of this process's CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def measured(step: Step, url: str, folder: Path) -> dict[str, Any]:
    """Return a row: the step with calls, again with all answers in the cache, and without a model."""
    options: dict[str, Any] = {"concurrency": CONCURRENCY, "cache": folder / f"{step.name}.sqlite"}
    with LLM(url, "test", **options, dry_run=True) as dry:
        step.run(dry)
        told = dry.account.total
    with LLM(url, "test", **options) as llm:
        seconds, cpu = timed(lambda: step.run(llm))
        took = llm.account.total
    with LLM(url, "test", **options) as llm:
        again, cpu_again = timed(lambda: step.run(llm))
        assert llm.account.total.calls == 0
    row = {
        "step": step.name,
        "for": step.of,
        "calls": took.calls,
        "calls of a dry run": told.calls,
        "tokens in": took.tokens_in,
        "tokens out at most": told.tokens_out,
        "s": seconds,
        "s, cached": again,
        "CPU ms a call": 1e3 * max(0.0, cpu - cpu_again) / max(1, took.calls),
        "without a model": step.instead,
    }
    return row | ({} if step.default is None else {"s without": timed(step.default)[0]})


def at_once(calls: int, delay: float) -> dict[str, Any]:
    """Measure calls that take ``delay`` seconds each, 32 at a time."""
    with server("slow", delay) as url, LLM(url, "test", concurrency=CONCURRENCY, cache=False) as llm:
        llm.ask("once, so that all is loaded")
        seconds, cpu = timed(lambda: llm.ask_many([Request(f"question {at}") for at in range(calls)]))
    floor = -(-calls // CONCURRENCY) * delay
    return {"calls": calls, "at once": CONCURRENCY, "s": seconds, "floor s": floor, "CPU ms a call": 1e3 * cpu / calls}


def cached(answers: int, folder: Path) -> dict[str, Any]:
    """Measure reads from a cache of this many answers, and the growth of memory from a tenth of them to all."""
    asks = (Request(f"question {at}", stage="cached") for at in range(answers))
    with LLM("http://127.0.0.1:9/v1", "test", cache=folder / "cached.sqlite") as llm:
        assert llm.cache is not None
        llm.cache.put(b"", "")
        kept = json.dumps({"text": '{"chunks": [[1, 9]], "noise": []}', "finish": "stop", "refusal": ""} | _REST)
        with sqlite3.connect(llm.cache.path) as file:
            keys = ((ask.key(llm.url, "test", llm.parameters), kept) for ask in asks)
            file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", keys)
        begun = time.perf_counter()
        for at, reply in enumerate(llm.stream(Request(f"question {at}", stage="cached") for at in range(answers))):
            assert reply.cached
            if at == answers // 10:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds = time.perf_counter() - begun
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"answers": answers, "answers/s": answers / seconds, "MB that memory grew by": grown / 1024}


_REST = {"tokens_in": 10, "tokens_out": 10, "logprobs": None, "error": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=1000, help="at 200 ms each")
    parser.add_argument("--answers", type=int, default=100_000, help="in a cache")
    parser.add_argument("--only", metavar="STEP", help="of all steps this one, without what is said of the client")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    data = os.environ.get("PYCHUNK_DATA")
    if not data:
        raise SystemExit("PYCHUNK_DATA must name a folder with wiki/articles.parquet")
    texts = pages(Path(data), options.pages)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        if options.only is None:
            figures["cache"] = cached(options.answers, Path(folder))
            print(figures["cache"], flush=True)
            figures["calls of 200 ms"] = at_once(options.calls, 0.2)
            print(figures["calls of 200 ms"], flush=True)
        chosen = [step for step in steps(texts, Path(folder)) if options.only in (None, step.name)]
        if not chosen:
            raise SystemExit(f"no step is called {options.only!r}")
        rows = []
        with server() as url:
            for step in chosen:
                rows.append(measured(step, url, Path(folder)))
                print(rows[-1], flush=True)
    figures = {"steps": rows, **figures}
    if options.save:
        title = "With an LLM" + (f": {options.only}" if options.only else "")
        record.save(options.save, title, figures, about=ABOUT, packages=["httpx2"], encoder=record.shipped())


if __name__ == "__main__":
    main()
