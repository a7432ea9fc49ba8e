"""SentencePiece's tokenizers: the core gives the same tokens as the reference, with and without its cache of words."""

import random
from typing import Any

import numpy as np
import pytest
from character_maps import stored
from hypothesis import given, settings
from hypothesis import strategies as st
from token_texts import errors_name

from pychunk._engine import native
from pychunk._engine.data.pieces import NORMAL, RESERVED, UNUSED, USER_DEFINED, PieceVocabulary
from pychunk._engine.reference.text import sentencepiece as reference

#: Replacements such as those of NFKC: removed controls, spaces, ligatures, accents, and keys that begin with others.
MAP = stored(
    {
        **dict.fromkeys("\x01\x02\x7f", ""),
        **dict.fromkeys("\t\n\r\u3000\u00a0\u200b\u2581", " "),
        **{"\ufb01": "fi", "\u00bd": "1\u20442", "\u00a8": " \u0308", "\u0e33": "\u0e4d\u0e32", "\uff0c": ","},
        **{"e\u0301": "\u00e9", "a\u0308": "\u00e4", "o\u0302\u0301": "\u1ed1", "o\u0302": "\u00f4", "\u0301": "'"},
        **{"\u00aa": "a", "\u212a": "K", "\u00bc": "1\u20444 ", "\ufdfa": "\u0635 \u0639"},
        # Marks that make a letter of punctuation, and punctuation of a letter.
        **{",\u0301": "b", "f\u0301": "."},
    }
)
ALPHABET = list("abcdefio .,\t\n\r\x01\x02\x0b\u2581\u3000\u00a0\u200b\ufb01\u00bd\u00a8\u0e01\u0e33\uff0c\u00e9\u0301")
ALPHABET += list(
    "\u0308\u0302\u200d\u0600\u00aa\u00bc\u4e2d\u56fd\u0440\u0443\U0001f44d\U0001f3fd\ue000\x00\u1ed1\u2028"
)
CHARACTERS = st.one_of(st.sampled_from(ALPHABET), st.sampled_from("ab  fo"), st.characters(exclude_categories=["Cs"]))
#: Words that occur again come from the cache, after one space or several.
WORDS = st.sampled_from(
    ["a", "ab", "foo", " ", "  ", "\n", "\r\n", "\u2581", "\ufb01o", "e\u0301", "b\u3000", "\u00a8a", "\x01"]
)
#: Words with punctuation inside, in parts, with equal paths, characters that are no pieces, and marks on punctuation.
PARTS = st.sampled_from(
    ["a", "ab", "foo", "bo", "\u0440\u0443", ",", ".", "--", "---", "(", ".,", "e\u0301", "a,\u0301", ".f\u0301"]
)
DIVIDED = st.lists(st.one_of(PARTS, PARTS, st.sampled_from([" ", *ALPHABET])), max_size=40).map("".join)
TEXTS = st.one_of(st.text(CHARACTERS, max_size=60), st.lists(WORDS, max_size=30).map(" ".join), DIVIDED)


def vocabulary(seed: int, **options: Any) -> PieceVocabulary:
    """Return a vocabulary of random pieces. Some have equal scores, and some user-defined or unused."""
    drawn = random.Random(seed)
    letters = [c for c in ALPHABET if drawn.random() < 0.7 and c not in "\t\n\r \x00"]
    pieces = {"<unk>": RESERVED, "<s>": RESERVED, "\u2581": NORMAL}
    if options.get("divides"):
        letters = [c for c in letters if c not in ".,-("]
        pieces |= dict.fromkeys([*"abfo\u0440.,-(", "..", "--", "---", ".,", ",-", ",-.", "\u2581(", "\u2581,"], NORMAL)
    for _ in range(200):
        word = "".join(drawn.choices([*letters, *"abfo\u2581"], k=drawn.randint(1, 4)))
        inner = word.lstrip("\u2581") if options.get("crosses", False) else word.replace("\u2581", "")
        if inner:
            pieces.setdefault(drawn.choice(["", "\u2581", "\u2581\u2581"]) + inner, NORMAL)
    if options.get("rules") == "sentencepiece":
        pieces |= dict.fromkeys(("<sep>", "foo", "\ufb01"), USER_DEFINED)
        if options.get("model") == "bpe":
            pieces |= dict.fromkeys([p for p in pieces if pieces[p] == NORMAL and drawn.random() < 0.05], UNUSED)
    if options.get("byte_fallback"):
        pieces |= dict.fromkeys((f"<0x{byte:02X}>" for byte in range(256)), RESERVED)
    names = list(pieces)
    scores = [0.0 if pieces[p] != NORMAL else -drawn.choice([2.0, 3.0, drawn.uniform(1, 9)]) for p in names]
    given = {name: value for name, value in options.items() if name not in ("byte_fallback", "crosses", "divides")}
    if options.get("divides"):  # sums such as 0.1 + 0.2 and 0.3, of which rounding errors make one the higher one
        scores = [score and -drawn.randint(1, 9) / 10 for score in scores]
    else:
        scores = np.array(scores, np.float32).tolist()
    return PieceVocabulary(
        names,
        np.array(scores),
        np.array([pieces[p] for p in names], np.uint8),
        byte_ids=[names.index(f"<0x{byte:02X}>") for byte in range(256)] if options.get("byte_fallback") else [],
        **{"rules": "tokenizers", "character_map": MAP, **given},
    )


OPTIONS: list[dict[str, Any]] = [
    {},
    {"join_spaces": False, "byte_fallback": True},
    {"join_spaces": False, "split_at_white": True, "strip_right": True},
    {"character_map": b"", "prefix": "first", "join_spaces": False, "split_at_white": True},
    {"prefix": "never", "strip_left": True, "strip_right": True},
    {"character_map": b""},
    {"rules": "sentencepiece"},
    {"rules": "sentencepiece", "byte_fallback": True, "join_spaces": False, "character_map": b""},
    {"rules": "sentencepiece", "prefix": "never", "join_spaces": False},
    {"rules": "sentencepiece", "crosses": True},
    {"rules": "sentencepiece", "model": "bpe"},
    {"rules": "sentencepiece", "model": "bpe", "byte_fallback": True, "join_spaces": False, "character_map": b""},
    {"rules": "sentencepiece", "model": "bpe", "crosses": True, "prefix": "never"},
    {"divides": True},
    {"divides": True, "join_spaces": False, "byte_fallback": True},
    {"divides": True, "join_spaces": False, "split_at_white": True, "prefix": "first"},
    {"divides": True, "character_map": b"", "prefix": "never", "strip_right": True},
    {"character_map": stored({"\r\n": "b"})},
    {"character_map": stored({"f": " ", "\n": " "})},  # a letter becomes a space
]
VOCABULARIES = [vocabulary(at, **options) for at, options in enumerate(OPTIONS)]
CORES = [(native.piece_tokenizer(v), native.piece_tokenizer(v, cache=False)) for v in VOCABULARIES]


def encode(core: Any, texts: list[str], threads: int = 1) -> list[list[tuple[int, int, int]]]:
    """Return the tokens of texts with their spans. Counts, ids and offsets are checked to agree."""
    data = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, data)]).astype(np.int64)
    joined = np.frombuffer(b"".join(data), np.uint8)
    ids, offsets, counts, spans = native.encode_pieces(core, joined, bounds, "byte_spans", threads=threads)
    alone = native.encode_pieces(core, joined, bounds, "ids", threads=threads)
    assert alone[0].tolist() == ids.tolist()
    assert alone[1].tolist() == offsets.tolist()
    assert native.encode_pieces(core, joined, bounds, "counts", threads=threads)[2].tolist() == counts.tolist()
    assert np.diff(offsets).tolist() == counts.tolist()
    rows = [(int(own), int(a), int(b)) for own, (a, b) in zip(ids, spans, strict=True)]
    return [
        [(own, a - bounds[i], b - bounds[i]) for own, a, b in rows[offsets[i] : offsets[i + 1]]]
        for i in range(len(texts))
    ]


@pytest.mark.parametrize("at", range(len(OPTIONS)), ids=lambda at: "-".join(map(str, OPTIONS[at].values()))[:40])
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_the_core_gives_what_the_reference_gives(at: int, texts: list[str]) -> None:
    wanted = [[tuple(token) for token in reference.encode(text, VOCABULARIES[at])] for text in texts]
    cached, plain = CORES[at]
    assert encode(plain, texts) == wanted
    assert encode(cached, texts) == wanted
    assert encode(cached, [*texts, *texts]) == wanted + wanted  # now from the cache


def test_long_words_and_words_with_many_equal_paths_have_the_pieces_of_the_reference() -> None:
    at = OPTIONS.index({"divides": True})
    drawn = random.Random(7)
    words = ["".join(drawn.choices(["a", "fo", "--", ",-", "."], k=k)) for k in (3, 10, 40, 3000)]
    texts = [" ".join([word, *words[:3], word]) for word in words]
    wanted = [[tuple(token) for token in reference.encode(text, VOCABULARIES[at])] for text in texts]
    for core in CORES[at]:
        assert encode(core, texts) == encode(core, texts) == wanted


@pytest.mark.parametrize("at", [0, 6, 10, 13])
def test_results_do_not_depend_on_batches_threads_or_the_cache(at: int) -> None:
    drawn = random.Random(at)
    words = ["".join(drawn.choices(ALPHABET, k=drawn.randint(1, 9))) for _ in range(3000)]
    texts = [" ".join(drawn.choices(words, k=200)) for _ in range(300)]
    cached, plain = CORES[at]
    wanted = [encode(plain, [text])[0] for text in texts]
    assert encode(cached, texts, threads=2) == wanted
    assert encode(plain, texts, threads=2) == wanted


def test_sums_stay_exact_in_a_long_text() -> None:
    """The package sentencepiece adds scores up in single precision, and resets the sum at 100,000."""
    made = vocabulary(3, rules="sentencepiece")
    drawn = random.Random(5)
    words = ["".join(drawn.choices("abcdefio.,", k=drawn.randint(1, 9))) for _ in range(300)]
    text = " ".join(drawn.choices(words, k=9000))
    wanted = [tuple(token) for token in reference.encode(text, made)]
    assert encode(native.piece_tokenizer(made), [text])[0] == wanted
    assert encode(native.piece_tokenizer(made, cache=False), [text])[0] == wanted


def test_unknown_tokens_at_a_border_are_one() -> None:
    made = PieceVocabulary(
        ["a1-", "\u2581", "a", "b", "1", "-"], -np.arange(1.0, 7), np.zeros(6, np.uint8), rules="tokenizers"
    )
    texts = ["a1-a1-", "a1-b", "ba1-a1-b a1-"]
    wanted = [[tuple(token) for token in reference.encode(text, made)] for text in texts]
    core = native.piece_tokenizer(made)
    assert encode(core, texts) == encode(core, texts) == wanted


def damaged(**changes: Any) -> PieceVocabulary:
    fields = {"pieces": ["<unk>", "a"], "scores": np.zeros(2), "kinds": np.array([3, 0], np.uint8)}
    return PieceVocabulary(**{**fields, "rules": "tokenizers", **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unknown": 2}, "unknown must be the id of one of 2 pieces, got 2"),
        ({"scores": np.zeros(1)}, "scores must hold one entry for each of 2 pieces, got 1"),
        ({"scores": np.array([0, np.nan])}, "scores: the score of piece 1 must be a finite number"),
        ({"kinds": np.array([3, 4], np.uint8)}, "kinds must be from 0 to 3, got 4"),
        ({"pieces": ["a", "a"], "kinds": np.zeros(2, np.uint8)}, "pieces: 'a' has two ids, 0 and 1"),
        ({"byte_ids": [1]}, "bytes must hold 256 ids or none, got 1"),
        ({"byte_ids": [2] * 256}, "bytes must be ids of 2 pieces, got 2"),
        ({"character_map": b"abc"}, "precompiled_charsmap must hold at least 5 bytes, got 3"),
        ({"character_map": b"\0\4\0\0abc"}, "the trie must have a multiple of 1,024 bytes"),
        ({"character_map": MAP[:-1] + b"x"}, "the last replacement must end with a NUL"),
        ({"character_map": MAP[:4] + b"\xff" * 1024 + MAP[1028:]}, "the root of the trie must be a node"),
    ],
)
def test_damaged_vocabularies_are_errors(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        native.piece_tokenizer(damaged(**changes))


@pytest.mark.parametrize("seed", range(100))
def test_damaged_character_maps_are_errors_or_work(seed: int) -> None:
    drawn = random.Random(seed)
    data = bytearray(MAP)
    for _ in range(drawn.randint(1, 6)):
        data[drawn.randrange(len(data))] = drawn.choice([0, 1, 0x80, 0xFF, drawn.randrange(256)])
    for rules in ("tokenizers", "sentencepiece"):
        with errors_name("precompiled_charsmap"):
            core = native.piece_tokenizer(damaged(character_map=bytes(data), rules=rules))
            encode(core, ["".join(drawn.choices(ALPHABET, k=300))])
