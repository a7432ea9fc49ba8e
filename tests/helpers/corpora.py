"""Made-up corpora to ingest, and the output of ingesting."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = ["cats", "purr", "the", "sun", "is", "a", "star", "dogs", "bark", "at", "night", "rivers", "carry", "silt"]


def sentences(drawn: random.Random, count: int) -> str:
    return " ".join(" ".join(drawn.choices(WORDS, k=8)).capitalize() + "." for _ in range(count))


def corpus(path: Path, documents: int = 60, seed: int = 1) -> Path:
    drawn = random.Random(seed)
    texts = [sentences(drawn, drawn.randint(0, 100)) for _ in range(documents)]
    pq.write_table(pa.table({"id": [f"d{i}" for i in range(documents)], "text": texts}), path, row_group_size=7)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def wiki(pages: int) -> bytes:
    drawn = random.Random(5)
    body = b"".join(
        f"<page><title>T{i}</title><ns>0</ns><id>{i}</id><revision><id>1</id><text>{sentences(drawn, 20)}</text>"
        "</revision></page>\n".encode()
        for i in range(pages)
    )
    return b"<mediawiki>\n" + body + b"</mediawiki>\n"
