"""Where latents live."""

from .base import AbstractSpace as AbstractSpace
from .box import Box as Box
from .euclidean import Euclidean as Euclidean
from .product import Product as Product
from .sphere import Sphere as Sphere
