"""Other packages' chunkers: exact spans, no lost text, and a reason for every missing one."""

import os
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest

from pychunk.evaluation import peers
from pychunk.evaluation.peers import Peer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

PROSE = """The harbour froze twice that winter. Ships waited outside the ice, and their crews walked ashore for bread.

Prices rose. A loaf cost 3.50 by January; by March it cost more than a day's wage, if there was one to buy!
Dr. Alva kept a ledger of every sale. Who read it? Nobody, until 1911.

The ledger names 214 buyers, their trades and their debts. It is kept in the town hall, behind glass, and the
page for the first of February is missing. Some say it was burned. Others say that it was never written.
"""
ODD = (
    "\ufeffNaïve\u00a0café — l’été\u2028coûte  cher.\t\tOui?\r\n\r\n東京は日本の首都です。人口は約一千四百万人。"
    "\u3000次の文。 🧑‍🚀 flew; e\u0301 did not.\x85Ends\u200b here. Ends here. Ends here. \x1c "
)
TEXTS = {
    "prose": PROSE,
    "long prose": PROSE * 12,
    "odd": ODD,
    "odd, repeated": ODD * 9,
    "one long word": "x" * 4000,
    "one word": "word",
    "empty": "",
    "blank": " \n\t ",
}


def encode(texts: list[str]) -> npt.NDArray[np.float32]:
    """Return letter counts as unit vectors: a text always gets the same vector, in any process."""
    vectors = np.full((len(texts), 64), 0.01)
    for vector, text in zip(vectors, texts):
        np.add.at(vector, [ord(character) % 64 for character in text], 1.0)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module", name="usable")
def usable_peers() -> dict[str, Peer]:
    return {peer.name: peer for peer in peers.available()[0]}


@pytest.fixture(params=[peer.name for peer in peers.PEERS], name="peer")
def each_peer(request: pytest.FixtureRequest, usable: dict[str, Peer]) -> Peer:
    if request.param not in usable:
        reasons = {absent.name: absent.reason for absent in peers.available()[1]}
        pytest.skip(f"{request.param}: {reasons[request.param]}")
    return usable[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("words", [5, 40.5, 10_000])
@pytest.mark.parametrize("kind", TEXTS)
def test_chunks_are_spans_that_lose_nothing(peer: Peer, kind: str, words: float) -> None:
    text = TEXTS[kind]
    chunk = peer.chunker(words, encode)
    spans = chunk(text)
    assert chunk(text) == spans
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(text)
        assert text[start:stop] == text[start:stop].strip()
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()


def test_a_size_is_aimed_at(peer: Peer) -> None:
    text = TEXTS["long prose"]
    counts = [len(peer.chunker(words, encode)(text)) for words in (20, 60, 100_000)]
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2]
    if peer.name != "chonkie semantic":  # it has a limit and cuts by meaning below it
        assert counts[2] == 1


def test_a_version_names_the_package(peer: Peer) -> None:
    name, version = peer.version.split()
    assert name == peer.package
    assert version[0].isdigit()


def test_every_peer_is_usable_or_absent_with_a_reason() -> None:
    usable, absent = peers.available()
    assert sorted([*(peer.name for peer in usable), *(peer.name for peer in absent)]) == sorted(
        peer.name for peer in peers.PEERS
    )
    assert all(peer.reason for peer in absent)


def test_a_peer_that_is_not_installed_or_fails_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(words: float, encode: peers.Encode) -> None:
        raise OSError("its tokenizer is a download")

    missing = Peer("Missing", "no-such-distribution", "pip install no-such-distribution", False, broken)
    failing = Peer("Failing", "numpy", "pip install numpy", False, broken)
    monkeypatch.setattr(peers, "PEERS", (missing, failing))
    usable, absent = peers.available()
    assert usable == []
    assert absent == [
        peers.MissingPeer("Missing", "not installed: pip install no-such-distribution"),
        peers.MissingPeer("Failing", f"numpy {np.__version__}: OSError: its tokenizer is a download"),
    ]


def test_what_a_chunker_needs_is_checked() -> None:
    semantic = next(peer for peer in peers.PEERS if peer.needs_encode)
    with pytest.raises(ValueError, match="needs encode="):
        semantic.chunker(100)
    with pytest.raises(ValueError, match="words must be above 0, got 0"):
        semantic.chunker(0, encode)


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("one two. three", [("one two.", 0), (" three", 8)], [(0, 8), (9, 14)]),
        ("a b\n\nc  d", [("a b c", None), ("d", None)], [(0, 6), (8, 9)]),  # joined by the peer's own spaces
        ("go. go. go.", [("go.", None), ("go.", None), ("go.", None)], [(0, 3), (4, 7), (8, 11)]),
        ("go. stop. go.", [("go.", 10)], [(10, 13)]),  # the peer knows the positions
        ("go. stop. go.", [("go.", 0), ("stop.", 4), ("go.", 0)], [(0, 3), (4, 9), (10, 13)]),  # it does not
        ("go. stop.", [("go.", 3), ("stop.", -1)], [(0, 3), (4, 9)]),
        ("x y", [("", 0), (" ", 1), ("x", None)], [(0, 1)]),
        ("", [], []),
    ],
)
def test_locate(text: str, pieces: list[peers.Piece], expected: list[peers.Span]) -> None:
    assert peers.locate(text, pieces) == expected


def test_a_chunk_that_is_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"a peer: chunk 1 is not in the text after character 3: 'Two'"):
        peers.locate("one two", [("one", None), ("Two", None)], "a peer")


@pytest.mark.slow
def test_importing_the_module_imports_no_peer() -> None:
    packages = ["langchain_text_splitters", "langchain_experimental", "llama_index", "chonkie", "semchunk"]
    code = f"import sys, pychunk.evaluation.peers; print(sorted(set({packages!r}) & set(sys.modules)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.sep
    ).stdout
    assert printed.strip() == "[]"
