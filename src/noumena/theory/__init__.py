"""The papers' theorems as functions of a world and a learner."""

from .base import AbstractComputation as AbstractComputation
from .floor import Floor as Floor
from .floor import loss_floor as loss_floor
from .precision_sweep import PrecisionSweep as PrecisionSweep
