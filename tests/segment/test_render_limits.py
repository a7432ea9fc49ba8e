"""With ``Tokenizer(render=True)``, limits and the column ``tokens`` count the text that ``chunk.render()`` returns."""

import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke

import pychunk
from pychunk import Tokenizer
from pychunk.chunks.render_limits import limit_of

WORDPIECE = Path(pychunk.__path__[0]) / "models" / "vocab.txt"
TEXT = "cats purr when they are content and the rhine rises in the alps near a lake while stars burn hydrogen"
WORDS = TEXT.split()


def words(text: str) -> int:
    return len(text.split())


def document(seed: int) -> str:
    """Return Markdown with headings of several levels, long tables, code and paragraphs."""
    draw = random.Random(seed)

    def sentence() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(2, 12))).capitalize() + "."

    parts = []
    for _ in range(draw.randint(2, 6)):
        parts.append("#" * draw.randint(1, 4) + " " + " ".join(draw.choices(WORDS, k=draw.randint(1, 5))))
        for _ in range(draw.randint(1, 4)):
            kind = draw.random()
            if kind < 0.15:
                rows = [f"| {sentence()} | {sentence()} |" for _ in range(draw.randint(2, 9))]
                parts.append("\n".join(["| Name of it | What it does |", "| --- | --- |", *rows]))
            elif kind < 0.3:
                lines = [f"value_{n} = {draw.randint(0, 999)}" for n in range(draw.randint(2, 30))]
                parts.append("\n".join(["```python", *lines, "```"]))
            else:
                parts.append(" ".join(sentence() for _ in range(draw.randint(1, 9))))
    return "\n\n".join(parts)


DOCUMENTS = [document(seed) for seed in range(24)]


def spans(chunks: pychunk.ChunkBatch, row: int) -> list[tuple[int, int]]:
    return [(chunk.start, chunk.end) for chunk in chunks if chunk.document_index == row]


@pytest.mark.parametrize("size", [32, 60])
@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("structure", "max_tokens"),
        ("recursive", "size"),
        ("fixed", "size"),
        ("topic", "max_tokens"),
        ("sentence", "max_tokens"),
    ],
)
def test_no_rendered_chunk_is_over_the_limit(method: Any, name: str, size: int) -> None:
    parsed = pychunk.parse(DOCUMENTS, "markdown")
    options: dict[str, Any] = {name: size}
    plain = pychunk.segment(parsed, method, tokenizer=WORDPIECE, **options)
    found = pychunk.segment(parsed, method, tokenizer=Tokenizer(WORDPIECE, render=True), **options)
    tokens = pychunk.count_tokens([chunk.render() for chunk in found], WORDPIECE).to_numpy()
    assert tokens.tolist() == found.table["tokens"].to_pylist()
    assert tokens.max() <= size
    before = pychunk.count_tokens([chunk.render() for chunk in plain], WORDPIECE).to_numpy()
    assert before.max() > size  # the documents show the difference
    fits = np.ones(len(DOCUMENTS), np.bool_)
    fits[plain.table["document_index"].to_numpy()[before > size]] = False
    for row in np.flatnonzero(fits).tolist():
        assert spans(found, row) == spans(plain, row)
    for row, text in enumerate(DOCUMENTS):  # nothing is lost
        left = list(text)
        for begin, end in spans(found, row):
            left[begin:end] = " " * (end - begin)
        assert not "".join(left).strip()


def test_chunks_do_not_depend_on_the_batch() -> None:
    made = pychunk.Segmenter("recursive", size=30, tokenizer=Tokenizer(words, "words:1", render=True))
    whole = made(pychunk.parse(DOCUMENTS[:8], "markdown"))
    assert max(whole.table["tokens"].to_pylist()) <= 30
    for row in range(8):
        assert spans(made(pychunk.parse(DOCUMENTS[row], "markdown")), 0) == spans(whole, row)


@pytest.mark.parametrize("options", [{"method": "sentence"}, {"method": "fixed", "size": 99, "unit": "characters"}])
def test_rendered_text_is_counted_without_a_limit_in_tokens(options: dict[str, Any]) -> None:
    parsed = pychunk.parse(DOCUMENTS, "markdown")
    found = pychunk.segment(parsed, tokenizer=Tokenizer(WORDPIECE, render=True), **options)
    tokens = pychunk.count_tokens([chunk.render() for chunk in found], WORDPIECE).to_pylist()
    assert found.table["tokens"].to_pylist() == tokens
    assert found.texts == pychunk.segment(parsed, **options).texts


def test_special_tokens_are_added() -> None:
    parsed = pychunk.parse(DOCUMENTS, "markdown")
    found = pychunk.segment(parsed, "fixed", size=40, tokenizer=Tokenizer(WORDPIECE, special=2, render=True))
    tokens = pychunk.count_tokens([chunk.render() for chunk in found], WORDPIECE).to_numpy()
    assert (tokens + 2).tolist() == found.table["tokens"].to_pylist()
    assert tokens.max() <= 38
    assert found.metadata["tokenizer"].endswith(" + 2 special, of render()")


def test_text_without_structure_is_cut_as_before() -> None:
    text = "Cats purr when they are content. " * 40
    plain = pychunk.segment(text, "recursive", size=20, tokenizer=WORDPIECE)
    found = pychunk.segment(text, "recursive", size=20, tokenizer=Tokenizer(WORDPIECE, render=True))
    assert plain.table.equals(found.table)
    assert pychunk.segment([], "structure", tokenizer=Tokenizer(WORDPIECE, render=True)).texts == []


def test_sentence_vectors_are_computed_once() -> None:
    calls = []

    def encode(texts: list[str]) -> Any:
        calls.append(len(texts))
        return np.array([[1.0 + text.count(letter) for letter in "aehnorst"] for text in texts], np.float32)

    encoder = pychunk.Encoder(encode, "letters:1")
    parsed = pychunk.parse(DOCUMENTS, "markdown")
    numbers = []
    for tokenizer in (WORDPIECE, Tokenizer(WORDPIECE, render=True)):
        made = pychunk.Segmenter("semantic", encoder=encoder, max_tokens=40, tokenizer=tokenizer)
        made("A first call may test the encoder.")
        calls.clear()
        made(parsed)
        numbers.append(list(calls))
    assert numbers[0] == numbers[1] != []


def test_a_path_longer_than_the_limit_is_said_and_nothing_is_lost() -> None:
    text = "# a heading with a great many words that nobody would ever read\n\n" + "Cats purr at night. " * 6
    parsed = pychunk.parse(text, "markdown")
    with pytest.warns(UserWarning, match=r"^document 0: the chunk at character \d+ .*has \d+ tokens with the headings"):
        found = pychunk.segment(parsed, "fixed", size=12, tokenizer=Tokenizer(WORDPIECE, render=True))
    assert "".join("".join(found.texts).split()) == "".join(text.split())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pychunk.segment(parsed, "fixed", size=12, tokenizer=WORDPIECE)


def test_wrong_values_are_errors() -> None:
    with pytest.raises(ValueError, match=r"^render must be True or False; got 2"):
        Tokenizer(words, render=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"levels count the tokens of a node's text alone; got a Tokenizer"):
        pychunk.segment_levels(DOCUMENTS[0], ["document"], tokenizer=Tokenizer(WORDPIECE, render=True))


def test_the_command_line_takes_both(tmp_path: Path) -> None:
    (tmp_path / "it.md").write_text(DOCUMENTS[0])
    chunks = tmp_path / "it.jsonl"
    call = ["segment", str(tmp_path / "it.md"), "-m", "fixed:size=40", "-o", str(chunks), "--tokenizer"]
    done = invoke([*call, f"{WORDPIECE},special=2,render=true"])
    assert done.exit_code == 0, done.output
    parsed = pychunk.parse(DOCUMENTS[0], "markdown")
    own = pychunk.segment(parsed, "fixed", size=40, tokenizer=Tokenizer(WORDPIECE, None, 2, True))
    written = [json.loads(line)["tokens"] for line in chunks.read_text().splitlines()]
    assert written == own.table["tokens"].to_pylist()
    for value, message in (
        (f"{WORDPIECE},render=yes", "render= takes true or false; got 'yes'"),
        (f"{WORDPIECE},special=2,special=3", "names special= twice"),
    ):
        chunks.unlink(missing_ok=True)
        assert message in " ".join(invoke([*call, value]).output.split())


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"method": "fixed", "size": 7, "max_tokens": 9}, 7),
        ({"method": "fixed", "size": 7, "unit": "words", "max_tokens": 9}, 9),
        ({"method": "fixed", "size": 7, "unit": "words"}, 0),
        ({"method": "sentence", "max_tokens": 9}, 9),
        ({"method": "sentence"}, 0),
    ],
)
def test_the_limit_is_the_least_in_tokens(options: dict[str, Any], limit: int) -> None:
    assert limit_of(pychunk.Segmenter(**options).plan) == limit


@pytest.mark.parametrize("words", [20, 29, 31, 40])
def test_a_long_heading_cuts_only_its_own_section_shorter(words: int) -> None:
    heading = " ".join(["cat"] * words)
    text = (
        f"# {heading}\n\nCats purr at night. They sleep by day.\n\n# Stars\n\n" + "The sun is a star of the sky. " * 100
    )
    parsed = pychunk.parse(text, "markdown")
    plain = pychunk.segment(parsed, "structure", max_tokens=32, tokenizer=WORDPIECE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = pychunk.segment(parsed, "structure", max_tokens=32, tokenizer=Tokenizer(WORDPIECE, render=True))
    stars = [[chunk.text for chunk in chunks if chunk.path == ["Stars"]] for chunks in (plain, found)]
    assert len(stars[0]) <= len(stars[1]) <= 1.5 * len(stars[0])
    assert len(stars[1][-1]) > 10
    assert bool(caught) == (max(found.table["tokens"].to_pylist()) > 32) == (words > 31)


def test_many_chunks_over_the_limit_take_few_cuts() -> None:
    rows = "".join(f"| value {n} of the row | {n} |\n" for n in range(3000))
    header = "| the name of it in many words so that it is long | number |\n| --- | --- |\n"
    made = pychunk.Segmenter("structure", max_tokens=60, tokenizer=Tokenizer(WORDPIECE, render=True))
    calls, engine = [], made.engine

    class Counted:
        def __getattr__(self, name: str) -> Any:
            return getattr(engine, name)

        def segment(self, request: Any) -> Any:
            calls.append(request)
            return engine.segment(request)

    made.engine = Counted()  # type: ignore[assignment]
    found = made(pychunk.parse(f"# Table\n\n{header}{rows}", "markdown"))
    assert max(found.table["tokens"].to_pylist()) <= 60
    assert len(calls) <= 5
