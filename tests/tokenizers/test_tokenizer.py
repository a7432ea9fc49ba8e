"""The class Tokenizer: special tokens count towards limits, sizes and the column, and names reach the metadata."""

from __future__ import annotations

import json
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pychunk
from pychunk import Tokenizer
from pychunk.cli.main import app
from pychunk.ingest import ingest

TEXT = "# Cats\n\nCats purr when they are content. They sleep a lot.\n\n# Dogs\n\nDogs bark at night. " * 20
VOCABULARY = Path(pychunk.__file__).parent / "models" / "vocab.txt"


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("source", [words, VOCABULARY], ids=["function", "native"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("fixed", {"size": 15}),
        ("recursive", {"size": 15, "overlap": 4}),
        ("structure", {"max_tokens": 15}),
        ("topic", {"max_tokens": 15, "min_tokens": 6}),
        ("sentence", {"max_tokens": 15}),
        ("cluster", {"max_tokens": 15}),
    ],
)
def test_special_tokens_count(method: str, options: dict[str, Any], source: Any) -> None:
    found = pychunk.segment(TEXT, method, tokenizer=Tokenizer(source, special=3), **options)
    counts = pychunk.count_tokens(found.texts, source).to_pylist()
    assert found.table["tokens"].to_pylist() == [count + 3 for count in counts]
    assert max(counts) + 3 <= 15
    assert found.metadata["tokenizer"].endswith(" + 3 special")
    # The chunks are those of a limit that is lower by three tokens.
    lower = {name: value if name == "overlap" else value - 3 for name, value in options.items()}
    assert found.texts == pychunk.segment(TEXT, method, tokenizer=source, **lower).texts


def test_without_special_tokens_only_the_name_differs() -> None:
    named = pychunk.segment(TEXT, "fixed", size=20, tokenizer=Tokenizer(words, "words:1"))
    plain = pychunk.segment(TEXT, "fixed", size=20, tokenizer=words)
    assert named.table.equals(plain.table)
    assert (named.metadata["tokenizer"], plain.metadata["tokenizer"]) == ("words:1", "words")


def test_a_limit_in_another_unit_has_no_special_tokens() -> None:
    with_special = pychunk.segment(TEXT, "fixed", size=80, unit="characters", tokenizer=Tokenizer(words, special=5))
    assert with_special.texts == pychunk.segment(TEXT, "fixed", size=80, unit="characters").texts


def test_it_can_be_pickled_and_leaves_its_source_unchanged() -> None:
    made = pickle.loads(pickle.dumps(pychunk.Segmenter("fixed", size=9, tokenizer=Tokenizer(VOCABULARY, "v:1", 2))))
    assert made(TEXT).metadata["tokenizer"].startswith("v:1:")
    assert pychunk.segment(TEXT, "fixed", tokenizer=VOCABULARY).metadata["tokenizer"].startswith("models:")


@pytest.mark.parametrize(("options", "name"), [({"size": 2}, "size"), ({"size": 9, "max_tokens": 2}, "max_tokens")])
def test_a_limit_that_special_tokens_fill_is_refused(options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be more than the 2 special tokens of tokenizer=; got 2$"):
        pychunk.segment(TEXT, "fixed", tokenizer=Tokenizer(words, special=2), **options)


@pytest.mark.parametrize("special", [-1, True, 1.5, "2", None])
def test_a_wrong_number_of_special_tokens_is_refused(special: Any) -> None:
    with pytest.raises(ValueError, match="special must be the number of special tokens"):
        Tokenizer("o200k_base", special=special)


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(ValueError, match="name must be a name such as 'mine:1', or None; got ''"):
        Tokenizer(words, "")


def test_the_command_takes_special_tokens(tmp_path: Path) -> None:
    (tmp_path / "cats.txt").write_text(TEXT)
    out = tmp_path / "chunks.jsonl"
    call = ["segment", str(tmp_path / "cats.txt"), "--max-tokens", "15", "-o", str(out), "--tokenizer"]
    one = CliRunner().invoke(app, [*call, f"{VOCABULARY},special=3"])
    assert one.exit_code == 0, one.output
    assert max(json.loads(line)["tokens"] for line in out.read_text().splitlines()) <= 15
    out.unlink()
    bad = CliRunner().invoke(app, [*call, f"{VOCABULARY},special=two"])
    assert bad.exit_code == 2
    assert "special=N takes a number of special tokens, such as 2; got 'two'" in " ".join(bad.output.split())


def test_an_overlap_fits_as_a_text() -> None:
    # Of two sentences together, the function counts the blank line between them as well.
    names = ["a", "bc", "def", "ghij", "klmno"]
    sentences = [" ".join(names[: 1 + i % 5]).capitalize() + "." + ("\n\n" if i % 3 == 0 else " ") for i in range(120)]
    text = "".join((f"## H{i}\n\n" if i % 5 == 0 else "") + sentence for i, sentence in enumerate(sentences))
    for method, size, overlap in product(("fixed", "sentence", "recursive"), (40, 60, 90), (12, 16, 20, 28)):
        lengths: dict[str, Any] = {"max_tokens" if method == "sentence" else "size": size}
        found = pychunk.segment(text, method, overlap=overlap, min_tokens=0, tokenizer=len, **lengths)
        repeated = [len(chunk.text[: chunk.overlap].strip()) for chunk in found]
        assert 0 < max(repeated) <= overlap


def test_levels_refuse_special_tokens() -> None:
    with pytest.raises(ValueError, match=r"levels count no special tokens; got a Tokenizer with special=2: pass its"):
        pychunk.segment_levels(TEXT, ["sentence", 8], tokenizer=Tokenizer(words, special=2))


def test_max_tokens_in_another_unit_is_not_compared_with_special_tokens() -> None:
    found = pychunk.segment(TEXT, "cluster", unit="words", max_tokens=30, tokenizer=Tokenizer(words, special=30))
    assert max(map(words, found.texts)) <= 30
    with pytest.raises(
        ValueError, match=r"overlap must be less than the longest chunk \(100, less 50 special tokens\)"
    ):
        pychunk.segment(TEXT, "fixed", size=100, overlap=95, tokenizer=Tokenizer(words, special=50))


def test_a_run_goes_on_only_with_the_same_name_and_special_tokens(tmp_path: Path) -> None:
    (tmp_path / "cats.txt").write_text(TEXT)
    for tokenizer, goes_on in (
        (Tokenizer(words, "words:1", 2), True),
        (Tokenizer(lambda text: words(text), "words:1", 2), True),
        (Tokenizer(words, "words:2", 2), False),
        (Tokenizer(words, "words:1", 3), False),
        (words, False),
    ):
        arguments: dict[str, Any] = {"method": "fixed", "size": 20, "tokenizer": tokenizer, "resume": True}
        if goes_on:
            assert ingest(str(tmp_path / "cats.txt"), tmp_path / "out", **arguments).chunks
        else:
            with pytest.raises(ValueError, match="holds a different run"):
                ingest(str(tmp_path / "cats.txt"), tmp_path / "out", **arguments)


def test_an_index_of_a_file_of_chunks_names_their_tokenizer(tmp_path: Path) -> None:
    pychunk.segment(TEXT, "fixed", size=20, tokenizer=Tokenizer(words, "words:1")).write(tmp_path / "chunks.parquet")
    done = CliRunner().invoke(app, ["index", str(tmp_path / "chunks.parquet"), "-o", str(tmp_path / "index")])
    assert done.exit_code == 0, done.output
    assert pychunk.Index.open(tmp_path / "index").info["tokenizer"] == "words:1"


def test_an_index_names_the_tokenizer_of_its_chunks(tmp_path: Path) -> None:
    with pychunk.Index.create(tmp_path / "index") as index:
        index.add(pychunk.segment(TEXT, "fixed", size=20, tokenizer=Tokenizer(words, "words:1")))
        index.save()
    with pychunk.Index.open(tmp_path / "index") as index:
        assert index.info["tokenizer"] == "words:1"


def test_an_index_refuses_counts_of_two_tokenizers(tmp_path: Path) -> None:
    def chunks(name: str, document: str) -> pychunk.ChunkBatch:
        return pychunk.segment([TEXT], "fixed", size=20, tokenizer=Tokenizer(words, name), ids=[document])

    with pychunk.Index.create(tmp_path / "index") as index:
        index.add(chunks("words:1", "a"))
        with pytest.raises(ValueError, match=r"counted by the tokenizer 'words:1', those of these chunks by 'words:2'"):
            index.add(chunks("words:2", "b"))
        assert index.ids() == ["a"]
        index.add(chunks("words:1", "b"))
        index.add(pychunk.segment([""], "fixed", size=20, tokenizer=Tokenizer(words, "words:2"), ids=["c"]))  # no chunk
        index.add(pychunk.segment(["Two."], "sentence", tokenizer=None, ids=["d"]))  # no counts
        index.remove(["d"])
        index.add(pychunk.segment([TEXT] * 2, "fixed", size=20, tokenizer=Tokenizer(words, "words:2"), ids=["a", "b"]))
        index.remove(["a", "b"])
        index.add(chunks("words:3", "c"))  # no counts by the other tokenizer are left
        index.save()
        assert index.info["tokenizer"] == "words:3"


def test_a_tokenizer_of_another_name_and_the_same_vocabulary_is_the_same(tmp_path: Path) -> None:
    with pychunk.Index.create(tmp_path / "index") as index:
        for name, special in (("mine", 0), (None, 0), ("other", 0)):
            tokenizer = Tokenizer(VOCABULARY, name, special)
            index.add(pychunk.segment(TEXT, "fixed", size=20, tokenizer=tokenizer, ids=[str(name)]))
        with pytest.raises(ValueError, match="counted by the tokenizer"):
            index.add(pychunk.segment(TEXT, "fixed", size=20, tokenizer=Tokenizer(VOCABULARY, special=2), ids=["x"]))
        assert index.ids() == ["mine", "None", "other"]


def test_the_command_says_that_another_tokenizer_cuts_all_inputs_again(tmp_path: Path) -> None:
    (tmp_path / "cats.txt").write_text(TEXT)
    vocabulary = tmp_path / "mine" / "vocab.txt"
    vocabulary.parent.mkdir()
    vocabulary.write_text("[UNK]\n" + "\n".join(sorted({*TEXT.lower().replace(".", " .").split()})))
    arguments = ["index", str(tmp_path / "cats.txt"), "-o", str(tmp_path / "index")]
    said = "the index counts tokens by mine:"
    for more, outputs in (
        (["--tokenizer", str(vocabulary)], ("1 document added, 0 kept",)),
        (["--tokenizer", str(vocabulary)], ("0 documents added, 1 kept",)),
        ([], (said, "0 documents added, 0 kept, 1 replaced")),
    ):
        done = CliRunner().invoke(app, [*arguments, *more])
        assert done.exit_code == 0, done.output
        flat = " ".join(done.output.split())
        assert all(each in flat for each in outputs), done.output
        assert (said in flat) == (said in outputs)
    done = CliRunner().invoke(app, ["index", "--verify", str(tmp_path / "index")])
    assert "tokens counted by vocab.txt:" in done.output, done.output
