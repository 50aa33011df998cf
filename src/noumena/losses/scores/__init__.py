"""How alike two embeddings are."""

from .anisotropic import AnisotropicScore as AnisotropicScore
from .base import AbstractScore as AbstractScore
from .dot import Dot as Dot
from .lp import Lp as Lp
from .weighted_dot import WeightedDot as WeightedDot
