"""The stats of a call: counts equal those of the table and the documents, and times lie within the call."""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter

import pytest

import pychunk
from pychunk.telemetry import span

TEXTS = ["Cats purr. Dogs bark at night.\n\nOwls fly.", "", "Ціна 5 €. " * 40]


@pytest.mark.parametrize("method", ["sentence", "fixed", "structure", "topic"])
def test_counts_are_those_of_the_table_and_the_documents(method: str) -> None:
    begun = time.perf_counter()
    chunks = pychunk.Segmenter(method)(TEXTS)
    elapsed = time.perf_counter() - begun
    stats = chunks.stats
    assert (stats.documents, stats.chunks) == (len(TEXTS), len(chunks))
    assert stats.bytes == sum(len(text.encode()) for text in TEXTS)
    assert stats.cuts == Counter(chunk.end_reason for chunk in chunks)
    assert list(stats.seconds) == ["features", "cut", "total"]
    assert 0 < stats.seconds["features"] + stats.seconds["cut"] <= stats.seconds["total"] <= elapsed
    assert pickle.loads(pickle.dumps(chunks)).stats == stats


def test_contexts_have_a_time_of_their_own() -> None:
    seconds = pychunk.Segmenter("sentence", augment="head")(TEXTS).stats.seconds
    assert 0 < seconds["contexts"] < seconds["total"]


def test_a_slice_counts_its_own_chunks_and_has_no_times() -> None:
    part = pychunk.segment(TEXTS, "sentence")[1:3].stats
    assert (part.chunks, sum(part.cuts.values()), part.bytes, part.seconds) == (2, 2, None, {})


def test_a_stream_has_the_stats_of_each_batch() -> None:
    found = [out.stats for out in pychunk.Segmenter("sentence").stream([TEXTS, TEXTS[:1]])]
    assert [(each.documents, each.bytes) for each in found] == [
        (len(part), sum(len(text.encode()) for text in part)) for part in (TEXTS, TEXTS[:1])
    ]


def test_spans_are_made_only_if_the_application_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    with span("pychunk.segment") as traced:
        assert traced is None
    monkeypatch.undo()
    trace, export, sdk = (
        pytest.importorskip(name)
        for name in ("opentelemetry.trace", "opentelemetry.sdk.trace.export", "opentelemetry.sdk.trace")
    )
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter").InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    pychunk.segment(TEXTS, "sentence")
    (made,) = memory.get_finished_spans()
    assert made.name == "pychunk.segment"
    assert dict(made.attributes) == {
        "pychunk.method": "sentence",
        "pychunk.documents": len(TEXTS),
        "pychunk.bytes": sum(len(text.encode()) for text in TEXTS),
    }
