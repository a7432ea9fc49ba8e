"""detect_languages(): the reference, real text, and what bad input gets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine import native
from pychunk._engine.arrow import flat_texts
from pychunk._engine.reference.text import languages as reference
from pychunk.inputs import languages

SENTENCES = {
    "en": "The pump stops when the switch on the left is not pressed.",
    "de": "Die Pumpe hält an, wenn der Schalter auf der linken Seite nicht gedrückt wird.",
    "fr": "La pompe s'arrête quand on n'appuie plus sur le bouton de gauche.",
    "es": "La bomba se detiene cuando no se pulsa el interruptor de la izquierda.",
    "uk": "Насос зупиняється, якщо вимикач ліворуч не натиснуто.",
    "ru": "Насос останавливается, когда выключатель слева не нажат.",
    "ar": "تتوقف المضخة عندما لا يكون المفتاح الأيسر مضغوطا.",
    "fa": "وقتی کلید سمت چپ فشار داده نشود، پمپ می‌ایستد.",
    "hi": "बाईं ओर का स्विच न दबाने पर पंप रुक जाता है।",
    "zh": "当左侧的开关没有按下时，水泵就会停止。",
    "ja": "左側のスイッチが押されていないと、ポンプは止まります。",
    "ko": "왼쪽 스위치를 누르지 않으면 펌프가 멈춥니다.",
    "th": "ปั๊มจะหยุดเมื่อไม่ได้กดสวิตช์ด้านซ้าย",
    "el": "Η αντλία σταματά όταν ο διακόπτης στα αριστερά δεν είναι πατημένος.",
    "tr": "Soldaki düğmeye basılmadığında pompa durur.",
    "pl": "Pompa zatrzymuje się, gdy przełącznik po lewej stronie nie jest wciśnięty.",
    "vi": "Máy bơm dừng lại khi công tắc bên trái không được nhấn.",
}
TEXTS = st.lists(st.text() | st.text("abßДжцяйñéαβעא中のア한ก \n0'-", max_size=60), max_size=8)


def tables() -> list[np.ndarray]:
    with np.load(languages.FACTS.with_suffix(".npz")) as stored:
        return [stored[name] for name in ("letters", "lower", "alone", "written_in", "weights")]


def test_sentences_are_in_their_languages() -> None:
    assert pychunk.detect_languages(list(SENTENCES.values())).to_pylist() == list(SENTENCES)


def test_text_without_letters_has_no_language() -> None:
    assert pychunk.detect_languages(["", "42 - 17 = 25", "\U0001f600 …", "\u0378"]).to_pylist() == [None] * 4


def test_names_in_latin_letters_do_not_hide_the_language() -> None:
    text = "Для установки запустите cmake --build build, а потом проверьте версию командой pychunk doctor."
    assert pychunk.detect_languages([text]).to_pylist() == ["ru"]


@given(texts=TEXTS)
@settings(deadline=None, max_examples=150)
def test_every_text_has_the_language_of_the_reference(texts: list[str]) -> None:
    texts = [text.encode(errors="ignore").decode() for text in texts]
    own = tables()
    found = native.languages(*own).detect(*flat_texts(texts), 2)
    assert found.tolist() == [reference.detect(text, *own) for text in texts]


def test_long_texts_are_read_in_the_parts_of_the_reference() -> None:
    texts = [
        (SENTENCES[a] * 40 + SENTENCES[b] * 400)[skip:] for a, b in (("de", "ru"), ("ja", "th")) for skip in range(5)
    ]
    own = tables()
    found = native.languages(*own).detect(*flat_texts(texts), 1)
    assert found.tolist() == [reference.detect(text, *own) for text in texts]


def test_the_batch_and_the_threads_change_nothing() -> None:
    texts = [text[:size] for text in SENTENCES.values() for size in range(0, len(text), 7)]
    alone = [pychunk.detect_languages([text])[0].as_py() for text in texts]
    for threads in (1, 3):
        assert pychunk.detect_languages(texts, threads=threads).to_pylist() == alone


def test_wrong_tables_are_refused() -> None:
    letters, lower, alone, written_in, weights = tables()
    with pytest.raises(ValueError, match="power of 2 of rows, at most 1 << 25, got 3"):
        native.languages(letters, lower, alone, written_in, np.ascontiguousarray(weights[:3]))
    with pytest.raises(ValueError, match="must have a row of"):
        native.languages(letters, lower, alone, written_in[:, :-1], weights)
    with pytest.raises(ValueError, match="alone must hold a number for each of"):
        native.languages(letters, lower, alone[:-1], written_in, weights)
    with pytest.raises(ValueError, match="increasing code points"):
        native.languages(letters[:, [1, 0, 2]], lower, alone, written_in, weights)


def test_a_damaged_table_is_refused_with_the_remedy(tmp_path: Path) -> None:
    for file in (languages.FACTS, languages.FACTS.with_suffix(".npz")):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "languages.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"languages\.npz is damaged.*install pychunk again"):
        languages.Languages(tmp_path / "languages.json")


def test_the_table_is_small() -> None:
    assert languages.FACTS.with_suffix(".npz").stat().st_size < 1_000_000
    assert len(json.loads(languages.FACTS.read_text())["languages"]) == 110  # as docs/encoders.md says


@pytest.mark.parametrize("language", ["ar", "de", "en", "hi", "ru", "th", "tr", "zh"])
def test_real_paragraphs_are_in_their_languages(data: Path, language: str) -> None:
    file = data / "xquad" / f"xquad.{language}.json"
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    questions = [asked["question"] for article in articles for each in article["paragraphs"] for asked in each["qas"]]
    # One paragraph lists American teams.
    assert pychunk.detect_languages(paragraphs).to_pylist().count(language) >= len(paragraphs) - 1
    found = pychunk.detect_languages(questions).to_pylist()
    assert found.count(language) >= 0.95 * len(questions)
