import math

import numpy as np
import pytest
import torch
from scipy import stats

from noumena.conditionals import VonMisesFisher
from noumena.spaces import Box, Sphere
from tests.contracts.conditionals import ConditionalContract
from tests.references import vmf as reference
from tests.statistics import ALARM, uniform_p_value


class TestVonMisesFisher(ConditionalContract):
    kappa, space, concentration = 7.0, Sphere(5), 7.0

    def make(self):
        return VonMisesFisher(self.kappa), self.space

    def reference_log_prob(self, z_pos, z):
        r = self.space.radius
        return reference.log_density(z_pos / r, z / r, self.concentration) - (self.space.dim - 1) * math.log(r)

    def goodness_of_fit(self, z_pos, z):
        return reference.fit(z_pos / self.space.radius, z / self.space.radius, self.concentration)

    def mutant(self):
        return VonMisesFisher(1.03 * self.kappa, self.make()[0].space)


class TestOnTheBall(TestVonMisesFisher):
    kappa = concentration = 30.0
    space = Sphere(3)


class TestOnALargerSphere(TestVonMisesFisher):
    """kappa multiplies the cosine, whatever the radius."""

    kappa = concentration = 12.0
    space = Sphere(4, radius=2.5)

    def make(self):
        return VonMisesFisher(self.kappa, space=self.space), self.space


class TestUniform(TestVonMisesFisher):
    kappa, concentration = 0.0, 1e-14  # the reference divides by kappa
    space = Sphere(10)

    def mutant(self):
        return VonMisesFisher(0.1)


@pytest.mark.parametrize("d", [2, 3, 5, 10])
@pytest.mark.parametrize("kappa", [0.1, 4.0, 60.0])
def test_density_is_that_of_scipy(d, kappa, generator):
    z = Sphere(d).sample_uniform(40, generator, torch.float64)
    conditional = VonMisesFisher(kappa)
    z_pos = conditional.sample(z, generator=generator)
    wanted = [stats.vonmises_fisher(a.numpy(), kappa).logpdf(b.numpy()).item() for a, b in zip(z, z_pos, strict=True)]
    np.testing.assert_allclose(conditional.log_prob(z_pos, z).numpy(), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kappa", [1e-3, 1.0, 1e3, 1e5])
def test_small_angles_survive_float32(kappa, generator):
    z = Sphere(10).sample_uniform(100_000, generator)
    z_pos = VonMisesFisher(kappa).sample(z, generator=generator)
    angles = reference.versine(z_pos.double().numpy(), z.double().numpy())
    assert uniform_p_value(reference.versine_cdf(kappa, 10)(angles)) > ALARM


@pytest.mark.parametrize("d", [2, 10, 1024])
@pytest.mark.parametrize("kappa", [1e-3, 1.0, 1e5])
def test_float32_density_is_near_the_float64_one(d, kappa, generator):
    z = Sphere(d).sample_uniform(30, generator)
    conditional = VonMisesFisher(kappa)
    z_pos = conditional.sample(z, generator=generator)
    # The squared distance is known to a few units, and its factor kappa / 2 makes it of the size d.
    exact = conditional.log_prob(Sphere(d).project(z_pos.double()), Sphere(d).project(z.double()))
    slack = 20 * torch.finfo(torch.float32).eps * (kappa**0.5 * d**0.5 + d)
    torch.testing.assert_close(conditional.log_prob(z_pos, z).double(), exact, rtol=1e-6, atol=slack)


def test_each_anchor_can_have_its_own_kappa(generator):
    n, d = 100_000, 6
    kappa = torch.tensor([0.5, 20.0, 1e4], dtype=torch.float64).repeat_interleave(n // 2)[:n]
    kappa[-10:] = 1e4
    z = Sphere(d).sample_uniform(n, generator, torch.float64)
    conditional = VonMisesFisher(kappa)
    z_pos = conditional.sample(z, generator=generator)
    log_prob = conditional.log_prob(z_pos, z)
    for k in (0.5, 20.0, 1e4):
        rows = kappa == k
        angles = reference.versine(z_pos[rows].numpy(), z[rows].numpy())
        assert uniform_p_value(reference.versine_cdf(k, d)(angles)) > ALARM
        assert torch.equal(log_prob[rows], VonMisesFisher(kappa[rows]).log_prob(z_pos[rows], z[rows]))
        torch.testing.assert_close(log_prob[rows], VonMisesFisher(k).log_prob(z_pos[rows], z[rows]))


def test_density_vanishes_off_the_sphere(generator):
    z = Sphere(3).sample_uniform(4, generator)
    z_pos = z.clone()
    z_pos[2] *= 1.1
    assert torch.isinf(VonMisesFisher(2.0).log_prob(z_pos, z)).tolist() == [False, False, True, False]


def test_what_cannot_be_meant_is_refused(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="`kappa` must be at least 0, got -1"):
        VonMisesFisher(-1.0)
    with pytest.raises(TypeError, match="`kappa` must be a number"):
        VonMisesFisher("10")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="`kappa` must be at least 0"):
        VonMisesFisher(torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"\(n,\)"):
        VonMisesFisher(torch.ones(3, 1))
    with pytest.raises(ValueError, match="lives on a sphere"):
        VonMisesFisher(1.0, space=Box(3))
    with pytest.raises(ValueError, match="lives on a sphere"):
        VonMisesFisher(1.0).on(Box(3))
    z = Sphere(3).sample_uniform(5, generator)
    with pytest.raises(ValueError, match="each of the 5 anchors; got 4"):
        VonMisesFisher(torch.ones(4)).sample(z, generator=generator)
    with pytest.raises(TypeError, match="`kappa` must have the dtype of `z`"):
        VonMisesFisher(torch.ones(5, dtype=torch.float64)).sample(z, generator=generator)
