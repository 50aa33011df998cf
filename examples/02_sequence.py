"""A recording: frames in their order, and nothing else.

Four hidden factors wander within a box: at each frame every one takes a step of its own, small steps often and large
ones now and then (Laplace noise), and turns back at the walls. We record four nonlinear mixtures of them, in two
sessions with a break between. `fit` is given the frames and the session of each: a frame and its successor are a pair.

Theorem 6 of Zimmermann et al. (2021): for factors spread evenly over a box, and steps whose density falls with
|step_1| + ... + |step_d|, the best encoder finds the factors up to their order, their signs and their scale. So there
is more to expect than of a sphere: not some rotation of the factors but the factors themselves, one in each latent. A
reflected walk meets the theorem's conditions but near the walls. We expect

- a correlation of each factor with its latent (MCC, mean over factors) above .98 on a fresh recording,
- where the best match among the recorded mixtures themselves has about .8 or less.

Run it: python examples/02_sequence.py
"""

import numpy as np
import torch

import noumena as nm
from noumena.estimators import ContrastiveEncoder
from noumena.metrics import mcc
from noumena.mixings import InvertibleMLP

SIZE = 0.1  # mean absolute step, in widths of the box


def walk(frames: int, rng: np.random.Generator) -> np.ndarray:
    """Laplace steps, reflected at 0 and 1: each factor is spread evenly in the long run."""
    path = rng.uniform(size=4) + np.cumsum(rng.laplace(scale=SIZE, size=(frames, 4)), axis=0)
    return 1 - np.abs(path % 2 - 1)


def main(steps: int = 2000) -> dict[str, float]:
    rng = np.random.default_rng(0)
    mixing = InvertibleMLP(4, generator=nm.streams(seed=0).world)

    def record(factors: np.ndarray) -> np.ndarray:
        return mixing(torch.from_numpy(factors).float()).numpy()

    factors = np.concatenate([walk(6000, rng), walk(6000, rng)])
    session = np.repeat(["monday", "tuesday"], 6000)
    later = walk(6000, rng)

    encoder = ContrastiveEncoder(n_components=4, space="box", steps=steps, random_state=0)
    latents = encoder.fit(record(factors), groups=session).transform(record(later))

    found = {
        "MCC of the mixtures": mcc(later, record(later)),
        "MCC of the latents": mcc(later, latents),
        "score, nats": encoder.score(record(later)),
    }
    for name, value in found.items():
        print(f"{name}: {value:.4f}")
    return found


if __name__ == "__main__":
    main()
