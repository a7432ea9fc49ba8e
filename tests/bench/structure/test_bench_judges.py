"""bench/structure/judges.py on real pages: a model that repeats the counts agrees, and a dry run calls nothing."""

import json
import sys
from pathlib import Path

import pytest
from llm_server import Server
from real_pages import ARTICLES, NO_PAGES

pytest.importorskip("httpx2")
pytest.importorskip("faiss")
pytest.importorskip("selectolax")

from pychunk.llm import LLM
from pychunk.llm.verdicts import shown

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.mark.slow
@pytest.mark.skipif(not ARTICLES, reason=NO_PAGES)
def test_an_oracle_of_real_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.structure import judges

    found = judges.read(ARTICLES[0].parents[1], 8)
    for chunks in found.values():
        known = [dict(zip(map(shown, chunks.texts), chunks.counted[name])) for name in judges.JUDGES]

        def answer(kind: str, units: list[tuple[int, str]], body: dict[str, object], known: list[dict] = known) -> str:
            own = known[judges.JUDGES.index(kind.removeprefix("judge_"))]
            return json.dumps({"verdicts": [{"id": at, "verdict": "yes" if own[text] else "no"} for at, text in units]})

        # texts that occur in two chunks may be counted differently, and a model that sees only the text cannot know
        once = [row for row, text in enumerate(chunks.texts) if chunks.texts.count(text) == 1]
        kept = judges.Chunks(
            [chunks.texts[row] for row in once],
            [chunks.pages[row] for row in once],
            {name: [values[row] for row in once] for name, values in chunks.counted.items()},
        )
        assert len(once) > 60
        with Server(answer=answer) as server, LLM(server.url, "test", cache=False) as llm:
            lines = judges.lines(llm, "some", kept, 60)
        assert len(lines) == 3
        for line in lines:
            cells = line.split()
            one_verdict = cells[4] in ("0.000", "1.000")
            assert line.endswith("nan (nan to nan)" if one_verdict else "1.000 (1.000 to 1.000)")
            assert cells[1] != "noise" or not one_verdict
            assert cells[2:4] == ["60", "0"]
            assert cells[4] == cells[8], "what is judged is what is counted"
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    monkeypatch.setenv("PYCHUNK_LLM_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")
    monkeypatch.setattr(sys, "argv", ["judges.py", "--data", str(ARTICLES[0].parents[2]), "--pages", "2", "--dry-run"])
    judges.main()
    assert capsys.readouterr().out.startswith("it would take ")
