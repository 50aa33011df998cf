"""g: latents -> observations, frozen."""

from .base import AbstractMixing as AbstractMixing
from .decoder import Decoder as Decoder
from .flow import CouplingFlow as CouplingFlow
from .identity import Identity as Identity
from .linear import InjectiveLinear as InjectiveLinear
from .mlp import InvertibleMLP as InvertibleMLP
from .monomial import Monomial as Monomial
from .patches import Patches as Patches
from .render import Renderer as Renderer
from .spiral import Spiral as Spiral
