"""How a positive depends on its anchor, p(z' | z)."""

from .anisotropic import Anisotropic as Anisotropic
from .base import AbstractConditional as AbstractConditional
from .fixed_content import FixedContent as FixedContent
from .generalized_normal import GeneralizedNormal as GeneralizedNormal
from .product import Product as Product
from .vmf import VonMisesFisher as VonMisesFisher
