"""How a planner is trained; each field's help is shown by ``--help`` and names the setting in a YAML file."""

from __future__ import annotations

from dataclasses import dataclass

from ..train_options import setting

#: What is trained, by method: STITCH; plain GRPO; supervised fitting of traces; that, and GRPO after it.
METHODS = ("stitch", "grpo", "sft", "sft-rl")


@dataclass(frozen=True)
class Settings:
    """The defaults are those of ``--tiny``."""

    steps: int = setting(160, "steps, each of one batch of questions")
    questions: int = setting(16, "questions a step")
    rollouts: int = setting(8, "rollouts a question, G")
    mini_batch: int = setting(4, "groups of rollouts an update of the policy")
    rows: int = setting(512, "sequences in one pass of the model: memory, not results but for rounding")
    rate: float = setting(1e-3, "Adam's learning rate, constant")
    clip: float = setting(0.2, "how far the ratio of new to old policy may leave 1")
    kl: float = setting(1e-3, "weight of the divergence from the policy that reinforcement began with")
    max_tokens: int = setting(32, "tokens of a rollout at most, the hint not counted")
    cost: float = setting(0.01, "alpha: taken off for each search of a plan")
    format: float = setting(0.1, "gamma: given for a plan that can be read")
    length: float = setting(0.01, "beta: taken off for each token beyond the limit")
    length_limit: int = setting(32, "tokens of a trace that cost nothing; a longer one solves nothing")
    aligned: int = setting(20, "first steps that reward agreement with pseudo-labels in place of answer and cost")
    target: float = setting(0.2, "success rate that a hint is to bring rollouts to")
    buffer: int = setting(16, "T: unsolved questions at which the imitation buffer is fitted")
    passes: int = setting(4, "passes over the buffer when it is fitted")
    sft_steps: int = setting(40, "steps of supervised fitting for sft and sft-rl, of as many questions each")
    every: int = setting(10, "steps between two measurements, after each of which a checkpoint is written")
    held_out: int = setting(256, "questions to measure on, of each half")
    seed: int = setting(0, "of weights, questions and rollouts")
