"""The ingestion of whole corpora into chunk tables: restartable, in bounded memory, with the same bytes each time."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand

if TYPE_CHECKING:
    from .run import ingest
    from .run_report import Report
    from .shard_output import IngestError

__all__ = ["IngestError", "Report", "ingest"]
# Other commands use only one or two of the modules of this package. The lazy imports let them start 0.01 s earlier.
__getattr__ = _on_demand(__name__, objects={"IngestError": ".shard_output", "Report": ".run_report", "ingest": ".run"})
