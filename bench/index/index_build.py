"""Text to a saved index, and searches in it, compared with peers in the same run.

Each row runs in a process of its own.

The `build` rows cut, encode, index and save documents. Peers get the same chunks (bm25s, tantivy) or the same sentence
vectors (FAISS, usearch). These are made before the peers' time begins, so that it is the time of the index alone. MB/s
refers to the text. Disk is the size of the folder as a multiple of the text. Memory is the peak of anonymous memory
during the build. Mapped files do not count; pychunk's documents come from one.

The `search` rows return ten hits with their texts, for sentences of articles that are in no index. They show
milliseconds a query, one at a time and 64 at once.

    python bench/index/index_build.py                          8,000 articles, 124 MB
    python bench/index/index_build.py --articles 1000          fewer
    python bench/index/index_build.py --times 8 --only pychunk the same with other words, 1 GB
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

ABOUT = (
    "Wikipedia articles in chunks of 110 words, with static sentence vectors and BM25. Each row runs in a process of "
    'its own. Peers get finished chunks or vectors; the time to make these does not count. "Disk" is the size of the '
    'index as a multiple of the text\'s size, and "peak MB" the anonymous memory during the build.'
)
K, BATCH, HELD_OUT = 10, 64, 50
SEGMENTER: dict[str, Any] = {"method": "recursive", "size": 110, "unit": "words", "vectors": "sentence"}
Build = Callable[[argparse.Namespace, Path], tuple[float, int]]
Search = Callable[[argparse.Namespace, Path, list[str]], dict[str, float]]


def batches(options: argparse.Namespace) -> Iterator[tuple[list[str], list[str]]]:
    """Yield ids and texts of the articles; with ``--times`` repeat them with every seventh word replaced."""
    file = pq.ParquetFile(options.data / "wiki" / "articles.parquet")
    for round_ in range(options.times):
        left = options.articles - HELD_OUT
        for batch in file.iter_batches(batch_size=500, columns=["id", "text"]):
            batch = batch.slice(0, max(0, left))
            left -= len(batch)
            texts = batch["text"].to_pylist()
            if round_:
                texts = [re.sub(r"(\w+)((?:\W+\w+){6})", rf"\g<1>{round_}\2", text) for text in texts]
            yield [f"{round_}/{name}" for name in batch["id"].to_pylist()], texts


def queries(options: argparse.Namespace) -> list[str]:
    """Return sentences of articles that no index holds."""
    table = pq.read_table(options.data / "wiki" / "articles.parquet", columns=["text"])
    chunks = pychunk.segment(table.slice(options.articles - HELD_OUT, HELD_OUT), "sentence")
    own = [text for text in chunks.texts if 40 <= len(text) <= 300]
    return [own[i] for i in np.random.default_rng(0).choice(len(own), 4 * BATCH)]


def cut(options: argparse.Namespace) -> Iterator[pa.Table]:
    segmenter = pychunk.Segmenter(**SEGMENTER, placement=pychunk.Placement(threads=options.threads))
    for ids, texts in batches(options):
        yield segmenter(texts, ids=ids).table


def vectors(options: argparse.Namespace) -> np.ndarray:
    found = [np.asarray(t["sentences"].combine_chunks().flatten().field("vector").flatten()) for t in cut(options)]
    return np.concatenate(found).reshape(-1, 256)


# Builds return the seconds from the first document to the last byte on the disk, and the bytes on the disk.


def pychunk_index(options: argparse.Namespace, folder: Path, **more: Any) -> tuple[float, int]:
    source = mapped(options, folder)  # reading Parquet and changing words is not the index's
    segmenter = pychunk.Segmenter(**SEGMENTER, placement=pychunk.Placement(threads=options.threads))
    begun = time.perf_counter()
    with pychunk.Index.create(folder / "index", **more) as index:
        for number in range(source.num_record_batches):
            batch = source.get_batch(number)
            index.add(segmenter(batch["text"], ids=batch["id"]))
        index.save()
    return time.perf_counter() - begun, size_of(folder / "index")


def mapped(options: argparse.Namespace, folder: Path) -> pa.RecordBatchFileReader:
    """Return the articles as a service streams them: batches of a memory-mapped file, none of which is kept."""
    schema = pa.schema([("id", pa.string()), ("text", pa.large_string())])
    with pa.ipc.new_file(folder / "articles.arrow", schema) as writer:
        for ids, texts in batches(options):
            writer.write(pa.record_batch([pa.array(ids), pa.array(texts, pa.large_string())], schema=schema))
    return pa.ipc.open_file(pa.memory_map(str(folder / "articles.arrow")))


def bm25s_index(options: argparse.Namespace, folder: Path) -> tuple[float, int]:
    import bm25s

    texts = [text for table in cut(options) for text in table["text"].to_pylist()]
    begun = time.perf_counter()
    found = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    tokens = bm25s.tokenize(texts, stopwords=[], show_progress=False)
    found.index(tokens, show_progress=False)
    found.save(str(folder / "bm25s"), corpus=texts)
    return time.perf_counter() - begun, size_of(folder)


def tantivy_index(options: argparse.Namespace, folder: Path) -> tuple[float, int]:
    import tantivy

    texts = [text for table in cut(options) for text in table["text"].to_pylist()]
    begun = time.perf_counter()
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(500_000_000, options.threads)
    for text in texts:
        document = tantivy.Document()
        document.add_text("text", text)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return time.perf_counter() - begun, size_of(folder)


def faiss_index(kind: str) -> Build:
    def build(options: argparse.Namespace, folder: Path) -> tuple[float, int]:
        import faiss

        faiss.omp_set_num_threads(options.threads)
        found = vectors(options)
        begun = time.perf_counter()
        index = faiss.index_factory(found.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            index.train(found[np.random.default_rng(0).choice(len(found), min(len(found), 200_000), replace=False)])
        index.add(found)
        faiss.write_index(index, str(folder / "faiss"))
        return time.perf_counter() - begun, size_of(folder)

    return build


def usearch_index(options: argparse.Namespace, folder: Path) -> tuple[float, int]:
    from usearch.index import Index

    found = vectors(options)
    begun = time.perf_counter()
    index = Index(ndim=found.shape[1], metric="ip", dtype="f16")
    index.add(np.arange(len(found)), found, threads=options.threads)
    index.save(str(folder / "usearch"))
    return time.perf_counter() - begun, size_of(folder)


# Searches return milliseconds a query.


def timed(asked: list[Any], one: Callable[[Any], Any], many: Callable[[list[Any]], Any]) -> dict[str, float]:
    one(asked[0]), many(asked[:BATCH])  # mapped files are read from the disk once
    single = []
    for query in asked:
        begun = time.perf_counter()
        one(query)
        single.append(time.perf_counter() - begun)
    batch = []
    for at in range(0, len(asked), BATCH):
        begun = time.perf_counter()
        many(asked[at : at + BATCH])
        batch.append((time.perf_counter() - begun) / BATCH)
    return {"ms a query": 1e3 * float(np.median(single)), f"ms of {BATCH} at once": 1e3 * float(np.median(batch))}


def pychunk_search(mode: str) -> Search:
    def search(options: argparse.Namespace, folder: Path, asked: list[str]) -> dict[str, float]:
        placement = pychunk.Placement(threads=options.threads)
        index = pychunk.Index.open(folder / "index", placement=placement, verify=False)

        def ask(texts: list[str]) -> Any:
            return index.search(texts, k=K, mode=mode)

        assert all(len(hits) == K for hits in ask(asked))
        return timed(asked, lambda text: ask([text]), ask)

    return search


def bm25s_search(options: argparse.Namespace, folder: Path, asked: list[str]) -> dict[str, float]:
    import bm25s

    index = bm25s.BM25.load(str(folder / "bm25s"), load_corpus=True, mmap=True)

    def ask(texts: list[str]) -> Any:
        tokens = bm25s.tokenize(texts, stopwords=[], show_progress=False)
        return index.retrieve(tokens, k=K, show_progress=False, n_threads=options.threads)

    return timed(asked, lambda text: ask([text]), ask)


def tantivy_search(options: argparse.Namespace, folder: Path, asked: list[str]) -> dict[str, float]:
    import tantivy

    index = tantivy.Index.open(str(folder / "tantivy"))
    searcher = index.searcher()

    def one(text: str) -> list[Any]:
        query = index.parse_query(" ".join(re.findall(r"\w+", text)), ["text"])
        return [searcher.doc(at)["text"] for _, at in searcher.search(query, K).hits]

    return timed(asked, one, lambda texts: [one(text) for text in texts])


def faiss_search(options: argparse.Namespace, folder: Path, asked: list[str]) -> dict[str, float]:
    import faiss

    faiss.omp_set_num_threads(options.threads)
    index = faiss.read_index(str(folder / "faiss"))
    found = pychunk.embed(asked, task="query")
    return timed(list(found), lambda row: index.search(row[None], K), lambda rows: index.search(np.stack(rows), K))


def usearch_search(options: argparse.Namespace, folder: Path, asked: list[str]) -> dict[str, float]:
    from usearch.index import Index

    index = Index.restore(str(folder / "usearch"))
    found = pychunk.embed(asked, task="query")
    return timed(
        list(found),
        lambda row: index.search(row, K, threads=options.threads),
        lambda rows: index.search(np.stack(rows), K, threads=options.threads),
    )


ROWS: dict[str, tuple[Build, dict[str, Search]]] = {
    "pychunk": (pychunk_index, {mode: pychunk_search(mode) for mode in ("hybrid", "dense", "sparse")}),
    "bm25s": (bm25s_index, {"sparse": bm25s_search}),
    "tantivy": (tantivy_index, {"sparse": tantivy_search}),
    "FAISS flat": (faiss_index("Flat"), {"dense": faiss_search}),
    "FAISS IVF1024,SQfp16": (faiss_index("IVF1024,SQfp16"), {"dense": faiss_search}),
    "FAISS HNSW32": (faiss_index("HNSW32"), {"dense": faiss_search}),
    "usearch HNSW, fp16": (usearch_index, {"dense": usearch_search}),
}


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def anonymous() -> float:
    """Return the megabytes of memory that no file backs."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def child(options: argparse.Namespace) -> None:
    """Run one build or search in this process, and print its figures."""
    build, searches = ROWS[options.child]
    if options.search:
        print(json.dumps(searches[options.search](options, options.folder, queries(options))))
        return
    peak, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], anonymous())

    watcher = threading.Thread(target=watch, daemon=True)  # no failing build waits for it
    watcher.start()
    seconds, size = build(options, options.folder)
    done.set()
    watcher.join()
    text = sum(len(each.encode()) for _, texts in batches(options) for each in texts)
    print(json.dumps({"s": seconds, "MB/s": text / seconds / 1e6, "disk": size / text, "peak MB": peak[0]}))


def measured(options: argparse.Namespace, name: str, folder: Path, search: str = "") -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", name, "--folder", str(folder), "--data", str(options.data)]
    command += ["--articles", str(options.articles), "--times", str(options.times), "--threads", str(options.threads)]
    done = subprocess.run([*command, *(["--search", search] * bool(search))], capture_output=True, text=True)
    if done.returncode:
        if "ModuleNotFoundError" in done.stderr:
            return {}
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--articles", type=int, default=8000, help="how many (default: %(default)s)")
    parser.add_argument("--times", type=int, default=1, help="so many times the text, with other words (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS), help="these rows alone")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    for name in ("child", "search", "folder"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS, type=Path if name == "folder" else str, default="")
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    builds, searches = [], []
    print(f"{'build':24}{'s':>9}{'MB/s':>8}{'disk':>7}{'peak MB':>9}")
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(options, name, Path(folder))
            if not row:
                print(f"{name:24}not installed")
                continue
            builds.append({"row": name, **row})
            print(f"{name:24}{row['s']:9.1f}{row['MB/s']:8.1f}{row['disk']:7.2f}{row['peak MB']:9.0f}", flush=True)
            for kind in ROWS[name][1]:
                row = {"row": f"{name}, {kind}", **measured(options, name, Path(folder), kind)}
                searches.append(row)
                one, many = (value for value in row.values() if isinstance(value, float))
                print(f"  {kind:22}{one:9.2f} ms a query, {many:.2f} of {BATCH} at once", flush=True)
    figures = {"articles": options.articles, "times": options.times, "threads": options.threads}
    if options.save:
        packages = ("faiss-cpu", "bm25s", "tantivy", "usearch")
        tables = {"builds": builds, "searches": searches}
        record.save(
            options.save,
            "Building and searching an index" + f", {options.times} times the text" * (options.times > 1),
            {**figures, **tables},
            about=ABOUT,
            packages=packages,
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
