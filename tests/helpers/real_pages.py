"""The real pages of HTML in ``PYCHUNK_DATA``, for tests that run over all of them."""

import gzip
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

DATA = Path(os.environ.get("PYCHUNK_DATA", "none"))
ARTICLES = sorted((DATA / "article_extraction" / "html").glob("*.html.gz"))
NO_PAGES = "PYCHUNK_DATA names no folder with article_extraction or wcxb"


def real_pages(step: int = 1) -> Iterator[bytes | str]:
    """Return the articles' bytes and the text of WCXB's pages, each ``step``-th of them, one at a time."""
    return itertools.islice(_pages(), 0, None, step)


def _pages() -> Iterator[bytes | str]:
    for path in ARTICLES:
        yield gzip.decompress(path.read_bytes())
    if (DATA / "wcxb" / "dev.parquet").exists():
        import pyarrow.parquet as pq

        for batch in pq.ParquetFile(DATA / "wcxb" / "dev.parquet").iter_batches(100, columns=["html"]):
            yield from batch["html"].to_pylist()
