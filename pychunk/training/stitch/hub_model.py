"""A causal language model of Hugging Face as a policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..teacher import import_torch
from .tasks import Tokens


class HubModel:
    """A model and its tokenizer.

    Args:
        name: A model of the hub, or a folder with one.

    Raises:
        ValueError: The model has no chat template.
    """

    def __init__(self, name: str) -> None:
        torch = import_torch()
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise ImportError(f'{name} needs transformers: pip install "pychunk-native[train]"') from error
        tokenizer = AutoTokenizer.from_pretrained(name)
        if not getattr(tokenizer, "chat_template", None):
            raise ValueError(f"{name} has no chat template, so it was not trained to answer; use an instruct model")
        self.tokenizer: Any = tokenizer
        model: Any = AutoModelForCausalLM.from_pretrained(name)
        model.float()  # a step of 1e-6 would be lost on 16-bit weights
        self.net: Any = model.to("cuda" if torch.cuda.is_available() else "cpu")
        self.net.eval()  # no dropout, because before a step the ratio of new to old probabilities has to be 1

    @property
    def end(self) -> int:
        """The token that ends an answer."""
        return int(self.tokenizer.eos_token_id)

    def prompt(self, system: str, user: str) -> Tokens:
        """Return the tokens of the chat template with a system message and a message of the user."""
        chat = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def sample(self, prefixes: Sequence[Tokens], limit: int, generator: Any) -> list[Tokens]:
        """Return what the model writes after each prefix, up to its end or ``limit`` tokens; 64 prefixes at a time.

        Tokens are drawn by their probabilities; without a generator, each is the likeliest.
        """
        torch = import_torch()
        found: list[Tokens] = []
        for begin in range(0, len(prefixes), 64):
            part = prefixes[begin : begin + 64]
            width = max(map(len, part))
            ids = torch.full((len(part), width), self.end)
            mask = torch.zeros_like(ids)
            for row, prefix in enumerate(part):
                ids[row, width - len(prefix) :] = torch.tensor(prefix)
                mask[row, width - len(prefix) :] = 1
            draws: dict[str, Any] = {"do_sample": False}
            if generator is not None:
                torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))  # generate() takes no generator
                draws = {"do_sample": True, "temperature": 1.0, "top_p": 1.0, "top_k": 0}
            written = self.net.generate(
                input_ids=ids.to(self.net.device),
                attention_mask=mask.to(self.net.device),
                max_new_tokens=limit,
                **draws,
                repetition_penalty=1.0,
                eos_token_id=self.end,
                pad_token_id=self.end,
            )
            for row in written[:, width:].tolist():
                found.append(tuple(row[: row.index(self.end) + 1] if self.end in row else row))
        return found

    def log_probs(self, prefixes: Sequence[Tokens], outputs: Sequence[Tokens]) -> tuple[Any, Any]:
        """Return log probabilities float[rows, tokens] of outputs after their prefixes, and a mask with 1 for them."""
        torch = import_torch()
        device = self.net.device
        longest = max(len(p) + len(o) for p, o in zip(prefixes, outputs, strict=True))
        ids = torch.full((len(outputs), longest), self.end)
        seen = torch.zeros_like(ids)
        places = torch.zeros(len(outputs), max(map(len, outputs)), dtype=torch.long)
        wanted, mask = torch.zeros_like(places), torch.zeros(places.shape)
        for row, (prefix, output) in enumerate(zip(prefixes, outputs, strict=True)):
            ids[row, : len(prefix) + len(output)] = torch.tensor(prefix + output)
            seen[row, : len(prefix) + len(output)] = 1
            places[row, : len(output)] = torch.arange(len(prefix) - 1, len(prefix) + len(output) - 1)
            wanted[row, : len(output)] = torch.tensor(output)
            mask[row, : len(output)] = 1
        logits = self.net(input_ids=ids.to(device), attention_mask=seen.to(device)).logits
        own = logits.gather(1, places.to(device)[..., None].expand(-1, -1, logits.shape[-1])).float()
        chosen = own.log_softmax(-1).gather(2, wanted.to(device)[..., None])[..., 0]
        return chosen, mask.to(device)
