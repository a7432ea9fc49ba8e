"""The training of next-sentence prediction on multilingual vectors: what it reads, and what the network learns."""

import functools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk.encoders import registry, static_nsp
from pychunk.encoders.files import model_packages
from training import nsp_multilingual
from training.multilingual.examples import held_out, parallel

pytest.importorskip("torch", reason="training needs torch")
try:
    PATH = model_packages.folder(model_packages.MULTILINGUAL)
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

#: Subjects whose sentences are neighbours.
SUBJECTS = {
    "de": ["Der Zug hält am Bahnhof", "Die Suppe kocht auf dem Herd", "Das Schiff segelt auf dem Meer"],
    "tr": ["Tren istasyonda duruyor", "Çorba ocakta pişiyor", "Gemi denizde yol alıyor"],
}


def document(language: str, number: int) -> list[str]:
    """Return sentences about one subject and then about another."""
    own = SUBJECTS[language]
    return [f"{own[number % 3]} {at}." for at in range(4)] + [f"{own[(number + 1) % 3]} {at}." for at in range(4)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Return documents in two languages, in the form that training.multilingual.texts writes."""
    lines = [
        {"source": "manual", "language": language, "sentences": document(language, number)}
        for language in SUBJECTS
        for number in range(120)
    ]
    lines.append({"source": "manual", "language": "de", "sentences": ["Zu kurz."]})
    lines.append({"source": "gnome", "language": "de", "sentences": ["Ein Kapitel."] * 8})
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    news = [
        {language: [f"{number}. {line}" for line in document(language, number)] for language in SUBJECTS}
        | {"en": [str(number)] * 8}
        for number in range(12)
    ]
    (tmp_path / "parallel.jsonl").write_text("".join(json.dumps(line) + "\n" for line in news))
    chapters = [{"part": part, "language": "de", "lines": document("de", 0)} for part in ("train", "test")]
    pq.write_table(pa.Table.from_pylist(chapters), tmp_path / "manuals.parquet")
    return tmp_path


def test_short_documents_other_languages_and_news_that_are_held_out_are_not_read(texts: Path) -> None:
    read = functools.partial(nsp_multilingual.learned, texts, texts / "manuals.parquet", ["tr"])
    found = read(0)
    assert list(found) == ["de"]
    learned = [article for article in parallel(texts) if not held_out(article)]
    assert 0 < len(learned) < 12
    assert len(found["de"]) == 121 + len(learned)
    assert sorted(found["de"]).count(document("de", 0)) == 41
    assert found == read(0) != read(1)


def test_documents_are_taken_up_to_a_number_of_sentences() -> None:
    encoder = registry.vector_encoder("multilingual")
    made = nsp_multilingual.vectors_of(encoder, [document("de", number) for number in range(9)], 20)
    assert made.documents.tolist() == [0, 8, 16]
    np.testing.assert_array_equal(made.vectors, encoder.encode(document("de", 0) + document("de", 1)))


def test_a_network_that_was_trained_cuts_between_subjects(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    out.mkdir()
    for name in ("static.json", "static.npy", "tokenizer.json"):
        (out / name).symlink_to(PATH / name)
    options = ["--texts", texts, "--manuals", texts / "manuals.parquet", "--out", out, "--epochs", 30, "--batch", 64]
    assert nsp_multilingual.main([str(option) for option in options]) == 0
    facts = json.loads((out / static_nsp.FACTS).read_text())
    assert facts["encoder"] == registry.vector_encoder("multilingual").fingerprint
    assert facts["languages"] == 2
    assert facts["metrics"]["de"]["auc_other"] > 0.6
    assert "| de |" in (out / "nsp_static.md").read_text()
    text = " ".join(document("tr", 1))
    segmenter = pychunk.Segmenter("nsp", encoder=str(out), threshold=0.5, min_tokens=0, keep_together=False)
    scores = segmenter.scores(text)["score"].to_pylist()[:-1]
    assert np.argmin(scores) == 3
    before = pychunk.segment(text, "nsp", encoder=str(out)).metadata["encoder"]
    nsp_multilingual.main([str(option) for option in [*options, "--seed", 1]])
    assert pychunk.segment(text, "nsp", encoder=str(out)).metadata["encoder"] != before
