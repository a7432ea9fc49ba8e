"""Code, lists and headings go with what is around them when noise is left out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pychunk.parsing.coherence import HEADS, INTRODUCES, LISTED, NONE, TITLES, TYPED, roles, with_neighbours
from pychunk.parsing.html import parse_html
from pychunk.parsing.noise import copies, find_noise
from pychunk.parsing.noise_features import noise_features


def slow(content: list[float], role: list[int], landmark: list[int], weight: list[float]) -> list[float]:
    """One block after the other."""
    out = list(content)
    for i, own in enumerate(role):
        if own not in (LISTED, TYPED):
            continue
        j = i
        while j >= 0 and role[j] == own:
            j -= 1
        if j >= 0 and landmark[i] == landmark[j] and (own == TYPED or role[j] == INTRODUCES):
            out[i] = max(out[i], out[j])
    likely = [i for i, each in enumerate(out) if each >= 0.5]
    found = list(out)
    before = [i for i, own in enumerate(role) if own == HEADS and likely and i <= likely[0]]
    if before and TITLES not in role and before[-1] >= likely[0] - 3 and landmark[before[-1]] == landmark[likely[0]]:
        found[before[-1]] = max(out[before[-1]], out[likely[0]])
    for i, own in enumerate(role):
        end = next((j for j in range(i + 1, len(role)) if role[j] in (HEADS, TITLES)), len(role))
        if own not in (HEADS, TITLES) or end == i + 1 or not likely or i < likely[0]:
            continue
        words = sum(weight[i + 1 : end])
        share = sum(a * b for a, b in zip(out[i + 1 : end], weight[i + 1 : end], strict=True)) / max(words, 1)
        found[i] = max(found[i], min(round(1024 * share) / 1024, out[i + 1]))
    return found


@given(st.lists(st.tuples(st.integers(0, 1024), st.integers(0, 5), st.integers(0, 2), st.integers(0, 9)), max_size=30))
def test_neighbours_are_those_of_the_slow_twin(drawn: list[tuple[int, int, int, int]]) -> None:
    content = [each / 1024 for each, _, _, _ in drawn]
    role, landmark, weight = ([row[i] for row in drawn] for i in (1, 2, 3))
    given_ = np.array(content), np.array(role, np.int8), np.array(landmark, np.int8), np.array(weight, np.float64)
    found = with_neighbours(*given_)
    assert found.tolist() == slow(content, role, landmark, [float(each) for each in weight])
    assert (found >= np.array(content)).all()


def test_roles() -> None:
    page = parse_html(
        "<h1>Use</h1><p>Take these two together:<ul><li>One<li>Two</ul><p>Share:<ul><li>x</ul><pre>run()</pre><p>As is."
    )
    weight = noise_features(page.blocks, page.facts, page.text).weight
    expected = [TITLES, INTRODUCES, LISTED, LISTED, NONE, LISTED, TYPED, NONE]
    assert roles(page.blocks, page.text, weight).tolist() == expected


def test_examples_that_repeat_a_command_are_no_copies() -> None:
    same = "<pre>sudo make install with all of its options now</pre>"
    page = parse_html(f"<p>First:{same}<p>Then:{same}")
    features = noise_features(page.blocks, page.facts, page.text)
    assert not copies(np.full(4, 0.9), features).any()


def test_a_manual_keeps_its_code_and_lists() -> None:
    prose = "The journal is created when a transaction begins, and is deleted when the transaction ends or rolls back. "
    items = "".join(f"<li><a href='#{name}'>{name} files</a>" for name in ("Journal", "Super-journal", "Shared-memory"))
    code = "<pre>PRAGMA journal_mode = WAL;</pre>"
    page = parse_html(
        f"<html><body><nav><a href=/>Home</a> <a href=/docs>Docs</a></nav><h1>Temporary files</h1><p>{prose * 3}"
        f"<p>The engine uses three distinct types of temporary files:<ol>{items}</ol><p>{prose * 2}{code}"
        f"<h2>Shared memory</h2><p>{prose * 2}{code}<p>{prose}<footer>Copyright</footer></body></html>"
    )
    removed, _, _ = find_noise(page.blocks, page.facts, page.text)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True)
    gone = [page.text[start:end] for (start, end), out in zip(spans, removed, strict=True) if out]
    assert not [text for text in gone if "PRAGMA" in text or text.startswith(("1.", "2.", "3."))]
    assert any("Copyright" in text for text in gone)
