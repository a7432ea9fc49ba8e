"""The client against a server that fails in every way that it knows."""

import asyncio
import json
import logging
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from llm_server import Server, nobody, together

pytest.importorskip("httpx2")

from pychunk.llm import LLM, LimitReachedError, LLMError, Request, Response
from pychunk.llm import client as client_module
from pychunk.llm.cache import Cache

KEY = "sk-test-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"first": {"type": "integer"}}, "required": ["first"]}
UNITS = "Task: lumber\n[1] One.\n[2] Two.\n[3] Three."


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 0.01)


def client(server: Server, **more: object) -> LLM:
    return LLM(server.url, "test", **{"cache": False, **more})


def test_answers_come_in_the_order_of_questions() -> None:
    with Server(answer=together(4)) as server, client(server) as llm:
        replies = llm.ask_many([Request(f"question {number}") for number in range(40)])
        assert [f"question {number}'" in reply.text for number, reply in enumerate(replies)] == [True] * 40
        assert server.counts["calls"] == 40
        assert 4 <= server.most_at_once <= llm.concurrency
        total = llm.account.total
        assert (total.calls, total.cached, total.failed) == (40, 0, 0)
        assert total.tokens_in == sum(Request(f"question {number}").tokens for number in range(40))
        assert total.seconds > 0


def test_a_text_that_is_too_long_is_an_error_of_that_question() -> None:
    with Server("context") as server, client(server) as llm:
        assert "maximum context length" in llm.ask("anything").error
        assert server.counts["calls"] == 1


def test_equal_questions_are_asked_once() -> None:
    with Server("slow", delay=0.05) as server, client(server) as llm:
        replies = llm.ask_many([Request("the same")] * 5)
        assert len({reply.text for reply in replies}) == 1
        assert server.counts["calls"] == 1
        assert [reply.cached for reply in replies] == [False, True, True, True, True]
        assert (llm.account.total.calls, llm.account.total.cached) == (1, 4)


@pytest.mark.parametrize("fault", ["429", "500", "hang", "hang-body", "cut", "truncated", "garbage"])
def test_what_passes_is_tried_again(fault: str) -> None:
    hangs = fault.startswith("hang")
    with Server(fault) as server, client(server, **{"first_byte_timeout": 0.3} if hangs else {}) as llm:
        assert llm.ask("anything").fault == ""
        assert server.counts[f"fault {fault}"] == 1
        assert server.counts["calls"] == 2 or hangs  # on a busy machine an answer may also come too late
        assert llm.account.total.retries == server.counts["calls"] - 1 > 0


@pytest.mark.parametrize("fault", ["429", "500", "hang", "cut", "truncated"])
def test_what_does_not_pass_is_an_error_of_that_question(fault: str) -> None:
    waits = {"first_byte_timeout": 0.1} if fault == "hang" else {}
    with Server(f"{fault},always") as server, client(server, retries=2, **waits) as llm:
        reply = llm.ask("anything")
        assert reply.text == ""
        assert "after 3 attempts" in reply.fault
        # the server may see the last attempt only after it is over
        assert server.counts["calls"] == 3 or fault == "hang"
        assert llm.account.total.failed == 1


def test_an_endpoint_that_answers_nothing_ends_the_run() -> None:
    with Server("500,always") as server, client(server, retries=0, concurrency=2) as llm:
        with pytest.raises(LLMError, match="failed in a row"):
            llm.ask_many([Request(f"question {number}") for number in range(100)])
        assert server.counts["calls"] <= 8 + 2


def test_retry_after_is_obeyed() -> None:
    with Server("429-after", retry_after=0.2) as server, client(server) as llm:
        begun = time.monotonic()
        assert llm.ask("anything").fault == ""
        assert time.monotonic() - begun >= 0.2
        assert server.counts["calls"] == 2


@pytest.mark.parametrize(("script", "asked"), [("good", 1), ("no-schema", 2), ("no-json", 3), ("new-limit", 2)])
def test_the_strictest_form_that_the_endpoint_takes(script: str, asked: int) -> None:
    with Server(script) as server, client(server) as llm:
        for _ in range(2):
            assert json.loads(llm.ask(UNITS, schema=SCHEMA).text)["first"] == 3
        assert server.counts["calls"] == asked + 1, "the second question is put right at once"
        assert llm.account.total.retries == asked - 1


def test_a_form_that_was_named_is_kept() -> None:
    with Server("no-schema") as server, client(server, output="schema") as llm:
        assert "json_schema" in llm.ask(UNITS, schema=SCHEMA).error
        assert server.counts["calls"] == 1


@pytest.mark.parametrize(("fault", "told"), [("length", "max_tokens"), ("refusal", "refused"), ("empty", "empty")])
def test_answers_that_are_none_say_why(fault: str, told: str) -> None:
    with Server(fault) as server, client(server) as llm:
        assert told in llm.ask(UNITS).fault
        assert server.counts["calls"] == 1


def test_logprobs() -> None:
    with Server() as server, client(server) as llm:
        found = llm.ask("Is it?", logprobs=5, max_tokens=1).logprobs
        assert found == ({"yes": -0.1, "no": -2.4},)
    with Server("no-logprobs") as server, client(server) as llm:
        assert llm.ask("Is it?", logprobs=5).logprobs is None


def test_tokens_are_estimated_where_the_endpoint_does_not_count() -> None:
    with Server("no-usage") as server, client(server) as llm:
        reply = llm.ask("twelve bytes")
        assert (reply.tokens_in, reply.tokens_out) == (7, -(-len(reply.text) // 4))


@pytest.mark.parametrize(
    ("script", "more", "told"),
    [("good", {"key": "wrong"}, "PYCHUNK_LLM_KEY"), ("no-model", {"key": KEY}, "PYCHUNK_LLM_MODEL")],
)
def test_what_no_other_attempt_mends_raises_at_once(script: str, more: dict[str, str], told: str) -> None:
    with Server(script, key=KEY) as server, client(server, **more) as llm:
        with pytest.raises(LLMError, match=told) as raised:
            llm.ask("anything")
        assert server.counts["calls"] == 1
        assert more["key"] not in str(raised.value)


def test_no_endpoint() -> None:
    with nobody() as url, LLM(url, "test", cache=False) as llm, pytest.raises(LLMError, match="PYCHUNK_LLM_URL"):
        llm.ask("anything")


def test_a_wrong_address() -> None:
    with Server() as server, LLM(server.url + "/v2", "test", cache=False) as llm, pytest.raises(LLMError, match="url="):
        llm.ask("anything")


def test_bad_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYCHUNK_LLM_URL", "PYCHUNK_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
        LLM()
    with pytest.raises(ValueError, match="PYCHUNK_LLM_MODEL"):
        LLM("http://localhost/v1")
    for url in ("localhost:80/v1", "ftp://host/v1", "http:///v1", "http://host:99999/v1", "http://host/v1?key=1"):
        with pytest.raises(ValueError, match="url must"):
            LLM(url, "m")
    with pytest.raises(ValueError, match="must not hold a user or password") as raised:
        LLM("http://me:hunter2@host/v1", "m")
    assert "hunter2" not in str(raised.value)
    for wrong in (
        {"concurrency": 0},
        {"retries": -1},
        {"timeout": 0},
        {"output": "xml"},
        {"max_calls": -1},
        {"max_tokens": 1.5},
        {"max_cost": 1},
        {"price": (1, -2)},
        {"max_cost": float("nan"), "price": (1, 2)},
        {"key": "two\nlines"},
        {"temperature": "hot"},
        {"temperature": float("nan")},
        {"seed": 0.5},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong)).split("_")[0]):
            LLM("http://host/v1", "m", **wrong)


def test_questions_of_another_type_say_what_to_pass() -> None:
    llm = LLM("http://host/v1", "m", cache=False)
    with pytest.raises(TypeError, match="pass a single one to ask"):
        llm.ask_many("What is a chunk?")
    with pytest.raises(TypeError, match="the texts of a Request must be strings; got NoneType"):
        llm.ask(None)
    with pytest.raises(TypeError, match=r"parameters=\{'temperature': ...\}"):
        llm.ask("What is a chunk?", temperature=1)
    with pytest.raises(TypeError, match="ask takes no further fields with a Request"):
        llm.ask(Request("What is a chunk?"), max_tokens=1)
    for wrong in ({"key": 5}, {"cache": None}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
            LLM("http://host/v1", "m", **wrong)
    with Server() as server, client(server) as llm:
        assert [reply.fault for reply in llm.ask_many(["One?", Request("Two?"), "One?"])] == [""] * 3
        assert server.counts["calls"] == 2


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(key=KEY) as server:
        for name, value in {"URL": server.url + "/", "MODEL": "test", "KEY": KEY}.items():
            monkeypatch.setenv(f"PYCHUNK_LLM_{name}", value)
        with LLM(cache=False) as llm:
            assert llm.ask("anything").fault == ""
            assert (llm.url, llm.model) == (server.url, "test")


def test_works_inside_a_running_loop_and_from_many_threads() -> None:
    with Server() as server, client(server) as llm:

        async def caller() -> str:
            return llm.ask("from a loop").text

        assert "from a loop" in asyncio.run(caller())
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda n=n: found.append(llm.ask(f"from thread {n}").text)) for n in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found)) == 12
        assert server.most_at_once <= llm.concurrency


@pytest.mark.slow
def test_an_interrupted_call_leaves_none_behind() -> None:
    code = (
        "import sys, signal, threading, time, os\n"
        # processes that shells start in the background ignore it
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pychunk.llm import LLM, Request\n"
        "llm = LLM(sys.argv[1], 'test', cache=False)\n"
        "def interrupt():\n"
        # Not before calls are under way: Python loses an interrupt during an import (1 of 120 runs).
        "    while len(llm._under_way) < llm.concurrency:\n"
        "        time.sleep(0.01)\n"
        "    time.sleep(0.3)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try:\n"
        "    llm.ask_many([Request(str(n)) for n in range(50)])\n"
        "except KeyboardInterrupt:\n"
        "    print(len(llm._under_way), llm._wire[2]._value)\n"
    )
    with Server("slow", delay=30) as server:
        done = subprocess.run(
            [sys.executable, "-c", code, server.url], capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout.split() == ["0", "8"]
        assert server.counts["calls"] == 8


def test_memory_of_a_stream_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_PART", 100)
    with Server() as server, client(server, concurrency=2) as llm:
        asked = (Request(str(number)) for number in range(5000))
        replies = llm.stream(asked)
        assert next(replies).fault == ""
        assert server.counts["calls"] == 100
        assert next(asked).user == "100", "no question is made before it is its turn"


# ---- the cache


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    with Server() as server:
        texts = []
        for _ in range(2):
            with client(server, cache=tmp_path / "c.sqlite") as llm:
                replies = llm.ask_many([Request(f"question {number}", logprobs=2) for number in range(30)])
                texts.append([(reply.text, reply.logprobs, reply.tokens_out) for reply in replies])
        assert texts[0] == texts[1]
        assert server.counts["calls"] == 30
        assert (llm.account.total.calls, llm.account.total.cached) == (0, 30)


def test_the_key_of_an_answer_is_all_that_it_depends_on(tmp_path: Path) -> None:
    with Server() as server, client(server, cache=tmp_path / "c.sqlite") as llm:
        plain = Request("same", system="s", version="1")
        others = [
            Request("same", system="t", version="1"),
            Request("same", system="s", version="2"),
            Request("same", system="s", version="1", max_tokens=5),
            Request("same", system="s", version="1", logprobs=1),
            Request("same", system="s", version="1", schema=SCHEMA),
            Request("same", system="s", version="1", parameters={"seed": 1}),
        ]
        llm.ask_many([plain, *others, plain])
        assert server.counts["calls"] == 1 + len(others)
    with LLM(server.url, "other", cache=tmp_path / "c.sqlite", dry_run=True) as other:
        assert other.ask(plain).error == "dry run"


def test_failures_are_not_cached(tmp_path: Path) -> None:
    for script, calls in (("500,always", 1), ("good", 1)):
        with Server(script) as server, client(server, cache=tmp_path / "c.sqlite", retries=0) as llm:
            llm.ask("anything")
            assert server.counts["calls"] == calls
    assert llm.account.total.calls == 1


def _ask_in_process(url: str, path: str) -> None:
    with LLM(url, "test", cache=path) as llm:
        llm.ask_many([Request(f"question {number}") for number in range(60)])


@pytest.mark.slow
def test_many_processes_share_a_cache(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with Server() as server:
        spawn = multiprocessing.get_context("spawn")
        processes = [spawn.Process(target=_ask_in_process, args=(server.url, str(path))) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0, 0]
        before = server.counts["calls"]
        _ask_in_process(server.url, str(path))
        assert server.counts["calls"] == before <= 120
    cache = Cache(path)
    assert len(cache) == 60
    cache.close()


def test_a_forked_process_has_a_loop_of_its_own(tmp_path: Path) -> None:
    with Server() as server, client(server, cache=tmp_path / "c.sqlite") as llm:
        llm.ask("before")
        child = os.fork()
        if child == 0:
            good = llm.ask("in the child").fault == "" and llm.ask("before").cached
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert llm.ask("in the child").cached


def test_a_damaged_cache_says_so(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_bytes(b"no database, but long enough to be taken for one " * 40)
    with Server() as server, client(server, cache=tmp_path / "c.sqlite") as llm:
        with pytest.raises(LLMError, match=r"c\.sqlite.*cache="):
            llm.ask("anything")
        assert server.counts["calls"] == 0


@pytest.mark.slow
def test_a_killed_run_pays_for_nothing_twice(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pychunk.llm import LLM, Request\n"
        "llm = LLM(sys.argv[1], 'test', cache=sys.argv[2], concurrency=4)\n"
        "llm.ask_many([Request(str(n)) for n in range(300)])\n"
    )
    arguments = [sys.executable, "-c", code]
    with Server("slow", delay=0.01) as server:
        kills = 0
        while True:
            process = subprocess.Popen([*arguments, server.url, str(tmp_path / "c.sqlite")])
            before = server.counts["calls"]
            while process.poll() is None and server.counts["calls"] < before + 120:
                time.sleep(0.01)
            if process.poll() is not None:
                assert process.returncode == 0
                break
            process.kill()
            process.wait()
            kills += 1
        assert kills == 2
        assert 300 <= server.counts["calls"] <= 300 + 4 * kills


# ---- limits


def test_max_calls_is_exact_and_resumable(tmp_path: Path) -> None:
    asks = [Request(f"question {number}") for number in range(30)]
    with Server() as server:
        with client(server, cache=tmp_path / "c.sqlite", max_calls=17) as llm:
            with pytest.raises(LimitReachedError, match="max_calls=17"):
                llm.ask_many(asks)
            assert llm.account.total.calls == server.counts["calls"] == 17
        with client(server, cache=tmp_path / "c.sqlite", max_calls=13) as llm:
            assert all(reply.fault == "" for reply in llm.ask_many(asks))
        assert server.counts["calls"] == 30


def test_cost_exceeds_its_limit_by_calls_under_way_at_most(tmp_path: Path) -> None:
    asks = [Request(f"question {number:02}") for number in range(60)]
    with (
        Server("slow", delay=0.01) as server,
        client(server, price=(1000.0, 2000.0), max_cost=0.3, concurrency=3) as llm,
    ):
        with pytest.raises(LimitReachedError, match=r"max_cost=0\.3"):
            llm.ask_many(asks)
        one = llm.account.cost(asks[0].tokens, 15)
        assert 0.3 <= llm.account.total.cost <= 0.3 + 3 * one
        assert f"cost {llm.account.total.cost:.4f}" in llm.account.line()


def test_max_tokens() -> None:
    with Server() as server, client(server, max_tokens=100, concurrency=1) as llm:
        with pytest.raises(LimitReachedError, match="max_tokens=100"):
            llm.ask_many([Request(f"question {number}") for number in range(60)])
        total = llm.account.total
        assert 100 <= total.tokens_in + total.tokens_out <= 130


def test_dry_run_counts_once_what_the_cache_would_know_by_then(tmp_path: Path) -> None:
    with Server() as server:
        for cache, calls in ((tmp_path / "c.sqlite", 3), (False, 5)):
            totals = []
            for dry in (True, False):
                with client(server, cache=cache, dry_run=dry) as llm:
                    llm.ask_many(["a", "b", "a"])
                    llm.ask_many(["b", "c", "a"])
                    totals.append((llm.account.total.calls, llm.account.total.cached))
            assert totals == [(calls, 6 - calls)] * 2


def test_dry_run_asks_nothing_and_predicts(tmp_path: Path) -> None:
    asks = [Request(f"question {number % 20}", max_tokens=50) for number in range(30)]
    with Server() as server:
        with client(server, cache=tmp_path / "c.sqlite") as llm:
            llm.ask_many(asks[:5])
        with client(server, cache=tmp_path / "c.sqlite", dry_run=True, price=(1.0, 1.0)) as dry:
            assert {reply.error for reply in dry.ask_many(asks)[5:20]} == {"dry run"}
        before = server.counts["calls"]
        with client(server, cache=tmp_path / "c.sqlite", price=(1.0, 1.0)) as llm:
            llm.ask_many(asks)
        wet, told = llm.account.total, dry.account.total
        assert server.counts["calls"] - before == wet.calls == told.calls == 15
        assert told.tokens_in == wet.tokens_in
        assert told.tokens_out == 15 * 50 >= wet.tokens_out
        assert told.cost >= wet.cost


def test_stages_add_up() -> None:
    with Server() as server, client(server) as llm:
        llm.ask_many([Request("a", stage="x"), Request("b", stage="x"), Request("c", stage="y")])
        before = llm.account.copy()
        llm.ask_many([Request("d", stage="y")])
        assert {stage: counts["calls"] for stage, counts in llm.account.since(before).items()} == {"y": 1}
        assert {stage: counts.calls for stage, counts in llm.account.stages.items()} == {"x": 2, "y": 2}


# ---- the key


def test_the_key_is_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    with Server("echo", key=KEY) as server:
        with client(server, key=KEY) as llm:
            assert KEY in llm.ask("anything").text, "an answer is what the endpoint sent"
            shown += [repr(llm), repr(vars(llm)), str(llm.account), str(llm.facts)]
            pickled = pickle.dumps(llm)
            monkeypatch.setenv("PYCHUNK_LLM_KEY", KEY)
            again = pickle.loads(pickled)
            assert again.ask("anything else").fault == ""
            again.close()
            shown.append(pickled.decode("latin-1"))
        server.script = frozenset({"good"})
        with client(server, key=KEY, cache=tmp_path / "c.sqlite") as llm:
            assert llm.ask("anything").fault == ""
        with client(server, key="wrong" + KEY) as llm, pytest.raises(LLMError) as raised:
            llm.ask("anything")
        shown += [str(raised.value), repr(raised.getrepr(showlocals=True))]
    with nobody() as url, LLM(url, "test", KEY, cache=False) as llm, pytest.raises(LLMError) as raised:
        llm.ask("anything")
    shown += [repr(raised.value), repr(raised.value.__cause__), caplog.text]
    shown.append(pickle.dumps(raised.value).decode("latin-1"))
    for file in tmp_path.iterdir():
        shown.append(file.read_bytes().decode("latin-1"))
    assert [KEY in text for text in shown] == [False] * len(shown)


def test_a_pickled_client_is_the_same_but_for_the_key(tmp_path: Path) -> None:
    llm = LLM("http://host/v1", "m", KEY, concurrency=3, cache=tmp_path / "c", price=(1, 2), max_cost=5, dry_run=True)
    again = pickle.loads(pickle.dumps(llm))
    assert (again.url, again.model, again.concurrency, again.price, again.dry_run) == (llm.url, "m", 3, (1, 2), True)
    assert again.account.limits == llm.account.limits
    assert again.cache is not None
    assert again.cache.path == tmp_path / "c"


def test_old_answers_in_a_cache_are_asked_anew(tmp_path: Path) -> None:
    with Server() as server, client(server, cache=tmp_path / "c.sqlite") as llm:
        llm.ask("anything")
        with sqlite3.connect(tmp_path / "c.sqlite") as file:
            file.execute('UPDATE answers SET answer = \'{"text": "of another version"}\'')
        assert not llm.ask("anything").cached
        assert server.counts["calls"] == 2


def test_a_reply_with_text_has_no_fault() -> None:
    assert Response("text").fault == ""
    assert Response("  ").fault == "the answer was empty"
