"""The study counts as it says; its rates are in docs/diagnosis.md."""

import itertools

import pytest
import torch
from scipy import stats

from noumena.bench import diagnosis, planted
from noumena.conditionals import VonMisesFisher
from noumena.spaces import Sphere


@pytest.mark.parametrize("make", [planted.on_sphere, planted.in_box])
@pytest.mark.parametrize("kind", planted.KINDS)
def test_every_world_can_be_drawn(make, kind):
    for seed in range(2):
        generator = torch.Generator().manual_seed(seed)
        world = make(kind, generator)
        z, z_pos, tested = planted.draw(world, 200, generator)
        assert z.shape == z_pos.shape == (200, world.marginal.space.dim) and len(tested) == planted.TESTED
        assert bool(world.marginal.space.contains(z_pos).all())


@pytest.mark.slow
def test_the_tally_counts():
    *_, tally = itertools.islice(planted.run(worlds=1, first_seed=500, pairs=1500), 4)
    rates = {rate.name: rate for rate in tally.rates()}
    assert rates["diversity finds fixed directions"].of == 2 and rates["any false alarm in a world"].of == 4
    assert rates["diversity alarms falsely"].of == 2 and rates["diversity finds fixed directions"].hits == 2
    assert rates["interval of diversity holds the planted number"].hits == 2


def test_intervals_are_exact():
    for hits, of in ((0, 20), (19, 20), (20, 20)):
        expected = stats.binomtest(hits, of).proportion_ci(0.95, "exact")
        assert planted.Rate("x", hits, of).interval == pytest.approx((expected.low, expected.high))


def test_a_mirrored_law_is_its_density(generator):
    law = planted.Mirrored(VonMisesFisher(4.0), flipped=1, share=0.3)
    z = Sphere(3).project(torch.tensor([[0.7, 0.3, -0.5]], dtype=torch.float64)).expand(20_000, -1)
    z_pos = law.sample(z, generator=generator)
    uniform = Sphere(3).sample_uniform(200_000, generator, torch.float64)
    density = law.log_prob(uniform, z[:1].expand(200_000, -1)).exp() * 4 * torch.pi
    assert float(density.mean()) == pytest.approx(1, abs=0.03)
    for j in range(3):
        expected = float((density * uniform[:, j]).mean())
        assert float(z_pos[:, j].mean()) == pytest.approx(expected, abs=0.03)


@pytest.mark.slow
def test_the_million_in_small():
    (row,) = diagnosis.run(pairs=3000, dim=4)
    assert row.ours > 0 and row.megabytes is not None
