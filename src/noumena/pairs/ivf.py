"""The approximate index of the published 3DIdent experiments. FAISS is imported here alone."""

from typing import Any

import torch
from torch import Tensor

LISTS, PROBES, SEARCHED = 1024, 10, 8
FEWEST = 39 * LISTS  # points that the lists' centres are fitted to, by FAISS's own measure


class IVF:
    """Rows in 1024 lists by their nearest centre, of which the 10 nearest are searched; HNSW finds those."""

    def __init__(self, points: Tensor) -> None:
        try:
            import faiss
        except ModuleNotFoundError as error:
            message = f"the index 'ivf' is FAISS's ({error}): run `pip install noumena[faiss]`, or use 'exact'."
            raise ModuleNotFoundError(message, name=error.name) from error
        if len(points) < FEWEST:
            raise ValueError(f"`index` 'ivf' needs {FEWEST} rows or more, got {len(points)}; 'exact' is fast enough.")
        threads = faiss.omp_get_max_threads()
        try:
            # Threads that build a graph together do not build the same one twice.
            faiss.omp_set_num_threads(1)
            rows = points.detach().cpu().float().contiguous().numpy()
            self.index: Any = faiss.index_factory(points.shape[1], f"IVF{LISTS}_HNSW32,Flat")
            self.index.train(rows)
            self.index.add(rows)
        finally:
            faiss.omp_set_num_threads(threads)
        self.index.nprobe = PROBES
        faiss.ParameterSpace().set_index_parameter(self.index, "quantizer_efSearch", SEARCHED)

    def nearest(self, queries: Tensor, other_than: Tensor | None = None) -> Tensor:
        """The row nearest to each query among the lists that are searched, or the second where that is `other_than`."""
        _, found = self.index.search(queries.detach().cpu().float().contiguous().numpy(), 2)
        first, second = torch.from_numpy(found).to(queries.device).T
        return first if other_than is None else torch.where(first == other_than, second, first)
