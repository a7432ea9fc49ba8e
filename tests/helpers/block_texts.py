"""Documents with blocks for tests of segmentation."""

from __future__ import annotations

from typing import Any

Block = tuple[str, int, int, int]


def check_tree(rows: list[Any]) -> None:
    """Check one document's tree: parents come first, depths count them, and every subtree is a slice."""
    below: dict[int, set[int]] = {i: {i} for i in range(len(rows))}
    for i in reversed(range(len(rows))):
        if rows[i].parent is not None:
            assert 0 <= rows[i].parent < i
            below[rows[i].parent] |= below[i]
    for i, row in enumerate(rows):
        assert row.depth == (0 if row.parent is None else rows[row.parent].depth + 1)
        assert below[i] == set(range(i, i + row.subtree))
        assert row.parent is None or row.path[: len(rows[row.parent].path)] == rows[row.parent].path
        assert 1 <= row.part <= row.parts
        if row.part > 1:
            assert (rows[i - 1].part, rows[i - 1].parts) == (row.part - 1, row.parts)


MARKDOWN = """# Guide

Do the following:

- One step.
- Another. It is longer.

Is it done?

Yes, it is.

Run this. Then wait.

```
a = 1

b = 2
```

## Details

Short.

### More

Cats purr. They sleep all day. The sun burns hydrogen, and stars do.

### Other

Dogs bark.
"""


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of the simple Markdown above."""
    found: list[Block] = []
    at, fence = 0, text.find("```")
    for part in text.split("\n\n"):
        start, at = at, at + len(part) + 2
        if fence >= 0 and fence < start <= text.find("```", fence + 3):
            kind, level, _, _ = found.pop()
            found.append((kind, level, fence, start + len(part.rstrip())))
        elif part.startswith("#"):
            found.append(("heading", len(part) - len(part.lstrip("#")), start, start + len(part)))
        elif part.startswith("-"):
            for line in part.split("\n"):
                found.append(("item", 1, start, start + len(line)))
                start += len(line) + 1
        else:
            found.append(("code" if part.startswith("```") else "paragraph", 0, start, start + len(part.rstrip())))
    return found
