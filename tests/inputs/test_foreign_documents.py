"""Documents that are certainly not English: other scripts, and prose in Latin letters; no code, logs or short texts."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine.arrow import flat_text
from pychunk.inputs.foreign_documents import foreign_languages

GERMAN = "Der Bahnhof liegt im Norden der Stadt, und er wurde später mehrfach erweitert. " * 4
ENGLISH = "The station lies in the north of the town, and it was extended several times later. " * 4
CODE = "def add(rows, at=0):\n    return [row[at] + 17 for row in rows if row[at] > 3]\n" * 9


def of(texts: list[str], threads: int = 1) -> list[str | None]:
    return foreign_languages(*flat_text(pa.array(texts, pa.large_string())), threads)


def test_other_scripts_and_prose_in_latin_letters_are_found() -> None:
    assert of([GERMAN, ENGLISH, "Где вокзал?", "駅はどこですか。", "", CODE, "42 17", GERMAN[:60]]) == [
        *("de", None, "ru", "ja"),
        *[None] * 4,
    ]


MARKUP = """# Pumpen

Siehe [die Anleitung](https://example.org/pumps/install.html) und `pump --start`:

```sh
pip install pump && pump start --now --verbose --in the background and with a log
```

- **Schalter**: Er muss auf 1 stehen, bevor die Pumpe läuft.
- **Ventil**: Es wird erst geöffnet, wenn der Druck 2,5 bar erreicht hat.
"""


def test_markup_does_not_hide_a_language() -> None:
    tags = "<p class='intro'>Der <b>Bahnhof</b> liegt im Norden der Stadt, und er wurde oft <i>erweitert</i>.</p>" * 3
    letter = "Müller GmbH, 10. 3. 2024\n\n" + GERMAN + "\nTel. 0171 2345678, 12.400,00 EUR, Nr. 17-B/4, IBAN DE12 3456"
    fence = "```sh\npip install it && it start with the defaults\n```"
    russian = f"Вот как его можно установить, если это ещё не сделано:\n\n{fence}\nПосле этого насос работает."
    assert of([MARKUP, tags, letter, russian, f"<div class='a b'>{russian}</div>"]) == ["de"] * 3 + ["ru"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "├── src\n│   ├── main.py\n│   └── lib.rs\n└── README.md\n",
        "─────────────\n Total  │ Price │ Date\n─────────────",
        "🎉🎉🎉🎉 🚀🚀🚀 done ✅✅✅",
        "Downloading ████████ 100%\nInstalling ████ 40%",
        "• • • • • Item • ▪ ▪ ▪ one • • two",
        "The angle α, β and γ. θ=π/2, and φ as well as ψ are small.",
        "hɛˈləʊ, ðɪs ɪz ən ˈɪŋglɪʃ ˈsɛntəns",
        "\ue000\ue001\ue002 table",
    ],
)
def test_symbols_make_no_language(text: str) -> None:
    assert of([text]) == [None]


def test_a_document_in_two_languages_is_not_certain() -> None:
    assert of([GERMAN + ENGLISH, ENGLISH + GERMAN, GERMAN + CODE]) == [None] * 3


@given(st.lists(st.text() | st.sampled_from([GERMAN, ENGLISH, CODE, "Где вокзал?"]), max_size=8))
def test_a_document_is_judged_alone_with_any_number_of_threads(texts: list[str]) -> None:
    found = of(texts)
    assert found == [of([text])[0] for text in texts] == of(texts, threads=3)
    assert "en" not in found


DATA = Path(os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@pytest.mark.skipif(not (DATA / "xquad").is_dir(), reason="no XQuAD in $PYCHUNK_DATA")
def test_paragraphs_of_xquad_are_in_their_languages() -> None:
    for file in sorted((DATA / "xquad").glob("*.json")):
        language = file.name.split(".")[1]
        data = json.loads(file.read_text(encoding="utf-8"))["data"]
        found = of([part["context"] for article in data for part in article["paragraphs"]])
        wanted = None if language == "en" else language
        assert np.mean([each == wanted for each in found]) > (0.99 if wanted is None else 0.95), language
