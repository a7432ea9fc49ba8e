"""The warning about text in a language that the tokenizer does not know."""

from __future__ import annotations

import logging

import pytest

import pychunk
from pychunk.inputs import language_warning

GERMAN = (
    "Die Pumpe läuft nicht mehr, wenn der Schalter auf der linken Seite nicht gedrückt wird. Das Gerät darf nur von "
    "einer Person geöffnet werden, die es kennt und die weiß, wie man es wieder schließt. Nach der Reinigung wird das "
    "Wasser mit einem Tuch entfernt, und die Teile werden in den Kasten gelegt, aus dem sie kamen."
)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            ["The pump stops when the switch on the left is not pressed.", GERMAN],
            "not English but 'de', first in document 1: the",
        ),
        ([GERMAN[:60]], ""),  # too short to tell
        (["12 34. 56 78. " * 60], ""),  # no letters
        (["select row from rows where id = 17; def f(x): return x + 1; GET /index.html 200 " * 9], ""),  # no prose
        (["The pump (die Pumpe) of the town has a valve, and it is open. " + GERMAN[:120]], ""),
        (["Hans Müller, José García and Zoë Brontë met Søren Ørsted at the river, and then they all went home."], ""),
    ],
)
def test_text_in_another_language_in_latin_letters_is_told_of_once(
    texts: list[str], said: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_warning, "_warned", set())
    monkeypatch.setattr(language_warning, "_looked", 0)
    with caplog.at_level(logging.WARNING, "pychunk"):
        for _ in range(2):
            pychunk.segment(texts)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == bool(said)
    assert all(said in each and 'Pass "auto"' in each and "pieces of words" in each for each in told)


def test_only_the_first_documents_of_a_process_are_examined_for_their_language(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_warning, "_warned", set())
    monkeypatch.setattr(language_warning, "_looked", 0)
    with caplog.at_level(logging.WARNING, "pychunk"):
        pychunk.segment(["The pump of the town."] * language_warning._LANGUAGES + [GERMAN])
        pychunk.segment([GERMAN])
    assert not caplog.records
