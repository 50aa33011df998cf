"""From observations to embeddings: networks, and how they end."""

from .base import AbstractEncoder as AbstractEncoder
from .heads import AbstractHead as AbstractHead
from .heads import BoxHead as BoxHead
from .heads import Free as Free
from .heads import ProductHead as ProductHead
from .heads import SphereHead as SphereHead
from .heads import Turned as Turned
from .mlp import MLP as MLP
from .structured import InverseLinear as InverseLinear
from .structured import InversePatches as InversePatches
from .structured import InverseSpiral as InverseSpiral
