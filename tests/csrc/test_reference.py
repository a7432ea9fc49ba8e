"""The native engine equals the NumPy reference, bit for bit."""

import textwrap

import numpy as np
import pytest
from code_texts import definitions_of_python
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine import native as _native
from pychunk._engine.data.blocks import Blocks
from pychunk._engine.data.columns import CUT_REASONS
from pychunk._engine.data.cuts import Cuts
from pychunk._engine.data.features import Features
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.request import Request
from pychunk._engine.reference import engine, hashing, vectors
from pychunk._engine.reference.document import token_ids
from pychunk._engine.reference.text import wordpiece
from pychunk.encoders import static_encoder
from pychunk.parsing.converters import code, definitions

WORDS = st.sampled_from(
    [
        *("Cats", "purr", "loudly", "Dr.", "the", "sun", "burns", "hydrogen", "café", "naïve", "中国", "3.14", "U.S."),
        *(".", ".", "!", "?", "\n", "\n\n", "\f", "—", "👍", "x" * 130, "é" * 40, "Ukraine's", "(so", "said)", "[6]"),
        *("\n\n", "\n", "History", "# Early life", "== Works ==", "- item", "Such as:", "***", "12", "<br>", "“", "”"),
        *("👩‍👩‍👧‍👦" * 3, "🇺🇦🇬🇧🇫🇷", "e\u0301" * 60, "नमस्ते" * 30, "ภาษาไทย" * 20, "中文没有空格。" * 9, "각각" * 40),
    ]
)
GAPS = st.sampled_from([" "] * 12 + ["\v", "\f", "\x1f", "\x85", ""])  # BERT drops some of these, so that words fuse
TEXTS = st.lists(st.lists(st.tuples(WORDS, GAPS).map("".join), max_size=45).map("".join), max_size=3)

OPTIONS = st.one_of(
    st.fixed_dictionaries({"method": st.sampled_from(["sentence", "paragraph", "page"])}),
    st.fixed_dictionaries(
        {"method": st.just("cluster"), "unit": st.sampled_from(["tokens", "tokens", "words", "characters"])}
    ),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from(["fixed", "recursive"]),
            "size": st.integers(2, 40),
            "unit": st.sampled_from(["tokens", "words", "characters"]),
            "balance": st.booleans(),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.just("semantic"),
            "threshold": st.sampled_from([("percentile", 20), ("std", 1), ("iqr", 1.5), ("gradient", 80), 0.2]),
            "window": st.integers(1, 3),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.just("nsp"),
            "encoder": st.just("static"),
            "threshold": st.sampled_from([None, 0.5, ("percentile", 30), ("std", 0.5)]),
        }
    ),
    st.fixed_dictionaries({"method": st.just("topic"), "size": st.integers(5, 400)}),
    st.fixed_dictionaries(
        {
            "method": st.just("structure"),
            "encoder": st.just("static"),
            "size": st.integers(7, 60),
            "unit": st.sampled_from(["tokens", "words", "characters"]),
            "within": st.sampled_from(["size", "topic", "semantic", "nsp"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.just("pic"),
            "summary": st.sampled_from(["extractive", "mean", "lead", "sentence", "random"]),
            "k": st.sampled_from([0.0, 0.5, -1.0]),
            "summaries_out": st.booleans(),
        }
    ),
)
BUDGETS = st.fixed_dictionaries(
    {
        "max_tokens": st.sampled_from([None, 8, 30]),
        "min_tokens": st.sampled_from([0, 5, "auto"]),
        "keep_together": st.booleans(),
        "overlap": st.sampled_from([0, 0, 1, 6]),
        "vectors": st.sampled_from([None, "chunk", "sentence"]),
        "unwrap_lines": st.sampled_from(["auto", True, False]),
    }
)


def check_equal(segmenter: pychunk.Segmenter, texts: list[str], **given_values: object) -> None:
    for bare, _ in segmenter.requests(segmenter.read(texts, given_values)[1]):
        request = segmenter.models.complete(bare, _native)
        if not segmenter.plan.cuts_text:
            check_cuts(_native.cuts(request), engine.cuts(request))
            check_cuts(_native.cuts(request, held=True), engine.cuts(request, held=True))
        native, reference = _native.segment(request), engine.segment(request)
        for name in ("tokens_met", "fallback_tokens"):
            native.pop(name), reference.pop(name)
        assert native.keys() == reference.keys()
        for name, column in native.items():
            is_text = column.dtype == np.int8 and reference[name].dtype == np.uint8
            mine = column.view(np.uint8) if is_text else column
            np.testing.assert_array_equal(mine, reference[name], err_msg=name)
            assert mine.dtype == reference[name].dtype


def check_cuts(native: Cuts, reference: Cuts) -> None:
    np.testing.assert_array_equal(native.first, reference.first)
    np.testing.assert_array_equal(native.offsets, reference.offsets)
    assert native.pairs == reference.pairs
    assert (native.relevance is None) == (reference.relevance is None)
    assert (native.score is None) == (reference.score is None)
    if native.relevance is not None:
        np.testing.assert_array_equal(native.relevance, reference.relevance)
    if native.score is not None:
        np.testing.assert_array_equal(native.score.values, reference.score.values)
        np.testing.assert_array_equal(native.score.offsets, reference.score.offsets)


@settings(max_examples=150, deadline=None)
@given(texts=TEXTS, options=OPTIONS, budget=BUDGETS)
def test_every_method_equals_the_reference(texts: list[str], options: dict, budget: dict) -> None:
    if "size" in options and budget["overlap"] >= options["size"]:
        budget = {**budget, "overlap": 0}
    check_equal(pychunk.Segmenter(**options, **budget), texts)


@settings(max_examples=30, deadline=None)
@given(
    sources=st.lists(definitions_of_python(), min_size=1, max_size=3),
    size=st.integers(10, 400),
    within=st.sampled_from(["size", "topic", "semantic"]),
    balance=st.booleans(),
)
def test_code_equals_the_reference(sources: list[str], size: int, within: str, balance: bool) -> None:
    pytest.importorskip("tree_sitter", reason="code is parsed by tree-sitter (extra code)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(definitions, "WHOLE", 20)
        found = [code.convert(source.encode(), ".py").blocks for source in sources]
    blocks = Blocks(
        np.cumsum([0, *(len(each.kind) for each in found)]),
        *(np.concatenate([getattr(each, name) for each in found]) for name in ("kind", "level", "start", "end")),
    )
    options = {"size": size, "unit": "characters", "within": within, "balance": balance, "encoder": "static"}
    check_equal(pychunk.Segmenter("structure", **options), sources, blocks=blocks)


CYRILLIC = st.lists(
    st.sampled_from(
        ["Препарат", "знімає", "біль", "Він", "діє", "швидко.", "Побічні", "дії.", "12", "mg", "中文", "\n\n", "\n"]
    )
    | st.just("Застосування" * 12),
    max_size=60,
).map(" ".join)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(CYRILLIC, max_size=3),
    options=OPTIONS,
    limits=st.sampled_from([(8, 0), (8, 4), (30, 9), (0, 9)]),
    overlap=st.sampled_from([0, 0, 3]),
)
def test_automatic_limits_of_another_script_equal_the_reference(
    texts: list[str], options: dict, limits: tuple[int, int], overlap: int
) -> None:
    if overlap >= options.get("size", 9):
        overlap = 0
    made = pychunk.Segmenter(**options, overlap=overlap)
    made.plan = made.plan.with_(max_tokens=limits[0], min_tokens=limits[1], auto_limits=True)
    check_equal(made, texts)


def test_a_given_sentence_may_begin_with_the_white_space_behind_a_piece() -> None:
    text = "S don't etc. COVID-19 a;.5.a"
    made = pychunk.Segmenter("cluster", max_tokens=5)
    spans = [[(0, 15), (15, 21), (21, 28)]]
    assert text[21] == " "
    check_equal(made, [text], sentence_spans=spans)
    cuts = [
        (chunk.text, chunk.end_reason) for chunk in made([text], columns={"sentence_spans": spans}).by_document()[0]
    ]
    assert cuts[2] == ("VID-19", "score")


def test_a_given_sentence_of_white_space_counts_for_nothing() -> None:
    text = "E.g. me@example.org. "
    made = pychunk.Segmenter("fixed", size=20, unit="characters")
    spans = [[(0, 5), (5, 11), (11, 20), (20, 21)]]
    check_equal(made, [text], sentence_spans=spans)
    assert [chunk.text for chunk in made([text], columns={"sentence_spans": spans})] == [text.strip()]
    blank = [[(0, 3), (3, 5), (5, 9)]]
    check_equal(pychunk.Segmenter("fixed", size=4, unit="characters"), ["One  two."], sentence_spans=blank)

    text, spans = "aa bb cc.[1] r.e.", [[(0, 12), (12, 13), (13, 17)]]
    labelled = pychunk.Segmenter("pic", max_tokens=3)
    check_equal(labelled, [text], sentence_spans=spans)
    kinds = {chunk.text: chunk.relevance for chunk in labelled([text], columns={"sentence_spans": spans})}
    assert kinds["[1]"] == kinds["aa bb"] == "relevant"


@pytest.mark.parametrize("spans", [[(0, 4), (5, 7), (8, 21)], [(0, 4), (8, 21), (22, 25)]])
def test_lines_without_a_sentence_in_them_equal_the_reference(spans: list[tuple[int, int]]) -> None:
    text = "Cats\n \x0b\nThe cats sat.\n\u202f\n\n"
    assert not text[spans[1][0] : spans[1][1]].strip() or not text[spans[2][0] : spans[2][1]].strip()
    check_equal(pychunk.Segmenter("sentence"), [text], sentence_spans=[spans])


@settings(max_examples=40, deadline=None)
@given(
    texts=TEXTS,
    size=st.integers(3, 40),
    unit=st.sampled_from(["tokens", "words", "characters"]),
    overlap=st.integers(0, 2),
    max_tokens=st.sampled_from([None, 8]),
    vectors=st.sampled_from([None, "chunk", "sentence"]),
    separators=st.sampled_from([["\n\n", "\n", " ", ""], [". ", " "], ["\n"]]),
)
def test_separators_equal_the_reference(
    texts: list[str],
    size: int,
    unit: str,
    overlap: int,
    max_tokens: int | None,
    vectors: str | None,
    separators: list[str],
) -> None:
    options = {"size": size, "unit": unit, "overlap": overlap, "max_tokens": max_tokens, "vectors": vectors}
    options["separators"] = separators
    check_equal(pychunk.Segmenter("recursive", **options), texts)


def test_a_character_over_the_limit_is_not_repeated_alone() -> None:
    options = {"size": 2, "unit": "characters", "separators": ["", "a"], "max_tokens": 1, "overlap": 1}
    segmenter = pychunk.Segmenter("recursive", **options)
    check_equal(segmenter, ["a\uc5b4 ", "ab\uc5b4 c"])
    assert segmenter("a\uc5b4 ").texts == ["a", "\uc5b4"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, options=OPTIONS, dim=st.sampled_from([1, 7, 32, 33]), seed=st.integers(0, 99), data=st.data())
def test_vectors_from_elsewhere_equal_the_reference(
    texts: list[str], options: dict, dim: int, seed: int, data: st.DataObject
) -> None:
    by = options.get("within", options["method"])
    assume(by not in ("nsp", "topic"))  # which score pairs by models of their own vectors
    spans = [[(a, max(a + 1, b - 1)) for a, b in row] for row in pychunk.split_sentences(texts)]
    random = np.random.default_rng(seed)
    matrices = [random.normal(size=(len(row), dim)) for row in spans]
    budget = data.draw(BUDGETS)
    if "size" in options:
        budget["overlap"] = 0
    given_values: dict[str, object] = {"sentence_vectors": matrices, "sentence_spans": spans}
    if options["method"] == "pic":
        options = {**options, "summary": "given"}
        given_values["summaries"] = random.normal(size=(len(texts), dim))
    check_equal(pychunk.Segmenter(**options, **budget), texts, **given_values)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(texts=TEXTS, data=st.data())
def test_given_summaries_and_pages_equal_the_reference(texts: list[str], data: st.DataObject) -> None:
    summaries = [data.draw(st.lists(WORDS, max_size=8).map(" ".join)) for _ in texts]
    pages = [sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=3))) for text in texts]
    segmenter = pychunk.Segmenter("pic", summary="given", max_tokens=20)
    check_equal(segmenter, texts, summaries=summaries, page_starts=pages)


@pytest.mark.slow
def test_articles_equal_the_reference(articles: list[str]) -> None:
    for method in ("pic", "semantic", "fixed", "nsp", "topic"):
        segmenter = pychunk.Segmenter(method, encoder="static", max_tokens=100, min_tokens=10)
        check_equal(segmenter, [text[:3000] for text in articles[:6]])


STOPS = st.sampled_from(
    [
        "。“",
        "！”",
        "。」と",
        "」って",
        *".!?…。।",
        ". ",
        ".. ",
        "! ",
        "? ",
        '." ',
        ".) ",
        ". (",
        '. "',
        ". '' ",
        ".[3] ",
        " .",
        ":) ",
        " » ",
    ]
)
MARKS = st.sampled_from(
    [*" \"'(),;:-–—[]*_/#№\n\r\f\x85\u2028\u00a0", "\n\n", "\r\n", " ,,", "``", "- ", "> ", "| ", "[...] "]
)
LISTED = st.sampled_from(
    [
        *("Mr", "No", "no", "e.g", "etc", "Inc", "U.S", "п", "т", "д", "Fig", "BP", "GEN", "lat", "z", "B", "Chr", "I"),
        *("The", "Der", "und", "of", "3", "12", "20", "1990", "2.3.1", "18.35", "XIV", "Oktober", "it", "ago", "word"),
        *(
            "Word",
            "Слово",
            "слово",
            "Ännu",
            "ännu",
            "ș",
            "ẖ",
            "Ӏ",
            "漢字",
            "हिन्दी",
            "x" * 90,
            "ab " * 12,
            "Chapter one",
        ),
    ]
)
#: The words of other languages in the rules: titles, names of letters, stops, quotations and their speakers.
SCRIPTS = st.sampled_from(
    [
        *("डॉ", "एस", "आई", "है", "क", "कि", "२.१", "ন", "கோ", "د", "آئی", "م", "א", "ศ", "1990", "12", "۔", "।"),
        *("?", ";", "\u037e", "Τι", "είναι", "α", "Ա", "։", "10", "།", "༎", " །", "བོད", "他", "说", "知道", "了", "……"),
        *("“", "”", "「", "」", "。", "！", "，", "いた", "言った", "と", "—", "–", "Jan", "라고", "하고", "나"),
        *("EE", "UU", "GS", "PGS.TS", "ThS", "Hồ", "Đ", "J", "R", "Moss", "г", "р", "А", "Проф", "Dr", "med", "str"),
        *("१२", "zapytał", "Univ.-Prof", "ود", "वा", "மு", "வா"),
        *("Fed", "Civ", "Me", "Reg", "(EU)", "(a)", "subsecs", "Rdnr", "U.S.A", "E.D", "My", "I", "Su", "suiv"),
        *("-", "Nord-", "\n", "\n", "\n> ", "Fuß\u2010", "see", "See", "tp", "\u0138", "İ", "Ÿ", "À", "Č", "ǅ"),
    ]
)
WRAPS = st.sampled_from(["auto", True, False])
SNIPPETS = st.lists(st.one_of(LISTED, LISTED, STOPS, STOPS, MARKS, st.just(" "), st.characters()), max_size=60)


@settings(max_examples=500, deadline=None)
@given(pieces=SNIPPETS, unwrap_lines=WRAPS)
def test_sentences_equal_the_reference(pieces: list[str], unwrap_lines: str | bool) -> None:
    check_sentences("".join(pieces), unwrap_lines)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    pieces=st.lists(st.one_of(SCRIPTS, SCRIPTS, LISTED, st.just(" "), st.just(". ")), max_size=40), unwrap_lines=WRAPS
)
def test_sentences_of_other_scripts_equal_the_reference(pieces: list[str], unwrap_lines: str | bool) -> None:
    check_sentences("".join(pieces), unwrap_lines)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(st.lists(st.one_of(LISTED, SCRIPTS), min_size=1, max_size=6).map(" ".join), max_size=12),
    unwrap_lines=WRAPS,
)
def test_sentences_of_lines_equal_the_reference(lines: list[str], unwrap_lines: str | bool) -> None:
    check_sentences("\n".join(lines), unwrap_lines)


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.one_of(LISTED, st.text("abcdéж", min_size=1, max_size=9)), max_size=150),
    width=st.integers(20, 90),
)
def test_wrapped_sentences_equal_the_reference(words: list[str], width: int) -> None:
    check_sentences("\n".join(textwrap.wrap(". ".join(map(" ".join, batched(words, 7))), width)), "auto")


def check_sentences(text: str, unwrap_lines: str | bool) -> None:
    data = text.encode(errors="replace")
    array, offsets = np.frombuffer(data, np.uint8), np.array([0, len(data)])
    check_split(Request(Features(array, offsets), Plan("sentence", unwrap_lines=unwrap_lines)))


def check_split(request: Request) -> None:
    for mine, expected in zip(_native.split(request), engine.split(request)):
        np.testing.assert_array_equal(mine.values, expected.values)
        np.testing.assert_array_equal(mine.offsets, expected.offsets)


def batched(items: list[str], size: int) -> list[list[str]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def test_sentences_of_real_text_equal_the_reference(articles: list[str]) -> None:
    for text in articles[:20]:
        check_sentences(text[:20000], True)


@pytest.mark.parametrize(
    ("last", "step"),
    [
        (0x3100, 1),
        pytest.param(0x110000, 17, marks=pytest.mark.slow),
        pytest.param(0x110000, 1, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_every_code_point_is_the_same_to_the_reference(last: int, step: int) -> None:
    """This holds for any Unicode version of Python: 830,337 code points had other tokens on 3.11."""
    encoder = static_encoder.load()
    ids, options = token_ids(encoder), encoder.tokenizer_options
    texts = [f"a{chr(c)}b \u0327{chr(c)}\u0301e" for c in range(0, last, step) if not 0xD800 <= c < 0xE000]
    data = "".join(texts).encode()
    offsets = np.cumsum([0, *(len(text.encode()) for text in texts)]).astype(np.int64)
    found, at, _ = _native.encode_words(encoder, np.frombuffer(data, np.uint8), offsets)
    expected = [wordpiece.encode(text, ids, options) for text in texts]
    np.testing.assert_array_equal(np.diff(at), [len(row) for row in expected])
    np.testing.assert_array_equal(found, [each for row in expected for each in row])


@pytest.mark.slow
def test_case_is_the_same_to_the_reference() -> None:
    for first in range(0, 0x3000, 0x400):
        marks = [chr(c) for c in range(first, first + 0x400) if not chr(c).isspace()]
        check_sentences("".join(f"We saw 5 cats purring! {c}x ran. " for c in marks), False)


def test_an_encoder_at_the_address_of_another_has_its_own_tokens() -> None:
    class Encoder:
        def __init__(self, *vocabulary: str) -> None:
            self.vocabulary = vocabulary

    for token in ("a", "b", "c", "d"):
        assert token_ids(Encoder(token)) == {token: 0}  # each made at the memory address of the previous one


@given(st.binary(max_size=70))
def test_hash_equals_the_reference(data: bytes) -> None:
    low, high = hashing.hash128(data)
    assert _native.hash128(data) == f"{high:016x}{low:016x}"


@pytest.mark.parametrize("dim", [1, 31, 32, 33, 64, 256, 1000])
def test_dot_and_norm_equal_the_reference(dim: int) -> None:
    random = np.random.default_rng(dim)
    for scale in (1.0, 1e-25, 1e18, 1e25):
        a, b = (random.normal(size=(2, dim)) * scale).astype(np.float32)
        if scale < 1e20:  # above this, products are infinite; only the norm handles that
            assert _native.dot(a, b) == vectors.dot(a, b)
        rows, bad = _native.normalized_rows(np.stack([a, b]))
        assert bad == -1
        np.testing.assert_array_equal(rows, [vectors.normalize(a), vectors.normalize(b)])


@given(st.integers(0, 2**32 - 1), st.integers(0, 3000), st.integers(1, 300))
@settings(max_examples=30, deadline=None)
def test_unit_sums_equal_the_reference(seed: int, rows: int, dim: int) -> None:
    random = np.random.default_rng(seed)
    own, added = (random.normal(size=(n, dim)).astype(np.float32) for n in (rows, 5))
    own[random.random(rows) < 0.1] = 0
    added[2] = 0
    chosen = random.integers(0, 5, rows)
    found = _native.unit_sums(own, (chosen, added))
    np.testing.assert_array_equal(_native.pack_rows(own, (chosen, added)), _native.pack_rows(found))
    changed = own.any(axis=1) & added[chosen].any(axis=1)
    np.testing.assert_array_equal(found[~changed], own[~changed])
    wanted = [vectors.normalize(a + b) for a, b in zip(own[changed], added[chosen[changed]], strict=True)]
    np.testing.assert_array_equal(found[changed], np.reshape(wanted, (-1, dim)))


def test_sums_of_rows_that_do_not_exist_are_refused() -> None:
    own, added = np.ones((3, 4), np.float32), np.ones((2, 4), np.float32)
    for chosen, others, says in (
        ([0, 1], added, "chosen must hold 3 values, got 2"),
        ([0, 1, 2], added, "each of chosen must be from 0 to 1, got 2"),
        ([0, 1, -1], added, "each of chosen must be from 0 to 1, got -1"),
        ([0, 1, 0], np.ones((2, 5), np.float32), "added must be 4 wide, got 5"),
    ):
        with pytest.raises(ValueError, match=says):
            _native.unit_sums(own, (np.array(chosen), others))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_named(bad: float) -> None:
    rows = np.full((5, 40), 1e25, np.float32)  # whose squares overflow nevertheless
    rows[3, 17] = bad
    assert _native.normalized_rows(rows)[1] == 3


def test_the_reference_runs_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = pychunk.segment("Cats purr. Dogs bark. The sun is a star.").table
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    out = pychunk.segment("Cats purr. Dogs bark. The sun is a star.")
    assert out.table.equals(expected)
    assert out.metadata["backend"] == "reference"
    monkeypatch.setenv("PYCHUNK_BACKEND", "fortran")
    with pytest.raises(ValueError, match="PYCHUNK_BACKEND must be"):
        pychunk.segment("x")


def test_sentences_with_pages_and_given_spans_equal_the_reference() -> None:
    texts = ["Cats purr. Dogs bark at night.\n\nThe sun is a star.", "", "中国 is big. Yes."]
    segmenter = pychunk.Segmenter("pic")
    for given_values in (
        {"page_starts": [[3, 14], [], [1]]},
        {"sentence_spans": [[(0, 10), (11, 40)], [], [(0, 12)]], "sentence_vectors": np.ones((3, 4))},
    ):
        for request, _ in segmenter.requests(segmenter.read(texts, given_values)[1]):
            check_split(request.only_sentences())


def test_a_cut_that_moves_takes_its_reason_along() -> None:
    """The nearer of two cuts that move to one boundary gives its reason; an existing cut keeps its own.

    The cuts come from either side of the boundary.
    """
    rain = "Rain fell all day long on the hills and the rivers rose."
    sun = "The sun is a star that burns hydrogen in its core."
    lead = f"{rain}\n# A\n## B\n### C\n{sun} It burns."
    trail = f"{rain}\n\nIt rains. \n\n***\n\n<br>\n\n{sun}"
    for text, firsts, expected in ((lead, [0, 2, 3], "score"), (lead, [0, 1, 2], "score"), (trail, [0, 2, 3], "page")):
        assert len(pychunk.split_sentences(text)[0]) > max(firsts)
        reasons = np.array([CUT_REASONS.index(name) for name in ("sentence", "score", "page")], np.int8)
        made = Cuts(np.array(firsts, np.int32), np.array([0, 3]), reason=reasons)
        segmenter = pychunk.Segmenter("precomputed", keep_together=True)
        check_equal(segmenter, [text], cuts=made)
        assert next(iter(segmenter([text], columns={"cuts": made}))).end_reason == expected
