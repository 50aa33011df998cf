"""The law of one latent, p(z)."""

from .base import AbstractMarginal as AbstractMarginal
from .generalized_normal import GeneralizedNormal as GeneralizedNormal
from .product import Product as Product
from .uniform import Uniform as Uniform
from .vmf import VonMisesFisher as VonMisesFisher
