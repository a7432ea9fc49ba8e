"""Fine-tune a small BERT with a next-sentence head on pairs, resumable after any kill."""

from __future__ import annotations

import logging
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import nsp_pairs
from .teacher import import_torch

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
CLS, SEP = 101, 102


def _setting(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Plan:
    """How the model is fine-tuned; each field's ``metadata["help"]`` says what it is and is shown by ``--help``."""

    pairs: int = _setting(320_000, "pairs to learn from, half of them neighbours")
    same: float = _setting(0.7, "share of the strangers that come from the same document")
    max_length: int = _setting(96, "tokens of a pair in training, cut longest first")
    tokens: int = _setting(6144, "tokens in one step")
    rate: float = _setting(1e-4, "AdamW's learning rate at its height")
    decay: float = _setting(0.01, "AdamW's weight decay")
    part: int = _setting(20_000, "pairs between two checkpoints")
    seed: int = _setting(0, "seed of the held-out split and of the pairs")


def model_from(directory: str) -> Any:
    """MiniLM with its pooler and a new two-way head, as ``BertForNextSentencePrediction``."""
    torch = import_torch()
    from transformers import BertForNextSentencePrediction

    torch.manual_seed(0)
    # Plain attention: at 60 tokens the fused kernel for CPUs took a quarter of a step, three times as long.
    # No dropout: every pair is seen once, so there is nothing to overfit, and drawing the masks took 17 % of a step.
    # Word embeddings stay as they are: their gradient, 47 MB that is mostly zeros, took another 16 %.
    model = BertForNextSentencePrediction.from_pretrained(
        directory, attn_implementation="eager", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    model.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    torch.nn.init.normal_(model.cls.seq_relationship.weight, std=0.02)
    torch.nn.init.zeros_(model.cls.seq_relationship.bias)
    return model


def _tensors(rows: list[npt.NDArray[np.int64]], lengths: list[tuple[int, int]], chosen: Any) -> tuple[Any, Any]:
    torch = import_torch()
    ids = torch.from_numpy(np.stack([rows[i] for i in chosen]))
    kinds = np.stack([np.repeat([0, 1], lengths[i]) for i in chosen])
    return ids, torch.from_numpy(kinds)


def predict(model: Any, sentences: nsp_pairs.Sentences, pairs: nsp_pairs.Pairs, max_length: int = 256) -> F32:
    """Probability float32[n] that the second sentence of each pair follows the first."""
    torch = import_torch()
    rows, lengths = nsp_pairs.fill(sentences, pairs, max_length, CLS, SEP)
    out = np.empty(len(pairs), np.float32)
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for chosen in nsp_pairs.batches(np.array([len(row) for row in rows]), 6144, 0):
            ids, kinds = _tensors(rows, lengths, chosen)
            logits = model(input_ids=ids, token_type_ids=kinds).logits.float()
            out[chosen] = torch.softmax(logits, dim=1)[:, 0].numpy()
    return out


def fit(model: Any, sentences: nsp_pairs.Sentences, plan: Plan, folder: Path) -> Any:
    """Train in parts of ``plan.part`` pairs; after each, weights and optimizer go to ``folder``.

    Steps hold pairs of one length, so nothing is padded. The learning rate rises over the first 5 % of the pairs and
    falls to zero along a straight line. Arithmetic is bfloat16 where the matrices are large, float32 elsewhere.
    """
    torch = import_torch()
    from tqdm import tqdm

    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=plan.rate, weight_decay=plan.decay, betas=(0.9, 0.98), fused=True)
    checkpoint = folder / "checkpoint.pt"
    first, seen = 0, 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        if state["plan"] != asdict(plan):
            raise ValueError(f"{checkpoint} belongs to other options: remove it, or run with {state['plan']}")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first, seen = state["part"], state["seen"]
        logger.info("goes on after %d pairs", seen)
    pairs = nsp_pairs.draw(sentences, plan.pairs, plan.same, plan.seed)
    parts = -(-len(pairs) // plan.part)
    for part in range(first, parts):
        own = pairs.take(np.arange(part * plan.part, min(len(pairs), (part + 1) * plan.part)))
        rows, lengths = nsp_pairs.fill(sentences, own, plan.max_length, CLS, SEP)
        labels = torch.from_numpy((own.kind != nsp_pairs.NEXT).astype(np.int64))
        steps = nsp_pairs.batches(np.array([len(row) for row in rows]), plan.tokens, plan.seed + part)
        model.train()
        running, right = 0.0, 0
        for chosen in tqdm(steps, desc=f"part {part + 1}/{parts}", leave=False, mininterval=5):
            done = seen / len(pairs)
            optimizer.param_groups[0]["lr"] = plan.rate * min(1.0, (done + 1e-3) / 0.05) * (1 - done)
            ids, kinds = _tensors(rows, lengths, chosen)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(input_ids=ids, token_type_ids=kinds).logits
            wanted = labels[torch.from_numpy(chosen)]
            loss = torch.nn.functional.cross_entropy(logits.float(), wanted)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            seen += len(chosen)
            running += float(loss.detach()) * len(chosen)
            right += int((logits.argmax(dim=1) == wanted).sum())
        logger.info("part %d/%d: loss %.4f, accuracy %.4f", part + 1, parts, running / len(own), right / len(own))
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "plan": asdict(plan)}
        aside = checkpoint.with_suffix(f".{os.getpid()}.part")
        torch.save({**state, "part": part + 1, "seen": seen}, aside)
        os.replace(aside, checkpoint)
    return model
