"""Train the table that tells the language of a text from the trigrams of its words.

The text is what ``training.multilingual.texts`` wrote. The fit is a multinomial logistic regression on the mean of the
rows of a text's trigrams, for whole sentences and for parts of them. One half of the sentences of the Leipzig Corpora
Collection measures the table, and nothing of it is learned.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._engine import native
from pychunk._engine.arrow import flat_texts
from pychunk.training.model_folder import write_facts, write_weights
from pychunk.training.teacher import import_torch

from .cards import languages_card
from .multilingual.texts import GENERAL, SOURCES

logger = logging.getLogger(__name__)

NAME = "pychunk-languages"
#: The blocks of code points of each script. Chinese and Japanese share one, in which trigrams of kana decide.
BLOCKS: dict[str, list[tuple[int, int]]] = {
    "Latin": [(0x41, 0x24F), (0x1E00, 0x1EFF)],
    "Cyrillic": [(0x400, 0x52F)],
    "Arabic": [(0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)],
    "Devanagari": [(0x900, 0x97F)],
    "Han and kana": [(0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
                     (0xFF66, 0xFF9D), (0x20000, 0x323AF)],
    "Greek": [(0x370, 0x3FF), (0x1F00, 0x1FFF)], "Armenian": [(0x531, 0x58F)], "Hebrew": [(0x591, 0x5F4)],
    "Thaana": [(0x780, 0x7B1)], "Bengali": [(0x980, 0x9FF)], "Gurmukhi": [(0xA00, 0xA7F)],
    "Gujarati": [(0xA80, 0xAFF)], "Oriya": [(0xB00, 0xB7F)], "Tamil": [(0xB80, 0xBFF)], "Telugu": [(0xC00, 0xC7F)],
    "Kannada": [(0xC80, 0xCFF)], "Malayalam": [(0xD00, 0xD7F)], "Sinhala": [(0xD80, 0xDFF)],
    "Thai": [(0xE00, 0xE7F)], "Lao": [(0xE80, 0xEFF)], "Tibetan": [(0xF00, 0xFFF)], "Myanmar": [(0x1000, 0x109F)],
    "Georgian": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)],
    "Hangul": [(0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)], "Ethiopic": [(0x1200, 0x139F)],
    "Khmer": [(0x1780, 0x17FF)], "Mongolian": [(0x1800, 0x18AF)],
}  # fmt: skip
#: The scripts of which each letter counts, and not the trigrams of its word.
BY_LETTER = ("Han and kana",)
#: The languages of codes that the sources use for one and the same, or that differ in name alone.
SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}
#: The fewest sentences to learn from that a language must have, and the most that are read.
LEAST, MOST = 400, 20_000
#: The languages of scripts in which the sources have too few sentences. Each is the only one of its script.
BY_SCRIPT = {"Kannada": "kn", "Sinhala": "si", "Lao": "lo", "Myanmar": "my", "Ethiopic": "am", "Tibetan": "bo"}
#: With so many sentences of general text, manuals of software are left out.
ENOUGH = 3000
#: Classes of trigrams.
ROWS = 8192
#: A language is written in a script that has this share of its letters.
SHARE = 0.3


def letters() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return ranges of letters with their script, uint32[n, 3], and letters with their lower case, uint32[m, 2]."""
    ranges: list[list[int]] = []
    lower: list[tuple[int, int]] = []
    for number, blocks in enumerate(BLOCKS.values()):
        for first, last in blocks:
            for c in range(first, last + 1):
                if unicodedata.category(chr(c))[0] not in "LM":
                    continue
                small = chr(c).lower()
                if len(small) == 1 and small != chr(c):
                    lower.append((c, ord(small)))
                if ranges and ranges[-1][1] == c - 1 and ranges[-1][2] == number:
                    ranges[-1][1] = c
                else:
                    ranges.append([c, c, number])
    return np.array(ranges, np.uint32), np.array(lower, np.uint32)


def gather(folder: Path, random: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the sentences of each language to learn from, and those to measure with."""
    learn: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    measure: dict[str, list[str]] = defaultdict(list)
    with (folder / "documents.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            document = json.loads(line)
            language = SAME.get(document["language"], document["language"])
            if document["source"] == "leipzig" and len(measure[language]) < len(learn[language]["leipzig"]):
                measure[language].extend(document["sentences"])
            else:
                learn[language][document["source"]].extend(document["sentences"])
    english = {sentence for sentences in learn["en"].values() for sentence in sentences}
    found = {}
    for language, sources in sorted(learn.items()):
        general = [sentence for name in sorted(sources) if name in GENERAL for sentence in sources[name]]
        manuals = [sentence for name in sorted(sources) if name not in GENERAL for sentence in sources[name]]
        if language != "en":  # Manuals keep English where a translation lacks.
            manuals = [sentence for sentence in manuals if sentence not in english]
        own = general if len(general) >= ENOUGH and language != "en" else general + manuals
        # Without general text, manuals in Latin letters may be in English for the most part.
        is_known = len(general) >= LEAST // 4 or latin_share(manuals) < 0.5
        if len(own) >= LEAST and is_known:
            found[language] = [own[at] for at in random.permutation(len(own))[:MOST]]
    return found, {language: measure[language] for language in found if measure.get(language)}


def latin_share(sentences: list[str]) -> float:
    """Return the share of ASCII letters among all letters of the first sentences."""
    found = [c for c in "".join(sentences[:500]) if c.isalpha()]
    return sum(map(str.isascii, found)) / max(1, len(found))


def parts(sentences: list[str], random: np.random.Generator) -> list[str]:
    """Return a part of each sentence, of 20 to 100 characters."""
    cut = []
    for sentence in sentences:
        size = int(random.integers(20, 100))
        begin = int(random.integers(0, max(1, len(sentence) - size)))
        cut.append(sentence[begin : begin + size])
    return cut


def possible(texts: dict[str, list[str]], ranges: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return for each script and language whether the language is written in it, uint8[s, l]."""
    of = np.zeros(0x110000, np.int64) - 1
    for first, last, script in ranges.tolist():
        of[first : last + 1] = script
    found = np.zeros((len(BLOCKS), len(texts)), np.uint8)
    for at, sentences in enumerate(texts.values()):
        points = np.frombuffer("".join(sentences[:2000]).encode("utf-32-le"), np.uint32)
        counts = np.bincount(of[points] + 1, minlength=len(BLOCKS) + 1)[1:]
        counts[0] //= 2  # Other scripts quote names in Latin letters.
        found[:, at] = counts >= SHARE * counts.sum()
    return found


def main() -> int:
    """Train, measure and write the table."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True, help="folder that training.multilingual.texts wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder for languages.npz and languages.json")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    learn, measure = gather(options.texts, random)
    ranges, lower = letters()
    written_in = possible(learn, ranges)
    for script, language in BY_SCRIPT.items():
        assert language not in learn, f"{language} has text: it is no more alone"
        learn[language] = []
        own = np.arange(len(BLOCKS)) == list(BLOCKS).index(script)
        written_in = np.column_stack([written_in, own.astype(np.uint8)])
    # The languages of a script are next to each other, so that the core adds up few columns.
    order = np.lexsort((np.arange(len(learn)), written_in.argmax(axis=0)))
    names, written_in = [list(learn)[at] for at in order], np.ascontiguousarray(written_in[:, order])
    learn = {name: learn[name] for name in names}
    logger.info("%d languages: %s", len(names), " ".join(names))
    alone = np.array([script in BY_LETTER for script in BLOCKS], np.uint8)
    core = native.languages(ranges, lower, alone, written_in, np.zeros((ROWS, len(names)), np.int8))
    texts = [text for sentences in learn.values() for text in [*sentences, *parts(sentences, random)]]
    sizes = [2 * len(sentences) for sentences in learn.values()]
    labels = np.repeat(np.arange(len(names)), sizes)
    weights = fit(core, texts, labels, written_in, options.epochs, options.seed)
    step = float(np.quantile(np.abs(weights), 0.9995)) / 127
    table = np.clip(np.rint(weights / step), -127, 127).astype(np.int8)
    made = native.languages(ranges, lower, alone, written_in, table)
    figures = {name: accuracy(made, sentences, names.index(name)) for name, sentences in measure.items()}
    logger.info("%s", figures)
    arrays = {"letters": ranges, "lower": lower, "alone": alone, "written_in": written_in, "weights": table}
    facts = {
        "format": 1,
        "name": NAME,
        **write_weights(options.out / "languages.npz", arrays, compressed=True),
        "languages": names,
        "rows": ROWS,
        "scripts": list(BLOCKS),
        "sentences": {name: len(sentences) for name, sentences in learn.items()},
        "accuracy": figures,
        "mean": round(float(np.mean(list(figures.values()))), 4),
        "sources": SOURCES,
        "licence": "Apache-2.0",
        "command": f"python -m training.languages --epochs {options.epochs} --seed {options.seed}",
    }
    write_facts(options.out / "languages.json", facts, languages_card.card(facts))
    return 0


def accuracy(core: Any, sentences: list[str], language: int) -> float:
    """Return the share of sentences whose language is found."""
    found = core.detect(*flat_texts(sentences), 2)
    return round(float((found == language).mean()), 4)


def fit(
    core: Any,
    texts: list[str],
    labels: npt.NDArray[np.int64],
    written_in: npt.NDArray[np.uint8],
    epochs: int,
    seed: int,
) -> npt.NDArray[np.float32]:
    """Return the weights of each class of trigrams for each language, float32[ROWS, l]."""
    torch = import_torch()
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    ids, offsets = core.classes(*flat_texts(texts))
    kept = np.flatnonzero(np.diff(offsets) > 0)
    # A text is compared with the languages that share a script with its own.
    shared = written_in.T.astype(int) @ written_in
    mask = torch.from_numpy(np.where(shared > 0, 0.0, -1e9).astype(np.float32))
    rows = torch.nn.Parameter(torch.zeros(ROWS, written_in.shape[1]))
    optimizer = torch.optim.Adam([rows], lr=0.3)
    random = np.random.default_rng(seed)
    batch, total, done = 4096, epochs * (len(kept) // 4096 + 1), 0
    for epoch in range(epochs):
        order = random.permutation(kept)
        loss_sum = 0.0
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            begins, lengths = offsets[chosen], offsets[chosen + 1] - offsets[chosen]
            at = np.concatenate([[0], np.cumsum(lengths)])
            taken = ids[np.repeat(begins - at[:-1], lengths) + np.arange(at[-1])]
            optimizer.param_groups[0]["lr"] = 0.3 * (1 - done / total)
            logits = torch.nn.functional.embedding_bag(
                torch.from_numpy(taken.astype(np.int64)), rows, torch.from_numpy(at[:-1]), mode="mean"
            )
            own = torch.from_numpy(labels[chosen])
            loss = torch.nn.functional.cross_entropy(logits + mask[own], own)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(chosen)
            done += 1
        logger.info("epoch %d/%d: cross-entropy %.4f", epoch + 1, epochs, loss_sum / len(order))
    return np.asarray(rows.detach().numpy())


if __name__ == "__main__":
    sys.exit(main())
