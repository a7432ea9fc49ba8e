"""Sentences: literal cases, the tiling contract on arbitrary Unicode, F1 on gold sentences."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import _core
from pychunk._engine.reference.text.characters import STOPS


def split(text: str, unwrap_lines: str | bool = False) -> list[str]:
    return [text[start:end].strip() for start, end in pychunk.split_sentences(text, unwrap_lines=unwrap_lines)[0]]


@pytest.mark.parametrize(
    "sentences",
    [
        ["ii. The term is two years.", "It ends without notice."],
        ["xiv. Late rent bears interest."],
        ["Dr. Smith met Mrs. Jones at 5 p.m. on Jan. 5 in Washington, D.C. for tea.", "They talked."],
        ["J. K. Rowling wrote it.", "So did G. B. Shaw."],
        ["It costs 3.14 dollars, i.e. too much.", "See Fig. 3 and No. 5."],
        ['He said "No."', "She left."],
        ["(It rained.)", "We stayed."],
        ["Is it?", "Yes!", "Well..."],
        ["Wait... what happened?", "Nothing."],
        ["See https://example.org/a.b?c=d for more.", "Or mail a.b@example.org."],
        ["1. First item", "2. Second item"],
        ["We like apples, pears, etc. and plums.", "Acme Inc. makes them."],
        ["今日は晴れ。", "明日は雨！", "本当？"],
        ["他走了。", "“你好！”她说。"],
        ["他走了。", "“你好!”她说。", "“再见。”", "门关了。"],
        ["他走了。", '"你好。"', '"再见。"', "门关了。"],
        ["雨が降る。", "「本当に寒いです。」と彼は言った。", "「行くよ。」って言った。", "「寒い。」", "とても寒い。"],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
        ["هل هذا صحيح؟", "نعم."],
        ["Він народився 5 травня 1990 р. у м. Києві.", "Живе на вул. Лесі Українки."],
        [
            "Am 3. Oktober ist ein Feiertag und der Tag ist frei.",
            "Das 19. Jahrhundert war die Zeit der Industrie.",
        ],
        ["Am 9. September wurde er 35.", "Danach zog er z. B. nach Wien und blieb dort."],
        ["Zápas se hraje od 20. 4. 2001 do května.", "Kralj Aleksandar I. je umro."],
        ["Result: 1. Adams 149 points, 2. Brown 145, 3. Clark 100.", "The rest gave up."],
        ["Stephen (lat. Stephanus) left.", "He spoke at noon (in Latin).", "Nobody came."],
        ["It was a great service.", "They even called.", "Try Node.js or mail Jo.Doe@example.org."],
        ["So good! :)", "Thanks a lot.", '" Nii! "', "Aplaus."],
        ["No.", "I did not say it.", "It was No. 5 of BP.", "The end."],
        ["Було хліба, солі і т. п.", "Потім прийшла п. Марія."],
        ["Byron remained until 1805. [6]", "An undistinguished student."],
        ["Just text without any stop at all"],
    ],
)
def test_literal_cases(sentences: list[str]) -> None:
    joiner = "\n" if sentences[0].startswith("1.") else "" if "。" in sentences[0] else " "
    assert split(joiner.join(sentences)) == sentences


@pytest.mark.parametrize("stop", STOPS)
def test_every_stop_ends_a_sentence_wherever_it_lies(stop: str) -> None:
    for before in ("", "x" * 61, "x" * 62, "x" * 63):  # its bytes are in one block of the scan, or in two
        text = f"{before}cats purr{stop} Dogs bark"
        assert split(text) == [f"{before}cats purr{stop}", "Dogs bark"]


def test_a_missing_space_after_the_stop_is_forgiven() -> None:
    assert split("It was great service.They even called.") == ["It was great service.", "They even called."]
    assert split("Was it good?what do you say") == ["Was it good?", "what do you say"]
    for whole in ("See docs.Python.org today", "See https://a.org/q?what=that now", "Use Node.js or www.Site.com"):
        assert split(whole) == [whole]


def test_wrapped_text_joins_lines_and_keeps_blocks() -> None:
    text = (
        "This is a paragraph that somebody has wrapped by hand at about\n"
        "sixty columns, so that its line breaks mean nothing at all. It\n"
        "goes on for a few more lines, as such paragraphs always do, and\n"
        "then it ends.\n\n- an item\n- another item\n"
    )
    assert len(split(text, "auto")) == 4
    assert len(split(text, False)) == 7


def test_paragraphs_of_one_line_are_not_wrapped_text() -> None:
    text = "Short line\nAnother one\nA third line here\nThe fourth\n"
    assert split(text, "auto") == split(text, False) == text.split("\n")[:-1]


PIECES = st.sampled_from(
    [
        "Mr",
        "e.g",
        "the",
        "The",
        "I",
        "U.S",
        "3",
        "19",
        ".",
        ".",
        "...",
        "!",
        "?",
        "…",
        '"',
        "”",
        "(",
        ")",
        "[6]",
        " ",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "\f",
        "\x85",
        "\u2028",
        "\u3000",
        "\xa0",
        "。",
        "！",
        "」",
        "।",
        "؟",
        "é",
        "Ж",
        "ж",
        "的",
        "👍",
        "\x00",
        "- ",
        "# ",
        "| ",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["auto", True, False]))
def test_sentences_tile_the_document(text: str, unwrap_lines: str | bool) -> None:
    spans = pychunk.split_sentences(text, unwrap_lines=unwrap_lines)[0]
    assert bool(spans) == bool(text.strip())
    if spans:
        assert spans[0][0] == 0
        assert spans[-1][1] == len(text)
        assert all(a[1] == b[0] for a, b in zip(spans, spans[1:]))
        assert all(not text[start].isspace() for start, _ in spans[1:])
        assert all(text[start:end].strip() for start, end in spans)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 130))
def test_utf8_check_equals_python(data: bytes, padding: int) -> None:
    data = b"a" * padding + data
    try:
        data.decode()
        expected = -1
    except UnicodeDecodeError as error:
        expected = error.start
    assert _core.find_invalid_utf8(np.frombuffer(data, dtype=np.uint8)) == expected


def test_utf8_check_for_all_short_sequences() -> None:
    for a in range(256):
        for b in range(0, 256):
            data = bytes([a, b])
            valid = _core.find_invalid_utf8(np.frombuffer(data, dtype=np.uint8)) < 0
            try:
                data.decode()
                assert valid
            except UnicodeDecodeError:
                assert not valid


@given(st.text(max_size=300))
def test_character_count(text: str) -> None:
    data = np.frombuffer(text.encode() * 2, dtype=np.uint8)
    assert _core.count_characters(data, np.array([0, len(data) // 2, len(data)])).tolist() == [len(text)] * 2


@pytest.mark.parametrize(
    ("corpus", "all_ends", "inside"), [("en_gum", 97.5, 96.0), ("en_ewt", 92.0, 89.0), ("uk_iu", 98.0, 97.5)]
)
def test_f1_over_sentence_ends(data: Path, corpus: str, all_ends: float, inside: float) -> None:
    import json

    from bench.peers import sentences as bench

    documents = [json.loads(line) for line in (data / "sentences" / f"{corpus}-dev.jsonl").read_text().splitlines()]
    assert bench.f1(documents, bench.pychunk_ends, False) >= all_ends
    assert bench.f1(documents, bench.pychunk_ends, True) >= inside
