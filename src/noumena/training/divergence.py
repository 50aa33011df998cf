"""When training fails: at which step, and most likely why."""

import math

import torch
from torch import Tensor, nn

from ..batch import PairBatch, PairEmbeddings

BEYOND = 1e4  # a loss this many times as large as it began is not coming back


class Diverged(ArithmeticError):
    """Training cannot go on.

    Attributes:
        step: The step that failed, counted from 1.
    """

    def __init__(self, step: int, what: str, cause: str) -> None:
        super().__init__(step, what, cause)  # kept apart, so that it can be sent from one process to another
        self.step = step

    def __str__(self) -> str:
        step, what, cause = self.args
        return f"training diverged at step {step}: {what}. {cause}"


def check_loss(value: float, start: float, step: int, rate: float, loss: nn.Module, seen: PairEmbeddings) -> None:
    """Refuse a loss that is not finite, or `BEYOND` its value `start` at the first step."""
    if math.isfinite(value):
        if abs(value) > BEYOND * (1 + abs(start)):
            raise Diverged(step, f"the loss is {value:.3g}, and was {start:.3g} at first", _lower(rate))
        return
    _check_loss_parameters(loss, step - 1, rate)
    largest = float(torch.cat([seen.h, seen.h_pos]).detach().abs().max())
    raise Diverged(
        step,
        f"the loss is {value} though all embeddings are finite, the largest entry being {largest:.3g}",
        f"The scores overflow{_temperatures(loss)}: raise the temperature, or bound the embeddings by `SphereHead`.",
    )


def check_embeddings(
    batch: PairBatch, seen: PairEmbeddings, step: int, rate: float, encoder: nn.Module, loss: nn.Module
) -> None:
    """Refuse embeddings that are not finite. It costs a pass, and is made only once a loss has refused them."""
    if all(_finite(h) for h in (seen.h, seen.h_pos, seen.h_neg)):
        check_parameters(encoder, loss, step, rate)
        return
    what = "embeddings are NaN or infinite"
    if not all(_finite(x) for x in (batch.x, batch.x_pos, batch.x_neg)):
        raise Diverged(step, what, "So are the observations: look at `source`, which drew them.")
    if step > 1:
        check_parameters(encoder, loss, step - 1, rate)
    elif bad := _bad_parameter(encoder):
        raise Diverged(step, what, f"The initial values of `{bad}` are: train another encoder.")
    raise Diverged(step, what, f"All parameters are finite, so a layer of the encoder overflows. {_lower(rate)}")


def check_parameters(encoder: nn.Module, loss: nn.Module, step: int, rate: float) -> None:
    """Refuse parameters that `step` has made NaN or infinite."""
    if bad := _bad_parameter(encoder):
        raise Diverged(step, f"its update made `{bad}` of the encoder NaN or infinite", _lower(rate))
    _check_loss_parameters(loss, step, rate)


def _check_loss_parameters(loss: nn.Module, step: int, rate: float) -> None:
    if bad := _bad_parameter(loss):
        cause = f"Lower the rate of the loss's parameters, now at most {rate:.3g}, or start them elsewhere."
        raise Diverged(step, f"its update made `{bad}` of the loss NaN or infinite", cause)


def _lower(rate: float) -> str:
    return f"Lower the learning rate, now {rate:.3g}, or pass `clip`."


def _temperatures(loss: nn.Module) -> str:
    parts = [part for name, part in loss.named_modules() if name.split(".")[-1] == "temperature"]
    values = [part.value for part in parts if hasattr(part, "value")]
    return f" at temperature {', '.join(f'{value:.3g}' for value in values)}" if values else ""


def _bad_parameter(module: nn.Module) -> str | None:
    return next((name for name, parameter in module.named_parameters() if not _finite(parameter)), None)


def _finite(tensor: Tensor | None) -> bool:
    return tensor is None or bool(torch.isfinite(tensor).all())
