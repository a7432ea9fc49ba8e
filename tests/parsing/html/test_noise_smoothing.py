"""Code, lists and headings are kept or removed together with their surroundings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine.data.blocks import TABLE
from pychunk._engine.data.html_tags import word_hash
from pychunk.parsing.html.landmarks import landmarks
from pychunk.parsing.html.noise import copies, find_noise
from pychunk.parsing.html.noise_features import noise_features
from pychunk.parsing.html.noise_smoothing import (
    HEADS,
    INTRODUCES,
    LISTED,
    NONE,
    NUMBERED,
    TITLES,
    TYPED,
    pairs,
    roles,
    together,
    with_neighbours,
)
from pychunk.parsing.html.page import parse_html


def slow(
    content: list[float], role: list[int], landmark: list[int], weight: list[float], level: list[int], manual: bool
) -> list[float]:
    """Return the result for one block after the other."""
    out = list(content)
    i = 0
    while manual and i < len(role):
        if role[i] != LISTED:
            i += 1
            continue
        end = i
        while end < len(role) and role[end] == LISTED:
            end += 1
        words = sum(weight[i:end])
        mean = round(1024 * sum(content[j] * weight[j] for j in range(i, end)) / max(words, 1)) / 1024
        for j in range(i, end):
            if landmark[j] == landmark[i]:
                out[j] = max(out[j], mean)
        i = end
    for i in range(len(role) - 1):
        if role[i] == INTRODUCES and landmark[i] == landmark[i + 1]:
            out[i] = max(out[i], out[i + 1])
    for i, own in enumerate(role):
        if own not in (LISTED, TYPED):
            continue
        j = i
        while j >= 0 and role[j] == own:
            j -= 1
        if j >= 0 and landmark[i] == landmark[j] and (own == TYPED or role[j] == INTRODUCES):
            out[i] = max(out[i], out[j])
    beside = list(out)
    for i in range(1, len(role) - 1):
        if role[i] == NUMBERED and landmark[i - 1] == landmark[i] == landmark[i + 1]:
            out[i] = max(out[i], min(beside[i - 1], beside[i + 1]))
    likely = [i for i, each in enumerate(out) if each >= 0.5]
    found = list(out)
    before = [i for i, own in enumerate(role) if own == HEADS and likely and i <= likely[0]]
    if before and TITLES not in role and before[-1] >= likely[0] - 3 and landmark[before[-1]] == landmark[likely[0]]:
        found[before[-1]] = max(out[before[-1]], out[likely[0]])
    titles = [i for i, own in enumerate(role) if own == TITLES and likely and i <= likely[0]]
    if manual and titles and landmark[titles[0]] == landmark[likely[0]]:
        found[titles[0]] = max(found[titles[0]], out[likely[0]])
    section = list(found)
    for i, own in enumerate(role):
        if own not in (HEADS, TITLES) or not likely or (i < likely[0] and not manual):
            continue
        top, last = i, False
        while not last:
            last = i + 1 == len(role) or role[i + 1] not in (HEADS, TITLES) or level[i + 1] <= level[i]
            i += not last
        end = next((j for j in range(i + 1, len(role)) if role[j] in (HEADS, TITLES)), len(role))
        words = sum(weight[i + 1 : end])
        share = sum(a * b for a, b in zip(section[i + 1 : end], weight[i + 1 : end], strict=True)) / max(words, 1)
        share = round(1024 * share) / 1024
        if not manual:
            share = min(share, section[min(i + 1, len(role) - 1)])
        found[top] = max(found[top], share)
    beside = list(found)
    for i in range(1, len(role) - 1):
        if role[i] == TYPED and landmark[i - 1] == landmark[i] == landmark[i + 1]:
            found[i] = max(found[i], min(beside[i - 1], beside[i + 1]))
    return found


_DRAWN = st.tuples(st.integers(0, 1024), st.integers(0, 6), st.integers(0, 2), st.integers(0, 9), st.integers(1, 3))


@given(st.lists(_DRAWN, max_size=30), st.booleans())
def test_neighbours_are_those_of_the_slow_twin(drawn: list[tuple[int, int, int, int, int]], manual: bool) -> None:
    content = [each[0] / 1024 for each in drawn]
    role, landmark, weight = ([row[i] for row in drawn] for i in (1, 2, 3))
    level = [row[4] if row[1] in (HEADS, TITLES) else 0 for row in drawn]
    given_ = np.array(content), np.array(role, np.int8), np.array(landmark, np.int8), np.array(weight, np.float64)
    found = with_neighbours(*given_, np.array(level, np.int16), manual)
    assert found.tolist() == slow(content, role, landmark, [float(each) for each in weight], level, manual)
    assert (found >= np.array(content)).all()


@given(st.lists(st.sampled_from(("<dl>", "</dl>", "<dt>a", "<dd>b", "<p>c d", "<div>", "</div>", "<nav>", "<table><tr>"
    "<td>1<td>2<tr><td>3<td>4</table>")), max_size=40), st.randoms(use_true_random=False))  # fmt: skip
def test_pairs_are_those_of_a_walk_to_the_root(pieces: list[str], draw) -> None:
    page = parse_html("".join(pieces))
    facts, count = page.facts, len(page.blocks.kind)
    if not count:
        return
    found = pairs(page.blocks, facts)
    dt, dd = word_hash("<dt"), word_hash("<dd")
    held: dict[int, tuple[list[int], list[int]]] = {}  # the terms and definitions of each list, by their elements
    for row, (a, b) in enumerate(zip(facts.words.offsets, facts.words.offsets[1:])):
        own = facts.words.values[a:b].tolist()
        if dt in own or dd in own:
            held.setdefault(int(facts.parent[row]), ([], []))[dd in own].append(row)
    spans = {row: [k for k in range(count) if row <= facts.element[k] < facts.last[row]]
             for both in held.values() for row in (*both[0], *both[1])}  # fmt: skip
    groups = [group for group in _in_groups(held) if any(spans[row] for row in group)]
    expected = [[spans[row] for row in group if spans[row]] for group in groups]
    got: dict[int, list[list[int]]] = {}
    for first, last, group in found.tolist():
        got.setdefault(group, []).append(list(range(first, last)))
    assert all(group in got.values() for group in expected)
    content = np.array([draw.randrange(1025) / 1024 for _ in range(count)])
    weight, landmark = np.ones(count), landmarks(facts)
    given_ = together(content, found, landmark, weight)
    want = content.tolist()
    for group in got.values():
        ours = landmark[group[0][0]]
        means = [sum(content[k] for k in span) / len(span) for span in group if landmark[span[0]] == ours]
        for span in group:
            for k in span:
                if landmark[span[0]] == ours == landmark[k]:
                    want[k] = max(want[k], round(1024 * max(means)) / 1024)
    assert given_.tolist() == want


def _in_groups(held: dict[int, tuple[list[int], list[int]]]) -> list[list[int]]:
    groups = []
    for terms, definitions in held.values():
        before = None
        for row in sorted(terms + definitions):
            if before is None or (row in terms and before in definitions):
                groups.append([])
            groups[-1].append(row)
            before = row
    return groups


def test_deeply_nested_definitions_are_looked_at_in_part() -> None:
    found = np.array([[0, 900, group] for group in range(900)])
    given_ = together(np.arange(900) / 1024, found, np.zeros(900, np.int8), np.ones(900))
    assert given_[:16].tolist() == [round(1024 * 449.5 / 1024) / 1024] * 16
    assert given_[16:].tolist() == (np.arange(16, 900) / 1024).tolist()


def test_terms_captions_and_headings_go_with_what_they_stand_over() -> None:
    prose = "The journal is created when a transaction begins, and is deleted when the transaction ends or rolls back. "
    page = parse_html(
        f"<h1>Formats</h1><p>{prose * 3}<dl><dt>%H<dd>hash<dt>%ae<dd>owner address</dl><h2>Types</h2><h3>Of time</h3>"
        f"<p>{prose}<div class=table><p class=title>Table 2. Zones</p><table><tr><th>Zone<th>Hours<tr><td>PST<td>8"
        f"</table></div><table><caption>Days</caption><tr><th>Day<th>Name<tr><td>1<td>Monday</table>"
    )
    features = noise_features(page.blocks, page.facts, page.text)
    content = np.where(features.weight > 10, 0.9, 0.25)
    content[[2, 5]] = 0.75  # %H, and the meaning of %ae
    content[page.blocks.kind == TABLE] = 0.75
    content = together(content, features.pairs, features.landmark, features.weight)
    content = with_neighbours(content, features.role, features.landmark, features.weight, features.level)
    assert content[2:].min() >= 0.7


def test_captions_with_a_number_are_the_texts_own() -> None:
    page = parse_html("<p>One<figure><figcaption>Figure 1. A pump</figcaption></figure><p>Two<figure><figcaption>Photo")
    role = roles(page.blocks, page.text, np.ones(4))
    assert role.tolist() == [NONE, NUMBERED, NONE, NONE]
    found = with_neighbours(np.array([0.75, 0.25, 0.5, 0.25]), role, role * 0, np.ones(4), role * 0)
    assert found.tolist() == [0.75, 0.5, 0.5, 0.25]


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


def test_code_lists_and_their_lines_stand_between_what_is_content() -> None:
    role = np.array([HEADS, TYPED, NONE, INTRODUCES, LISTED, LISTED, LISTED], np.int8)
    content = np.array([0.25, 0.375, 0.875, 0.25, 0.75, 0.25, 0.75])
    level = np.array([2, 0, 0, 0, 0, 0, 0], np.int16)
    found = with_neighbours(content, role, role * 0, np.ones(7), level, manual=True)
    assert found[1] >= 0.5  # code under a heading whose section is content
    assert found[3] == 0.75  # a line that introduces a list has the value of its first item
    assert found[5] == 0.75  # an item that the line introduces
    alone = with_neighbours(content[4:], role[4:], role[4:] * 0, np.ones(3), level[4:], manual=True)
    assert alone.tolist() == [0.75, np.rint(1024 * 1.75 / 3) / 1024, 0.75]  # no gap in a manual's list
