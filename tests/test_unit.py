"""terms="auto": words or n-grams by the chunks that come first, and kept from then on."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("faiss")

from command_line import invoke
from index_reference import chunks_of, seen

from pychunk.retrieval import unit
from pychunk.retrieval.index import Index

UKRAINIAN = ["Таблетки приймають після їжі. Одну таблетку двічі на день.", "Кішки муркочуть, коли задоволені."]
ENGLISH = ["Cats purr when content. They sleep all day.", "Dogs bark at night. Dogs fetch sticks."]


def words_of(forms: int, count: int, seed: int = 0) -> str:
    """Random words of so many forms, all as frequent."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdefghij"))
    return " ".join(
        "".join(letters[[int(digit) for digit in f"{word:06d}"]]) for word in random.integers(0, forms, count)
    )


@pytest.mark.parametrize(
    ("texts", "expected", "script"),
    [
        (UKRAINIAN, "ngrams", "CYRILLIC"),
        (ENGLISH, "words", "LATIN"),
        (["我在北京大学学习。", "今天天气很好。"], "words", "UNSPACED"),
        (["แมวนอนทั้งวัน"], "ngrams", "THAI"),
        (["123 45.", ""], "words", ""),
        ([words_of(200, 30_000)], "words", "LATIN"),
        ([words_of(50_000, 30_000)], "ngrams", "LATIN"),
        ([words_of(50_000, 9_000)], "words", "LATIN"),
    ],
)
def test_the_unit_follows_script_and_forms(texts: list[str], expected: str, script: str) -> None:
    found = unit.choose(pa.chunked_array([texts]))
    assert (found["unit"], found["script"]) == (expected, script)
    assert unit.choose(pa.chunked_array([[text] for text in texts])) == found


@pytest.mark.parametrize(("texts", "chosen"), [(UKRAINIAN, "ngrams"), (ENGLISH, "words")])
def test_an_index_keeps_what_was_chosen(tmp_path: Path, texts: list[str], chosen: str) -> None:
    options: dict[str, Any] = {"terms": "auto", "cjk_bigrams": True}
    with Index.create(tmp_path / "auto", **options) as index:
        assert index.info["terms"]["unit"] == "auto"
        assert index.search("таблетка", mode="sparse") == [[]]
    with (
        Index.create(tmp_path / "auto", **options, exist_ok=True) as index,
        Index.create(tmp_path / "plain", terms=chosen) as plain,
    ):
        for made in (index, plain):
            made.add(chunks_of(texts, ids=["a", "b"]))
        query = texts[0].split(".")[0]
        assert seen(index.search(query)[0]) == seen(plain.search(query)[0])
        index.save()
        assert index.info["terms"] == plain.info["terms"]
        index.add(chunks_of(UKRAINIAN + ENGLISH, ids=["c", "d", "e", "f"]))
        plain.add(chunks_of(UKRAINIAN + ENGLISH, ids=["c", "d", "e", "f"]))
    with Index.open(tmp_path / "auto") as index, Index.open(tmp_path / "plain") as plain:
        assert index.info["terms"]["unit"] == chosen
        assert index.info["terms_chosen"]["unit"] == chosen
        for query in ("таблетку", "cats sleep"):
            assert seen(index.search(query)[0]) == seen(plain.search(query)[0])
    Index.create(tmp_path / "auto", **options, exist_ok=True).close()
    other = "words" if chosen == "ngrams" else "ngrams"
    with pytest.raises(ValueError, match=f"terms is '{chosen}', not '{other}'"):
        Index.create(tmp_path / "auto", terms=other, exist_ok=True)


def test_what_was_not_saved_was_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.create(tmp_path / "x", terms="auto")
    index.add(chunks_of(UKRAINIAN))
    index.close(discard=True)
    index = Index.open(tmp_path / "x")
    with monkeypatch.context() as patched:
        patched.setattr("pychunk.retrieval.contents.PartWriter.append", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.add(chunks_of(UKRAINIAN))
    index.add(chunks_of(ENGLISH))
    index.save()
    assert index.info["terms"]["unit"] == "words"
    index.close()


def test_n_grams_are_not_stemmed(tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    for name, texts, stemmer in (("uk", UKRAINIAN, None), ("en", ENGLISH, "english")):
        with Index.create(tmp_path / name, terms="auto", stemmer="english") as index:
            index.add(chunks_of(texts))
            index.save()
            assert index.info["terms"]["stemmer"] == stemmer
        Index.create(tmp_path / name, terms="auto", stemmer="english", exist_ok=True).close()


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "leaflet.txt").write_text("\n\n".join(UKRAINIAN))
    arguments = ["index", str(tmp_path / "leaflet.txt"), "-o", str(tmp_path / "x.idx"), "--terms", "auto"]
    for _ in range(2):
        done = invoke(arguments)
        assert done.exit_code == 0, done.output
    with Index.open(tmp_path / "x.idx") as index:
        assert index.info["terms_chosen"] == {"unit": "ngrams", "script": "CYRILLIC", "unseen": None}
    assert "auto" in invoke([*arguments[:-1], "stems"]).output
