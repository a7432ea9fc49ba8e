"""Digests of the results of every part on a seeded corpus: two commits with equal lines have equal results.

    python bench/regression/same_results.py
    python bench/regression/same_results.py --against parent/bin/python

Each line is one result: methods with several options, units, levels; chunks of files of HTML, Markdown, PDF and text;
searches of indexes. If data or an optional package is missing, a line is "skipped" with the reason. --against runs this
file also with another environment's pychunk, and prints the lines that differ; the status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import inspect
import json
import logging
import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pychunk

METHODS = ("sentence", "paragraph", "fixed", "recursive", "structure", "semantic", "cluster", "pic", "nsp", "topic")
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"max_tokens": 60, "min_tokens": 20, "overlap": 10},
    {"vectors": "chunk"},
)
#: `nsp` takes some 30 times as long as the others, so that it gets every 30th text.
SLOW = {"nsp": 30}
#: The width of a line's name; at least two spaces follow it.
WIDTH = 72
LEVELS = ("sentence", "paragraph", "document")
QUERIES = ("who invented the steam engine", "rivers of Asia", "music of the 1970s")
LANGUAGES = ("de", "ru", "zh", "ar", "hi", "th", "tr")
#: The former names of columns, in versions before the column document_index.
FORMER = {
    "document": "document_index",
    "id": "document_id",
    "chunk": "chunk_index",
    "kind": "relevance",
    "cut": "end_reason",
    "line_end": "end_line",
}
#: Options of `pychunk index`, each with options of `pychunk search` in addition to the three modes.
INDEXES = (
    ("", ("--where 'document_index < 9'", "--document-weight 0.5", "--rerank features")),
    ("--dtype float32", ()),
    ("--kind hnsw", ()),
    (f"--levels {','.join(LEVELS)}", ("--plan rules", "--plan learned", "--plan rules --words 300")),
)
#: Optional packages that files and indexes need.
NEEDED = {"html": "selectolax", "pdf": "pypdfium2", "index": "faiss"}


class Corpus:
    """Seeded samples of the shared data; missing data gives an empty sample."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._random = folder, random.Random(seed)
        rows = self._sample("wiki/articles.parquet", ["title", "text"], 30)
        self.titles, self.articles = [row["title"] for row in rows], [row["text"] for row in rows]
        self.pages = [row["html"] for row in self._sample("wcxb/dev.parquet", ["html"], 150)]
        markdown = folder / "chunking_evaluation" / "wikitexts.md"
        self.markdown = [markdown.read_text(encoding="utf-8")[:60_000]] if markdown.exists() else []
        self.languages = [text for name in LANGUAGES for text in self._paragraphs(folder / f"xquad/xquad.{name}.json")]
        self.pdfs = [path.read_bytes() for path in sorted(folder.glob("unlp2026/**/*.pdf"))[:6]]
        self.texts = self.articles + self.markdown + self.languages

    def _sample(self, name: str, columns: list[str], count: int) -> list[dict[str, Any]]:
        import pyarrow.parquet as pq

        if not (self._folder / name).exists():
            return []
        rows = next(pq.ParquetFile(self._folder / name).iter_batches(batch_size=1000, columns=columns)).to_pylist()
        return self._random.sample(rows, count)

    def _paragraphs(self, path: Path) -> list[str]:
        if not path.exists():
            return []
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        return self._random.sample([each["context"] for article in data for each in article["paragraphs"]], 20)

    def write(self, folder: Path) -> dict[str, list[str]]:
        """Write files, and return their names by kind, relative to the folder."""
        made: dict[str, list[str]] = {}
        kinds: dict[str, tuple[str, list[Any]]] = {
            "html": ("html", self.pages),
            "markdown": ("md", self.markdown),
            "pdf": ("pdf", self.pdfs),
        }
        for kind, (ending, contents) in kinds.items():
            (folder / kind).mkdir()
            for number, content in enumerate(contents):
                path = folder / kind / f"{number:03}.{ending}"
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                made.setdefault(kind, []).append(str(path.relative_to(folder)))
        if self.articles:
            rows = [{"id": str(n), "title": a, "text": b} for n, (a, b) in enumerate(zip(self.titles, self.articles))]
            (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            made["texts"] = ["texts.jsonl"]
        return made


def named(row: dict[str, Any]) -> dict[str, Any]:
    """Return columns of chunks, or the fields of a hit, by their names of now, whatever version made them."""
    return {FORMER.get(name, name): value for name, value in row.items()}


def digest(value: Any) -> str:
    """Return the digest of a table's names and values, or of the printed form of anything else."""
    if hasattr(value, "column_names"):
        value = sorted(named({name: value[name].to_pylist() for name in value.column_names}).items())
    return hashlib.sha256(value if isinstance(value, bytes) else repr(value).encode()).hexdigest()[:16]


def result(make: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the digest of a call's result, or the error that it raises."""
    try:
        return digest(make(*arguments, **options))
    except (ValueError, TypeError, ImportError) as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]


def lines(data: Path, seed: int) -> Iterator[tuple[str, str]]:
    """Yield the name and result of all parts, in order."""
    corpus = Corpus(data, seed)
    yield "corpus", digest([corpus.texts, corpus.titles, corpus.pages, corpus.pdfs])
    if not corpus.texts:
        yield "methods, units, levels", "skipped: PYCHUNK_DATA has no texts"
    else:
        yield from of_methods(corpus)
        yield from of_levels(corpus)
    with tempfile.TemporaryDirectory() as folder:
        files = corpus.write(Path(folder))
        yield from of_files(files, Path(folder))
        yield from of_indexes(files, Path(folder))


def chunked(texts: list[str], *method: str, **options: Any) -> Any:
    return pychunk.segment(texts, *method, **options).table


def hierarchy(texts: list[str], levels: list[str], *method: str, **options: Any) -> Any:
    if hasattr(pychunk, "Placement"):
        return pychunk.segment_levels(texts, levels, *method, **options)
    # Versions before the class Placement have a keyword for the levels.
    return pychunk.segment(texts, *method, levels=levels, **options)


def leveled(texts: list[str], names: list[str]) -> Any:
    return hierarchy(texts, names, "structure").to_arrow()


def hits(index: Any, fusion: str, words: int | None = None) -> list[Any]:
    if "rerank" in inspect.signature(index.search).parameters:
        # Versions before the classes Ranking and Expansion have a keyword for each option.
        options: dict[str, Any] = {"fusion": fusion, "words": words}
    else:
        from pychunk.index import Expansion, Ranking

        options = {"ranking": Ranking(fusion=fusion), "expansion": Expansion(max_words=words)}
    return [[(hit.text, hit.score, hit.scores) for hit in own] for own in index.search(list(QUERIES), k=9, **options)]


def printed_hits(output: bytes) -> list[Any]:
    """Return what `pychunk search --json` printed."""
    found = [json.loads(line) for line in output.splitlines()]
    for answer in found:
        for hit in answer["hits"]:
            hit["around"] = [named(passage) for passage in hit["around"]]
        answer["hits"] = [named(hit) for hit in answer["hits"]]
    return found


def of_methods(corpus: Corpus) -> Iterator[tuple[str, str]]:
    for method in METHODS:
        texts = corpus.texts[:: SLOW.get(method, 1)]
        for options in OPTIONS:
            name = " ".join([method, *(f"{key}={value}" for key, value in options.items())])
            yield name, result(chunked, texts, method, **options)
    yield "default", result(chunked, corpus.texts)
    for within in ("topic", "semantic", "nsp"):
        texts = corpus.texts[:: SLOW.get(within, 1)]
        yield f"structure within={within}", result(chunked, texts, "structure", within=within)
    for unit in ("words", "characters"):
        for method in ("fixed", "recursive", "structure"):
            options = {"unit": unit, "size": 150, "overlap": 20}
            yield f"{method} unit={unit}", result(chunked, corpus.texts, method, **options)


def of_levels(corpus: Corpus) -> Iterator[tuple[str, str]]:
    names = ["sentence", "paragraph", "section", "document"]
    yield "levels", result(leveled, corpus.articles, names)
    if why := missing("index"):
        yield "levels, searched", why
        return
    found = hierarchy(corpus.articles, list(LEVELS), vectors="chunk", ids=corpus.titles)
    with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(f"{folder}/it", vectors="chunk") as index:
        index.add(found.chunks())
        for options in ({"fusion": "levels"}, {"fusion": "rrf"}, {"fusion": "levels", "words": 300}):
            name = " ".join(f"{key}={value}" for key, value in options.items())
            yield f"levels, searched {name}", result(hits, index, **options)


def of_files(files: dict[str, list[str]], folder: Path) -> Iterator[tuple[str, str]]:
    """Yield chunks of `pychunk ingest`, for one kind of file at a time."""
    import pyarrow.dataset as ds

    for kind in ("html", "markdown", "pdf", "texts"):
        if why := missing(kind) or ("" if kind in files else "skipped: PYCHUNK_DATA has none"):
            yield f"ingest {kind}", why
            continue
        done = command(folder, "ingest", "texts.jsonl" if kind == "texts" else kind, "-o", f"out-{kind}")
        shards = sorted(map(str, (folder / f"out-{kind}").rglob("*.parquet")))
        yield f"ingest {kind}", ended(done) or digest(ds.dataset(shards).to_table())


def of_indexes(files: dict[str, list[str]], folder: Path) -> Iterator[tuple[str, str]]:
    """Yield hits of indexes of several kinds, with their scores."""
    if why := missing("index") or ("" if "texts" in files else "skipped: PYCHUNK_DATA has no articles"):
        yield "index", why
        return
    for number, (options, searches) in enumerate(INDEXES):
        name = " ".join(["index", *options.split()])
        sources = [*files["texts"], *files.get("markdown", [])]
        done = command(folder, "index", *sources, "-o", f"{number}.idx", *options.split())
        if why := ended(done):
            yield name, why
            continue
        for search in ("--mode dense", "--mode sparse", "--mode hybrid", *searches):
            own = search if hasattr(pychunk.Chunk, "document_index") else search.replace("document_index", "document")
            done = command(folder, "search", f"{number}.idx", *QUERIES, "--json", *shlex.split(own))
            yield f"{name}, search {search}", ended(done) or digest(printed_hits(done.stdout))


def missing(kind: str) -> str:
    """Return why a kind is skipped, or an empty string if its package is installed."""
    package = NEEDED.get(kind)
    return f"skipped: no {package}" if package and importlib.util.find_spec(package) is None else ""


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "pychunk", *words], cwd=folder, capture_output=True, check=False)


def ended(done: subprocess.CompletedProcess[bytes]) -> str:
    return f"status {done.returncode}" if done.returncode else ""


def other(python: str, options: argparse.Namespace) -> dict[str, str]:
    """Return the output of this file in another environment, started in a folder where that finds its own pychunk."""
    words = [python, str(Path(__file__).resolve()), "--data", str(options.data.resolve()), "--seed", str(options.seed)]
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=folder, env=without, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} ended with status {done.returncode}: it needs pychunk, NumPy and PyArrow")
    parts = [line.partition("  ") for line in done.stdout.splitlines()]
    return {name: found.strip() for name, _, found in parts}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("PYCHUNK_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=data, metavar="FOLDER", help="default: $PYCHUNK_DATA")
    parser.add_argument("--seed", type=int, default=0, help="of the samples (default: 0)")
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter whose environment has another pychunk")
    options = parser.parse_args()
    here = {}
    for name, found in lines(options.data, options.seed):
        here[name] = found
        if not options.against:
            print(f"{name:{WIDTH}}  {found}", flush=True)
    if not options.against:
        return 0
    there = other(options.against, options)
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    for name in names:
        print(f"{name:{WIDTH}}  {here.get(name, 'no line')}, there {there.get(name, 'no line')}")
    print(f"{len(names)} of {len(here)} lines differ")
    return int(bool(names))


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # warnings about texts in other scripts are no result
    sys.exit(main())
