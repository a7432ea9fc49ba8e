"""Fixtures: the shared data where it is, skipped with a reason where it is not."""

import os
from pathlib import Path

import pytest


def data_folder() -> Path:
    return Path(os.environ.get("PYCHUNK_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}: set PYCHUNK_DATA")
    return folder


@pytest.fixture(scope="session")
def articles(data: Path) -> list[str]:
    """The first 300 Wikipedia articles."""
    pq = pytest.importorskip("pyarrow.parquet")
    file = pq.ParquetFile(data / "wiki" / "articles.parquet")
    return next(file.iter_batches(batch_size=300, columns=["text"])).column("text").to_pylist()
