"""STITCH: the reward of a plan, the length of hints, learning from rollouts, and resuming a run that was killed."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

import pychunk
from pychunk.index import Ranking
from pychunk.index.planners import plan_prompt
from pychunk.index.planners.planner import Metadata, load
from pychunk.training.stitch import card, command, losses, planner, rollouts, tiny, tiny_task
from pychunk.training.stitch.buffer import ImitationBuffer
from pychunk.training.stitch.hints import HintLength
from pychunk.training.stitch.hub_task import HubTask
from pychunk.training.stitch.rewards import reward, solves
from pychunk.training.stitch.settings import Settings
from pychunk.training.stitch.tasks import Outcome

TASK = tiny_task.TinyTask()
SMALL = Settings(questions=4, rollouts=2, mini_batch=2, max_tokens=4, buffer=2, passes=1, held_out=2, every=1, steps=3)


def test_the_parts_of_a_reward() -> None:
    settings = Settings(cost=0.1, format=0.2, length=0.01, length_limit=128)
    right = Outcome(correct=True, aligned=False, formatted=True, searches=3, tokens=128)
    assert reward(right, settings) == pytest.approx(1 - 0.3 + 0.2)
    assert reward(replace(right, tokens=138), settings) == pytest.approx(0.9 - 0.1)
    assert reward(right, settings, aligned=True) == pytest.approx(0.2)
    assert reward(replace(right, correct=False, aligned=True), settings, aligned=True) == pytest.approx(1.2)
    assert reward(Outcome(False, False, False, 0, 5), settings) == 0
    assert solves(right, settings)
    assert not solves(replace(right, tokens=129), settings)


def test_hints_are_as_long_as_the_success_rate_calls_for() -> None:
    hints = HintLength(0.5)
    assert hints.sentences(8) == 7  # nothing is known yet
    assert hints.sentences(1) == 0
    lengths = []
    for right in (2, 16, 24, 31):
        hints.saw({2: (right, 32)})
        lengths.append(hints.sentences(8))
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < 7
    hints = HintLength(0.5)
    hints.saw({3: (16, 32)})  # three sentences succeed half of the time, which is the target
    assert hints.sentences(8) == 5
    assert hints.chance() == pytest.approx(0.5 ** (1 / 3), abs=0.005)


def test_the_loss_of_rollouts() -> None:
    mask = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    same = torch.log(torch.tensor([[0.5, 0.5], [0.5, 0.5]]))
    gain = torch.tensor([1.0, -1.0])
    assert losses.grpo(same, same, same, gain, mask, 0.2, 0.1).tolist() == [-1, 1]
    twice = same + np.log(2)
    assert losses.grpo(twice, same, twice, gain, mask, 0.2, 0.1).tolist() == pytest.approx([-1.2, 2])
    half = same - np.log(2)
    assert losses.grpo(half, same, half, gain, mask, 0.2, 0.1).tolist() == pytest.approx([-0.5, 0.8])
    apart = 2 - np.log(2) - 1  # the reference has twice the probability
    assert losses.grpo(same, same, twice, gain, mask, 0.2, 0.1).tolist() == pytest.approx(
        [-1 + 0.1 * apart, 1 + 0.1 * apart]
    )
    assert losses.imitation(same, mask).tolist() == pytest.approx([np.log(2)] * 2)


def test_advantages_are_within_a_group() -> None:
    found = losses.advantages([[3, 1], [5, 5], [0, 0.1]])
    np.testing.assert_allclose(found, [[1, -1], [0, 0], [-1, 1]], rtol=1e-6)


def test_no_prompt_says_a_level_and_every_expert_solves() -> None:
    questions = TASK.draw(40, 0, 0)
    assert [each.hard for each in questions[:4]] == [False, True, False, True]
    for question in questions:
        assert min(question.prompt) >= len(tiny_task.WRITTEN)
        for sentences in TASK.traces(question):
            outcome = TASK.judge(question, sum(sentences, ()))
            assert len(sentences) == tiny_task.HOPS[question.hard]
            assert reward(outcome, Settings()) == pytest.approx(1.02 if question.hard else 1.09)
            level = sentences[-1][1]
            wrong = (*sum(sentences[:-1], ()), sentences[-1][0], (level + 1) % 5, *sentences[-1][2:])
            assert not TASK.judge(question, wrong).correct
    again = TASK.draw(40, 0, 0)
    assert [each.prompt for each in again] == [each.prompt for each in questions]
    labels = [each.about.label != each.about.levels for each in TASK.draw(2000, 1, 0)]
    assert np.mean(labels) == pytest.approx(tiny_task.WRONG_LABELS, abs=0.02)


class Needing:
    """A policy that continues correctly from a hint of this many sentences or more, and else ends at once."""

    net = None

    def __init__(self, questions: list, sentences: int) -> None:
        self.known = {each.prompt: each.about.levels for each in questions}
        self.sentences = sentences

    def sample(self, prefixes: list, limit: int, generator: object) -> list:
        return [self.written(prefix) for prefix in prefixes]

    def written(self, prefix: tuple) -> tuple:
        end, stop = tiny_task.ID[tiny_task.END], tiny_task.ID[tiny_task.STOP]
        at = prefix.index(tiny_task.ID[tiny_task.PLAN]) + 1
        given = prefix[at:].count(stop)
        if given < self.sentences:
            return (end,)
        return (*(token for level in self.known[prefix[:at]][given:] for token in (level, stop)), end)


@pytest.mark.parametrize(("needed", "helped"), [(7, 3), (8, 0)])
def test_what_no_hint_solves_goes_to_the_buffer(needed: int, helped: int) -> None:
    questions = [each for each in TASK.draw(6, 0, 0) if each.hard]
    hints, buffer, random = HintLength(0.5), ImitationBuffer(3), np.random.default_rng(0)
    found = rollouts.after_hints(Needing(questions, needed), TASK, questions, hints, buffer, SMALL, None, random)
    assert len(found) == helped
    assert len(buffer.held) == 3 - helped
    assert buffer.full == (helped == 0)
    for group in found:
        assert group.prefix == group.question.prompt + group.hint
        assert group.solved(SMALL) == SMALL.rollouts
    for (prompt, trace), question in zip(buffer.held, questions):
        assert prompt == question.prompt
        assert TASK.judge(question, trace).correct
    assert hints.counts == {1: (helped * SMALL.rollouts, 3 * SMALL.rollouts)}


def test_a_trace_of_one_sentence_goes_to_the_buffer_unhinted() -> None:
    questions = [each for each in TASK.draw(6, 0, 0) if not each.hard]
    hints, buffer = HintLength(0.5), ImitationBuffer(9)
    found = rollouts.after_hints(
        Needing(questions, 0), TASK, questions, hints, buffer, SMALL, None, np.random.default_rng(0)
    )
    assert (found, len(buffer.held), hints.counts) == ([], 3, {})


def test_rollouts_are_drawn_by_the_chances_that_are_learned_from() -> None:
    training = tiny.training("grpo", SMALL)
    torch.nn.init.normal_(training.policy.net["head"].weight, std=3.0)  # so sharp that most draws are the likeliest
    prefixes = [each.prompt for each in TASK.draw(6, 0, 0)]
    outputs = training.policy.sample(prefixes, 9, torch.Generator().manual_seed(0))
    with torch.no_grad():
        together, mask = training.policy.log_probs(prefixes, outputs)
    assert mask.sum(1).tolist() == [len(each) for each in outputs]
    assert float((together * mask).sum() / mask.sum()) > -1
    for row, (prefix, output) in enumerate(zip(prefixes, outputs)):
        with torch.no_grad():
            alone, _ = training.policy.log_probs([prefix], [output])
        torch.testing.assert_close(alone[0], together[row, : len(output)], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("method", ["stitch", "sft-rl"])
def test_a_resumed_training_has_the_same_losses(method: str, tmp_path: Path) -> None:
    settings = replace(SMALL, sft_steps=1, steps=3)
    whole = tiny.training(method, settings)
    whole.run()
    first = tiny.training(method, settings)
    first.run(tmp_path, until=2)
    second = tiny.training(method, settings)
    assert not second.resume(tmp_path / "none")
    assert second.resume(tmp_path)
    assert second.step == 2
    second.run(tmp_path)
    assert second.history == whole.history
    assert second.curve == whole.curve
    for one, other in zip(second.policy.net.parameters(), whole.policy.net.parameters()):
        assert torch.equal(one, other)
    assert sum(row.get("imitated", 0) for row in whole.history) > 0


def test_a_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    tiny.training("sft", replace(SMALL, sft_steps=1)).run(tmp_path)
    for other, told in (({"rate": 0.5}, "rate 0.001 there, 0.5 here"), ({"seed": 3}, "seed 0 there, 3 here")):
        with pytest.raises(ValueError, match=told):
            tiny.training("sft", replace(SMALL, sft_steps=1, **other)).resume(tmp_path)
    with pytest.raises(ValueError, match="method 'sft' there, 'grpo' here"):
        tiny.training("grpo", replace(SMALL, sft_steps=1)).resume(tmp_path)


def test_the_command_writes_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--sft-steps", "1", "--held-out", "2", "--questions", "2"]
    assert command.main(["--tiny", "--method", "sft", "--work", str(tmp_path), *few]) == 0
    folder = tmp_path / "tiny-sft-0"
    facts = json.loads((folder / "stitch.json").read_text(encoding="utf-8"))
    assert (folder / "README.md").read_text(encoding="utf-8") == card.card(facts)
    assert facts["curve"][-1]["step"] == 1
    assert command.main(["--tiny", "--method", "sft", "--work", str(tmp_path), *few, "--rate", "0.5"]) == 2
    assert "rate 0.001 there, 0.5 here" in capsys.readouterr().err


class Tokenizer:
    """A tokenizer with one token a character."""

    eos_token_id = 0

    def __call__(self, text: str, add_special_tokens: bool) -> dict:
        return {"input_ids": [ord(c) for c in text]}

    def decode(self, ids: tuple, skip_special_tokens: bool = False) -> str:
        return "".join(chr(i) for i in ids if i or not skip_special_tokens)


def prompt(system: str, user: str) -> tuple:
    return tuple(map(ord, f"{system}\n{user}"))


LEVELS = ["sentence", "paragraph", "subsection", "section", "document"]
LINE = {"question": "Who?", "levels": LEVELS, "answers": [["sentence", "section"], ["sentence", "document"]]}
TOLD = {"nodes": [9, 7, 5, 3, 1], "words": 150, "headings": ["Cats", "Dogs"]}


def lines(path: Path, *changed: dict) -> Path:
    rows = [json.dumps(LINE)] * 20
    rows[1:1] = [json.dumps({name: value for name, value in (LINE | each).items() if value is not ...})
                 for each in changed]  # fmt: skip
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_questions_of_a_file(tmp_path: Path) -> None:
    task = HubTask(lines(tmp_path / "q.jsonl"), Tokenizer(), prompt)
    (question,) = task.draw(1, 0, 0)
    assert len(task.kept) == 2
    for sentences in task.traces(question):
        assert len(sentences) >= 3
        outcome = task.judge(question, sum(sentences, ()))
        assert (outcome.correct, outcome.aligned, outcome.searches) == (True, True, 4)
    said = {plan: tuple(map(ord, json.dumps({"low": plan[0], "high": plan[1]}))) for plan in
            (("sentence", "document"), ("section", "section"), ("section", "sentence"))}  # fmt: skip
    found = [task.judge(question, (*trace, 0)) for trace in said.values()]
    assert [(each.correct, each.aligned, each.formatted) for each in found] == [
        (True, False, True),
        (False, False, True),
        (False, False, False),
    ]
    assert not task.judge(question, said["sentence", "document"]).formatted  # it does not end


def test_training_and_planning_read_the_same_prompt(tmp_path: Path) -> None:
    task = HubTask(lines(tmp_path / "q.jsonl", TOLD), Tokenizer(), prompt)
    metadata = Metadata(tuple(LEVELS), (9, 7, 5, 3, 1), 150, headings=("Cats", "Dogs"))
    wanted = prompt(plan_prompt.system().system, plan_prompt.user("Who?", metadata))
    assert task.learned[0].prompt == wanted
    assert "- section: 3" in "".join(map(chr, wanted))
    assert "\nWords: 150\n\nSections that a first search found:\n- Cats\n- Dogs" in "".join(map(chr, wanted))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"answers": ...}, "line 2: answers must be a list of plans"),
        ({"answers": []}, "line 2: answers must be a list of plans"),
        ({"answers": [["section", "sentence"]]}, "line 2: a plan must be"),
        ({"question": 3}, "line 2 must have a text in 'question'"),
        ({"levels": []}, "line 2: levels must be the names"),
        ({"nodes": [1]}, "line 2: nodes must be a number for each level"),
        ({"words": -1}, "line 2: nodes must be a number for each level, and words"),
        ({"headings": "Cats"}, "line 2: headings"),
        ({"traces": [3]}, "line 2: traces"),
    ],
)
def test_questions_without_answers_are_refused(changed: dict, told: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=told):
        HubTask(lines(tmp_path / "q.jsonl", changed), Tokenizer(), prompt)


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    pytest.importorskip("yaml", reason="files of settings need PyYAML")
    plain = SimpleNamespace(from_pretrained=lambda name: SimpleNamespace(chat_template=None))
    stub = SimpleNamespace(AutoTokenizer=plain, AutoModelForCausalLM=None)
    monkeypatch.setitem(sys.modules, "transformers", stub)
    config = tmp_path / "plain.yaml"
    config.write_text("model: some/plain\n", encoding="utf-8")
    assert command.main(["--config", str(config), "--data", str(lines(tmp_path / "q.jsonl"))]) == 2
    assert "some/plain has no chat template" in capsys.readouterr().err
    assert command.main(["--config", str(config)]) == 2
    assert "--data" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: 3", "must name a model, with a line such as .*; got none"),
        ("model: a\nstep: 3", "no setting 'step'; there are steps,"),
        ("model: a\nsteps: many", "steps must be of type int; got 'many'"),
        ("model: a\nrate: fast", "rate must be of type float; got 'fast'"),
        ("model: [", "is not YAML"),
    ],
)
def test_settings_that_cannot_be_read(text: str, told: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="files of settings need PyYAML")
    from pychunk.training.stitch import config

    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        config.read(tmp_path / "x.yaml")


@pytest.mark.slow
def test_what_the_command_trained_plans_in_an_index(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    few = ["--method", "sft", "--sft-steps", "120", "--every", "120", "--held-out", "64", "--work", str(tmp_path)]
    assert command.main(["--tiny", *few]) == 0
    folder = tmp_path / "tiny-sft-0"
    found = pychunk.segment_levels(
        ["Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good."], LEVELS, vectors="chunk", ids=["cats"]
    )
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        index.add(found.chunks())
        plans = index.plan(["Who purrs?", "In which way do cats sleep?", "Summarise cats."], folder)
        assert [plan[:2] for plan in plans] == [("sentence",) * 2, ("document",) * 2, ("document",) * 2]
        assert not any(plan.failed for plan in plans)
        assert all(verb in plan.why for plan, verb in zip(plans, ["sentence .", "document .", "document ."]))
        once, again = (planner.StitchPlanner(path) for path in (folder, str(folder)))
        assert once._model is again._model
        (hit,) = index.search("Who purrs?", 1, ranking=Ranking(planner=str(folder)))[0]
        assert hit.text == "Cats purr."
        assert hit.scores["plan"] == str(plans[0])
        (other,) = index.plan("purring", folder)
        assert other.failed
        assert "knows only questions with one of the words who, when" in other.why
        index.save()
    (folder / "stitch.json").write_text((folder / "stitch.json").read_text() + " ")  # another state than the cached
    (folder / "checkpoint.pt").write_bytes(b"garbage")
    with pytest.raises(ValueError, match=r"checkpoint\.pt is damaged \(.*\): train it again"):
        load(folder)
    (folder / "checkpoint.pt").unlink()
    with pytest.raises(ValueError, match=r"checkpoint\.pt is damaged \(it is missing\): train it again"):
        load(folder)
    (folder / "stitch.json").write_text("{}")
    with pytest.raises(ValueError, match=r"stitch\.json is damaged \('settings'\)"):
        load(folder)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_curve(tmp_path: Path) -> None:
    few = ["--steps", "8", "--every", "2", "--held-out", "8", "--seed", "5"]
    arguments = [sys.executable, "-m", "pychunk", "train", "stitch", "--tiny", *few, "--work", str(tmp_path)]
    killed = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "tiny-stitch-5" / "checkpoint.pt"
    while not checkpoint.exists() and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert checkpoint.exists()
    subprocess.run(arguments, check=True, capture_output=True)
    whole = tiny.training("stitch", Settings(steps=8, every=2, held_out=8, seed=5))
    whole.run()
    facts = json.loads((checkpoint.parent / "stitch.json").read_text(encoding="utf-8"))
    assert facts["curve"] == whole.curve


@pytest.mark.slow
@pytest.mark.long
def test_hints_and_imitation_learn_what_rollouts_alone_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tiny_task.HOPS, True, 4)  # in a quarter of the time
    hard = {}
    for method in ("stitch", "grpo"):
        training = tiny.training(method, Settings(steps=50, every=50, held_out=128))
        training.run()
        hard[method] = training.curve[-1]["reward_hard"]
    assert hard["stitch"] > 0.6, hard
    assert hard["grpo"] < 0.3, hard
