"""The settings of a planner's training; ``--help`` shows each field's help, and YAML files use the fields' names."""

from __future__ import annotations

from dataclasses import dataclass

from ..train_options import setting

#: The methods: STITCH, plain GRPO, supervised fitting of traces, and supervised fitting followed by GRPO.
METHODS = ("stitch", "grpo", "sft", "sft-rl")


@dataclass(frozen=True)
class Settings:
    """The settings; the defaults are those of ``--tiny``."""

    steps: int = setting(160, "steps, each with one batch of questions")
    questions: int = setting(16, "questions in a step")
    rollouts: int = setting(8, "rollouts of a question, G")
    mini_batch: int = setting(4, "groups of rollouts in an update of the policy")
    rows: int = setting(512, "sequences in one pass of the model; affects memory, and results only by rounding")
    rate: float = setting(1e-3, "Adam's learning rate, constant")
    clip: float = setting(0.2, "how far the ratio of new to old policy may differ from 1")
    kl: float = setting(1e-3, "weight of the divergence from the policy with which reinforcement began")
    max_tokens: int = setting(32, "maximum number of tokens of a rollout, without the hint")
    cost: float = setting(0.01, "alpha: penalty for each search of a plan")
    format: float = setting(0.1, "gamma: reward for a plan that can be parsed")
    length: float = setting(0.01, "beta: penalty for each token beyond the limit")
    length_limit: int = setting(32, "tokens of a trace without penalty; a longer trace counts as unsolved")
    aligned: int = setting(20, "first steps, which reward agreement with pseudo-labels instead of answer and cost")
    target: float = setting(0.2, "success rate that a hint should give rollouts")
    buffer: int = setting(16, "T: unsolved questions at which the imitation buffer is fitted")
    passes: int = setting(4, "passes over the buffer when it is fitted")
    sft_steps: int = setting(40, "steps of supervised fitting for sft and sft-rl, with --questions questions each")
    every: int = setting(10, "steps between two measurements; a checkpoint is written after each")
    held_out: int = setting(256, "questions to measure on, of each half")
    seed: int = setting(0, "seed of weights, questions and rollouts")
