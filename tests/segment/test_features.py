"""A call may begin and end anywhere between text and table: given inputs equal those made inside."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from amounts import amounts

import pychunk
from pychunk._engine import native as _native
from pychunk._engine.arrow import flat_texts
from pychunk._engine.data.cuts import Cuts
from pychunk._engine.data.features import PARAGRAPH_START, Features
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.ragged import Ragged
from pychunk._engine.data.request import Request
from pychunk._engine.data.tokens import Tokens
from pychunk._engine.reference import engine as reference
from pychunk._engine.reference import vectors as linear
from pychunk._engine.reference.search import thresholds
from pychunk.features.sentence_features import with_sentences, with_tokens
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.methods import METHODS
from pychunk.methods.base import Method

WORDS = ["cats", "purr", "loudly", "the", "sun", "burns", "hydrogen", "water", "falls", "ż", "日本", "{}", "e\u0301"]
ENGINES = [pytest.param(_native, id="native"), pytest.param(reference, id="reference")]
PLANS: list[dict[str, Any]] = [
    {"method": "sentence"},
    {"method": "paragraph", "max_tokens": 12, "min_tokens": 4},
    {"method": "page", "page_starts": True},
    {"method": "fixed", "size": 12},
    {"method": "fixed", "size": 7, "unit": "words", "vectors": "chunk"},
    {"method": "semantic"},
    {"method": "semantic", "window": 2, "max_tokens": 16, "overlap": 6},
    {"method": "cluster", "max_tokens": 20, "vectors": "sentence"},
    {"method": "pic"},
    {"method": "pic", "k": 0.5, "max_tokens": 14, "min_tokens": 6, "vectors": "chunk"},
    {"method": "pic", "summary": "lead", "max_tokens": None},
    {"method": "nsp", "encoder": "static", "max_tokens": 18},
    {"method": "topic", "size": 12, "max_tokens": 18, "min_tokens": 4},
]
#: The outputs that every cut of a method is asked for.
OWN_CUTS: dict[str, Any] = {"keep_together": False, "min_tokens": 0}
IDS = ["-".join(map(str, plan.values())) for plan in PLANS]


def texts_of(count: int, seed: int = 3) -> list[str]:
    drawn = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        sentences = [
            " ".join(drawn.choice(WORDS, drawn.integers(1, 9))).capitalize() + "." for _ in range(drawn.integers(0, 9))
        ]
        texts.append("".join(each + drawn.choice([" ", " ", "\n", "\n\n", " \f"]) for each in sentences))
    return texts


def requests_of(texts: list[str], plan: dict[str, Any]) -> tuple[pychunk.Segmenter, Request]:
    options = {key: value for key, value in plan.items() if key != "page_starts"}
    segmenter = pychunk.Segmenter(**options)
    pages = [sorted({0, len(text) // 2}) for text in texts] if "page_starts" in plan else None
    ((request, _),) = segmenter.requests(segmenter.read(texts, {"page_starts": pages})[1])
    return segmenter, segmenter.models.complete(request, _native)


def check_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        if name not in ("tokens_met", "fallback_tokens"):
            np.testing.assert_array_equal(found[name], column, err_msg=name)


#: For its cuts the table needs more than their positions.
STRUCTURED = [{"method": "structure", "within": within, "size": 12} for within in ("size", "topic", "semantic")]


@pytest.mark.slow
@pytest.mark.parametrize("plan", [*PLANS, *STRUCTURED], ids=lambda plan: "-".join(map(str, plan.values())))
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [1, *amounts(15, 2000)])
def test_every_stage_may_be_given(engine: Any, plan: dict[str, Any], count: int) -> None:
    if engine is reference and count == 2000:
        count = 200  # some 10 ms a document
    segmenter, request = requests_of(texts_of(count, 3 if count > 1 else 5), plan)
    expected = engine.segment(request)
    split = with_sentences(request, engine)
    check_same(engine.segment(split), expected)
    features, words = split.features, segmenter.models.words
    tokens = words.tokens_of(features.text, features.bounds)
    check_same(engine.segment(split.with_(token_counts=Ragged(tokens.counts, features.doc_offsets))), expected)
    counted = with_tokens(split, tokens, words)
    check_same(engine.segment(counted), expected)
    vectors = engine.encode_static(features.text, features.bounds, words, threads=2)
    check_same(engine.segment(counted.with_(vectors=Ragged(vectors, features.doc_offsets))), expected)
    cuts = engine.cuts(request)
    if not segmenter.method.sized:  # its size also cuts sentences that are too long
        check_same(engine.segment(counted.with_(cuts=cuts)), expected)
    if cuts.pairs:
        check_same(engine.segment(request.with_(pair_scores=cuts.score, pair_head=None)), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_given_cuts_of_a_size_share_short_sections_too(engine: Any) -> None:
    text = "\n\n".join(f"# {word}\n\nCats purr and {word} sleep all day." for word in WORDS)
    _, request = requests_of([text], {"method": "fixed", "size": 40, "min_tokens": 20})
    expected = engine.segment(request)
    assert 1 < len(expected["start"]) < len(WORDS)
    check_same(engine.segment(request.with_(cuts=engine.cuts(request))), expected)


@pytest.mark.parametrize("pages", [None, [0, 30, 61]])
@pytest.mark.parametrize("given", [False, True])
def test_flags_of_sentences_are_the_references(given: bool, pages: list[int] | None) -> None:
    text = "# Title\n\nIt rains.\nStill.\fOn a page. Here, too.\r\nOne break.\r\n\r\nTwo.\x85Next\u2029 one. End."
    segmenter = pychunk.Segmenter("sentence")
    spans = [pychunk.split_sentences(text)[0], []] if given else None
    columns = {"sentence_spans": spans, "page_starts": [pages, [0]] if pages else None}
    ((request, _),) = segmenter.requests(segmenter.read([text, ""], columns)[1])
    (starts, flags), (expected_starts, expected) = _native.split(request), reference.split(request)
    assert starts.values.tolist() == expected_starts.values.tolist()
    assert flags.values.tolist() == expected.values.tolist()
    assert len(set(flags.values.tolist())) > 3


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS, ids=IDS)
def test_given_cuts_of_any_method_are_that_method(plan: dict[str, Any]) -> None:
    if plan["method"] == "fixed":
        plan = {**plan, "size": 60}  # no sentence is longer, and none is cut inside
    texts = texts_of(60)
    pages = [[0, len(text) // 2] if len(text) > 1 else [0] for text in texts]
    beside: DocumentColumns = {"page_starts": pages} if "page_starts" in plan else {}
    options = {key: value for key, value in plan.items() if key != "page_starts"}
    segmenter = pychunk.Segmenter(**OWN_CUTS | options)
    budget = {key: options.get(key, default) for key, default in (("min_tokens", 0), ("overlap", 0), ("vectors", None))}
    budget["max_tokens"] = segmenter.plan.max_tokens or None
    spans = [
        [(each.start, each.end) for each in own]
        for own in pychunk.segment(texts, "sentence", keep_together=False, columns=beside).by_document()
    ]
    expected = segmenter(texts, columns=beside).table
    cuts = segmenter.cuts(texts, columns=beside)
    found = pychunk.segment(
        texts, "precomputed", columns={"sentence_spans": spans, "cuts": cuts, **beside}, **budget
    ).table
    for name in found.column_names:
        if name != "tokens" or budget["max_tokens"]:
            assert found[name].equals(expected[name]), name
    lists = [cuts.part(row).tolist() for row in range(cuts.documents)]
    plain = pychunk.segment(
        texts, "precomputed", columns={"sentence_spans": spans, "cuts": lists, **beside}, max_tokens=None
    )
    whole = pychunk.Segmenter(**{**options, **OWN_CUTS, "max_tokens": None, "overlap": 0})
    if plan["method"] not in ("cluster", "topic"):  # whose cuts hang on the limits
        assert plain.texts == whole(texts, columns=beside).texts


@pytest.mark.parametrize("method", ["pic", "semantic", "cluster"])
def test_what_is_given_is_dealt_out_with_its_texts(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(60)
    drawn = np.random.default_rng(0)
    vectors = drawn.normal(size=(sum(map(len, pychunk.split_sentences(texts))), 8)).astype(np.float32)
    segmenter = pychunk.Segmenter(method, max_tokens=30, min_tokens=4)
    cuts = segmenter.cuts(texts, columns={"sentence_vectors": vectors})
    whole = segmenter(texts, columns={"sentence_vectors": vectors}).table
    monkeypatch.setattr("pychunk.segmenter.CALL_BYTES", 200)
    assert segmenter(texts, columns={"sentence_vectors": vectors}).table.equals(whole)
    in_parts = segmenter.cuts(texts, columns={"sentence_vectors": vectors})
    assert in_parts.first.tolist() == cuts.first.tolist()
    budget = {"max_tokens": 30, "min_tokens": 4, "keep_together": True}
    for made in (cuts, in_parts):
        found = pychunk.segment(
            texts, "precomputed", columns={"sentence_vectors": vectors, "cuts": made}, **budget
        ).table
        for name in found.column_names:
            assert found[name].combine_chunks().equals(whole[name].combine_chunks()), name


class SlowPic(Method):
    """A method in Python that does the arithmetic of native ``pic`` by the reference."""

    name = "slow-pic"
    needs = frozenset({"vectors"})
    auto_max_tokens = 512
    reason = "score"

    def cuts(self, features: Features) -> Cuts:
        first, kinds, scores = [], [], []
        for row in range(features.documents):
            vectors = features.given("vectors").part(row)
            paragraphs = [bool(flag & PARAGRAPH_START) for flag in features.given("flags").part(row)]
            if not len(vectors):
                first.append([]), scores.append([])
                continue
            summary, _ = linear.summary_vector("extractive", vectors, paragraphs, features.document(row))
            own = np.array([linear.dot(vector, summary) for vector in vectors], np.float32)
            labels = thresholds.labels(own, 0.0)
            begins = [i for i in range(len(own)) if i == 0 or labels[i] != labels[i - 1]]
            first.append(begins), scores.append(own)
            kinds += [int(labels[i]) for i in begins]
        made = Cuts.of(first, score=scores)
        return Cuts(made.first, made.offsets, np.array(kinds, np.int8), made.score)


@pytest.mark.parametrize("vectors", [None, "chunk", "sentence"])
def test_a_method_in_python_is_a_method(vectors: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(50)
    expected = pychunk.segment(texts, "pic", vectors=vectors, min_tokens=5)
    assert pychunk.Segmenter(SlowPic(), vectors=vectors, min_tokens=5)(texts).table.equals(expected.table)
    monkeypatch.setattr("pychunk.segmenter.CALL_BYTES", 200)
    assert pychunk.Segmenter(SlowPic(), vectors=vectors, min_tokens=5)(texts).table.equals(expected.table)


def test_what_a_method_in_python_returns_is_checked() -> None:
    class Wrong(Method):
        name = "wrong"

        def __init__(self, found: Any) -> None:
            self.found = found

        def cuts(self, features: Features) -> Cuts:
            return self.found

    for found, error in (
        ([[0]], "must return Cuts"),
        (Cuts.of([[0], [0]]), "as many lists as there are documents, 1; got 2"),
        (Cuts.of([[1]]), "must begin with 0, increase, and be less than 2, its number of sentences"),
        (Cuts.of([[0, 2]]), "must begin with 0, increase"),
        (Cuts.of([[]]), "must begin with 0, increase"),
        (Cuts.of([[0]], score=[[1.0]]), "one score for each sentence"),
    ):
        with pytest.raises((TypeError, ValueError), match=error):
            pychunk.segment("One here. Two there.", Wrong(found))
    with pytest.raises(ValueError, match="the features contain no vectors; name this part in the method's `needs`"):
        pychunk.segment("One.", type("Greedy", (Method,), {"name": "g", "cuts": lambda _, f: f.given("vectors")})())


@pytest.mark.parametrize(
    ("cuts", "error"),
    [
        (None, "method 'precomputed' needs columns={'cuts': ...}"),
        ([[0]], "as many lists as there are documents, 2; got 1"),
        ([[0], [1]], "cuts of document 1 must begin with 0"),
        ([[0, 1, 1], [0]], "cuts of document 0 must begin with 0, increase"),
        ([[0, 9], [0]], "be less than 2, its number of sentences"),
        ([[0.5], [0]], "must be a list of whole numbers, the first sentence of each chunk; got .0.5."),
        ([[-1], [0]], "must be sentence numbers from 0 to 2,147,483,647"),
        ([[2**40], [0]], "must be sentence numbers from 0"),
    ],
)
def test_wrong_cuts_are_named(cuts: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        pychunk.segment(["One here. Two there.", "Three."], "precomputed", columns={"cuts": cuts})


def test_cuts_are_for_given_alone() -> None:
    with pytest.raises(ValueError, match=r"columns={'cuts': ...} is for method 'precomputed'; got Topic"):
        pychunk.segment("One.", columns={"cuts": [[0]]})
    with pytest.raises(ValueError, match="cuts inside sentences"):
        pychunk.Segmenter("recursive", separators=[" "]).cuts("One.")
    assert pychunk.segment("One. Two. Three.", "precomputed", columns={"cuts": [0, 2]}).texts == ["One. Two.", "Three."]
    assert pychunk.segment(["", "A."], "precomputed", columns={"cuts": [[], [0]]}).texts == ["A."]


def test_native_methods_say_the_same_of_themselves_on_both_sides() -> None:
    plain = {name: method() for name, method in METHODS.items() if name != "proposition"}  # cut by structure
    native = {name: method for name, method in plain.items() if method.is_native}
    assert _native.method_traits() == {name: method.traits for name, method in native.items()}


@pytest.mark.slow
def test_splitting_and_tokenising_happen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(60)
    size = sum(len(text.encode()) for text in texts)

    def work(segmenter: pychunk.Segmenter, columns: DocumentColumns | None = None) -> tuple[float, float]:
        segmenter(["Warm."] if not columns else [])
        before = _native.work()
        segmenter(texts, columns=columns)
        return tuple((b - a) / size for a, b in zip(before, _native.work()))

    assert work(pychunk.Segmenter("pic")) == (1, 1)
    split, tokenised = work(pychunk.Segmenter("nsp"))
    assert (split, round(tokenised, 2)) == (1, 1)
    vectors = np.ones((sum(map(len, pychunk.split_sentences(texts))), 4), np.float32)
    assert work(pychunk.Segmenter("pic"), {"sentence_vectors": vectors}) == (1, 1)
    assert work(pychunk.Segmenter("pic", max_tokens=None, min_tokens=0), {"sentence_vectors": vectors}) == (1, 0)
    for need in ("vectors", "tokens", "pairs"):

        class Twos(Method):
            name = "twos"
            needs = frozenset({need})

            def cuts(self, features: Features) -> Cuts:
                return Cuts.of([list(range(0, count, 2)) for count in features.given("sentences").counts])

        encoder = "static" if need == "pairs" else None
        split, tokenised = work(pychunk.Segmenter(Twos(), encoder=encoder, max_tokens=90, vectors="chunk"))
        assert (split, round(tokenised, 2)) == (1, 1), need


def test_vectors_of_tokens_are_those_of_their_texts() -> None:
    segmenter, request = requests_of(texts_of(300), {"method": "pic"})
    split, words = with_sentences(request, _native), segmenter.models.words
    features = split.features
    tokens = words.tokens_of(features.text, features.bounds)
    expected = _native.encode_static(features.text, features.bounds, words, threads=2)
    assert len(expected) > 1024  # the rows of one turn of a worker
    for engine in (_native, reference):
        np.testing.assert_array_equal(engine.embedding_bags(tokens, words, threads=2), expected)
    few = Tokens(np.array([len(words.table)], np.int32), np.array([0, 1]), np.array([1]))
    with pytest.raises(ValueError, match="ids must be less than 30522, got 30522"):
        _native.embedding_bags(few, words, threads=1)


@pytest.mark.parametrize("dim", [48, 64, 128, 256, 320])
def test_vectors_of_tokens_are_exact_sums_of_any_length(dim: int) -> None:
    """Sums of more than 255 rows no longer fit in 16 bits."""
    drawn = np.random.default_rng(dim)
    rows = drawn.integers(-128, 128, (50, dim), dtype=np.int8)
    rows[:2] = -128
    counts = np.array([0, 1, 2, 7, 8, 9, 254, 255, 256, 511, 700, 255, 300])
    ids = drawn.integers(0, len(rows), counts.sum()).astype(np.int32)
    ids[-counts[-2:].sum() :] = 0  # the largest sums
    offsets = np.concatenate([[0], counts.cumsum()])
    tokens, encoder = Tokens(ids, offsets, counts), SimpleNamespace(table=rows)
    found = _native.embedding_bags(tokens, encoder, threads=1)
    np.testing.assert_array_equal(found, reference.embedding_bags(tokens, encoder, threads=1))


def test_a_script_that_the_encoder_does_not_know_is_told_of_given_tokens_too() -> None:
    segmenter, request = requests_of(["Это кошка. Это собака."], {"method": "pic"})
    expected = _native.segment(request)
    split = with_sentences(request, _native)
    tokens = segmenter.models.words.tokens_of(split.features.text, split.features.bounds)
    found = _native.segment(with_tokens(split, tokens, segmenter.models.words))
    assert found["tokens_met"] == expected["tokens_met"] > found["fallback_tokens"] > 5
    assert found["fallback_tokens"] == expected["fallback_tokens"]


@pytest.mark.parametrize("threads", [1, 3])
def test_vectors_of_passages_are_those_of_chunks_with_their_texts(threads: int) -> None:
    hard = [
        "",
        " \n\n ",
        "...",
        "\x0c…\x0c",
        "京都大学。東京。",
        " Cats.  Dogs!\n\nNo. 5 ",
        "\u200b",
        "Cats purr. " * 200,
    ]
    texts = [*texts_of(40), *hard]
    plan = {"method": "fixed", "size": 1 << 40, "unit": "characters", "keep_together": False, "vectors": "chunk"}
    segmenter, request = requests_of(texts, plan)
    encoder = segmenter.models.words
    vectors = _native.encode_passages(*flat_texts(texts), encoder, threads=threads)
    for engine in (_native, reference):
        found = engine.segment(request)
        expected = np.zeros((len(texts), encoder.dim), np.float32)
        expected[found["document_index"]] = found["vector"].reshape(-1, encoder.dim)
        np.testing.assert_array_equal(vectors, expected)
    with pytest.raises(ValueError, match="texts must be valid UTF-8, got an invalid byte at 1"):
        _native.encode_passages(np.array([65, 255], np.uint8), np.array([0, 2]), encoder, threads=1)


@pytest.mark.parametrize("gap", [" ", "  ", "\n", "\n\n", " \n ", "\t", "\u00a0 ", "\u3000", "\f "])
@pytest.mark.parametrize("end", ["x", ".", "~", "\u00e9", "\x7f", "\x1f"])
def test_flags_of_given_sentences_depend_on_the_gap_before_them(gap: str, end: str) -> None:
    text, offsets = flat_texts([f"a{end}{gap}b", f"{end}{gap}b"])
    before = [len(f"{start}{end}{gap}".encode()) for start in ("a", "")]
    sentences = Ragged(np.array([0, before[0], 0, before[1]], np.int64), np.array([0, 2, 4], np.int64))
    request = Request(Features(text, offsets, sentences=sentences), Plan("sentence"))
    found, slow = _native.split(request), reference.split(request)
    np.testing.assert_array_equal(found[0].flat(), slow[0].flat())
    np.testing.assert_array_equal(found[1].flat(), slow[1].flat())
