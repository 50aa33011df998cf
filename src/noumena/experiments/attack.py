"""The search of `theory.attack` for the world and the loss of a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..losses import InfoNCE
from ..spaces import Sphere
from ..theory.attack import Attack, attack
from ..theory.verdicts import Learner, assumptions
from ..theory.verdicts.negatives import from_everywhere, negatives
from ..theory.verdicts.score import model
from ..theory.verdicts.world import Fixed, Quadratic, readings
from .explain import stand_in
from .spec import Row

SHOWN = 700  # points of the picture


@dataclass(frozen=True, eq=False)
class RowAttack:
    """What was found, and latents `z` with their unit embeddings `h` by the best map, to look at."""

    found: Attack
    z: np.ndarray
    h: np.ndarray


def attack_row(row: Row, recipe: str, *, steps: int, seed: int) -> RowAttack:
    """Whether a map of the row's latents beats every isometry in the row's loss.

    A size or a temperature that is trained is taken at the value that matches the pairs.
    """
    description = row.describe(recipe)
    where = description.where
    if "compute" in description.sections:
        raise ValueError(f"{where}: nothing is trained here, so there is no loss to attack.")
    if "data" in description.sections:
        raise ValueError(f"{where}: the attack needs laws and a mixing; here there are images.")
    made = stand_in(description)
    loss, source = made.loss, made.source
    if not isinstance(loss, InfoNCE):
        raise ValueError(f"{where}: the attack knows InfoNCE alone, this loss is `{type(loss).__name__}`.")
    processes = readings(source)  # pyright: ignore[reportArgumentType]
    reading, head = processes[0], Learner.of(made.encoder, loss).ends
    if not isinstance(reading.space, Sphere) or not isinstance(head.space, Sphere) or len(processes) > 1:
        raise ValueError(f"{where}: the attack needs one process on a sphere, and embeddings on a sphere.")
    plain = assumptions.objective(loss)
    if not plain.holds:
        raise ValueError(f"{where}: the attack knows the plain objective; here {plain.reason}.")
    score, radius = loss.score, head.space.radius
    read = model(score, head)
    if read is not None and read.free and isinstance(reading.law, Quadratic | Fixed) and read.beta > 0:
        radius *= (reading.law.kappa / read.beta) ** 0.5
    share = _share(where, source, loss)
    found = attack(source, score, radius=radius, share=share, steps=steps, seed=seed)  # pyright: ignore[reportArgumentType]
    z = reading.space.sample_uniform(SHOWN, torch.Generator().manual_seed(seed), torch.float64)
    return RowAttack(found, z.numpy(), found.map(z).numpy() / radius)


def _share(where: str, source: Any, loss: InfoNCE) -> float:
    """Of negatives from the anchor's own support."""
    (reading,) = readings(source)
    found = negatives(source, reading.marginal, reading.law, loss)
    if from_everywhere(found, reading.marginal, reading.conditional.full_support):
        return 0.0
    if found.law == "support":
        return 1.0
    given = getattr(loss.candidates, "share", None) or getattr(getattr(source, "negatives", None), "share", None)
    if found.law != "mixture" or given is None:
        raise ValueError(f"{where}: the attack does not know these negatives: {found.reason}.")
    return float(given)
