"""Other ways to train the compression encoder, compared with the shipped one.

The ways are a contrastive term, more queries, a single query, and a set transformer as the encoder. All learn from the
same articles with as many passes, and the same other articles decide when to stop. On test articles the script measures
the cosine of articles without their leads to the lead. It also measures how often title and heading find the section
first, by cosine alone.

The set transformer (Lee et al., 2019) has two blocks of self-attention over a node's first 256 sentences, in 128
dimensions with 4 heads. One learned query pools them, and the output is added to the mean by tokens. Times are CPU
microseconds a sentence for the vectors of sections and documents. The script needs torch, from the extra `train`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._engine import engine as engines
from pychunk.encoders.registry import vector_encoder
from pychunk.evaluation.measures import intervals
from pychunk.levels.compressor import PARTS
from training import compressor_fit, compressor_spans
from training.compressor_fit import Plan
from training.compressor_spans import Lessons

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
PLANS = {
    "as shipped": Plan(),
    "contrastive, weight 0.1": Plan(contrast=0.1),
    "contrastive, weight 0.3": Plan(contrast=0.3),
    "four queries": Plan(heads=4),
    "one query": Plan(heads=1),
}
SHIPPED, SET = "as shipped", "set transformer"
#: The set transformer's width, heads, blocks, the most sentences that it sees, and its learning rate.
WIDTH, HEADS, BLOCKS, MOST, RATE = 128, 4, 2, 256, 1e-3
#: The number of spans processed at a time outside training.
BLOCK = 128


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--encoder", default="static", metavar="NAME", help="whose vectors (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="articles to learn from; 0: all (default)")
    parser.add_argument("--epochs", type=int, default=10, metavar="N", help="passes (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="as of training.compressor")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/compressor_variants.json")
    return parser.parse_args()


def by_engine(weights: dict[str, F32], own: Lessons) -> F32:
    """Return float32[spans, d] from the engine."""
    last = int(own.last[: own.documents].max())
    offsets = np.append(0, own.last[: own.documents])
    parts = [weights[name] for name in PARTS]
    made = np.empty_like(own.targets)
    for rows in (np.arange(own.documents), np.arange(own.documents, len(own.first))):
        order = rows[np.argsort(own.first[rows], kind="stable")]
        spans = [(own.first[order], own.last[order])]
        arguments = own.vectors[:last], own.tokens[:last], offsets, spans
        made[order] = engines.engine().compressed_vectors(parts, *arguments, threads=1)[0]
    return made


def set_transformer(dim: int) -> Any:
    """Build two blocks of self-attention, one learned query that pools, and the map back, which starts at zero."""
    import torch

    class SetTransformer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.into = torch.nn.Linear(dim + 3, WIDTH)
            block = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, 0.0, batch_first=True)
            self.blocks = torch.nn.TransformerEncoder(block, BLOCKS, enable_nested_tensor=False)
            self.seed = torch.nn.Parameter(torch.randn(1, 1, WIDTH) * 0.1)
            self.pool = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.out = torch.nn.Linear(WIDTH, dim)
            torch.nn.init.zeros_(self.out.weight)
            torch.nn.init.zeros_(self.out.bias)

        def forward(self, told: Any, absent: Any, mean: Any) -> Any:
            seen = self.blocks(self.into(told), src_key_padding_mask=absent)
            seed = self.seed.expand(len(seen), -1, -1)
            pooled = self.pool(seed, seen, seen, key_padding_mask=absent, need_weights=False)[0][:, 0]
            return torch.nn.functional.normalize(mean + self.out(pooled), dim=1)

    torch.manual_seed(0)
    return SetTransformer()


def sets_of(own: Lessons, rows: I64) -> tuple[Any, Any, Any]:
    """Return the set transformer's inputs for some spans: sentences with length and place, a mask, and the mean."""
    import torch

    counts = np.minimum(own.last[rows] - own.first[rows], MOST)
    told = np.zeros((len(rows), int(counts.max()), own.vectors.shape[1] + 3), np.float32)
    mean = np.zeros((len(rows), own.vectors.shape[1]), np.float32)
    for place, (row, count) in enumerate(zip(rows.tolist(), counts.tolist())):
        first, last = own.first[row], own.last[row]
        told[place, :count, :-3] = own.vectors[first : first + count]
        told[place, :count, -3] = compressor_fit.quarter_logs(own.tokens[first : first + count])
        told[place, :count, -2] = np.arange(count) / (last - first)
        told[place, :count, -1] = compressor_fit.quarter_logs(np.array([last - first]))
        mean[place] = own.tokens[first:last].astype(np.float32) @ own.vectors[first:last]
    absent = np.arange(told.shape[1]) >= counts[:, None]
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    return torch.from_numpy(told), torch.from_numpy(absent), torch.from_numpy(mean)


def by_set_transformer(model: Any, own: Lessons, rows: I64) -> F32:
    """Return float32[rows, d], computed for spans of similar size at a time."""
    import torch

    found = np.empty((len(rows), own.targets.shape[1]), np.float32)
    order = np.argsort((own.last - own.first)[rows], kind="stable")
    with torch.no_grad():
        for begin in range(0, len(rows), BLOCK):
            part = order[begin : begin + BLOCK]
            found[part] = model(*sets_of(own, rows[part])).numpy()
    return found


def fit_set_transformer(learned: Lessons, stopped_on: Lessons, plan: Plan) -> Any:
    """Train with the loss, batches and passes of compressor_fit, and keep the best pass on the validation articles."""
    import torch

    model = set_transformer(learned.vectors.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=plan.decay)
    targets = torch.from_numpy(learned.targets)
    steps = max(1, learned.documents // plan.batch)
    best: tuple[float, Any] = (-1.0, None)
    for epoch in range(plan.epochs):
        drawn = np.random.default_rng([plan.seed, epoch])
        order = drawn.permutation(learned.documents)
        model.train()
        for step in range(steps):
            done = (epoch * steps + step) / (plan.epochs * steps)
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (epoch * steps + step + 1) / 20) * 0.5 * (1 + np.cos(np.pi * done))
            rows = order[step * plan.batch : (step + 1) * plan.batch]
            loss = compressor_fit.loss_of(model(*sets_of(learned, rows)), targets[torch.from_numpy(rows)], plan)
            rows = drawn.integers(learned.documents, len(learned.first), plan.batch * plan.sections)
            own = compressor_fit.loss_of(model(*sets_of(learned, rows)), targets[torch.from_numpy(rows)], plan)
            loss = loss + plan.names * own
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        made = by_set_transformer(model, stopped_on, np.arange(stopped_on.documents))
        value = float(np.einsum("ij,ij->i", made, stopped_on.targets[: stopped_on.documents]).mean())
        print(f"  pass {epoch + 1}: {value:.4f}", flush=True)
        if value > best[0]:
            best = value, {name: each.clone() for name, each in model.state_dict().items()}
    model.load_state_dict(best[1])
    return model


def scores_of(made: F32, test: Lessons) -> dict[str, F64]:
    """Return the cosines of documents to their leads, and 1 for each section that its name finds first."""
    own, names = made[test.documents :], test.targets[test.documents :]
    firsts = []
    for begin in range(0, len(own), BLOCK):
        scores = names[begin : begin + BLOCK] @ own.T
        mine = scores[np.arange(len(scores)), np.arange(begin, begin + len(scores))]
        firsts.append((scores > mine[:, None]).sum(axis=1) == 0)
    cosines = np.einsum("ij,ij->i", made[: test.documents], test.targets[: test.documents], dtype=np.float64)
    return {"cosine to the lead": cosines, "section found first": np.concatenate(firsts).astype(np.float64)}


def timed(make: Callable[[], F32]) -> tuple[F32, float]:
    begin = time.process_time()
    made = make()
    return made, time.process_time() - begin


def main() -> None:
    """Print the table and save it."""
    options = arguments()
    import torch

    torch.set_num_threads(options.threads)
    keep = None if options.encoder == "static" else options.keep

    def read(part: str, limit: int) -> Lessons:
        articles = compressor_spans.read_articles(options.data / "wiki" / "articles.parquet", part, limit)
        return compressor_spans.lessons(articles, "lead", options.encoder, options.threads, keep)

    learned, stopped_on, test = (
        read(part, -(-options.limit // share)) for part, share in (("train", 1), ("validation", 6), ("test", 2))
    )
    print(f"{learned.documents:,} documents to learn from, {test.documents:,} to test on", flush=True)
    sentences = int(np.sum(test.last - test.first))
    found: dict[str, tuple[dict[str, F64], float, int]] = {}
    for name, plan in PLANS.items():
        with TemporaryDirectory() as folder:
            own = replace(plan, epochs=options.epochs)
            weights, _ = compressor_fit.fit(learned, stopped_on, own, Path(folder) / "state.pt")
        made, seconds = timed(lambda weights=weights: by_engine(weights, test))
        found[name] = scores_of(made, test), seconds, sum(weights[part].size for part in PARTS)
        print(name, {key: round(float(value.mean()), 4) for key, value in found[name][0].items()}, flush=True)
    model = fit_set_transformer(learned, stopped_on, Plan(epochs=options.epochs))
    made, seconds = timed(lambda: by_set_transformer(model, test, np.arange(len(test.first))))
    found[SET] = scores_of(made, test), seconds, sum(each.numel() for each in model.parameters())
    rows = []
    for name, (scores, seconds, parameters) in found.items():
        row: dict[str, Any] = {"compressor": name}
        for key, values in scores.items():
            row[key] = _rounded(intervals.interval(values))
            row[f"{key}: this minus as shipped"] = _rounded(intervals.paired(values, found[SHIPPED][0][key]))
        rows.append(
            {**row, "microseconds a sentence": round(seconds * 1e6 / sentences, 2), "kB": parameters * 4 // 1000}
        )
        print(rows[-1])
    if options.save:
        counts = {"learned from": learned.documents, "test articles": test.documents}
        record.save(
            options.save,
            "Compression encoders learned otherwise",
            {**counts, "test sections": len(test.first) - test.documents, "passes": options.epochs, "rows": rows},
            about=(
                "All compressors were trained on the same articles, and measured on the same test articles. Each has "
                'the weights of the pass with the best result on a third set of articles. "As shipped" is the design '
                "of the shipped compressor. Microseconds are CPU time for each sentence of the sections and documents:"
                " the set transformer runs in torch, the other compressors in pychunk's engine. Differences are "
                "paired."
            ),
            packages=("torch",),
            encoder=vector_encoder(options.encoder).fingerprint,
        )


def _rounded(value: intervals.Interval) -> dict[str, float]:
    return {name: round(each, 4) for name, each in value._asdict().items()}


if __name__ == "__main__":
    main()
