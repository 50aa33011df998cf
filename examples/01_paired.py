"""Paired measurements: two observations of one thing, and no labels.

Something has five hidden factors, a direction on the unit sphere of five coordinates, and every direction is equally
likely. We measure it twice. Between the two measurements it moves a little, by von Mises-Fisher noise of concentration
10. What we measure are not the factors but five nonlinear mixtures of them, made by a network that we never see.

Theorem 2 of Zimmermann et al. (2021) says what an encoder must find that tells, as well as can be told, which two
measurements belong together: the factors themselves, up to a rotation. It speaks of endlessly many pairs. We have
10 000, so we expect a little less:

- a linear map from latents to factors with R² above .99 on fresh data, where the measurements themselves have about .9
  or less (a linear map cannot undo the mixture);
- a temperature near 1/10, the reciprocal of a concentration that nobody told the encoder.

Run it: python examples/01_paired.py
"""

import noumena as nm
from noumena.conditionals import VonMisesFisher
from noumena.estimators import ContrastiveEncoder
from noumena.marginals import Uniform
from noumena.metrics import linear_r2
from noumena.mixings import InvertibleMLP
from noumena.pairs import Synthetic
from noumena.spaces import Sphere


def main(steps: int = 2000) -> dict[str, float]:
    rng = nm.streams(seed=0)
    world = Synthetic(Uniform(Sphere(5)), VonMisesFisher(kappa=10.0), InvertibleMLP(5, generator=rng.world))
    seen, fresh = world.draw(10_000, rng.pairs), world.draw(10_000, rng.eval)

    # From here on it is scikit-learn: two arrays in, latents out. The factors `fresh.z` only serve to check.
    encoder = ContrastiveEncoder(n_components=5, steps=steps, random_state=0, verbose=1)
    encoder.fit(seen.x.numpy(), seen.x_pos.numpy())
    latents = encoder.transform(fresh.x.numpy())

    found = {
        "R2 of the measurements": linear_r2(fresh.z, fresh.x),
        "R2 of the latents": linear_r2(fresh.z, latents),
        "temperature": encoder.temperature_,
        "score on fresh pairs, nats": encoder.score(fresh.x.numpy(), fresh.x_pos.numpy()),
    }
    for name, value in found.items():
        print(f"{name}: {value:.4f}")
    return found


if __name__ == "__main__":
    main()
