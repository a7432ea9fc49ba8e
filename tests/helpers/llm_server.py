"""A server for tests that speaks the protocol of chat completions: scripted answers, faults, counts of requests.

    python -m tests.helpers.llm_server --script good --port 8099
    python -m tests.helpers.llm_server --script slow,429 --delay 0.2

Scripts can be combined: ``liar,500``. Faults of the connection affect the first attempt at each request, so that the
next one is answered; with ``always`` in the script they affect every attempt. Faults of the answer affect the first
request about a text. The server answers a request that names the fault well, unless ``always``. It uses only the
standard library.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import socket
import string
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Faults of the connection, by the name of a script.
CONNECTION = ("429", "429-after", "500", "hang", "hang-body", "cut", "truncated", "garbage")
#: Faults of the answer.
ANSWER = ("length", "refusal", "prose", "fenced", "unknown", "twice", "backwards", "overlapping", "words", "empty")
#: The unsupported features of the endpoint, its speed, its keys, and its answers.
ENDPOINT = (
    "no-schema",
    "no-json",
    "no-logprobs",
    "no-usage",
    "new-limit",
    "slow",
    "locked",
    "no-model",
    "echo",
    "context",
)
SCRIPTS = ("good", "noisy", "liar", "always", *CONNECTION, *ANSWER, *ENDPOINT)

#: One unit of a prompt.
UNIT = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
#: The purpose of a prompt, by the first line of its system text.
KIND = re.compile(r"^Task: ([a-z_]+)")
PUNCTUATION = str.maketrans("", "", string.punctuation)
#: The beginning of a later request about the same text.
AGAIN = "Your last answer was refused"

Answer = Callable[[str, list[tuple[int, str]], dict[str, Any]], "str | None"]


def kind_of(body: dict[str, Any]) -> str:
    """Return the purpose of the request, or "" if it does not name one."""
    found = KIND.match(body["messages"][0]["content"])
    return found[1] if found else ""


def units_of(body: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the numbered units of a request."""
    return [(int(number), text) for number, text in UNIT.findall(body["messages"][-1]["content"])]


def plain(text: str) -> str:
    """Return the form that SQuAD compares: lower case, no punctuation or articles, single spaces, also at the ends."""
    words = re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(PUNCTUATION)).split()
    return f" {' '.join(words)} "


def knows_squad(path: Path) -> Answer:
    """Answer a SQuAD question from the source that holds a right answer, or say that none does."""
    right: dict[str, list[str]] = {}
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for asked in (asked for paragraph in article["paragraphs"] for asked in paragraph["qas"]):
            texts = [each if isinstance(each, str) else each["text"] for each in asked["answers"]]
            right.setdefault(" ".join(asked["question"].split()), []).extend(filter(str.strip, texts))

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str | None:
        if kind != "answer":
            return None
        asked = body["messages"][-1]["content"].rpartition("Question: ")[2]
        held = [(number, plain(text.partition(") ")[2])) for number, text in units]  # after "(document)"
        for own in right.get(asked, []):
            sources = [number for number, text in held if plain(own) in text]
            if sources:
                return json.dumps({"answer": own, "sources": sources})
        return json.dumps({"answer": "", "sources": []})

    return answer


def good_answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
    """Return a sensible answer without a model: groups of four units, and noise if a unit says so."""
    ids = [number for number, _ in units]
    if kind == "autochunker":
        noise = [number for number, text in units if re.search(r"cookie|advert|subscribe", text, re.IGNORECASE)]
        kept = [number for number in ids if number not in noise]
        groups = [kept[at : at + 4] for at in range(0, len(kept), 4)]
        spans: list[list[int]] = []
        for group in groups:
            first = group[0]
            for before, after in zip(group, [*group[1:], -1], strict=True):
                if after != before + 1:
                    spans.append([first, before])
                    first = after
        return json.dumps({"chunks": spans, "noise": [[each, each] for each in noise]})
    if kind == "llm_semantic":
        return json.dumps({"split_after": ids[3:-1:4]})
    if kind == "lumber":
        return json.dumps({"first": ids[min(4, len(ids) - 1)]}) if len(ids) > 1 else json.dumps({"first": ids[0]})
    if kind == "proposition":
        said = [{"text": f"In full: {text[:40]}", "units": [number]} for number, text in units]
        return json.dumps({"propositions": said})
    if kind in ("answer", "choice"):
        said = {"answer": " ".join(units[0][1].split()[-6:])} if kind == "answer" else {"option": "A"}
        return json.dumps({**said, "sources": ids[:1]})
    if kind == "listwise":
        return json.dumps({"order": ids[::-1]})
    if kind == "multi":
        question = body["messages"][-1]["content"].rpartition("Question: ")[2]
        return json.dumps({"queries": [f"{question} {word}" for word in ("how", "why", "when")]})
    if kind == "summary":
        text = body["messages"][-1]["content"]
        return " ".join(text.split()[-40:])
    if kind == "judge_questions":
        chunk = body["messages"][-1]["content"].split("Chunk: ")[-1]
        return json.dumps({"questions": [f"What is said of {' '.join(chunk.split()[:6])}?"]})
    if kind == "judge_relevance":
        asked = set(re.findall(r"\w{4,}", body["messages"][-1]["content"].split("\n\n")[0]))
        shared = [(number, len(asked & set(re.findall(r"\w{4,}", text)))) for number, text in units]
        return json.dumps({"verdicts": [{"id": each, "verdict": str(min(4, count))} for each, count in shared]})
    if kind == "judge_answers":
        given = [json.loads(text) for _, text in units]
        same = [any(plain(own) in plain(each["answer"]) for own in each["right answers"]) for each in given]
        said = [{"id": number, "verdict": "yes" if yes else "no"} for number, yes in zip(ids, same, strict=True)]
        return json.dumps({"verdicts": said})
    if kind.startswith("judge_"):
        noise = {number for number, text in units if re.search(r"cookie|advert|subscribe", text, re.IGNORECASE)}
        return json.dumps({"verdicts": [{"id": each, "verdict": "yes" if each in noise else "no"} for each in ids]})
    return "yes" if body.get("logprobs") else f"An answer to {body['messages'][-1]['content'][:60]!r}."


def spoiled(fault: str, good: str, units: list[tuple[int, str]]) -> str:
    """Return a good answer with a fault in its text."""
    ids = [number for number, _ in units] or [1]
    first, last = ids[0], ids[-1]
    wrong: dict[str, Any] = {
        "unknown": {"chunks": [[last + 5, last + 9]], "split_after": [last + 50], "first": last + 50, "noise": []},
        "twice": {"chunks": [[first, last], [first, last]], "split_after": [first, first], "first": [first, first]},
        "backwards": {"chunks": [[last, first]], "split_after": [last, first], "first": -1},
        "overlapping": {"chunks": [[first, last], [first, first]], "noise": [[first, last]], "split_after": "all"},
        "words": {"chunks": [["one", "three"]], "noise": ["none"], "split_after": ["two"], "first": "two"},
    }
    if fault in wrong:
        named = {"unknown": [last + 5], "backwards": [last, first], "words": ["one", "three"]}.get(fault, [first, last])
        said = [{"text": "So.", "units": named}] * 2
        wrong[fault] |= {"propositions": "all" if fault == "overlapping" else said}
        return json.dumps({**wrong[fault], "order": wrong[fault]["split_after"]})
    return {
        "prose": f"Of course! Here is what you asked for:\n{good}\nTell me if you need anything else.",
        "fenced": f"```json\n{good}\n```",
        "length": good[: len(good) // 2],
        "refusal": "",
        "empty": "",
    }[fault]


class Server:
    """A server in a thread; ``counts`` has its requests: ``calls``, ``answers`` and one entry for each kind and fault.

    Args:
        script: Names of :data:`SCRIPTS`, separated by commas.
        answer: A function from (kind, units, body) to the text of the answer, or None for the script's own.
        delay: The seconds that ``slow`` takes for a call.
        key: The only key that it accepts; "" accepts every request.
        retry_after: The seconds that ``429-after`` states.
        count: The server's tokens of a message; default: one for four bytes, as the client estimates, and four more.
        share: The share of requests to which ``liar`` lies.
    """

    def __init__(
        self,
        script: str = "good",
        *,
        answer: Answer | None = None,
        delay: float = 0.2,
        key: str = "",
        share: float = 0.3,
        retry_after: float = 1,
        count: Callable[[str], int] = lambda text: 4 + -(-len(text.encode("utf-8", "replace")) // 4),
        port: int = 0,
    ) -> None:
        self.script = frozenset(script.split(","))
        unknown = self.script - set(SCRIPTS)
        if unknown:
            raise ValueError(f"unknown script {sorted(unknown)}; choose of {', '.join(SCRIPTS)}")
        self.answer, self.delay, self.key, self.share = answer, delay, key, share
        self.retry_after, self.count_tokens = retry_after, count
        self.headers = ""
        self.counts: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.most_at_once = self._at_once = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.closing = threading.Event()
        owner = self

        class Handler(_Handler):
            server_of_tests = owner

        self._server = _Threads(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.05), daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def begun(self, body: dict[str, Any]) -> int:
        """Count a call, and return how often the same was asked before."""
        text = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.counts["calls"] += 1
            self.counts[f"kind {kind_of(body)}"] += 1
            self.bodies.append(body)
            self._seen[text] += 1
            return self._seen[text] - 1

    def ended(self) -> None:
        with self._lock:
            self._at_once -= 1

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def lies(self, body: dict[str, Any]) -> bool:
        """Return whether ``liar`` lies here, by a hash of the request, so that each run is the same."""
        digest = hashlib.sha256(body["messages"][-1]["content"].encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:4], "big") < self.share * 2**32

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request, including the faults of the answer."""
        kind, units = kind_of(body), units_of(body)
        own = self.answer(kind, units, body) if self.answer is not None else None
        text = good_answer(kind, units, body) if own is None else own
        again = AGAIN in body["messages"][-1]["content"]
        faults = [each for each in ANSWER if each in self.script and (not again or "always" in self.script)]
        if "liar" in self.script and self.lies(body):
            faults = ["unknown"]
        finish, message = "stop", {"role": "assistant", "content": text}
        for fault in faults:
            self.count(f"fault {fault}")
            message["content"] = spoiled(fault, text, units)
            finish = "length" if fault == "length" else "stop"
            if fault == "refusal":
                message |= {"content": None, "refusal": "I cannot help with that."}
        if "noisy" in self.script and kind == "autochunker" and not faults and self.lies(body):
            numbers = [number for number, _ in units]
            message["content"] = json.dumps({"chunks": [[number, number] for number in numbers], "noise": []})
        if "echo" in self.script:
            message["content"] = f"{message['content']} {self.headers}"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if body.get("logprobs") and "no-logprobs" not in self.script:
            best = (message["content"] or "").split()[:1] or [""]
            other = "no" if best[0] == "yes" else "yes"
            candidates = [{"token": best[0], "logprob": -0.1}, {"token": other, "logprob": -2.4}]
            choice["logprobs"] = {"content": [{**candidates[0], "top_logprobs": candidates}]}
        made: dict[str, Any] = {"id": "x", "object": "chat.completion", "model": body.get("model"), "choices": [choice]}
        if "no-usage" not in self.script:
            size = sum(self.count_tokens(each["content"]) for each in body["messages"])
            spent = -(-len((message["content"] or "").encode("utf-8", "replace")) // 4)
            made["usage"] = {"prompt_tokens": size, "completion_tokens": spent, "total_tokens": size + spent}
        return made


def limits_of(script: str) -> dict[str, float]:
    """Return short timeouts of a client if the server hangs, else long ones for a busy machine."""
    return {"first_byte_timeout": 1.0, "timeout": 3.0} if script in ("hang", "hang-body") else {}


@contextlib.contextmanager
def nobody() -> Iterator[str]:
    """Yield the address of a missing server; its port is held, so that no other server takes it meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


def together(count: int) -> Answer:
    """Answer like the script, each call when this many are under way, so never if they come one by one."""
    meet = threading.Barrier(count, timeout=60)

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> None:
        meet.wait()

    return answer


class _Threads(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: Any) -> None:
        """Ignore a client that closes the connection, which some tests do on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server_of_tests: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Log nothing, since tests read the counts."""

    def do_GET(self) -> None:
        if self.path == "/counts":
            self._send(200, dict(self.server_of_tests.counts))
        elif self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": "test", "object": "model"}]})
        else:
            self._send(404, {"error": {"message": f"no such address: {self.path}"}})

    def do_POST(self) -> None:
        own = self.server_of_tests
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self._send(404, {"error": {"message": f"no such address: {self.path}"}})
            return
        own.headers = str(dict(self.headers))
        body = json.loads(data)
        before = own.begun(body)
        try:
            self._answer(own, body, before)
        finally:
            own.ended()

    def _answer(self, own: Server, body: dict[str, Any], before: int) -> None:
        script = own.script
        given = self.headers.get("Authorization", "")
        if own.key and given != f"Bearer {own.key}":
            own.count("status 401")
            self._send(401, {"error": {"message": f"Incorrect API key provided: {given}"}})
            return
        if "no-model" in script:
            self._send(404, {"error": {"message": f"The model {body.get('model')!r} does not exist"}})
            return
        wanted = (body.get("response_format") or {}).get("type", "")
        if (wanted == "json_schema" and script & {"no-schema", "no-json"}) or (wanted and "no-json" in script):
            own.count(f"refused {wanted}")
            self._send(400, {"error": {"message": f"response_format of type {wanted} is not supported"}})
            return
        if "context" in script:
            self._send(400, {"error": {"message": "This model's maximum context length is 10 tokens"}})
            return
        if "new-limit" in script and "max_tokens" in body:
            self._send(400, {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead"}})
            return
        for fault in CONNECTION:
            if fault in script and (before == 0 or "always" in script):
                own.count(f"fault {fault}")
                self._fail(fault, own, body)
                return
        if "slow" in script:
            own.closing.wait(own.delay)
        own.count("answers")
        self._send(200, own.completion(body))

    def _fail(self, fault: str, own: Server, body: dict[str, Any]) -> None:
        if fault in ("429", "429-after"):
            after = {"Retry-After": str(own.retry_after)} if fault == "429-after" else {}
            self._send(429, {"error": {"message": "Rate limit reached"}}, after)
        elif fault == "500":
            self._send(500, {"error": {"message": "The server had an error"}})
        elif fault == "hang":
            own.closing.wait(60)
            self.close_connection = True
        elif fault == "garbage":
            self._send(200, {"object": "what?"})
        else:
            whole = json.dumps(own.completion(body)).encode()
            self.send_response(200)
            part = whole[: len(whole) // 2]
            # truncated: the stated length matches the body, which is half of the JSON
            self.send_header("Content-Length", str(len(part) if fault == "truncated" else len(whole)))
            self.end_headers()
            self.wfile.write(part)
            self.wfile.flush()
            if fault == "hang-body":
                own.closing.wait(60)
            if fault != "truncated":
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", default="good", help=", ".join(SCRIPTS))
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--key", default="")
    parser.add_argument("--squad", type=Path, metavar="FILE", help="questions of SQuAD that it knows the answers to")
    options = parser.parse_args()
    knows = None if options.squad is None else knows_squad(options.squad)
    with Server(options.script, answer=knows, delay=options.delay, key=options.key, port=options.port) as server:
        print(f"{server.url}; what it was asked: {server.url.removesuffix('/v1')}/counts", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print(json.dumps(dict(server.counts)))


if __name__ == "__main__":
    main()
