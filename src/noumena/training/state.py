"""All that a run changes: what has to be saved for it to go on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..losses.base import AbstractLoss
from .ema import Averaged
from .learned import learned_values
from .record import Record


@dataclass
class Sums:
    """Of the steps since the last record."""

    steps: int = 0
    loss: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)

    def add(self, value: float, parts: Mapping[str, float]) -> None:
        self.steps += 1
        self.loss += value
        for name, part in parts.items():
            self.parts[name] = self.parts.get(name, 0.0) + part


@dataclass
class State:
    """A run between two steps.

    Attributes:
        encoder, loss, optimizers, averaged: What is trained, and by what; `averaged` is None without an EMA.
        streams: Every generator that the run draws from, by name.
        description: What the run was asked to do. A saved state of another description is refused.
        step, seconds, core_seconds: Steps taken, the time spent on them, and the processor time.
        first_loss: Of the first step, against which divergence is judged; None before it.
        finished: Whether the run is over.
    """

    encoder: nn.Module
    loss: AbstractLoss
    optimizers: tuple[torch.optim.Optimizer, ...]
    averaged: Averaged | None
    streams: Mapping[str, torch.Generator]
    description: dict[str, Any]
    step: int = 0
    seconds: float = 0.0
    core_seconds: float = 0.0
    first_loss: float | None = None
    finished: bool = False
    sums: Sums = field(default_factory=Sums)

    @property
    def measured(self) -> nn.Module:
        """The encoder that evaluation sees."""
        return self.encoder if self.averaged is None else self.averaged.encoder

    def record(self, metrics: dict[str, float]) -> Record:
        """The means since the last one."""
        sums = self.sums
        means = {name: total / sums.steps for name, total in sums.parts.items()}
        learned = learned_values(self.loss, self.measured)
        return Record(self.step, self.seconds, self.core_seconds, sums.loss / sums.steps, means, metrics, learned)

    def pack(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors by name, and the rest as JSON holds it (floats survive it to the last bit)."""
        tensors = {f"streams/{name}": stream.get_state() for name, stream in self.streams.items()}
        for owner, module in self._modules().items():
            tensors |= {f"{owner}/{name}": tensor for name, tensor in module.state_dict().items()}
        plain = dict[str, Any]()
        for i, optimizer in enumerate(self.optimizers):
            for index, entries in optimizer.state_dict()["state"].items():
                for name, value in entries.items():
                    kind = tensors if isinstance(value, Tensor) else plain
                    kind[f"optimizers/{i}/{index}/{name}"] = value
        notes = {
            "description": self.description,
            "step": self.step,
            "seconds": self.seconds,
            "core_seconds": self.core_seconds,
            "first_loss": self.first_loss,
            "finished": self.finished,
            "sums": asdict(self.sums),
            "optimizers": plain,
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
        }
        return tensors, notes

    def unpack(self, tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> None:
        """Become the packed state, which must be one of this very run."""
        # A file that does not say how many processes wrote it is that of one.
        self._refuse_another({"processes": 1, **notes["description"]}, tensors)
        for owner, module in self._modules().items():
            module.load_state_dict(_below(owner, tensors))
        for i, optimizer in enumerate(self.optimizers):
            state = dict[int, dict[str, Any]]()
            for key, value in _below(f"optimizers/{i}", {**tensors, **notes["optimizers"]}).items():
                index, name = key.split("/")
                state.setdefault(int(index), {})[name] = value
            optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        for name, stream in self.streams.items():
            stream.set_state(tensors[f"streams/{name}"])
        self.step, self.first_loss = notes["step"], notes["first_loss"]
        self.seconds, self.core_seconds = notes["seconds"], notes["core_seconds"]
        self.finished, self.sums = notes["finished"], Sums(**notes["sums"])

    def _modules(self) -> dict[str, nn.Module]:
        averaged = {} if self.averaged is None else {"averaged": self.averaged.encoder}
        return {"encoder": self.encoder, "loss": self.loss, **averaged}

    def _refuse_another(self, description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        for name in sorted({*description, *self.description}):
            was, now = description.get(name), self.description.get(name)
            if was != now:
                raise ValueError(
                    f"`checkpoint` holds another run: its `{name}` is {was!r}, not {now!r}. Name another file."
                )
        here = {f"streams/{name}": None for name in self.streams}
        for owner, module in self._modules().items():
            here |= {f"{owner}/{name}": tuple(tensor.shape) for name, tensor in module.state_dict().items()}
        there = {name: tensor for name, tensor in tensors.items() if not name.startswith("optimizers/")}
        for name in sorted({*here, *there}):
            shape = tuple(there[name].shape) if name in there else "missing"
            if name not in here or name not in there or here[name] not in (None, shape):
                raise ValueError(
                    f"`checkpoint` holds another run: `{name}` is {shape} there, and {here.get(name, 'missing')} here. "
                    "Name another file."
                )


def _below(prefix: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    start = f"{prefix}/"
    return {name.removeprefix(start): entry for name, entry in entries.items() if name.startswith(start)}
