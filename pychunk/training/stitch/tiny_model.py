"""A small GPT with random weights, and its rollouts, on one core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..teacher import import_torch
from .tasks import Tokens


class TinyModel:
    """A GPT that reads ``vocabulary`` tokens and writes the first ``written`` of them, up to the token ``end``.

    A block has attention and a layer of four times the width. Each comes after a norm and is added to its input.
    """

    def __init__(
        self, vocabulary: int, written: int, end: int, longest: int, width: int = 64, layers: int = 2, heads: int = 4
    ) -> None:
        nn = import_torch().nn
        self.end, self.width, self.heads = end, width, heads

        def block() -> Any:
            parts = {
                "norm": nn.LayerNorm(width),
                "norm2": nn.LayerNorm(width),
                "project": nn.Linear(width, 3 * width),
                "out": nn.Linear(width, width),
                "inner": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)),
            }
            return nn.ModuleDict(parts)

        self.net: Any = nn.ModuleDict(
            {
                "tokens": nn.Embedding(vocabulary, width),
                "places": nn.Embedding(longest, width),
                "blocks": nn.ModuleList(block() for _ in range(layers)),
                "norm": nn.LayerNorm(width),
                "head": nn.Linear(width, written),
            }
        )
        for name in ("tokens", "places"):
            nn.init.normal_(self.net[name].weight, std=0.1)
        nn.init.zeros_(self.net["head"].weight)  # at first, all words have the same probability
        nn.init.zeros_(self.net["head"].bias)

    def logits(self, ids: Any, caches: list[Any] | None = None, begin: int = 0) -> Any:
        """Return the logits of the next token, float[rows, tokens, written]; ``caches`` has tokens before ``begin``."""
        net = self.net
        x = net["tokens"](ids) + net["places"].weight[begin : begin + ids.shape[1]]
        for i, block in enumerate(net["blocks"]):
            x = self._block(block, x, caches[i] if caches is not None else None, begin)
        return net["head"](net["norm"](x))

    def _block(self, block: Any, x: Any, cache: Any, begin: int) -> Any:
        """Return the output of a block, float[rows, tokens, width].

        ``cache``, float[2, rows, heads, longest, size], contains the tokens before ``begin``.
        """
        rows, tokens, width = x.shape
        split = block["project"](block["norm"](x)).view(rows, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        if cache is not None:
            cache[0, :, :, begin : begin + tokens], cache[1, :, :, begin : begin + tokens] = key, value
            key, value = cache[0, :, :, : begin + tokens], cache[1, :, :, : begin + tokens]
        attend = import_torch().nn.functional.scaled_dot_product_attention
        seen = attend(query, key, value, is_causal=tokens > 1)
        x = x + block["out"](seen.transpose(1, 2).reshape(rows, tokens, width))
        return x + block["inner"](block["norm2"](x))

    def sample(self, prefixes: Sequence[Tokens], limit: int, generator: Any) -> list[Tokens]:
        """Return what the model writes after each prefix, up to its end or ``limit`` tokens.

        Prefixes of the same length are continued together. Tokens are drawn by their probabilities; without a
        generator, each is the likeliest.
        """
        with import_torch().no_grad():
            return self._sample(prefixes, limit, generator)

    def _sample(self, prefixes: Sequence[Tokens], limit: int, generator: Any) -> list[Tokens]:
        torch = import_torch()
        found: list[list[int]] = [[] for _ in prefixes]
        for length in sorted({len(prefix) for prefix in prefixes}):
            rows = [i for i, prefix in enumerate(prefixes) if len(prefix) == length]
            ids = torch.tensor([prefixes[i] for i in rows])
            caches = [self._cache(len(rows), length + limit) for _ in self.net["blocks"]]
            for at in range(limit):
                logits = self.logits(ids, caches, 0 if at == 0 else length + at - 1)[:, -1]
                if generator is None:
                    ids = logits.argmax(-1, keepdim=True)
                else:
                    ids = torch.multinomial(logits.softmax(-1), 1, generator=generator)
                for i, token in zip(rows, ids[:, 0].tolist(), strict=True):
                    found[i].append(token)
                going = ids[:, 0] != self.end
                if not bool(going.all()):  # finished rows take no further time
                    rows = [i for i in rows if found[i][-1] != self.end]
                    if not rows:
                        break
                    ids, caches = ids[going], [cache[:, going] for cache in caches]
        return [tuple(row) for row in found]

    def _cache(self, rows: int, tokens: int) -> Any:
        return import_torch().empty(2, rows, self.heads, tokens, self.width // self.heads)

    def log_probs(self, prefixes: Sequence[Tokens], outputs: Sequence[Tokens]) -> tuple[Any, Any]:
        """Return log probabilities float[rows, tokens] of outputs after their prefixes, and a mask with 1 for them."""
        torch = import_torch()
        width = max(map(len, outputs))
        longest = max(len(p) + len(o) for p, o in zip(prefixes, outputs, strict=True))
        ids = torch.zeros(len(outputs), longest, dtype=torch.long)
        places = torch.zeros(len(outputs), width, dtype=torch.long)
        wanted, mask = torch.zeros_like(places), torch.zeros(len(outputs), width)
        for row, (prefix, output) in enumerate(zip(prefixes, outputs, strict=True)):
            ids[row, : len(prefix) + len(output)] = torch.tensor(prefix + output)
            places[row, : len(output)] = torch.arange(len(prefix) - 1, len(prefix) + len(output) - 1)
            wanted[row, : len(output)] = torch.tensor(output)
            mask[row, : len(output)] = 1
        logits = self.logits(ids).log_softmax(-1)
        chosen = logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1])).gather(2, wanted[..., None])
        return chosen[..., 0], mask
