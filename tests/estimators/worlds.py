"""Small worlds as arrays, the way a user of the estimator holds them."""

import numpy as np

import noumena as nm
from noumena.conditionals import VonMisesFisher
from noumena.marginals import Uniform
from noumena.mixings import InvertibleMLP
from noumena.pairs import Synthetic
from noumena.spaces import Sphere

KAPPA = 10.0


def sphere_pairs(n: int, seed: int = 0, dim: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed anchors, observed positives, and the anchors' latents."""
    rng = nm.streams(seed)
    mixing = InvertibleMLP(dim, generator=rng.world)
    batch = Synthetic(Uniform(Sphere(dim)), VonMisesFisher(KAPPA), mixing).draw(n, rng.pairs)
    assert batch.z is not None
    return batch.x.double().numpy(), batch.x_pos.double().numpy(), batch.z.numpy()
