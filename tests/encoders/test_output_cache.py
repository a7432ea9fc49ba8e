"""A folder that keeps what transformers computed: the same bits, computed once, and files that others damage."""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk.encoders import output_cache, static_encoder
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.output_cache import OutputCache
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.transformer import TransformerEncoder

TEXTS = [
    "Cats purr at night. Dogs bark at the moon. Cats purr at night. Dogs bark at the moon.",
    "Stars shine. " + "The moon is round and bright. " * 30,
    "Dogs bark at the moon. " + "word " * 400,
]


class Computed:
    """Counts the rows that models compute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = 0
        for kind in (TransformerEncoder, PairScorer):
            monkeypatch.setattr(kind, "run", self._counting(kind.run))

    def _counting(self, run: Any) -> Any:
        def counted(model: Any, found: Any, first: Any, *rest: Any, **options: Any) -> None:
            self.rows += len(first)
            run(model, found, first, *rest, **options)

        return counted


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Computed:
    return Computed(monkeypatch)


def cut(model: Path, cache: Path | None, method: str = "semantic", **options: Any) -> Any:
    return pychunk.segment(TEXTS, method, encoder=model, placement=pychunk.Placement(cache=cache), **options).table


def encoder(model: Path, cache: Path, precision: str = "auto") -> TransformerEncoder:
    return TransformerEncoder(model, runtime=ModelPlacement.of(precision=precision, cache=str(cache)))


def flat(texts: list[str]) -> tuple[Any, Any]:
    data = [text.encode() for text in texts]
    return np.frombuffer(b"".join(data), np.uint8), np.cumsum([0, *map(len, data)])


@pytest.mark.parametrize("method", ["semantic", "nsp"])
def test_nothing_is_computed_twice_and_the_results_are_the_same_bits(
    tiny_encoder: Path, tiny_pairs: Path, tmp_path: Path, computed: Computed, method: str
) -> None:
    model = tiny_pairs if method == "nsp" else tiny_encoder
    options: dict[str, Any] = {"threshold": 0.5} if method == "nsp" else {"vectors": "sentence"}
    plain = cut(model, None, method, **options)
    without, computed.rows = computed.rows, 0
    assert cut(model, tmp_path / "kept", method, **options).equals(plain)
    assert 0 < computed.rows < without  # Sentences and pairs that occur twice are computed once.
    computed.rows = 0
    assert cut(model, tmp_path / "kept", method, **options).equals(plain)
    assert computed.rows == 0
    assert len(list((tmp_path / "kept").glob("*.sqlite"))) == 1


def test_precisions_have_their_own_outputs(tiny_encoder: Path, tmp_path: Path) -> None:
    plain, int8 = encoder(tiny_encoder, tmp_path), encoder(tiny_encoder, tmp_path, "int8")
    first, second = plain.encode(TEXTS), int8.encode(TEXTS)
    assert (first != second).any()
    assert (plain.encode(TEXTS) == first).all()
    assert (int8.encode(TEXTS) == second).all()


def test_prompts_have_their_own_keys() -> None:
    tokens = static_encoder.load().tokens_of(*flat(["a"]))
    first, again, other = (OutputCache.keys(tokens, head, np.arange(1)) for head in ((1,), (1,), (1, 2)))
    assert first == again != other


def test_the_key_of_a_pair_says_where_its_first_sentence_ends() -> None:
    tokens = static_encoder.load().tokens_of(*flat(["cats dogs", "stars", "cats", "dogs stars"]))
    keys = OutputCache.keys(tokens, (), np.array([0, 2]), np.array([1, 3]))
    assert keys[0] != keys[1]


def test_the_oldest_outputs_are_dropped(tmp_path: Path) -> None:
    cache, calls = OutputCache(tmp_path, "model", 100, most=200_000), 0

    def compute(rows: Any, _: Any) -> Any:
        nonlocal calls
        calls += len(rows)
        return np.full((len(rows), 100), 1.5, np.float32)

    for start in range(0, 4000, 100):
        keys = [row.to_bytes(16, "little") for row in range(start, start + 100)]
        assert (cache.outputs(keys, compute) == 1.5).all()
    assert calls == 4000
    with contextlib.closing(sqlite3.connect(cache.path)) as own:
        kept = [int.from_bytes(key, "little") for (key,) in own.execute("SELECT key FROM outputs ORDER BY row")]
    assert kept == list(range(kept[0], 4000))
    assert 100 <= len(kept) < 1000
    assert cache.path.stat().st_size < 500_000


def test_a_large_call_is_stored_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_cache, "_ROWS", 100)
    cache, told, sizes = OutputCache(tmp_path, "model", 100, most=200_000), [], []

    def compute(rows: Any, report: Any) -> Any:
        sizes.append(len(rows))
        for done in range(3):
            report(done, 2)
        return np.repeat(rows[:, None], 100, axis=1)

    keys = [row.to_bytes(16, "little") for row in range(8000)]
    found = cache.outputs(keys, compute, lambda done, whole: told.append(done / whole))
    assert found[:, 0].tolist() == list(range(8000))
    assert sizes == [100] * 80
    assert told == sorted(told)
    assert told[-1] == 1
    assert cache.path.stat().st_size < 500_000


def test_a_damaged_file_is_an_error_with_the_remedy(tiny_encoder: Path, tmp_path: Path) -> None:
    encoder(tiny_encoder, tmp_path).encode(TEXTS)
    (file,) = tmp_path.glob("*.sqlite")
    with contextlib.closing(sqlite3.connect(file)) as own, own:
        own.execute("UPDATE outputs SET value = x'00'")
    with pytest.raises(ValueError, match=r"\.sqlite is damaged \(a row has 1 bytes and not 256\): delete it"):
        encoder(tiny_encoder, tmp_path).encode(TEXTS)
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(ValueError, match=r"\.sqlite is damaged \(file is not a database\): delete it"):
        encoder(tiny_encoder, tmp_path)


def test_a_file_that_another_process_locks_is_told_of_once(
    tiny_encoder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_cache, "_WAIT", 0.01)
    own = encoder(tiny_encoder, tmp_path)
    first = own.encode(TEXTS)
    with contextlib.closing(sqlite3.connect(own._kept.path)) as other:  # type: ignore[union-attr]
        other.execute("BEGIN EXCLUSIVE")
        with caplog.at_level(logging.WARNING, "pychunk"):
            for _ in range(2):
                assert (own.encode(TEXTS) == first).all()
            assert (encoder(tiny_encoder, tmp_path).encode(TEXTS) == first).all()
        other.rollback()
    assert len(caplog.records) == 2  # one for each encoder
    assert all("cannot be read (database is locked): what is missing is" in each.message for each in caplog.records)
    assert (own.encode(TEXTS) == first).all()


def test_a_folder_that_cannot_be_made_is_an_error(tiny_encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"cache='.*' must be a folder"):
        cut(tiny_encoder, tmp_path / "file" / "kept")


def test_a_disk_that_cannot_be_written_is_told_of_once(
    tiny_encoder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    plain = cut(tiny_encoder, None)
    monkeypatch.setattr(OutputCache, "_drop_oldest", full)
    with caplog.at_level(logging.WARNING, "pychunk"):
        for _ in range(2):
            assert cut(tiny_encoder, tmp_path / "kept").equals(plain)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert told[0].endswith("cannot be written (database or disk is full): what is missing is computed again")


def test_a_gpu_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pychunk.encoders.runtime.placement.open_device", lambda name: name)
    with pytest.raises(ValueError, match=r"cache='.*kept' keeps what the CPU computes; got device='cuda'"):
        pychunk.Segmenter("semantic", placement=pychunk.Placement(device="cuda", cache="kept"))


def _fill(folder: str, start: int) -> int:
    """Ask for the outputs of 100 rows and of the two after each, and return how many were computed."""
    cache, computed = OutputCache(Path(folder), "model", 4), 0
    for row in range(start, start + 100):
        keys = [(row + step).to_bytes(16, "little") for step in range(3)]

        def compute(rows: Any, _: Any, row: int = row) -> Any:
            nonlocal computed
            computed += len(rows)
            return np.repeat((row + rows)[:, None], 4, axis=1)

        assert cache.outputs(keys, compute)[:, 0].tolist() == [row, row + 1, row + 2]
    return computed


def test_processes_share_a_file(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        computed = pool.starmap(_fill, [(str(tmp_path), start) for start in (0, 0, 0)])
    assert 102 <= sum(computed) <= 306
    assert _fill(str(tmp_path), 0) == 0
    assert len(list(tmp_path.glob("*.sqlite"))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_another_thread_writes_harms_nobody(tmp_path: Path) -> None:
    cache, stop = OutputCache(tmp_path, "model", 4), threading.Event()

    def ask(start: int) -> None:
        keys = [row.to_bytes(16, "little") for row in range(start, start + 50)]
        found = cache.outputs(keys, lambda rows, _: np.repeat((start + rows)[:, None], 4, axis=1))
        assert found[:, 0].tolist() == list(range(start, start + 50))

    def write() -> None:
        start = 0
        while not stop.is_set():
            ask(start := start + 50)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(8):
            if (child := os.fork()) == 0:
                try:
                    ask(1 << 20)
                    os._exit(0 if not cache._told else 3)
                except BaseException:
                    os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        writer.join()
    assert not cache._told


def test_models_of_equal_weights_and_other_options_have_their_own_outputs(tiny_encoder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(tiny_encoder, other)
    facts = json.loads((other / "pychunk.json").read_text())
    (other / "pychunk.json").write_text(json.dumps({**facts, "normalize": False}))
    unit, plain = (encoder(folder, tmp_path / "kept").encode(TEXTS) for folder in (tiny_encoder, other))
    assert np.allclose(np.linalg.norm(unit, axis=1), 1)
    assert not np.allclose(np.linalg.norm(plain, axis=1), 1)


@pytest.mark.parametrize("cache", [True, 3, b"x", ["a"], "", " "])
def test_a_cache_that_is_no_path_is_an_error(cache: Any) -> None:
    with pytest.raises(ValueError, match="cache must be the path of a folder; got"):
        pychunk.Placement(cache=cache)


def test_the_folder_of_a_placement_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert pychunk.Placement(cache="~/kept").cache == pychunk.Placement(cache="kept").cache == tmp_path / "kept"
