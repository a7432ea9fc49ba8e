"""Contrastive training of the multilingual table: its examples, its loss, and a training that goes on."""

import json
import re
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pychunk.encoders.piece_encoder import PieceEncoder
from pychunk.encoders.registry import vector_encoder
from pychunk.training.corpus import part_of
from pychunk.training.token_bags import Bags
from training.manuals import sections
from training.multilingual import examples as made
from training.multilingual import repositories
from training.multilingual import texts as read_texts
from training.multilingual.examples import Batch, Examples, held_out
from training.multilingual.texts import Texts

WORDS = ["sea", "ship", "wind", "sail", "harbour", "rope", "mast", "fish", "wave", "coast"]


def sentence(language: str, number: int) -> str:
    """Return a sentence whose words are the digits of a number, in a language."""
    return " ".join(f"{WORDS[int(digit)]}{language}" for digit in f"{number:04d}") + "."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return texts in two languages, in the form that training.multilingual.texts writes."""
    monkeypatch.setattr(made, "LEAST", 2)

    def write(name: str, lines: Sequence[Mapping[str, object]]) -> None:
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))

    numbers, both = range(0, 4000, 100), ("de", "en")
    write(
        "parallel.jsonl",
        [{code: [sentence(code, at + i) for i in range(5)] for code in both} for at in numbers],
    )
    write("titles.jsonl", [{code: sentence(code, at) for code in both} for at in numbers])
    pairs = [
        {"source": source, "language": "de", "text": sentence("de", at), "english": sentence("en", at)}
        for source in ("gnome", "tatoeba")
        for at in numbers
    ]
    write("pairs.jsonl", pairs)
    documents = [
        {"source": "voice", "language": code, "sentences": [sentence(code, at + i) for i in range(6)]}
        for code in both
        for at in numbers
    ]
    write("documents.jsonl", documents)
    chapters = [
        {
            "part": part,
            "language": code,
            "lines": [f"1. {sentence(code, at)}", " ".join(sentence(code, at + i) for i in range(9))],
            "headings": [True, False],
        }
        for part in ("train", "test")
        for code in both
        for at in numbers
    ]
    pq.write_table(pa.Table.from_pylist(chapters), tmp_path / "manuals.parquet")
    articles = [
        {
            "id": str(at),
            "title": sentence("en", at),
            "text": "Early life.\n" + " ".join(sentence("en", at + i) for i in range(9)),
        }
        for at in numbers
    ]
    pq.write_table(pa.Table.from_pylist(articles), tmp_path / "articles.parquet")
    return tmp_path


def read(folder: Path, unseen: Sequence[str] = ()) -> tuple[Examples, list[str]]:
    """Return the examples of a folder with a piece for each distinct word, and the words."""
    examples = Examples(folder, folder / "manuals.parquet", folder / "articles.parquet", ["en"], unseen, 0)
    words: dict[str, int] = {}
    bags = [[words.setdefault(word, len(words)) for word in text.split()] for text in examples.rows.texts]
    ids = np.array([piece for bag in bags for piece in bag], np.int32)
    examples.tokenize(Bags(ids, np.cumsum([0, *map(len, bags)])))
    return examples, list(words)


def numbers_of(words: list[str], ids: np.ndarray) -> str:
    """Return the digits of a sentence, in any language; other words count as 0."""
    stems = [words[piece].strip(".")[:-2] for piece in ids]
    return "".join(str(WORDS.index(stem) if stem in WORDS else 0) for stem in stems)


def sides(words: list[str], batch: Batch) -> list[tuple[str, str]]:
    """Return the digits of each query, and of each sentence of its passage."""
    return [
        (numbers_of(words, batch.queries[owner]), numbers_of(words, ids))
        for ids, owner in zip(batch.sentences, batch.owners, strict=True)
    ]


def test_translations_are_of_the_same_words(folder: Path) -> None:
    examples, words = read(folder)
    for kind in (examples._names, examples._translations):
        for _ in range(8):
            batch = kind(16)
            assert len(batch.queries) == 16
            # The query may be a part of the sentence, without some words.
            assert all(re.search(".*".join(query), answer) for query, answer in sides(words, batch))


def test_passages_belong_to_their_queries(folder: Path) -> None:
    examples, words = read(folder)
    for kind in (examples._below, examples._about):
        for _ in range(8):
            found = sides(words, kind(16))
            assert found
            assert all(query[:2] == answer[:2] for query, answer in found)


def test_held_out_articles_are_not_learned_from(folder: Path) -> None:
    articles = made.parallel(folder)
    held = [article for article in articles if held_out(article)]
    assert 0 < len(held) < len(articles)
    examples = Examples(folder, folder / "manuals.parquet", folder / "articles.parquet", ["en"], [], 0)
    first = examples.news["en"]
    learned = examples.rows.texts[first : first + len(examples.article_of)]
    assert not {line for article in held for line in article["en"]} & set(learned)
    assert len(learned) == 5 * (len(articles) - len(held))


def test_only_the_training_part_of_manuals_is_read(folder: Path) -> None:
    examples, _ = read(folder)
    assert len(examples.headings["de"]) == 40
    assert list(read(folder, ["de"])[0].headings) == ["en"]


def test_articles_on_which_others_are_measured_are_not_read(folder: Path) -> None:
    examples, words = read(folder)
    titles = [sentence("en", at) for at in range(0, 4000, 100) if part_of(str(at)) == "train"]
    learned = {numbers_of(words, examples.pieces(examples.paragraphs.first + at))[:4] for at in range(len(titles))}
    assert 0 < len(titles) < 40
    assert len(examples.paragraphs) == len(titles)
    assert learned == {"".join(str(WORDS.index(word.strip(".")[:-2])) for word in title.split()) for title in titles}


def test_a_title_of_several_articles_names_none(folder: Path) -> None:
    lines = (folder / "titles.jsonl").read_text().splitlines()
    (folder / "titles.jsonl").write_text(
        "\n".join([*lines, json.dumps({"en": sentence("en", 0), "de": "other."})]) + "\n"
    )
    before = len(set(read(folder)[0].about.tolist()) - {-1})
    (folder / "titles.jsonl").write_text("\n".join(lines) + "\n")
    assert before == len(set(read(folder)[0].about.tolist()) - {-1}) - 1


def test_passages_of_news_have_no_sentence_in_common(folder: Path) -> None:
    examples, words = read(folder)
    for _ in range(8):
        answers = [answer for _, answer in sides(words, examples._news(64))]
        assert answers
        assert len(set(answers)) == len(answers)


def test_some_queries_are_asked_with_the_words_of_questions(folder: Path) -> None:
    asked = [
        {"source": "tatoeba", "language": "de", "text": f"wo? {word}? ist?", "english": f"where? {word}? is?"}
        for word in WORDS
    ]
    with (folder / "pairs.jsonl").open("a") as stream:
        stream.writelines(json.dumps(pair) + "\n" for pair in asked)
    examples, words = read(folder)
    assert len(examples.questions["de"]) == len(examples.questions["en"]) == len(WORDS)
    query, ends = np.array([words.index("seade")], np.int32), {"wo?", "ist?"}
    found = [[words[piece] for piece in examples._asked(query, "de")] for _ in range(400)]
    alone = found.count(["seade"]) / len(found)
    assert 0.6 < alone < 0.85  # 0.7, and those that take no word of a question
    assert all("seade" in words_ and len(words_) <= 4 for words_ in found)
    assert ends <= {word for words_ in found for word in words_}
    assert [examples._asked(query, "fr").tolist() for _ in range(9)] == [query.tolist()] * 9


def test_batches_are_the_same_for_a_seed(folder: Path) -> None:
    streams = [read(folder)[0].batches(16) for _ in range(2)]
    for _ in range(12):
        (one, first), (other, second) = (next(stream) for stream in streams)
        assert first == second
        assert one.owners == other.owners
        assert all(map(np.array_equal, one.queries + one.sentences, other.queries + other.sentences))


def test_sections_lose_numbers_and_short_ones_are_left_out(folder: Path) -> None:
    long = "word " * 40
    chapter = {"lines": ["Before", "1.2 Installation", long, "2. Of it", "a", "b"], "headings": [0, 1, 0, 1, 0, 0]}
    assert sections(chapter) == [("Installation", long), ("Of it", "a b")]
    lines = pq.read_table(folder / "manuals.parquet").to_pylist()
    for row in lines[:10]:
        row["lines"] = [row["lines"][0], "short"]
    pq.write_table(pa.Table.from_pylist(lines), folder / "manuals.parquet")
    assert len(read(folder)[0].headings["de"]) == 30


def git(path: Path, files: dict[str, str]) -> None:
    """Make a git directory with files."""
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    run = ["git", "-C", str(path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*run, "init", "-q"], check=True)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-q", "-m", "a"], check=True)


def test_titles_join_languages_and_leave_out_what_is_unclear(tmp_path: Path) -> None:
    languages = ["de", "fr", "es", "it", "pt"]
    for language in languages:
        lines = [f"Ship (vessel)\tboat-{language}", "1964\t1964", "Category:Ship\tboat"]
        lines += [f"Bank\tbank-{language}"] + ([f"Bank\tbench-{language}"] if language == "de" else [])
        git(
            tmp_path / f"open-dict-data+wikidict-{language}" / "repo",
            {f"data/en-{language}_wiki.txt": "\n".join(lines)},
        )
    found = list(repositories.titles(tmp_path))
    assert found == [{"en": "Ship", **{language: f"boat-{language}" for language in languages}}]


def test_translations_are_read_from_their_sources(tmp_path: Path) -> None:
    news = "NTREX-128/newstest2019-"
    lines = {"src.eng": "One.\nTwo.\nThree.\n", "ref.deu": "Eins.\nZwei.\nDrei.\n", "ref.eng-GB": "1.\n2.\n3.\n"}
    documents = {"DOCUMENT_IDS.tsv": "a\na\nb\n", **{f"{news}{name}.txt": text for name, text in lines.items()}}
    git(tmp_path / "MicrosoftTranslator+NTREX" / "repo", documents)
    pair = {"data/tatoeba/v1/tatoeba.tur-eng.tur": "Merhaba.\n", "data/tatoeba/v1/tatoeba.tur-eng.eng": "Hello.\n"}
    git(tmp_path / "facebookresearch+LASER" / "repo", pair)
    for language, text in (("en", "A house."), ("hi", "एक घर।")):
        treebank = {
            "README.md": "License: CC BY-SA 3.0\n",
            f"{language}_pud-ud-test.conllu": f"# sent_id = 1\n# text = {text}\n",
        }
        git(tmp_path / f"UniversalDependencies+UD_{language}-PUD" / "repo", treebank)
    found = Texts()
    repositories.read_all(tmp_path, found)
    assert found.parallel == [{"de": ["Eins.", "Zwei."], "en": ["One.", "Two."]}, {"de": ["Drei."], "en": ["Three."]}]
    assert found.pairs == {("tr", "Merhaba.", "Hello."): "tatoeba", ("hi", "एक घर।", "A house."): "treebanks"}


def catalogue(messages: Mapping[str, str]) -> bytes:
    """Return messages as gettext's binary file."""
    entries = sorted(messages.items())
    head, at = 28 + 16 * len(entries), 0
    data, places = b"", [[], []]
    for side in (0, 1):
        for entry in entries:
            text = entry[side].encode()
            places[side] += [len(text), head + at]
            data, at = data + text + b"\0", at + len(text) + 1
    count = len(entries)
    numbers = [0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0, *places[0], *places[1]]
    return struct.pack(f"<{len(numbers)}I", *numbers) + data


def test_messages_of_programs_are_read_without_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "Content-Type: text/plain; charset=UTF-8\n"
    german = {
        "": head,
        "&Open a <b>file</b>": "Eine <b>Datei</b> ö&ffnen",
        "menu\x04Close": "Schließen",
        "race^Orc": "Ork",
        "%d files": "%d Dateien",
        "Same": "Same",
    }
    files = [
        ("./usr/share/locale/de/LC_MESSAGES/a.mo", catalogue(german)),
        ("./usr/share/locale/en_GB/LC_MESSAGES/a.mo", catalogue({"": head, "color": "colour"})),
        (
            "./usr/share/locale/fr/LC_MESSAGES/a.mo",
            catalogue({"": f"{head}Plural-Forms: nplurals=2; plural=EXPRESSION;\n"}),
        ),
    ]
    monkeypatch.setattr(
        read_texts,
        "members",
        lambda deb, pattern: [(found, data) for name, data in files if (found := re.search(pattern, name))],
    )
    found = Texts()
    read_texts.messages("catalogues", tmp_path, found)
    expected = {("Eine Datei öffnen", "Open a file"), ("Schließen", "Close"), ("Ork", "Orc")}
    assert found.pairs == {("de", *pair): "catalogues" for pair in expected}


def test_the_loss_is_that_of_the_nearest_sentences() -> None:
    torch = pytest.importorskip("torch", reason="training needs torch")
    from training.multilingual import contrast

    random = np.random.default_rng(0)
    rows = random.normal(size=(30, 8)).astype(np.float32)
    batch = Batch()
    for _ in range(5):
        batch.add(
            random.integers(0, 30, 3).astype(np.int32), [random.integers(0, 30, n).astype(np.int32) for n in (2, 0, 4)]
        )

    def unit(ids: np.ndarray) -> np.ndarray:
        total = rows[ids].sum(axis=0)
        return np.asarray(total / np.linalg.norm(total))

    nearest = np.full((5, 5), -np.inf)
    for query in range(5):
        for ids, owner in zip(batch.sentences, batch.owners, strict=True):
            cosine = unit(batch.queries[query]) @ unit(ids) / 0.1
            nearest[query, owner] = max(nearest[query, owner], cosine)
    expected = 0.0
    for scores in (nearest, nearest.T):
        expected += np.mean([np.log(np.exp(row).sum()) - row[at] for at, row in enumerate(scores)]) / 2
    assert float(contrast.loss(torch.tensor(rows), batch, 0.1)) == pytest.approx(expected, abs=1e-5)


def test_an_interrupted_training_goes_on_to_the_same_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from training.multilingual import contrast

    monkeypatch.setattr(contrast, "KEPT", 4)
    start = np.random.default_rng(0).normal(size=(len(read(folder)[1]), 16)).astype(np.float32)
    plan = contrast.Plan(steps=12, batch=16, rate=0.05)
    whole = contrast.train(start, read(folder)[0], plan, folder / "whole.pt")
    examples, left = read(folder)[0], iter(range(6))
    batches = examples.batches

    def some(size: int) -> Iterator[tuple[Batch, bool]]:
        for batch in batches(size):
            if next(left, None) is None:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr(examples, "batches", some)
    with pytest.raises(KeyboardInterrupt):
        contrast.train(start, examples, plan, folder / "cut.pt")
    assert (folder / "cut.pt").is_file()
    for rows, other in ((start, contrast.Plan(steps=12, batch=16, rate=0.04)), (2 * start, plan)):
        with pytest.raises(ValueError, match=r"cut\.pt is of a training with other settings, rows or texts: delete it"):
            contrast.train(rows, read(folder)[0], other, folder / "cut.pt")
    np.testing.assert_array_equal(contrast.train(start, read(folder)[0], plan, folder / "cut.pt"), whole)


def test_training_brings_translations_together(folder: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from training.multilingual import contrast

    examples, words = read(folder)
    start = np.random.default_rng(0).normal(size=(len(words), 32)).astype(np.float32)

    def right(rows: np.ndarray) -> float:
        number = {word: at for at, word in enumerate(words)}
        table = {word: rows[number[word]] / np.linalg.norm(rows[number[word]]) for word in words}
        pairs = [(f"{word}de", f"{word}en") for word in WORDS if f"{word}de" in table and f"{word}en" in table]
        own, other = (np.stack([table[pair[side]] for pair in pairs]) for side in (0, 1))
        return float(((own @ other.T).argmax(axis=1) == np.arange(len(pairs))).mean())

    trained = contrast.train(start, examples, contrast.Plan(steps=150, batch=32, rate=0.05), folder / "state.pt")
    assert right(trained) > right(start) + 0.5


def test_pieces_are_those_of_the_encoder() -> None:
    pytest.importorskip("pychunk_multilingual", reason="the package pychunk-multilingual is not installed")
    from training.multilingual.contrast import bags_of

    encoder, texts = vector_encoder("multilingual"), ["Ein Schiff.", "", "Корабль в море"]
    assert isinstance(encoder, PieceEncoder)
    bags = bags_of(encoder, texts)
    table = np.load(encoder.path / "static.npy").astype(np.float64)
    sums = np.stack([table[bags.ids[a:b]].sum(axis=0) for a, b in zip(bags.offsets, bags.offsets[1:], strict=False)])
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(encoder.encode(texts), sums, atol=1e-6)
