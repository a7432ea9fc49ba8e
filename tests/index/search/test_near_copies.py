"""Hits that nearly repeat a better one: they are left out, and others take their place."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.index import Expansion, Ranking, Rerank, assemble
from pychunk.index.search.near_copies import share, without, words_of

pytest.importorskip("faiss")

FILLER = [
    "river",
    "stone",
    "cloud",
    "green",
    "seven",
    "paper",
    "window",
    "silver",
    "garden",
    "music",
    "winter",
    "bridge",
]
MODES = ("dense", "sparse", "hybrid")


def text_of(number: int) -> str:
    chosen = random.Random(number).choices(FILLER, k=40)
    return f"Cats purr at night in town {number}, " + " ".join(chosen)


def changed(text: str) -> str:
    """Return a text with its last word changed, and other white space."""
    return text.rsplit(" ", 1)[0].replace(" ", "  ", 3) + " END"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    """Return an index of 8 texts, each three times: as it is, once more, and with a changed word."""
    texts = [each for number in range(8) for each in (text_of(number), text_of(number), changed(text_of(number)))]
    made = pychunk.Index.create(tmp_path_factory.mktemp("copies") / "it.idx")
    made.add(pychunk.segment(texts, "fixed", size=10**6, ids=list(range(len(texts))), vectors="sentence"))
    made.save()
    return made


def by_definition(one: str, other: str) -> float:
    """Return the share of two texts, written in another way than the module does."""
    a, b = words_of(one), words_of(other)
    if a == b:
        return 1.0
    mine, others = (Counter(tuple(each[i : i + 3]) for i in range(len(each) - 2)) for each in (a, b))
    longer = max(len(a), len(b)) - 2
    common = sum(min(count, others[shingle]) for shingle, count in mine.items())
    return min(common, longer - 1) / longer if longer > 0 else 0.0


def greedy(hits: list[pychunk.Hit], least: float, k: int) -> list[int]:
    kept: list[pychunk.Hit] = []
    for hit in hits:
        if all(by_definition(hit.text, other.text) < least for other in kept):
            kept.append(hit)
    return [hit.row for hit in kept[:k]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", ["score", "rrf"])
@pytest.mark.parametrize(("least", "left"), [(0.9, 8), (1.0, 16), (1, 16), (None, 24)])
def test_copies_are_left_out_and_k_is_filled(
    index: pychunk.Index, mode: Any, fusion: Any, least: float | None, left: int
) -> None:
    for k in (1, 3, 5, 24):
        found = index.search("cats purr", k, mode, ranking=Ranking(fusion=fusion), expansion=Expansion(distinct=least))[
            0
        ]
        assert len(found) == min(k, left)
        if least is not None and fusion == "score":
            every = index.search("cats purr", 24, mode, ranking=Ranking(fusion=fusion))[0]
            assert [hit.row for hit in found] == greedy(every, least, k)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_queries_do_not_depend_on_each_other(index: pychunk.Index, mode: Any, fusion: Any) -> None:
    queries = ["cats purr", "a bridge in winter", "town 3", "nothing of this"]
    options: dict[str, Any] = {"ranking": Ranking(fusion=fusion), "expansion": Expansion(distinct=0.9)}
    together = index.search(queries, 5, mode, **options)
    assert together == [index.search(query, 5, mode, **options)[0] for query in queries]


def test_documents_are_distinct(index: pychunk.Index) -> None:
    found = index.search_documents("cats purr", 5, expansion=Expansion(distinct=0.9))[0]
    assert len({each.document_id // 3 for each in found}) == len(found) == 5


def test_a_reranker_reads_distinct_hits(index: pychunk.Index) -> None:
    seen: list[int] = []

    def backwards(queries: Any, hits: Any) -> list[list[float]]:
        seen.extend(len(own) for own in hits)
        return [[float(i) for i in range(len(own))] for own in hits]

    found = index.search("cats purr", 3, stages=Rerank(backwards, 6), expansion=Expansion(distinct=0.9))[0]
    best = index.search("cats purr", 6, expansion=Expansion(distinct=0.9))[0]
    assert seen == [6]
    assert [hit.row for hit in found] == [hit.row for hit in best[:2:-1]]


def test_context_and_budget_remain(index: pychunk.Index) -> None:
    with_context = index.search("cats purr", 5, expansion=Expansion(1, distinct=0.9))[0]
    assert [len(hit.around) for hit in with_context] == [1] * 5
    text = assemble(with_context).text
    assert all(text.count(f"in town {hit.document_id // 3},") == 1 for hit in with_context)
    assert len(index.search("cats purr", 5, expansion=Expansion(max_words=100, distinct=0.9))[0]) == 2


@pytest.mark.parametrize("way", ["subtree", "section"])
def test_sections_are_filled_with_others(tmp_path: Path, way: Any) -> None:
    from pychunk.parsing import markdown

    pages = [f"# Page {n // 3}\n\n{text_of(n // 3)}\n\n## More\n\n{text_of(9 + n // 3)}" for n in range(12)]
    blocks = markdown.blocks_of(pages)
    with pychunk.Index.create(tmp_path / "it.idx") as made:
        made.add(
            pychunk.segment(pages, "structure", columns={"blocks": blocks}, vectors="sentence", ids=list(range(12)))
        )
        found = made.search("cats purr", 4, expansion=Expansion(way, distinct=0.9))[0]
    assert len({hit.document_id // 3 for hit in found}) == 4


@pytest.mark.parametrize("value", [0, 0.0, -0.1, 1.01, float("nan"), float("inf"), True, "0.9"])
def test_wrong_shares_are_named(index: pychunk.Index, value: Any) -> None:
    with pytest.raises(ValueError, match=r"^distinct must be .*; got "):
        index.search("cats", expansion=Expansion(distinct=value))


def test_the_command_leaves_copies_out(index: pychunk.Index) -> None:
    done = invoke(["search", str(index.path), "cats purr", "-k", "5", "--distinct", "0.9", "--json"])
    hits = json.loads(done.stdout)["hits"]
    assert len({int(hit["document_id"]) // 3 for hit in hits}) == 5
    refused = invoke(["search", str(index.path), "cats purr", "--distinct", "2"])
    assert (refused.exit_code, "distinct must be a finite number from 0 to 1; got 2.0" in refused.stderr) == (2, True)


def test_words_of_scripts_without_spaces_are_their_characters() -> None:
    assert words_of("\u3000猫は 喉を\u00a0鳴らす\u2028") == list("猫は喉を鳴らす")
    assert words_of("ไทย Ω-word") == [*"ไทย", "Ω-word"]
    text = "猫は夜に喉を鳴らす。犬は昼に吠える。鳥は朝に歌を歌う。"
    assert (
        share(words_of(text), words_of(text.replace("朝", "晩"))) == by_definition(text, text.replace("朝", "晩")) > 0.8
    )
    assert share(words_of(text), words_of("\n".join(text))) == 1


@given(st.text("ab 猫\u2003", max_size=40), st.text("ab 猫\u2003", max_size=40))
def test_the_share_is_that_of_the_definition(one: str, other: str) -> None:
    a, b = words_of(one), words_of(other)
    assert share(a, b) == share(b, a) == by_definition(one, other)
    assert (share(a, b) == 1) == (a == b)


@given(st.lists(st.text("ab ", max_size=12), max_size=12), st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.integers(0, 12))
def test_the_best_hits_are_kept_in_order(texts: list[str], least: float, count: int) -> None:
    hits = [pychunk.Hit(i, i, None, 0, "", 0, len(text), text, 1.0, {}) for i, text in enumerate(texts)]
    kept = without(hits, least)
    assert [hit.row for hit in kept] == greedy(hits, least, len(hits))
    assert without(hits[:count], least) == [hit for hit in kept if hit.row < count]
