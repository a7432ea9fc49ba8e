"""Damaged stored indexes of every kind: an error that names the file or the whole index's hits, never a signal.

That holds for ``verify=True`` and ``"headers"``, and if the index is opened unverified and written again. With
``verify=False``, or if somebody computed the checksums again after the damage, an index may give other hits. Its errors
still name the folder, and it believes no count that asks for more memory than the file can fill.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from pychunk.index import Expansion, Ranking

from .forks import forked

#: Few texts of several sentences are used, so that an index has one to three blocks a file, and opens in 5 ms.
TEXTS = [
    f"Cats number {i} purr on sofa {i % 7}. They hunt {('mice', 'owls', 'café bees')[i % 3]}. Night {i // 9} ends."
    for i in range(48)
]
QUERIES = ["Cats number 10 purr", "hunt owls", "night 3"]
KINDS: dict[str, dict[str, Any]] = {
    "float32": {"kind": "flat", "dtype": "float32"},
    "float16": {"kind": "flat", "dtype": "float16", "vectors": "both"},
    "int8": {"kind": "flat", "bm25": "ngrams"},
    "codes": {"kind": "pq"},
    "graph": {"kind": "hnsw", "vectors": "chunk"},
    "graph32": {"kind": "hnsw", "vectors": "chunk", "dtype": "float32", "bm25": None},
    "levels": {"kind": "flat", "vectors": "chunk"},
    "shards": {"kind": "flat"},
    "structure": {"kind": "flat"},
    "bare": {"kind": "flat", "dtype": "float32", "vectors": "chunk"},
}
#: Numbers that a reader of sizes and offsets should reject.
NUMBERS = (0, 1, -1, -5, 255, 65_535, 2**31 - 1, -(2**31), 2**33, 2**40, 2**60, 2**63 - 1, -(2**63))
#: The same for a manifest, and values that are not numbers.
VALUES = (*NUMBERS, 2**200, 1e308, float("inf"), float("nan"), None, True, "", "x", "../x", "é" * 300, [], {}, [[[]]])
HOWS = (
    *("bit", "byte", "number", "number", "zeros", "ones", "copy", "swap"),
    *("cut", "insert", "remove", "append", "exchange", "value", "value", "compress"),
)
#: The bytes that one case may take at most: the files have 0.3 MB, and a copy of each takes no more than a few.
MEMORY = 256 << 20


class Case(NamedTuple):
    """A damage of one file of an index.

    Attributes:
        kind: One of :data:`KINDS`.
        file, at, other: Shares of 1, by which a file and two places in it are chosen.
        how: One of :data:`HOWS`.
        run: The number of bytes.
        fill: The value of the bytes.
        number: The position in :data:`NUMBERS` or :data:`VALUES`.
        signed: Whether all checksums are computed again.
        written: Whether the index is opened unverified, changed and saved.
    """

    kind: str
    file: float
    how: str
    at: float
    other: float
    run: int
    fill: bytes
    number: int
    signed: bool = False
    written: bool = False


def segmented(texts: Any, vectors: str, ids: list[str] | None) -> Any:
    """Return chunks with the vectors that an index needs."""
    import pychunk
    from pychunk.index.chunk_tables import encode_chunks

    if vectors != "both":
        return pychunk.segment(texts, "sentence", vectors=vectors, ids=ids)
    return encode_chunks(pychunk.segment(texts, "sentence", ids=ids), vectors="both")


def index(folder: Path, kind: str) -> None:
    """Make the undamaged index of a kind."""
    import pychunk
    from pychunk.index.index import Index
    from pychunk.index.store import document_digests

    options, ids = KINDS[kind], [f"d{i}" for i in range(len(TEXTS))]
    with Index.create(folder, **options) as made:
        if kind == "levels":
            made.add(pychunk.segment_levels(TEXTS, ["sentence", "document"], vectors="chunk", ids=ids).chunks())
        elif kind == "structure":
            pages = [[0, 30, 90]] * len(TEXTS)
            texts = [
                f"# Cats {i}\n\nThey purr.\n\n## Food\n\n{text}\n\n## Sleep\n\nBy day." for i, text in enumerate(TEXTS)
            ]
            options = {"keep_together": False, "max_tokens": 12, "columns": {"page_starts": pages}, "ids": ids}
            made.add(pychunk.segment(texts, "structure", vectors="sentence", **options))
        elif kind == "bare":
            made.add(segmented(TEXTS, "chunk", None))
        else:
            texts = pa.table({"id": ids, "text": TEXTS})
            for begin in range(0, len(TEXTS), 12 if kind == "shards" else len(TEXTS)):
                own = texts.slice(begin, 12) if kind == "shards" else texts
                chunks = segmented(own["text"], options.get("vectors", "sentence"), own["id"].to_pylist())
                if kind == "codes":
                    chunks = pychunk.augment(chunks, lambda documents: ["said beside"] * len(documents))
                years = {
                    "year": list(range(begin, begin + len(own))),
                    "tags": [["a", f"t{i}"] for i in range(len(own))],
                }
                made.add(chunks, metadata=years, documents=document_digests.of(own, ["text"], None))
                made.save()
        if kind != "bare":
            made.remove(["d7", "d40"])


def answers(folder: Path, verify: Any) -> list[Any]:
    """Return all answers of an index, hits with their scores, read in the way of its users."""
    from pychunk.index.index import Index
    from pychunk.index.store import document_digests

    opened = Index.open(folder, verify=verify)
    try:
        info, found = opened.info, list[Any]()
        modes = ["dense", "sparse", "hybrid"] if info["terms"] else ["dense"]
        searches = [opened.search(QUERIES, 4, mode) for mode in modes]
        searches.append(opened.search(QUERIES[:1], 2, modes[-1], ranking=Ranking(document_weight=0.3), expansion=1))
        if opened.table.num_rows and "levels" in opened.table.column_names:
            searches.append(opened.search(QUERIES, 3, ranking=Ranking(fusion="levels", planner="rules")))
        if "subtree" in opened.table.column_names:
            searches.append(opened.search(QUERIES, 3, expansion="subtree"))
            searches.append(opened.search(QUERIES, 3, expansion=Expansion("section", parents=True, max_words=60)))
        if "document_id" in opened.table.column_names:
            searches.append(opened.search(QUERIES, 3, modes[-1], ids=["d10", "d20", "d30"]))
            found += [opened.ids(), opened.get("d11").to_pylist()]
        if "year" in opened.table.column_names:
            searches.append(opened.search(QUERIES, 3, modes[-1], where="year >= 20"))
            texts = pa.table({"id": ["d1", "d2"], "text": [TEXTS[1], "another"]})
            found.append(opened.diff(document_digests.of(texts, ["text"], None)).tolist())
        found += [[repr(hit) for hit in own] for each in searches for own in each]
        return [len(opened), *found, opened.table.to_pylist()]
    finally:
        opened.close(discard=True)


def write(folder: Path) -> None:
    """Open an index as ``pychunk index`` does, change it so that parts are written again, and save it."""
    from pychunk.index.index import Index

    opened = Index.open(folder, verify=False)
    try:
        if "document_id" in opened.table.column_names:
            opened.remove([f"d{i}" for i in range(0, len(TEXTS), 5)] + [f"d{i}" for i in range(1, len(TEXTS), 2)])
        if "levels" not in opened.table.column_names:
            ids = ["new"] if "document_id" in opened.table.column_names else None
            opened.add(segmented(["Dogs bark."], opened.info["vectors"], ids))
        opened.save()
    finally:
        opened.close(discard=True)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "seen.bin"))


def sign(folder: Path, named: bool) -> None:
    """Compute checksums again, as an attacker does: of the manifest, and if ``named`` of all files that it names."""
    from pychunk.index.files import block_checksums
    from pychunk.index.store.index_folder import Store, _digest, checksum, headers

    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    if named:
        for part in manifest["parts"]:
            part["files"] = {name: checksum(folder / part["name"] / name) for name in part["files"]}
        manifest["files"] = {name: checksum(folder / name) for name in manifest["files"]}
        for name, (_, crc) in Store.files(manifest).items():
            with contextlib.suppress(Exception):  # a file that is no longer an Arrow file has none
                manifest["headers"][name] = [crc, headers(folder / name)]
            manifest["blocks"][name] = [crc, block_checksums.written(block_checksums.hashes(folder / name))]
    manifest["checksum"] = _digest(manifest)
    path.write_text(json.dumps(manifest))


def compressed(data: bytes, codec: str) -> bytes:
    """Return an Arrow file with its buffers compressed, which pychunk does not write."""
    table, sink = pa.ipc.open_file(pa.BufferReader(data)).read_all(), io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def with_value(text: bytes, at: float, value: Any) -> bytes:
    """Return JSON with one value, or a container of values, replaced."""
    whole = json.loads(text)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(whole)
    holder, key = places[int(at * len(places))]
    holder[key] = value
    return json.dumps(whole).encode()


def damaged(data: bytes, case: Case, other_file: bytes) -> bytes:
    """Return the bytes of a file after its damage."""
    size, how = max(1, len(data)), case.how
    at, other = int(case.at * size), int(case.other * size)
    run = min(case.run, size - at)
    if how == "bit":
        return data[:at] + bytes([data[at] ^ 1 << case.run % 8]) + data[at + 1 :] if data else b"x"
    if how == "number":
        width = 4 if case.run % 2 else 8
        at -= at % width
        value = (NUMBERS[case.number % len(NUMBERS)] % 256**width).to_bytes(width, "little")
        return data[:at] + value + data[at + width :]
    if how == "swap":
        out = bytearray(data)
        a, b = sorted((at, other))
        run = min(run, b - a, size - b)
        out[a : a + run], out[b : b + run] = out[b : b + run], out[a : a + run]
        return bytes(out)
    if how == "copy":
        run = min(run, size - other)
        return data[:at] + data[other : other + run] + data[at + run :]
    fill = (case.fill * (run // len(case.fill) + 1))[:run]
    return {
        "byte": data[:at] + fill + data[at + run :],
        "zeros": data[:at] + bytes(run) + data[at + run :],
        "ones": data[:at] + b"\xff" * run + data[at + run :],
        "cut": data[:at],
        "insert": data[:at] + fill + data[at:],
        "remove": data[:at] + data[at + run :],
        "append": data + fill,
        "exchange": other_file,
    }[how]


class Whole(NamedTuple):
    """An undamaged index, its answers, and its answers after it is written again."""

    folder: Path
    answers: list[Any]
    written: list[Any]


@functools.cache
def scratch() -> Path:
    """Return a folder in memory that is removed with this process, or by the next one if this is killed."""
    memory, own = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir(), os.getpid()
    for left in Path(memory).glob("pychunk-damage-*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"pychunk-damage-{own}-", dir=memory))
    atexit.register(lambda: os.getpid() == own and shutil.rmtree(folder, ignore_errors=True))
    return folder


@functools.cache
def whole(kind: str) -> Whole:
    from pychunk.index.dense import quantized_index
    from pychunk.index.dense.vector_index import import_faiss
    from pychunk.index.files import block_checksums

    block_checksums.BLOCK, quantized_index.LEAST = 1 << 12, 8  # several blocks a file, and codes of few vectors
    with contextlib.suppress(ImportError):
        import_faiss().omp_set_num_threads(1)  # a forked process would wait for the others
    folder = scratch() / kind
    index(folder, kind)
    found, again = answers(folder, True), scratch() / f"{kind}-written"
    assert answers(folder, "headers") == answers(folder, False) == found
    shutil.copytree(folder, again)
    write(again)
    return Whole(folder, found, answers(again, True))


def place(case: Case, own: Whole) -> tuple[Path, list[Path]]:
    """Return a copy of an index with the damage in it, and the files that have it."""
    folder = scratch() / "case"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(own.folder, folder, copy_function=os.link)
    files = files_of(folder)
    wanted = {"compress": ".arrow", "value": ".json"}.get(case.how, "")
    chosen = [path for path in files if path.suffix.endswith(wanted)]
    path = chosen[int(case.file * len(chosen))]
    other = files[int(case.other * len(files))]
    data, other_data = path.read_bytes(), other.read_bytes()
    if case.how == "value":
        bad = with_value(data, case.at, VALUES[case.number % len(VALUES)])
    elif case.how == "compress":
        bad = damaged(compressed(data, ("lz4", "zstd")[case.number % 2]), case._replace(how="number"), b"")
    else:
        bad = damaged(data, case, other_data)
    changed = [path] if bad != data else []
    _put(path, bad)
    if case.how == "exchange" and path != other:
        _put(other, data)
        changed += [other]
    if case.signed:
        manifest = folder / "manifest.json"
        _put(manifest, manifest.read_bytes())
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # nobody can sign it
            sign(folder, manifest not in changed)
    return folder, changed


def _put(path: Path, data: bytes) -> None:
    path.unlink()  # the undamaged index shares the file
    path.write_bytes(data)


#: An error with one of these asked for memory that is not available.
_NO_MEMORY = ("MemoryError", "bad_alloc", "alloc", "out of memory", "length_error", "vector::")


def outcome(work: Callable[[], list[Any]], expected: list[Any], limit: int = MEMORY) -> tuple[str, str]:
    """Return ("same" | "other" | "error" | "memory", the error's text) of some work in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + limit, resource.RLIM_INFINITY))
    try:
        found, said = ("same" if work() == expected else "other"), ""
    except Exception as error:
        found, said = "error", f"{type(error).__name__}: {error!s:.600}"
    if any(word in said for word in _NO_MEMORY):
        return "memory", said
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    return ("memory", f"{grown >> 20} MB") if grown > limit else (found, said)


class Damage:
    """The target for damaged indexes."""

    name = "damage"
    timeout = 300.0  # four processes, each of which may take a minute

    def make(self, rng: random.Random) -> Case:
        how = rng.choice(HOWS)
        run = rng.choice([1, 2, 4, 8, 9, 64, 1000, 5000])
        places = rng.random(), how, rng.random(), rng.random(), run, rng.randbytes(8), rng.randrange(1000)
        signed = rng.random() < 0.3
        return Case(rng.choice(list(KINDS)), *places, signed, not signed and rng.random() < 0.2)

    def check(self, case: Case) -> None:
        if sys.platform.startswith("linux"):  # forks, and /proc for their memory
            self.outcomes(case)

    def outcomes(self, case: Case) -> dict[Any, str]:
        """Return the outcome of each way of opening: "same", "other" or "error".

        Raises:
            AssertionError: If an outcome is not allowed.
        """
        own = whole(case.kind)
        folder, changed = place(case, own)
        found: dict[Any, str] = {}
        for verify in (True, "headers", False):
            found[verify] = self._judged(case, verify, changed, lambda v=verify: answers(folder, v), own.answers)
        if case.written:

            def again() -> list[Any]:
                write(folder)
                return answers(folder, True)

            found["written"] = self._judged(case, "written", changed, again, own.written)
        return found

    @staticmethod
    def _judged(
        case: Case, verify: Any, changed: list[Path], work: Callable[[], list[Any]], expected: list[Any]
    ) -> str:
        status, told = forked(lambda tell: outcome(work, expected))
        assert status == 0, f"verify={verify}: status {status}: {told[-1:]}"
        found, said = told[-1]
        assert found != "memory", f"verify={verify}: {said}"
        if found == "error":
            names = changed if verify in (True, "headers") and not case.signed else [scratch() / "case"]
            assert any(str(path) in said for path in names), f"verify={verify}, {changed}: {said}"
        if not changed or (verify is not False and not case.signed):
            assert found != "other", f"verify={verify}: other hits, {changed}"
        return str(found)

    def simpler(self, case: Case) -> Iterator[Case]:
        if case.written:
            yield case._replace(written=False)
        if case.run > 1:
            yield case._replace(run=case.run // 2)
        for kind in KINDS:
            if list(KINDS).index(kind) < list(KINDS).index(case.kind):
                yield case._replace(kind=kind)

    def test(self, case: Case) -> str:
        return (
            "def test_a_damaged_index() -> None:\n"
            "    from tests.fuzz.damage import Case, target\n\n"
            f"    target.check({case!r})\n"
        )


target = Damage()
