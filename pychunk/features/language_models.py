"""The models of ``encoder="auto"``: those of English, and those of all other languages."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine.arrow import flat_text
from .._engine.data.features import Features
from .._engine.data.plan import Plan
from .._engine.data.request import Request
from .._engine.engine import Engine
from ..encoders.registry import MULTILINGUAL
from ..encoders.runtime.placement import ModelPlacement
from ..inputs.foreign_documents import foreign_languages
from ..inputs.inputs import Inputs
from ..methods.base import Method
from .model_features import Models, Report

if TYPE_CHECKING:
    from .gpu_features import TokenizedRequest


class LanguageModels(Models):
    """The models of English documents, and those of documents in other languages. A request goes to one of the two.

    If the package of the multilingual table is not installed, the models of English read all documents.

    Args:
        method: See :class:`Models`, also for the other arguments.
        plan: The plan.
        table_encoder: The encoder of the vectors that the table of chunks holds. Default: the document's encoder.
        placement: The placement of models.
        **options: The further options.

    Raises:
        ValueError: A device is given.
    """

    def __init__(
        self, method: Method, plan: Plan, table_encoder: Any, placement: ModelPlacement, **options: Any
    ) -> None:
        if placement.device is not None:
            raise ValueError(f"encoder='auto' runs on the CPU; got the device {placement.device.name}: leave it out")
        super().__init__(method, plan, "static", table_encoder, placement, **options)
        self.others: Models | None = None
        with contextlib.suppress(ImportError):  # The warning about other languages has the command.
            self.others = Models(method, plan, MULTILINGUAL, table_encoder, placement, **options)

    def _of(self, request: Request) -> Models | None:
        """Return the models of other languages if they made a request, else None."""
        return self.others if request.foreign else None

    @property
    def cuts_by_static(self) -> bool:
        """True if vectors of the static encoder decide where documents in other languages are cut, too."""
        return self.others is None and super().cuts_by_static

    @property
    def returns_static(self) -> bool:
        """True if vectors of the static encoder are returned for documents in other languages, too."""
        return super().returns_static and (self.others is None or self.others.table is self.table)

    def request(self, features: Features, plan: Plan, *, foreign: bool = False, **arguments: Any) -> Request:
        """Return a request of documents that are all in English or, if ``foreign``, all in other languages."""
        if self.others is None or not foreign:
            return super().request(features, plan, **arguments)
        if self.sets_threshold:
            plan = plan.with_(threshold_value=self.others.threshold)
        return self.others.request(features, plan, **arguments).with_(foreign=True)

    def with_encoders(self, inputs: Inputs, threads: int) -> Inputs:
        """Return the inputs with the choice for each document. If the caller passes vectors, there is none."""
        if inputs.foreign is not None or inputs.given.has_vectors:
            return inputs
        if self.others is None:
            return replace(inputs, foreign=np.zeros(len(inputs.texts), bool))
        found = [foreign_languages(*flat_text(part), threads) for part in inputs.texts.texts]
        return replace(inputs, foreign=np.array([each is not None for part in found for each in part], bool))

    def metadata(self, own_vectors: bool) -> dict[str, Any]:
        """Return the facts of the models of English, with the fingerprints of those of other languages."""
        found = super().metadata(own_vectors)
        if self.others is not None and not own_vectors:
            known = self.others.metadata(False)
            if self.sets_threshold:
                known["threshold_value"] = self.others.threshold
            found["other_languages"] = {name: known[name] for name in known if known[name] != found.get(name)}
            if self._fills_table and self.table is not self.others.table:
                # No index and no compressor takes such vectors, because those of two encoders cannot be compared.
                found["vector_encoder"] = f"{self.table.fingerprint} or {self.others.table.fingerprint}"
        return found

    def prepare(self, request: Request, engine: Engine) -> Request | TokenizedRequest:
        """See :meth:`Models.prepare`."""
        return super().prepare(request, engine) if (own := self._of(request)) is None else own.prepare(request, engine)

    def complete(self, given: Request | TokenizedRequest, engine: Engine, report: Report | None = None) -> Request:
        """See :meth:`Models.complete`."""
        own = self._of(given) if isinstance(given, Request) else None
        return super().complete(given, engine, report) if own is None else own.complete(given, engine, report)

    def with_table_vectors(self, request: Request, engine: Engine) -> Request:
        """See :meth:`Models.with_table_vectors`."""
        own = self._of(request)
        return super().with_table_vectors(request, engine) if own is None else own.with_table_vectors(request, engine)

    def with_token_counts(self, request: Request) -> Request:
        """See :meth:`Models.with_token_counts`."""
        own = self._of(request)
        return super().with_token_counts(request) if own is None else own.with_token_counts(request)
