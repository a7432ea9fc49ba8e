"""MiniLM in 8 bits, as an encoder for other commands: ``--encoder bench.encoders.minilm_int8:encoder``."""

from __future__ import annotations

from pychunk.encoders import registry
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.transformer import TransformerEncoder

encoder = TransformerEncoder(registry.vector_encoder("minilm").path, runtime=ModelPlacement.of(precision="int8"))
