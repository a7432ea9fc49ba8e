"""Damage of stored indexes: an error that names the file or the same hits, and never a crash."""

from __future__ import annotations

import json
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk._engine import native
from pychunk.index import Expansion, Ranking, Rewrite
from pychunk.index.files import block_checksums
from pychunk.index.index import Index
from pychunk.index.store.document_catalog import DocumentCatalog
from pychunk.index.store.index_folder import Store, _digest, checksum, headers

TEXTS = [
    f"Cats number {i} purr and sleep on sofa {i % 7}. They hunt {('mice', 'owls', 'bees')[i % 3]}." for i in range(1200)
]
QUERIES = ["Cats number 100 purr", "hunt owls", "sofa", "bees"]
KINDS: dict[str, dict[str, Any]] = {
    "flat": {"kind": "flat", "dtype": "float32"},
    "int8": {"kind": "flat"},
    "pq": {"kind": "pq"},
    "hnsw": {"kind": "hnsw", "vectors": "chunk"},
}
#: The damages of each kind of index in the test that always runs.
FEW = 16


def made(folder: Path, kind: str) -> Path:
    options = KINDS[kind]
    with Index.create(folder, **options) as index:
        ids = [f"d{i}" for i in range(len(TEXTS))]
        vectors = options.get("vectors", "sentence")
        index.add(pychunk.segment(TEXTS, "sentence", vectors=vectors, keep_together=False, ids=ids), documents=None)
        index.remove(["d7", "d900"])
    return folder


@pytest.fixture(scope="module", params=KINDS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp(request.param) / "x", request.param)


def hits(folder: Path, verify: Any) -> Any:
    with Index.open(folder, verify=verify) as index:
        found = [index.search(QUERIES, 5, mode) for mode in ("hybrid", "sparse", "dense")]
        found.append(index.search(QUERIES[:1], 3, expansion=1))
        return [
            [hit.to_dict() if hasattr(hit, "to_dict") else repr(hit) for hit in own] for each in found for own in each
        ]


def damage(data: bytes, draw: random.Random) -> bytes:
    size = len(data)
    at, other = draw.randrange(size), draw.randrange(size)
    run = min(draw.choice([1, 4, 8, 64, 5000]), size - at)
    kind = draw.choice(["bit", "byte", "swap", "cut", "zeros", "ones", "copy"])
    if kind == "bit":
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
    if kind == "byte":
        return data[:at] + draw.randbytes(run) + data[at + run :]
    if kind == "swap":
        out = bytearray(data)
        out[at], out[other] = out[other], out[at]
        return bytes(out)
    if kind == "cut":
        return data[:at]
    if kind == "copy":
        run = min(run, size - other)
        return data[:at] + data[other : other + run] + data[at + run :]
    return data[:at] + bytes([0 if kind == "zeros" else 255]) * run + data[at + run :]


#: A script outside the tests, as it may be killed; it prints the outcome of each damage and way of opening.
WORK = """
import faulthandler, json, random, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_index_damage import damage, hits
folder, seed, count = Path({folder!r}), {seed}, {count}
files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
expected, draw = hits(folder, True), random.Random(seed)
for number in range(count):
    file = draw.choice(files)
    data = file.read_bytes()
    bad = damage(data, draw)
    file.write_bytes(bad)
    for verify in (True, "headers", False):
        print(f"{{number}} {{file.name}} {{verify}}", end=" ", flush=True)
        try:
            print("same" if hits(folder, verify) == expected else "OTHER", flush=True)
        except Exception as error:
            print("named" if file.name in str(error) else f"{{type(error).__name__}}: {{error!s:.300}}", flush=True)
    file.write_bytes(data)
"""


def outcomes(folder: Path, seed: int, count: int) -> list[list[str]]:
    """Return [number, file, verify, outcome] for each damage and way of opening."""
    work = WORK.format(tests=str(Path(__file__).parent), folder=str(folder), seed=seed, count=count)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", work], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"status {done.returncode}: {done.stdout[-300:]}{done.stderr[-2000:]}"
    return [line.split(" ", 3) for line in done.stdout.replace("\r", "").splitlines() if line[:1].isdigit()]


def check_outcomes(found: list[list[str]], count: int) -> None:
    assert len(found) >= 3 * count
    compared = [own for own in found if own[2] != "False"]
    assert [own for own in compared if own[3] not in ("same", "named")] == []
    assert sum(own[3] == "named" for own in compared) > count  # the damage is large enough to be noticed


@pytest.mark.slow
def test_damage_is_an_error_or_changes_no_hit(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    check_outcomes(outcomes(folder, 1, FEW), FEW)


@pytest.mark.slow
@pytest.mark.long
def test_a_thousand_damages_are_errors_or_change_no_hit(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    check_outcomes(outcomes(folder, 2, 250), 250)


def with_right_checksums(folder: Path) -> None:
    """Write the files' current checksums to the manifest, as an attacker does."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for part in manifest["parts"]:
        part["files"] = {name: checksum(folder / part["name"] / name) for name in part["files"]}
    manifest["files"] = {name: checksum(folder / name) for name in manifest["files"]}
    for name, (_, crc) in Store.files(manifest).items():
        manifest["headers"][name] = [crc, headers(folder / name)]
        manifest["blocks"][name] = [crc, block_checksums.written(block_checksums.hashes(folder / name))]
    manifest["checksum"] = _digest(manifest)
    path.write_text(json.dumps(manifest))


def string_offset(value: int, name: str) -> Callable[[bytes], bytes]:
    def put(data: bytes) -> bytes:
        column = pa.ipc.open_file(pa.BufferReader(data)).read_all()[name].chunk(0)
        kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
        offsets = np.frombuffer(column.buffers()[1], kind, len(column) + 1)
        bad = offsets.copy()
        bad[len(bad) // 2 :: 7] = value
        return data.replace(offsets.tobytes(), bad.tobytes())

    return put


def numbers(dtype: str, value: int) -> Callable[[bytes], bytes]:
    """Return a damage that sets all numbers in the middle of a file to one."""

    def put(data: bytes) -> bytes:
        size = np.dtype(dtype).itemsize
        head = 128 if data[:6] == b"\x93NUMPY" else 0
        count = (len(data) - head) // size // 2
        return data[:head] + np.full(count, value, dtype).tobytes() + data[head + count * size :]

    return put


def no_name(data: bytes) -> bytes:
    return data.replace(b"chunk_id", b"chunk_\xff\xfe")


def no_text(data: bytes) -> bytes:
    return data.replace(b"purr", b"p\xff\xfer")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "put"),
    [
        *(
            ("chunks.arrow", string_offset(value, name))
            for name in ("document_id", "chunk_id", "text")
            for value in (2**31 - 1, -5)
        ),
        ("chunks.arrow", no_text),
        ("chunks.arrow", no_name),
        ("terms.arrow", string_offset(2**31 - 1, "term")),
        ("terms.arrow", no_text),
        ("sentence_offsets.bin", numbers("int64", -3)),
        ("sentence_offsets.bin", numbers("int64", 1 << 40)),
        ("posting_offsets.npy", numbers("uint8", 255)),
        ("posting_rows.npy", numbers("uint16", 65_535)),
        ("lengths.npy", numbers("int32", -1)),
    ],
)
@pytest.mark.parametrize("verify", [True, "headers", False])
def test_hostile_numbers_with_right_checksums_are_refused(
    file: str, put: Callable[[bytes], bytes], verify: Any, tmp_path: Path, whole: Path
) -> None:
    if "sentence_offsets" in file and not list(whole.rglob(file)):
        pytest.skip("of chunk vectors there are none")
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    path = folder / "part-000001" / file
    data = path.read_bytes()
    path.write_bytes(put(data))
    assert path.read_bytes() != data
    with_right_checksums(folder)
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        hits(folder, verify)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("document_id", lambda index: index.ids()),
        ("document_id", lambda index: index.get("d5")),
        ("document_id", lambda index: index.search("cats", ids=["d5"])),
        ("document_id", lambda index: index.remove(["d5"])),
        (
            "document_id",
            lambda index: index.add(pychunk.segment(["Owls."], "sentence", vectors=index.info["vectors"], ids=["d5"])),
        ),
        ("text", lambda index: index.table.to_pylist()),
        ("text", lambda index: index.count("text == 'Cats'")),
        ("text", lambda index: index.remove([f"d{i}" for i in range(1100)]) and index.save()),
        ("text", lambda index: index.search("cats", stages=Rewrite("feedback"), mode="sparse")),
    ],
)
def test_no_use_of_an_index_follows_a_hostile_offset(
    name: str, use: Callable[[Index], Any], whole: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    path = folder / "part-000001" / "chunks.arrow"
    path.write_bytes(string_offset(2**31 - 1, name)(path.read_bytes()))
    with_right_checksums(folder)
    index = Index.open(folder, verify=False)
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        use(index)
    index.close(discard=True)


def test_a_hostile_name_of_a_level_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    with Index.create(folder, vectors="chunk") as index:
        ids = [f"d{i}" for i in range(60)]
        found = pychunk.segment_levels(TEXTS[:60], ["sentence", "document"], vectors="chunk", ids=ids)
        index.add(found.chunks())
    path = folder / "part-000001" / "chunks.arrow"
    data = path.read_bytes()
    column = pa.ipc.open_file(pa.BufferReader(data)).read_all()["levels"].chunk(0)
    offsets = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1)
    bad = offsets.copy()
    bad[20::3] = 2**31 - 1
    path.write_bytes(data.replace(offsets.tobytes(), bad.tobytes()))
    assert path.read_bytes() != data
    with_right_checksums(folder)
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        Index.open(folder, verify=False).search("cats", ranking=Ranking(levels="sentence"))


def test_a_chunk_that_hangs_on_itself_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    text = "# Cats\n\nThey purr. They sleep.\n\n## Food\n\nMice are food. Fish are, too.\n\n### Raw\n\nSome do eat raw."
    ids = list("abcdefghi")
    with Index.create(folder) as index:
        index.add(
            pychunk.segment([text] * 9, "structure", vectors="sentence", keep_together=False, max_tokens=8, ids=ids)
        )
        assert index.search("raw", expansion=Expansion("section", parents=True))[0]
    path = folder / "part-000001" / "chunks.arrow"
    data = path.read_bytes()
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    parents, chunks = table["parent"].chunk(0), np.asarray(table["chunk_index"])
    numbers = np.frombuffer(parents.buffers()[1], np.int32, len(parents))
    for by in (0, 1):
        bad = np.where(np.asarray(parents.is_valid()), chunks + by, numbers).astype(np.int32)
        path.write_bytes(data.replace(numbers.tobytes(), bad.tobytes(), 1))
        assert path.read_bytes() != data
        with_right_checksums(folder)
        with pytest.raises(ValueError, match=f"{path} is damaged.*which must be before it"):
            Index.open(folder).search("raw", expansion=Expansion("section", parents=True))


@pytest.mark.parametrize(
    ("lacks", "why"), [("text", "it has no column 'text'"), ("nulls", "the column 'chunk_index' has nulls")]
)
def test_a_part_without_what_a_hit_needs_is_refused(lacks: str, why: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    path = folder / "part-000001" / "chunks.arrow"
    table = pa.ipc.open_file(pa.BufferReader(path.read_bytes())).read_all()
    if lacks == "text":
        table = table.drop_columns("text")
    else:
        at = table.column_names.index("chunk_index")
        table = table.set_column(at, table.schema.field(at), pa.nulls(table.num_rows, table.schema.field(at).type))
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    with_right_checksums(folder)
    for verify in (True, "headers", False):
        with pytest.raises(ValueError, match=f"{path} is damaged.*{why}"):
            hits(folder, verify)


@pytest.mark.slow
def test_a_hostile_graph_is_refused(tmp_path: Path) -> None:
    faiss = pytest.importorskip("faiss")
    folder = made(tmp_path / "x", "hnsw")
    [path] = folder.glob("chunks-*.faiss")
    expected = hits(folder, True)
    for name, value in (
        ("neighbors", 1 << 30),
        ("neighbors", -7),
        ("levels", 90),
        ("entry_point", 1 << 30),
        ("max_level", 70),
    ):
        index = faiss.read_index(str(path))
        whole = path.read_bytes()
        graph = faiss.downcast_index(index).hnsw
        if name in ("neighbors", "levels"):
            values = faiss.vector_to_array(getattr(graph, name))
            values[5::11] = value
            faiss.copy_array_to_vector(values, getattr(graph, name))
        else:
            setattr(graph, name, value)
        faiss.write_index(index, str(path))
        with_right_checksums(folder)
        for verify in (True, "headers", False):
            with pytest.raises(ValueError, match=f"{path} is damaged"):
                hits(folder, verify)
        path.write_bytes(whole)
    with_right_checksums(folder)
    assert hits(folder, True) == expected


@pytest.mark.parametrize(
    "count", [1 << 20, (1 << 64) - 1, *(pytest.param(1 << bits, marks=pytest.mark.slow) for bits in (36, 60))]
)
def test_a_graph_that_announces_more_than_its_file_holds_is_refused_unread(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faiss = pytest.importorskip("faiss")
    folder = made(tmp_path / "x", "hnsw")
    [path] = folder.glob("chunks-*.faiss")
    whole = path.read_bytes()
    graph = faiss.downcast_index(faiss.read_index(str(path))).hnsw
    sizes = [
        graph.assign_probas.size(),
        graph.cum_nneighbor_per_level.size(),
        graph.levels.size(),
        graph.offsets.size(),
    ]
    monkeypatch.setattr(faiss, "read_index", lambda reader: pytest.fail("FAISS read it"))
    begin = 4 + 4 + 3 * 8 + 1 + 4  # name, dimensions, counts, whether it is trained, metric
    for size, width in zip(sizes, (8, 4, 4, 8), strict=True):
        assert int.from_bytes(whole[begin : begin + 8], "little") == size
        path.write_bytes(whole[:begin] + count.to_bytes(8, "little") + whole[begin + 8 :])
        with_right_checksums(folder)
        for verify in (True, "headers", False):
            with pytest.raises(ValueError, match=f"{path} is damaged.*it announces {count:,} numbers"):
                hits(folder, verify)
        begin += 8 + size * width


@pytest.mark.slow
def test_other_forms_of_faiss_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faiss = pytest.importorskip("faiss")
    folder = made(tmp_path / "x", "hnsw")
    [path] = folder.glob("chunks-*.faiss")
    whole = path.read_bytes()
    flat = faiss.IndexFlatIP(256)
    flat.add(np.eye(256, dtype=np.float32))
    monkeypatch.setattr(faiss, "read_index", lambda reader: pytest.fail("FAISS read it"))
    for data, why in (
        (faiss.serialize_index(flat).tobytes(), "it is of the form b'IxFI'"),
        (whole.replace(b"IxSQ", b"IwFl"), "its vectors are of the form b'IwFl'"),
        (whole + b"\0", "it goes on after its end"),
        (whole[:20], "it ends early"),
    ):
        path.write_bytes(data)
        with_right_checksums(folder)
        with pytest.raises(ValueError, match=f"{path} is damaged.*{why}"):
            hits(folder, False)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("file", ["chunks.arrow", "terms.arrow"])
def test_a_compressed_table_is_refused_unread(codec: str, file: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    path = folder / "part-000001" / file
    table = pa.ipc.open_file(pa.BufferReader(path.read_bytes())).read_all()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)
    with_right_checksums(folder)
    for verify in (True, "headers", False):
        with pytest.raises(ValueError, match=f"{path} is damaged.*its columns are compressed"):
            hits(folder, verify)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["generation"], -1),
        (["generation"], float("nan")),
        (["encoder"], "static"),
        (["encoder", "dim"], 1 << 40),
        (["encoder", "dim"], 128),
        (["vectors"], "none"),
        (["dtype"], -5),
        (["kind"], "tree"),
        (["terms", "unit"], "letters"),
        (["terms", "ngram"], None),
        (["bm25", "k1"], float("nan")),
        (["chunks"], 1 << 60),
        (["removed"], 1 << 60),
        (["removed"], True),
        (["parts", 0], 5),
        (["parts", 0, "chunks"], -1),
        (["parts", 0, "name"], "../x"),
        (["parts", 0, "files", "chunks.arrow"], []),
        (["parts", 0, "files"], {}),
        (["stored"], {"sentences": {"file": "x", "kind": "pq", "rows": 5}}),
        (["files"], {"../x": [0, 0]}),
        (["blocks", "part-000001/chunks.arrow", 1], "xyz"),
        (["blocks"], [1]),
        (["headers"], {"part-000001/chunks.arrow": 5}),
        (["levels"], True),
        (["notes"], {"a": 5}),
        (["schema"], float("inf")),
    ],
)
def test_a_damaged_value_of_a_manifest_is_refused(place: list[Any], value: Any, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    holder = manifest
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    path.write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=f"{path} (is damaged|was written by)"):
        hits(folder, False)  # its own checksum is wrong
    manifest["checksum"] = _digest(manifest)
    path.write_text(json.dumps(manifest))
    for verify in ("headers",) if place[0] in ("blocks", "headers") else (True, "headers", False):
        with pytest.raises(ValueError, match=f"{folder}.* (is damaged|was written by)"):
            hits(folder, verify)


def test_a_search_ends_if_a_vector_is_no_number(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    with Index.create(folder, dtype="float16", vectors="chunk") as index:
        index.add(pychunk.segment(TEXTS[:40], "sentence", vectors="chunk", keep_together=False))
    path = folder / "part-000001" / "chunk_vectors.bin"
    numbers = np.frombuffer(path.read_bytes(), np.float16).copy()
    numbers[5 * 256 : 5 * 256 + 9] = np.nan
    path.write_bytes(numbers.tobytes())
    with Index.open(folder, verify=False) as index:
        found = index.search("Cats number 3 purr", 4, ranking=Ranking(document_weight=0.3))[0]
        assert len(found) == 4
        assert 5 not in [hit.row for hit in found]


def test_a_register_that_is_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "documents-000001.npy"
    with path.open("wb") as file:
        np.savez(file, first=np.zeros((3, 1), np.uint64))
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        DocumentCatalog.load(path)


def test_an_index_of_before_blocks_is_compared_as_a_whole(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "x"))
    expected = hits(folder, True)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["blocks"]
    manifest["checksum"] = _digest(manifest)
    path.write_text(json.dumps(manifest))
    assert hits(folder, "headers") == expected
    file = folder / "part-000001" / "chunks.arrow"
    file.write_bytes(file.read_bytes().replace(b"number 100 purr", b"number 100 bark"))
    with pytest.raises(ValueError, match=f"{file} is damaged"):
        hits(folder, "headers")


def test_a_search_compares_the_texts_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_checksums, "BLOCK", 1024)
    folder = made(tmp_path / "x", "flat")
    path = folder / "part-000001" / "chunks.arrow"
    path.write_bytes(path.read_bytes().replace(b"number 1000 purr", b"number 1000 bark"))
    with Index.open(folder, verify="headers") as index:
        assert index.search("Cats number 100 purr", 1)[0][0].document_id == "d100"
        own = index._contents.searcher()._parts[0].blocks["chunks.arrow"]
        assert own._new.sum() > len(own._new) // 4  # most texts
        with pytest.raises(ValueError, match=f"{path} is damaged"):
            index.search("Cats number 1000 purr", 1)
        with pytest.raises(ValueError, match=f"{path} is damaged"):
            index.table.to_pylist()


@pytest.mark.parametrize("size", [1, 7, 16, 25, 33, 50, 99, 100, 101])
def test_hashes_of_blocks_are_the_ends_of_hash128(size: int) -> None:
    data = bytes(range(100))
    expected = [int(native.hash128(data[at : at + size])[-8:], 16) for at in range(0, 100, size)]
    assert native.block_hashes(np.frombuffer(data, np.uint8), size).tolist() == expected
    assert native.block_hashes(np.empty(0, np.uint8), 7).tolist() == []


def test_a_block_is_compared_once_when_it_is_first_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    data = bytes(range(256)) * (3 * block_checksums.BLOCK // 256) + b"end"
    path.write_bytes(data)
    expected = block_checksums.read(block_checksums.written(block_checksums.hashes(path)))
    assert len(expected) == 4
    own = block_checksums.Blocks(path, expected)
    path.write_bytes(data[: 2 * block_checksums.BLOCK] + b"x" + data[2 * block_checksums.BLOCK + 1 :])
    assert own.check(5, 2 * block_checksums.BLOCK) == [(0, 2 * block_checksums.BLOCK)]
    assert own.check(0, block_checksums.BLOCK) == []
    own.check_rows(np.array([3 * block_checksums.BLOCK // 3]), 3)
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        own.check_rows(np.array([0, 2 * block_checksums.BLOCK // 3]), 3)
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        own.check()
    assert own.new
    path.write_bytes(data)
    assert own.check() == [(2 * block_checksums.BLOCK, 3 * block_checksums.BLOCK)]
    assert not own.new


def test_an_index_that_is_pickled_says_what_to_do(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(pychunk.segment(["Cats purr."], "sentence", vectors="sentence"))
        with pytest.raises(
            TypeError, match=r"save it, and open it in the other process by its path, with pychunk\.Index\.open"
        ):
            pickle.dumps(index)
