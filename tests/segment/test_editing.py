"""Segmenter.edit returns what a call with the new text returns, in every column, for random edits of random texts."""

import pickle
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import pychunk
from pychunk import ChunkBatch, Segmenter
from pychunk._engine import native
from pychunk.editing import edited_text

#: Text whose cuts depend on what is around it: on lines, quotes, numbers, scripts, and on facts about the document.
PIECES = (
    "Cats purr when they are content. ", "Dr. Smith came at 5 p.m. and left. ", "The dog (an old one) barked! ",
    "He said: \"Go away.\" She went. ", "No full stop here ", "It works.They even paid. ", "See [6][7] for more. ",
    "Am 3. Oktober kam er. ", "Heinrich IV. Der Kaiser ging. ", "Ông ở TP. Hồ Chí Minh. ",
    "Кошки мурлычут, т. е. спят. ", "В 1999 г. он умер. ", "猫は眠る。「はい。」と言った。", "今天下雨……他走了。",
    "😀👍🏽 Great! 👩\u200d👩\u200d👧 ", "été ä. ", "क्या हाल है। ", "Prices rose 3.5 % in 2020. ", "etc. ", "...",
    "word ", "x" * 70 + " ", "- ", "1. ", "2) ", "# ", "> ", "```", "|", "\"", "(", "\n", "\n\n", "\n\n\n", "\r\n",
    "\r\n\r\n", "\x0c", "\u2028", "\t", " ", "\n# Heading\n\n", "\n## Part\n\n", "\n- item one\n- item two\n",
    "\n1. first\n2. second\n3. third\n", "\n```python\nx = 1\n\ny = 2\n```\n", "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\n<div>\n<p>Text</p>\n</div>\n",
    "\nThis line is filled to a width of some\nseventy columns, as in old mail and in\nmany plain files, and wraps.\n",
    "Introduction:\n", "The end.\n\n", "\u200b", "\xad", "\ufeff", "A. B. C. ", "(e.g. this) ", "page 5\n",
)  # fmt: skip
#: Options of every native method, with budgets, overlaps, units, vectors and tokenizers.
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"method": "topic"},
    {"max_tokens": 40, "min_tokens": 10, "overlap": 8},
    {"vectors": "sentence", "max_tokens": 50, "min_tokens": 0},
    {"method": "sentence"},
    {"method": "sentence", "keep_together": False},
    {"method": "paragraph", "max_tokens": 30},
    {"method": "page"},
    {"method": "recursive", "size": 30},
    {"method": "recursive", "size": 20, "overlap": 6, "unit": "words"},
    {"method": "recursive", "size": 80, "overlap": 10, "unit": "characters", "separators": ["\n\n", "\n", " ", ""]},
    {"method": "structure"},
    {"method": "structure", "size": 25, "vectors": "chunk"},
    {"method": "structure", "within": "topic"},
    {"method": "fixed", "size": 25, "overlap": 5},
    {"method": "fixed", "size": 12, "unit": "words", "balance": True},
    {"method": "semantic"},
    {"method": "semantic", "window": 3, "threshold": 0.3, "vectors": "chunk"},
    {"method": "cluster", "max_tokens": 60},
    {"method": "pic"},
    {"method": "pic", "summary": "lead", "summaries_out": True},
    {"method": "pic", "summary": "random"},
    {"method": "nsp", "encoder": "static"},
    {"method": "sentence", "unwrap_lines": True},
    {"method": "sentence", "unwrap_lines": False},
    {"method": "recursive", "unwrap_lines": False, "size": 15},
    {"method": "recursive", "size": 12, "tokenizer": len},
    {"method": "topic", "max_tokens": 60, "min_tokens": 20, "tokenizer": lambda text: len(text.split())},
)


def some_text(rng: random.Random, pieces: int) -> str:
    """Return a random text; lines of some are so long on average that no line can be wrapped."""
    chosen = rng.sample(PIECES, rng.choice((4, 12, len(PIECES))))
    filler = PIECES[0] * 20 if rng.random() < 0.5 else ""
    return "".join(rng.choice(chosen) + (filler if rng.random() < 0.5 else "") for _ in range(rng.randrange(pieces)))


def some_edits(rng: random.Random, text: str) -> list[tuple[int, int, str]]:
    """Return one to three edits that do not overlap: insertions, deletions, replacements and appends."""
    lines = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    places = sorted(
        rng.choice(lines) if rng.random() < 0.4 else rng.randrange(len(text) + 1)
        for _ in range(2 * rng.choice((1, 1, 1, 2, 3)))
    )
    if rng.random() < 0.2:
        places[-2:] = [len(text)] * 2
    edits = []
    for start, end in zip(places[::2], places[1::2], strict=True):
        kind = rng.random()
        end = start if kind < 0.4 else min(end, start + rng.choice((1, 5, 30, 200)))
        edits.append((start, end, "" if kind > 0.8 else some_text(rng, rng.choice((2, 4, 20)))))
    rng.shuffle(edits)
    return edits


def applied(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, key=lambda edit: edit[:2])[::-1]:  # keeps the order of insertions
        text = text[:start] + new + text[end:]
    return text


def same(one: ChunkBatch, other: ChunkBatch) -> bool:
    tables = [(one.table, other.table), (one.summaries, other.summaries), (one.removed, other.removed)]
    return all(a is b or a.equals(b, check_metadata=True) for a, b in tables)


def random_edits(rng: random.Random) -> Iterator[tuple[str, ChunkBatch, ChunkBatch]]:
    """Yield what was edited, the edited chunks and those of a call, for a sequence of edits of one document."""
    options = rng.choice(OPTIONS)
    segmenter = SEGMENTERS.setdefault(OPTIONS.index(options), Segmenter(**options))
    markdown = options.get("method") in (None, "structure", "recursive", "topic") and rng.random() < 0.4
    read = (lambda text: pychunk.parse(text, "markdown")) if markdown else str
    text = some_text(rng, rng.choice((20, 80, 300)))
    ids = rng.choice((None, ["a"]))
    chunks = segmenter(read(text), ids=ids)
    for _ in range(4):
        edits = some_edits(rng, text)
        chunks, before, text = segmenter.edit(chunks, edits), text, applied(text, edits)
        yield f"{options}, {markdown=}: {edits} of {before!r}", chunks, segmenter(read(text), ids=ids)


SEGMENTERS: dict[int, Segmenter] = {}


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.long])])
@pytest.mark.filterwarnings("ignore")  # about scripts that the static encoder does not know
def test_random_edits_give_what_a_call_gives(count: int) -> None:
    rng, done = random.Random(count), 0
    while done < count:
        for what, edited, whole in random_edits(rng):
            assert same(edited, whole), what
            done += 1


@pytest.mark.parametrize("method", ["topic", "recursive", "structure", "sentence"])
def test_only_text_near_an_edit_is_split_and_tokenized(method: Any) -> None:
    segmenter = Segmenter(method, max_tokens=80)
    lines = [f"Sentence number {i} says little. " * 14 + "It ends here.\n\n" for i in range(300)]
    text = "".join(lines)
    chunks = segmenter.edit(segmenter(text), [(0, 0, "First. ")])
    before = native.work()
    chunks = segmenter.edit(chunks, [(0, 0, "Now "), (len(text) // 2, len(text) // 2, "new words ")])
    split, tokenized = (now - then for now, then in zip(native.work(), before, strict=True))
    assert 0 < tokenized < 400
    assert 0 < split < 12 * len(lines[0])
    assert "new words" in "".join(chunks.texts)


def test_chunks_can_be_edited_more_than_once() -> None:
    segmenter = Segmenter("recursive", size=10)
    first = segmenter("Cats purr. Dogs bark. " * 30)
    one, other = (segmenter.edit(first, [(at, at, "Cows moo. ")]) for at in (0, 220))
    assert same(one, segmenter("Cows moo. " + "Cats purr. Dogs bark. " * 30))
    assert same(other, segmenter("Cats purr. Dogs bark. " * 10 + "Cows moo. " + "Cats purr. Dogs bark. " * 20))
    for _ in range(2):  # the first of these edits takes over the sentences of `one`, the second has none to take over
        assert same(segmenter.edit(one, []), one)


def test_facts_about_the_document_stay() -> None:
    table = pa.table({"text": ["Cats purr. They sleep."], "title": ["Cats"], "year": [2021]})
    segmenter = Segmenter("pic", summary="title")
    said: dict[str, Any] = {
        "columns": {"text": "text"},
        "ids": ["c"],
        "metadata_columns": ["year"],
        "first_document": 7,
    }
    edited = segmenter.edit(segmenter(table, **said), [(0, 4, "Big cats")])
    changed = table.set_column(0, "text", pa.array(["Big cats purr. They sleep."]))
    assert same(edited, segmenter(changed, **said))
    assert edited[0].metadata == {"year": 2021}
    assert edited[0].document_index == 7


def test_a_document_may_grow_from_nothing_beyond_4_mb() -> None:
    segmenter = Segmenter("paragraph")
    text = "A line of a log.\n\n" * 300_000
    grown = segmenter.edit(segmenter(""), [(0, 0, text)])
    grown = segmenter.edit(grown, [(len(text), len(text), "The last line.")])
    assert same(grown, segmenter(text + "The last line."))
    with pytest.raises(ValueError, match=r'more than 4 MB .* "" and the edit \(0, 0, text\)'):
        segmenter.edit(segmenter(text), [])


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([(3, 99, "x")], r"inside the document, which has 11 characters; got \(3, 99, 'x'\): count"),
        ([(-1, 2, "x")], r"inside the document, .* got \(-1, 2, 'x'\)"),
        ([(-(2**70), 2**70, "x")], r"inside the document, .* got \(-1180591620717411303424, 1180591620717411303424"),
        ([(5, 2, "x")], r"must not end before it begins; got \(5, 2, 'x'\): to insert"),
        ([(4, 6, "x"), (0, 5, "y")], r"must not overlap; got \(0, 5, 'y'\), \(4, 6, 'x'\): join them"),
        ([(0, 1, "\ud800")], r"lone surrogate U\+D800 at character 0: remove it"),
    ],
)
def test_wrong_edits_are_shown(edits: list[tuple[int, int, str]], message: str) -> None:
    segmenter = Segmenter("sentence")
    with pytest.raises(ValueError, match=message):
        segmenter.edit(segmenter("Größe zählt"), edits)


@pytest.mark.parametrize("edit", [(1, 2), (1, 2, 3), ("1", 2, "x"), (True, 2, "x"), 5])
def test_an_edit_is_two_numbers_and_a_text(edit: Any) -> None:
    segmenter = Segmenter("sentence")
    with pytest.raises(TypeError, match=r"an edit must be \(start, end, text\)"):
        segmenter.edit(segmenter("Cats purr."), [edit])


def test_chunks_that_cannot_be_edited() -> None:
    segmenter = Segmenter("sentence")
    with pytest.raises(ValueError, match="one document; got those of 2: call the Segmenter once for each"):
        segmenter.edit(segmenter(["a", "b"]), [])
    with pytest.raises(ValueError, match=r"the same Segmenter made; .* by recursive> *, and this is Segmenter"):
        segmenter.edit(Segmenter("recursive")("Cats purr."), [])
    with pytest.raises(ValueError, match=r"do not hold their document \(they come from a file or a pickle"):
        segmenter.edit(pickle.loads(pickle.dumps(segmenter("Cats purr."))), [])
    columns: Any
    for columns in ({"page_starts": [[0]]}, {"blocks": [[("heading", 1, 0, 4)]]}, {"removed": [[(0, 2)]]}):
        with pytest.raises(ValueError, match=f"move the positions in columns={{'{next(iter(columns))}': ...}}"):
            segmenter.edit(segmenter("Cats purr.", columns=columns), [])
    assert same(segmenter.edit(Segmenter("sentence")("Cats purr."), []), segmenter("Cats purr."))


@pytest.mark.parametrize("chunks", ["Cats purr.", [], None])
def test_only_a_batch_of_chunks_can_be_edited(chunks: Any) -> None:
    with pytest.raises(TypeError, match=r"takes chunks as a Segmenter returned them; got .*: pass the ChunkBatch"):
        Segmenter("sentence").edit(chunks, [])


def test_chunks_with_contexts_can_be_edited_by_an_equal_segmenter() -> None:
    text = "Cats purr. Dogs bark. " * 30
    segmenter = Segmenter("recursive", size=10, augment="neighbours")
    edited = pickle.loads(pickle.dumps(segmenter)).edit(segmenter(text), [(0, 4, "Big cats")])
    assert same(edited, segmenter("Big cats" + text[4:]))
    with pytest.raises(ValueError, match="the same Segmenter made"):
        Segmenter("recursive", size=10, augment="head").edit(segmenter(text), [])


@pytest.mark.parametrize("markdown", [False, True])
def test_contexts_are_made_of_columns_that_chunks_do_not_repeat(markdown: bool) -> None:
    def table(text: str) -> Any:
        made = pa.table({"text": [text], "topic": ["Cats"], "year": [2021]})
        return pychunk.parse(made, "markdown") if markdown else made

    segmenter = Segmenter("structure" if markdown else "sentence", augment="column:topic")
    said: dict[str, Any] = {} if markdown else {"columns": {"text": "text"}}
    for columns in ([], ["year"], ["topic", "year"]):
        edited = segmenter(table("They purr."), **said, metadata_columns=columns)
        for edit in ((0, 0, "# Home\n\n"), (8, 8, "Hello. ")):
            edited = segmenter.edit(edited, [edit])
        assert same(edited, segmenter(table("# Home\n\nHello. They purr."), **said, metadata_columns=columns))
        assert edited.table["context"].to_pylist() == ["Cats"] * len(edited)


def test_a_text_in_place_of_a_skipped_row_is_no_error() -> None:
    segmenter = Segmenter("sentence", on_error="skip")
    chunks = segmenter([None])
    assert len(chunks.errors) == 1
    edited = segmenter.edit(chunks, [(0, 0, "Cats purr.")])
    assert same(edited, segmenter(["Cats purr."]))
    assert not edited.errors


def test_spans_that_stay_are_those_between_edits() -> None:
    text, spans = edited_text(pa.array(["äbcdef"], pa.large_string()), [(3, 4, ""), (1, 1, "XY")])
    assert text.to_pylist() == ["äXYbcef"]
    assert spans.tolist() == [[0, 0, 2], [2, 4, 2], [5, 6, 2]]
