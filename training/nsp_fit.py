"""The fine-tuning of a small BERT with a next-sentence head on pairs, which can be resumed and extended at any time."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._util.durable_files import whole_file
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import setting

from . import nsp_pairs

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
CLS, SEP = 101, 102


#: The shares of a run over which the learning rate rises from zero, and over which it falls to zero at the end.
RISE, FALL = 0.02, 0.3


@dataclass(frozen=True)
class Plan:
    """The settings of the fine-tuning; ``--help`` shows each field's ``metadata["help"]``."""

    pairs: int = setting(320_000, "pairs to learn from, half of them neighbours")
    same: float = setting(0.7, "share of the strangers that come from the same document")
    max_length: int = setting(96, "tokens of a pair in training; longer pairs lose tokens of the longer sentence first")
    tokens: int = setting(4096, "tokens in a step")
    rate: float = setting(1e-4, "AdamW's highest learning rate")
    decay: float = setting(0.01, "AdamW's weight decay")
    part: int = setting(20_000, "pairs between two checkpoints")
    seed: int = setting(0, "seed of the held-out split and of the pairs")
    stage: int = setting(0, "number of the draw of pairs; use another for a model that is trained further")

    def rate_after(self, seen: int) -> float:
        """Return the learning rate after ``seen`` pairs: a rise, a plateau, and a fall over the last 30 % of pairs."""
        done = seen / self.pairs
        return self.rate * min(1.0, (done + 1e-3) / RISE, max(0.0, 1 - done) / FALL)

    def same_so_far(self, other: Plan, seen: int) -> bool:
        """Return whether both plans train alike up to ``seen`` pairs.

        A run may be prolonged until its rate falls.
        """
        rising = self.pairs == other.pairs or RISE * max(self.pairs, other.pairs) <= seen
        before_fall = self.pairs == other.pairs or seen <= (1 - FALL) * min(self.pairs, other.pairs)
        return rising and before_fall and replace(self, pairs=0) == replace(other, pairs=0)


def model_from(directory: str) -> Any:
    """Load a BERT as ``BertForNextSentencePrediction``, with its own head, or else with its pooler and a new head."""
    torch = import_torch()
    from transformers import BertForNextSentencePrediction

    torch.manual_seed(0)
    # Plain attention is used, because at 60 tokens the fused kernel for CPUs took a quarter of a step, three times as
    # long. There is no dropout: every pair is seen once, so nothing can overfit, and drawing the masks took 17 % of a
    # step. Word embeddings stay fixed: their gradient, 47 MB that is mostly zeros, took another 16 %.
    loaded: Any = BertForNextSentencePrediction.from_pretrained(
        directory,
        attn_implementation="sdpa" if torch.cuda.is_available() else "eager",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        output_loading_info=True,
    )
    model, found = loaded
    model.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    if any(name.startswith("cls.") for name in found["missing_keys"]):
        torch.nn.init.normal_(model.cls.seq_relationship.weight, std=0.02)
        torch.nn.init.zeros_(model.cls.seq_relationship.bias)
    return model.to(device())


def device() -> str:
    """Return a CUDA device if torch has one, else the CPU."""
    return "cuda" if import_torch().cuda.is_available() else "cpu"


def _logits(model: Any, rows: list[npt.NDArray[np.int64]], lengths: list[tuple[int, int]], chosen: Any) -> Any:
    """Return the logits of pairs of one length, float32[pairs, 2]; products are in bfloat16, the rest in float32."""
    torch = import_torch()
    ids = np.stack([rows[i] for i in chosen])
    kinds = np.stack([np.repeat([0, 1], lengths[i]) for i in chosen])
    ids, kinds = (torch.from_numpy(array).to(device()) for array in (ids, kinds))
    with torch.autocast(device(), dtype=torch.bfloat16):
        return model(input_ids=ids, token_type_ids=kinds).logits.float()


def predict(model: Any, sentences: nsp_pairs.Sentences, pairs: nsp_pairs.Pairs, max_length: int = 256) -> F32:
    """Return the probability that the second sentence of each pair follows the first, float32[n]."""
    torch = import_torch()
    rows, lengths = nsp_pairs.fill(sentences, pairs, max_length, CLS, SEP)
    out = np.empty(len(pairs), np.float32)
    model.eval()
    with torch.inference_mode():
        for chosen in nsp_pairs.batches(np.array([len(row) for row in rows]), 6144, 0):
            out[chosen] = torch.softmax(_logits(model, rows, lengths, chosen), dim=1)[:, 0].cpu().numpy()
    return out


def fit(model: Any, sentences: nsp_pairs.Sentences, plan: Plan, folder: Path) -> Any:
    """Train in parts of ``plan.part`` pairs; after each part, weights and optimizer go to ``folder``.

    Steps contain pairs of one length, so nothing is padded. Each part draws its own pairs from the plan's seed and the
    part's number. A run can therefore be prolonged with more pairs.
    """
    torch = import_torch()
    from tqdm import tqdm

    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=plan.rate, weight_decay=plan.decay, betas=(0.9, 0.98), fused=True)
    checkpoint = folder / "checkpoint.pt"
    first, seen = 0, 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True, map_location=device())
        if not plan.same_so_far(Plan(**state["plan"]), state["seen"]):
            raise ValueError(
                f"{checkpoint} belongs to a run with other options: remove it, or run with {state['plan']}"
            )
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first, seen = state["part"], state["seen"]
        logger.info("resumes after %d pairs", seen)
    parts = -(-plan.pairs // plan.part)
    for part in range(first, parts):
        seed = [plan.seed, plan.stage, part]
        own = nsp_pairs.draw(sentences.documents, min(plan.part, plan.pairs - part * plan.part), plan.same, seed)
        rows, lengths = nsp_pairs.fill(sentences, own, plan.max_length, CLS, SEP)
        labels = torch.from_numpy((own.kind != nsp_pairs.NEXT).astype(np.int64)).to(device())
        steps = nsp_pairs.batches(np.array([len(row) for row in rows]), plan.tokens, seed)
        model.train()
        running, right = 0.0, 0
        for chosen in tqdm(steps, desc=f"part {part + 1}/{parts}", leave=False, mininterval=5):
            optimizer.param_groups[0]["lr"] = plan.rate_after(seen)
            logits = _logits(model, rows, lengths, chosen)
            wanted = labels[torch.from_numpy(chosen).to(device())]
            loss = torch.nn.functional.cross_entropy(logits, wanted)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            seen += len(chosen)
            running += float(loss.detach()) * len(chosen)
            right += int((logits.argmax(dim=1) == wanted).sum())
        logger.info("part %d/%d: loss %.4f, accuracy %.4f", part + 1, parts, running / len(own), right / len(own))
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "plan": asdict(plan)}
        with whole_file(checkpoint) as file:
            torch.save({**state, "part": part + 1, "seen": seen}, file)
    return model
