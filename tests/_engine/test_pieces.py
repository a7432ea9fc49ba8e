"""The fingerprint of a SentencePiece vocabulary changes with every part of it."""

from dataclasses import replace

import numpy as np

from pychunk._engine.data.pieces import PieceVocabulary

MADE = PieceVocabulary(["<unk>", "a", "b"], np.zeros(3), np.array([3, 0, 0], np.uint8), "tokenizers")


def test_the_fingerprint_depends_on_every_part() -> None:
    changed = [
        replace(MADE, pieces=["<unk>", "ab", ""]),
        replace(MADE, scores=np.array([0, 0, 1.0])),
        replace(MADE, kinds=np.array([3, 0, 1], np.uint8)),
        replace(MADE, rules="sentencepiece"),
        replace(MADE, model="bpe"),
        replace(MADE, character_map=b"x"),
        replace(MADE, join_spaces=False),
        replace(MADE, strip_left=True),
        replace(MADE, strip_right=True),
        replace(MADE, split_at_white=True),
        replace(MADE, prefix="never"),
        replace(MADE, unknown=1),
        replace(MADE, byte_ids=[1] * 256),
    ]
    found = [each.fingerprint() for each in (MADE, *changed)]
    assert len(set(found)) == len(found)
    assert replace(MADE, scores=np.zeros(3)).fingerprint() == found[0]
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in found)
