"""The clients of other services, which change nothing but the address."""

import pytest

import pychunk
from pychunk.encoders import cross_encoder
from pychunk.index.rerank import rerankers

pytest.importorskip("granian")
pytest.importorskip("msgspec")

pytestmark = pytest.mark.slow
TEXT = "# Cats\n\nCats purr. They sleep a lot.\n\n# Dogs\n\nDogs bark. They guard the house.\n\n" * 10


@pytest.fixture
def server(served, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    return served("--api-key-file", str(keys))


def test_openai(server):
    openai = pytest.importorskip("openai", reason="needs the package openai")
    texts = ["Cats purr.", "Zwölf Boxkämpfer.", ""]
    own = pychunk.embed(texts)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="secret", max_retries=0) as client:
        for form in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
            found = client.embeddings.create(model="static", input=texts, **form)
            assert [each.index for each in found.data] == [0, 1, 2]
            for each, vector in zip(found.data, own, strict=True):
                if isinstance(each.embedding, list):
                    assert each.embedding == pytest.approx(vector.tolist(), rel=1e-6)
        assert client.embeddings.create(model="static", input="Cats purr.").data[0].embedding == pytest.approx(
            own[0].tolist(), rel=1e-6
        )
        with pytest.raises(openai.UnprocessableEntityError, match="offers the encoders static"):
            client.embeddings.create(model="text-embedding-3-small", input=texts)
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.embeddings.create(model="static", input=texts)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("RecursiveChunker", {"tokenizer": "character", "chunk_size": 60}),
        ("SentenceChunker", {"tokenizer": "character", "chunk_size": 60}),
    ],
)
def test_chonkie(server, monkeypatch, name, arguments):
    cloud = pytest.importorskip("chonkie.cloud", reason="needs the package chonkie")
    kind = getattr(cloud, name)
    monkeypatch.setattr(kind, "BASE_URL", server.url)
    chunker = kind(api_key="secret", **arguments)
    chunks = chunker.chunk(TEXT)
    assert len(chunks) > 5
    assert all(TEXT[chunk.start_index : chunk.end_index] == chunk.text for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) <= 60
    assert [[chunk.text for chunk in found] for found in chunker.chunk([TEXT, "Cats purr."])] == [
        [chunk.text for chunk in chunks],
        ["Cats purr."],
    ]


def test_text_embeddings_inference(served, tmp_path, tiny_reranker):
    tei = pytest.importorskip(
        "llama_index.postprocessor.tei_rerank", reason="needs the package llama-index-postprocessor-tei-rerank"
    )
    from llama_index.core.schema import NodeWithScore, TextNode

    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    server = served("--api-key-file", str(keys), "--reranker", str(tiny_reranker))
    texts = ["Cats purr.", "Dogs bark at night.", "Stars burn hydrogen."]
    client = tei.TextEmbeddingInference(base_url=f"{server.url}/v1", auth_token="Bearer secret", top_n=3)
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in texts]
    found = client.postprocess_nodes(nodes, query_str="What burns?")
    own = rerankers.scores(cross_encoder.PairScorer(tiny_reranker, task="relevance"), ["What burns?"], [texts])[0]
    wanted = sorted(zip(texts, own.tolist(), strict=True), key=lambda each: -each[1])
    assert [each.node.text for each in found] == [text for text, _ in wanted]
    assert [each.score for each in found] == pytest.approx([1 / (1 + 2.718281828459045**-score) for _, score in wanted])
