"""The throughput of Markdown's blocks, compared with markdown-it-py's.

Run it with ``pytest bench/stages/test_bench_markdown.py --benchmark-only``.
"""

import numpy as np
import pytest

from pychunk._engine import native
from pychunk._engine.data.blocks import BLOCK_KINDS

SECTION = """## Section {0}

The river rises in the hills above the town. It flows past old mills, most of
which are ruins today! Was it always so? Dr. Allen (1901-1980) thought that 3.5
million people had lived on its banks, e.g. in Upper Dale.

- one item, of so many words
- another, which goes on
  in the next line

```python
# no heading
print({0})
```

| name | value |
|------|-------|
| a    | {0}   |

> What is quoted, é.

"""
KINDS = ["heading", "paragraph", "item", "item", "code", "table", "quote"]


@pytest.fixture(scope="module")
def document() -> str:
    """Return about 8 MB in lines of 30 bytes."""
    return "".join(SECTION.format(i) for i in range(16_000))


@pytest.mark.benchmark(group="markdown")
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks(benchmark, document: str, threads: int) -> None:
    """Cut it as two documents, so that two threads have work."""
    half = document[: document.index("## Section 8000\n")]
    parts = [half.encode(), document[len(half) :].encode()]
    text = np.frombuffer(b"".join(parts), np.uint8)
    offsets = np.array([0, len(parts[0]), len(text)], np.int64)
    benchmark.extra_info["MB"] = len(text) / 1e6
    blocks = benchmark.pedantic(
        lambda: native.markdown_blocks(text, offsets, threads=threads), rounds=5, warmup_rounds=1
    )
    assert [BLOCK_KINDS[kind] for kind in blocks.kind] == KINDS * 16_000
    assert document[len(half) :][blocks.start[-7] : blocks.end[-7]] == "## Section 15999"


@pytest.mark.benchmark(group="markdown")
def test_blocks_by_markdown_it(benchmark, document: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark").enable("table").disable("inline")
    few = document[: document.index("## Section 200\n")]
    benchmark.extra_info["MB"] = len(few.encode()) / 1e6
    tokens = benchmark.pedantic(lambda: parser.parse(few), rounds=3, warmup_rounds=1)
    assert sum(token.type == "heading_open" for token in tokens) == 200
