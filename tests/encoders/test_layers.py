"""The laws of initial values, against torch's own and against the formulas."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from noumena.encoders import MLP
from tests.statistics import ALARM, fits_cdf, z_score

FAN_IN = 100  # 100 x 1000 = 1e5 weights for each test


def first_layer(generator, **options) -> nn.Linear:
    return MLP(FAN_IN, 2, [1000], generator=generator, **options).layers[0]


def values(parameter) -> np.ndarray:
    return parameter.detach().double().numpy().ravel()


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_default_law_is_that_of_torch(generator, name):
    ours = values(getattr(first_layer(generator), name))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        theirs = values(getattr(nn.Linear(FAN_IN, 1000), name))
    assert stats.ks_2samp(ours, theirs).pvalue > ALARM
    assert np.abs(ours).max() <= 1 / np.sqrt(FAN_IN)


def test_default_weights_are_uniform_within_the_root_of_the_fan_in(generator):
    weights = values(first_layer(generator).weight)
    limit = 1 / np.sqrt(FAN_IN)
    assert fits_cdf(weights, stats.uniform(-limit, 2 * limit).cdf) > ALARM
    # Mutant: the bound of a uniform law with the variance 1 / fan-in.
    assert fits_cdf(weights, stats.uniform(-limit * 3**0.5, 2 * limit * 3**0.5).cdf) < ALARM


@pytest.mark.parametrize(
    ("options", "gain"),
    [
        ({"slope": 0.2}, (2 / (1 + 0.2**2)) ** 0.5),
        ({"activation": "relu", "slope": 0.9}, 2**0.5),
        ({"activation": "tanh"}, 5 / 3),
    ],
)
def test_he_weights_are_normal_for_the_activation(generator, options, gain):
    layer = first_layer(generator, init="he", **options)
    weights, spread = values(layer.weight), gain / np.sqrt(FAN_IN)
    assert fits_cdf(weights, stats.norm(0, spread).cdf) > ALARM
    assert abs(z_score(weights**2, spread**2)) < 5
    # Mutant: a gain two percent off, as a slope of 0 in place of 0.2 would make it.
    assert abs(z_score(weights**2, 1.04 * spread**2)) > 5
    assert not values(layer.bias).any()
