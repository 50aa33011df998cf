"""What tensors a computation allocates: counted as they are made, so that the answer is the same on every machine."""

from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Largest(TorchDispatchMode):
    """The largest tensor that any operation returned, in elements of its own storage; views own none."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result


@contextmanager
def largest_tensor():
    with Largest() as largest:
        yield largest


def peak_bytes(run) -> int:
    """The most memory that `run()` held at once beyond what was there before, as torch's allocator reports it."""
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run()
    held = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak
