"""The command line with an LLM at an endpoint."""

import sys
from pathlib import Path

import pytest
from command_line import invoke
from llm_server import Server, nobody

pytest.importorskip("httpx2")

TEXT = " ".join(f"Sentence number {number} is here." for number in range(10))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"PYCHUNK_LLM_{name}", raising=False)
    (tmp_path / "a.txt").write_text(TEXT)


def test_check_says_what_an_endpoint_offers() -> None:
    for script, lines in (
        ("good", ["logprobs    yes", "JSON schema"]),
        ("no-logprobs,no-schema", ["logprobs    no", "JSON schema no: status 400"]),
    ):
        with Server(script, answer=lambda kind, units, body: '{"answer": "yes"}') as server:
            done = invoke(["llm", "check", "--llm-url", server.url, "--llm-model", "test"])
            assert done.exit_code == 0, done.output
            assert "answers     in " in done.stdout
            assert all(line in done.stdout for line in lines), done.stdout
            assert server.counts["calls"] == 4


def test_check_of_no_endpoint() -> None:
    done = invoke(["llm", "check"])
    assert done.exit_code == 2
    assert "needs --llm-url, or PYCHUNK_LLM_URL" in done.stderr
    with nobody() as url:
        done = invoke(["llm", "check", "--llm-url", url, "--llm-model", "test"])
    assert done.exit_code == 2
    assert "nothing answers there: check --llm-url or PYCHUNK_LLM_URL" in done.stderr


def test_a_wrong_key_or_model_says_which_flag() -> None:
    for options, words in (
        ({"key": "right"}, "the endpoint refuses the key: check PYCHUNK_LLM_KEY"),
        ({"script": "no-model"}, "check --llm-url (PYCHUNK_LLM_URL, up to /v1) and --llm-model (PYCHUNK_LLM_MODEL)"),
    ):
        with Server(**options) as server:
            done = invoke(["llm", "check", "--llm-url", server.url, "--llm-model", "test"])
            assert (done.exit_code, words in done.stderr) == (2, True), done.stderr


def test_segment_asks_and_says_what_it_took(tmp_path: Path) -> None:
    with Server() as server:
        flags = ["-m", "autochunker", "--llm-url", server.url, "--llm-model", "test"]
        done = invoke(["segment", str(tmp_path / "a.txt"), *flags])
        assert done.exit_code == 0, done.output
        assert "1 call, 0 cached" in done.stderr
        assert "Sentence number 9 is here." in done.stdout
        done = invoke(["segment", str(tmp_path / "a.txt"), *flags])
        assert "0 calls, 1 cached" in done.stderr
        assert server.counts["calls"] == 1


def test_segment_says_which_windows_had_no_answer(tmp_path: Path) -> None:
    with Server("refusal,always") as server:
        flags = ["-m", "autochunker", "--llm-url", server.url, "--llm-model", "test"]
        done = invoke(["segment", str(tmp_path / "a.txt"), *flags])
        assert done.exit_code == 0, done.output
        assert "document 0: window 1 of 1 is cut by recursive: the model refused" in done.stderr


def test_a_dry_run_shows_no_chunks_and_writes_none(tmp_path: Path) -> None:
    with Server() as server:
        flags = ["-m", "autochunker", "--llm-url", server.url, "--llm-model", "test", "--dry-run"]
        done = invoke(["segment", str(tmp_path / "a.txt"), *flags, "-o", str(tmp_path / "out.jsonl")])
        assert done.exit_code == 0, done.output
        assert "nothing was asked; it would take at most 1 call" in done.stderr
        assert "Sentence" not in done.stdout
        assert not (tmp_path / "out.jsonl").exists()
        assert server.counts["calls"] == 0


def test_segment_with_written_summaries(tmp_path: Path) -> None:
    with Server() as server:
        flags = ["-m", "pic:summary=llm", "--llm-url", server.url, "--llm-model", "test"]
        done = invoke(["segment", str(tmp_path / "a.txt"), *flags])
        assert done.exit_code == 0, done.output
        assert server.counts["kind summary"] == 1
        assert "1 call, 0 cached" in done.stderr


def test_max_cost_ends_the_command_and_the_next_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(TEXT.replace("Sentence", "Line"))
    with Server() as server:
        command = ["segment", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "-m", "autochunker"]
        command += ["--llm-url", server.url, "--llm-model", "test"]
        done = invoke([*command, "--llm-price", "1000,1000", "--max-cost", "0.01"])
        assert done.exit_code == 2
        assert "max_cost=0.01 is reached" in done.stderr
        assert invoke(command).exit_code == 0
        assert server.counts["calls"] == 2


def test_flags_without_a_method_that_asks(tmp_path: Path) -> None:
    done = invoke(["segment", str(tmp_path / "a.txt"), "--dry-run"])
    assert done.exit_code == 2
    assert "--dry-run needs an option that asks an LLM: methods autochunker, llm_semantic, lumber" in done.stderr
    done = invoke(["segment", str(tmp_path / "a.txt"), "-m", "lumber", "--llm-price", "1"])
    assert "--llm-price must be two numbers" in done.stderr
    done = invoke(["segment", str(tmp_path / "a.txt"), "-m", "lumber", "--max-cost", "1"])
    assert "--max-cost needs --llm-price IN,OUT" in done.stderr
    done = invoke(["segment", str(tmp_path / "a.txt"), "-m", "lumber"])
    assert "PYCHUNK_LLM_URL" in done.stderr


def test_without_the_extra_all_else_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    text, index = str(tmp_path / "a.txt"), str(tmp_path / "a.idx")
    for command in (["segment", text], ["ingest", text, "-o", str(tmp_path / "out")], ["index", text, "-o", index]):
        done = invoke(command)
        assert done.exit_code == 0, done.output
    assert "number 9" in invoke(["search", index, "Sentence number 9"]).stdout
    flags = ["--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "m"]
    done = invoke(["segment", text, "-m", "autochunker", *flags])
    assert done.exit_code == 2
    assert 'pip install "pychunk-native[llm]"' in done.stderr
    assert invoke(["segment", text, "-m", "autochunker", *flags, "--dry-run"]).exit_code == 0
