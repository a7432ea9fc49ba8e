"""The multilingual table: translations are near each other, in any batch, and no text is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.encoders.files import model_packages
from pychunk.encoders.registry import vector_encoder

try:
    FOLDER = model_packages.folder(model_packages.MULTILINGUAL)
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

#: The same eight sentences in each language.
SENTENCES = {
    "en": [
        "The cat sleeps on the warm roof.",
        "The bank raised its interest rates again.",
        "Doctors recommend drinking more water in summer.",
        "The train to the capital leaves at noon.",
        "The king died in battle and his son followed him.",
        "Press the red button to stop the machine.",
        "Plants turn sunlight into sugar.",
        "The team won the match by two goals.",
    ],
    "de": [
        "Die Katze schläft auf dem warmen Dach.",
        "Die Bank hat ihre Zinsen wieder erhöht.",
        "Ärzte empfehlen, im Sommer mehr Wasser zu trinken.",
        "Der Zug in die Hauptstadt fährt mittags ab.",
        "Der König fiel in der Schlacht, und sein Sohn folgte ihm nach.",
        "Drücken Sie den roten Knopf, um die Maschine anzuhalten.",
        "Pflanzen verwandeln Sonnenlicht in Zucker.",
        "Die Mannschaft gewann das Spiel mit zwei Toren Vorsprung.",
    ],
    "uk": [
        "Кіт спить на теплому даху.",
        "Банк знову підвищив відсоткові ставки.",
        "Лікарі радять пити більше води влітку.",
        "Потяг до столиці відправляється опівдні.",
        "Король загинув у битві, і його наступником став син.",
        "Натисніть червону кнопку, щоб зупинити машину.",
        "Рослини перетворюють сонячне світло на цукор.",
        "Команда виграла матч з різницею у два голи.",
    ],
    "es": [
        "El gato duerme en el tejado caliente.",
        "El banco volvió a subir los tipos de interés.",
        "Los médicos recomiendan beber más agua en verano.",
        "El tren a la capital sale al mediodía.",
        "El rey murió en la batalla y su hijo le sucedió.",
        "Pulse el botón rojo para detener la máquina.",
        "Las plantas convierten la luz del sol en azúcar.",
        "El equipo ganó el partido por dos goles.",
    ],
    "zh": [
        "猫在温暖的屋顶上睡觉。",
        "银行再次提高了利率。",
        "医生建议夏天多喝水。",
        "开往首都的火车中午出发。",
        "国王战死沙场，他的儿子继位。",
        "按红色按钮停止机器。",
        "植物把阳光变成糖。",
        "球队以两球的优势赢得了比赛。",
    ],
    "ar": [
        "القطة تنام على السطح الدافئ.",
        "رفع البنك أسعار الفائدة مرة أخرى.",
        "ينصح الأطباء بشرب المزيد من الماء في الصيف.",
        "يغادر القطار إلى العاصمة ظهرا.",
        "مات الملك في المعركة وخلفه ابنه.",
        "اضغط على الزر الأحمر لإيقاف الآلة.",
        "تحول النباتات ضوء الشمس إلى سكر.",
        "فاز الفريق بالمباراة بفارق هدفين.",
    ],
}


@pytest.mark.parametrize("language", sorted(set(SENTENCES) - {"en"}))
def test_a_sentence_is_nearest_to_its_translation(language: str) -> None:
    encoder = vector_encoder("multilingual")
    cosines = encoder.encode(SENTENCES[language]) @ encoder.encode(SENTENCES["en"]).T
    right = (cosines.argmax(axis=1) == np.arange(8)).sum()
    assert right >= 6, cosines.round(2)


def test_the_table_is_small_enough() -> None:
    encoder = vector_encoder("multilingual")
    assert np.prod(encoder.rows.shape) <= 28e6
    assert 192 <= encoder.dim <= 256


@given(st.lists(st.text(max_size=60), max_size=20), st.integers(0, 100))
def test_a_vector_depends_on_its_text_alone(texts: list[str], seed: int) -> None:
    encoder = vector_encoder("multilingual")
    alone = np.array([encoder.encode([text])[0] for text in texts]).reshape(-1, encoder.dim)
    order = list(range(len(texts)))
    random.Random(seed).shuffle(order)
    assert (encoder.encode([texts[row] for row in order], threads=2) == alone[order]).all()
    norms = np.linalg.norm(alone, axis=1)
    assert ((norms == 0) | (abs(norms - 1) < 1e-5)).all()


@pytest.mark.parametrize("method", ["topic", "semantic", "pic", "cluster"])
@pytest.mark.parametrize("language", ["de", "zh", "ar"])
def test_methods_cut_by_it(method: str, language: str) -> None:
    text = " ".join(SENTENCES[language] * 4)
    chunks = pychunk.segment([text, text[:40]], method, encoder="multilingual", vectors="chunk")
    assert chunks.metadata["encoder"] == vector_encoder("multilingual").fingerprint
    assert [chunk.text for chunk in chunks] == [
        [text, text[:40]][chunk.document_index][chunk.start : chunk.end] for chunk in chunks
    ]
    alone = pychunk.segment(text, method, encoder="multilingual", vectors="chunk")
    assert [chunk.text for chunk in alone] == [chunk.text for chunk in chunks if chunk.document_index == 0]


@given(st.lists(st.text("ab нк。 中.\n!?", min_size=1, max_size=200), max_size=5), st.sampled_from([4, 12, 512]))
@settings(deadline=None, max_examples=40)
def test_the_tokens_of_chunks_are_those_of_their_text(texts: list[str], limit: int) -> None:
    # The counts of sentences, from the vectors, are added up.
    chunks = pychunk.segment(texts, "pic", encoder="multilingual", max_tokens=limit, min_tokens=0)
    counted = pychunk.count_tokens(chunks.texts, FOLDER / "tokenizer.json")
    assert chunks.table["tokens"].to_pylist() == counted.to_pylist()
    assert max(counted.to_pylist(), default=0) <= limit
