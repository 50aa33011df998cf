"""The anisotropic law against quadrature on the circle and the sphere, against the von Mises-Fisher law, and, where no
quadrature reaches, against Stein's identities, which hold for exactly one density."""

import itertools

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from noumena.conditionals import Anisotropic
from noumena.conditionals import _projected_gaussian as projected_gaussian
from noumena.spaces import Box, Sphere
from tests.contracts.conditionals import ConditionalContract
from tests.references import vmf as vmf_reference
from tests.statistics import ALARM, fits_counts, uniform_p_value


def log_density(x, z, precision):
    return -(((x - z) ** 2) * np.asarray(precision)).sum(-1)


def repeated(anchor, n, dtype):
    return Sphere(len(anchor)).project(torch.tensor([anchor], dtype=torch.float64)).to(dtype).expand(n, -1).contiguous()


class TestAnisotropic(ConditionalContract):
    """On the sphere of R^3, where cells of height and longitude have probabilities by quadrature."""

    precision, anchor = (6.0, 0.4, 25.0), (0.6, -0.5, 0.4)
    heights, longitudes, fine = 24, 36, 12

    def make(self):
        return Anisotropic(self.precision), Sphere(3)

    def reference_log_prob(self, z_pos, z):
        return log_density(z_pos, z, self.precision)

    def fit_anchors(self, n, generator, dtype):
        return repeated(self.anchor, n, dtype)

    def goodness_of_fit(self, z_pos, z):
        # Height and longitude are uniform on the sphere. Cells see any change of shape; the averages of
        # (z' - z)_j^2, the sufficient statistics, see a small one of the precisions.
        at_height = np.linspace(-1, 1, 2 * self.heights * self.fine + 1)[1::2]
        at_longitude = np.linspace(-np.pi, np.pi, 2 * self.longitudes * self.fine + 1)[1::2]
        height, longitude = np.meshgrid(at_height, at_longitude, indexing="ij")
        ring = np.sqrt(1 - height**2)
        grid = np.stack([ring * np.cos(longitude), ring * np.sin(longitude), height], axis=-1)
        weight = np.exp(log_density(grid, z[0], self.precision))
        cells = weight.reshape(self.heights, self.fine, self.longitudes, self.fine).sum((1, 3)).ravel()

        rows = np.minimum((z_pos[:, 2] + 1) / 2 * self.heights, self.heights - 1).astype(int)
        turn = np.arctan2(z_pos[:, 1], z_pos[:, 0])
        columns = np.minimum((turn / np.pi + 1) / 2 * self.longitudes, self.longitudes - 1).astype(int)
        counts = np.bincount(rows * self.longitudes + columns, minlength=cells.size)

        squares, expected = (z_pos - z) ** 2, ((grid - z[0]) ** 2 * weight[..., None]).sum((0, 1)) / weight.sum()
        z_scores = (squares.mean(0) - expected) / (squares.std(0) / len(z) ** 0.5)
        return min(1.0, 4 * min(fits_counts(counts, cells), *(2 * stats.norm.sf(abs(z_scores)))))

    def mutant(self):
        return Anisotropic((6.0, 0.4, 25.0 * 1.04))


class TestShellIsAnotherLaw(TestAnisotropic):
    """The published draw, at the published thickness, is told apart from the density that it stands for."""

    precision, anchor = (1.0, 0.1, 40.0), (0.6, 0.6, 0.5)

    def mutant(self):
        return Anisotropic(self.precision, proposal="shell")


class TestHalf(TestAnisotropic):
    """With the factor one half the quoted precisions are inverse variances."""

    def make(self):
        return Anisotropic([2 * value for value in self.precision], half=True), Sphere(3)

    def mutant(self):
        return Anisotropic([2 * value for value in self.precision])


# ------------------------------------------------------------------------------------------------ the circle


def circle_cdf(density, cells=20_000):
    angles = np.linspace(-np.pi, np.pi, cells + 1)
    cumulative = integrate.cumulative_simpson(
        density(np.stack([np.cos(angles), np.sin(angles)], -1)), x=angles, initial=0
    )
    return lambda x: np.interp(np.arctan2(x[:, 1], x[:, 0]), angles, cumulative / cumulative[-1])


@pytest.mark.parametrize(
    ("precision", "anchor", "dtype"),
    [
        ((8.0, 0.3), (0.7, 0.7), torch.float64),
        ((100.0, 0.1), (0.3, -0.9), torch.float32),
        ((0.1, 0.1), (1.0, 0.0), torch.float32),
    ],
)
def test_on_the_circle(precision, anchor, dtype, generator):
    z = repeated(anchor, 100_000, dtype)
    x = Anisotropic(precision).sample(z, generator=generator).double().numpy()
    place = z[0].double().numpy()

    def p_value(against):
        return uniform_p_value(circle_cdf(lambda points: np.exp(log_density(points, place, against)))(x))

    assert p_value(precision) > ALARM
    assert p_value([1.3 * precision[0] + 0.1, precision[1]]) < ALARM


def test_the_shell_law_is_the_gaussian_in_the_shell(generator):
    precision, shell, z = np.array([8.0, 0.6]), 0.3, repeated((0.7, 0.7), 100_000, torch.float64)
    place, radii = z[0].numpy(), np.linspace(1 - shell, 1 + shell, 401)

    def density(points):
        steps = radii[:, None, None] * points - place
        return integrate.simpson(radii[:, None] * np.exp(-0.5 * (steps**2 * precision).sum(-1)), x=radii, axis=0)

    cdf = circle_cdf(density, 2_000)
    conditional = Anisotropic(precision.tolist(), proposal="shell", shell=shell, half=True)
    assert uniform_p_value(cdf(conditional.sample(z, generator=generator).numpy())) > ALARM
    exact = Anisotropic(precision.tolist(), half=True)
    assert uniform_p_value(cdf(exact.sample(z, generator=generator).numpy())) < ALARM


def test_in_one_dimension_only_the_sign_is_left(generator):
    z = torch.ones(100_000, 1, dtype=torch.float64)
    kept = int((Anisotropic([0.2]).sample(z, generator=generator) > 0).sum())
    assert stats.binomtest(kept, len(z), 1 / (1 + np.exp(-0.8))).pvalue > ALARM
    assert stats.binomtest(kept, len(z), 1 / (1 + np.exp(-0.4))).pvalue < ALARM


# ------------------------------------------------------------------------------------------------ higher dimensions


@pytest.mark.parametrize(("d", "precision"), [(3, 0.1), (10, 4.0), (10, 1000.0), (100, 60.0)])
def test_equal_precisions_are_von_mises_fisher(d, precision, generator):
    n = 100_000 if d <= 10 else 30_000
    z = Sphere(d).sample_uniform(n, generator)
    x = Anisotropic([precision] * d).sample(z, generator=generator).double().numpy()
    z = z.double().numpy()
    assert vmf_reference.fit(x, z, 2 * precision) > ALARM
    assert vmf_reference.fit(x, z, 2 * (1.06 * precision + 0.1)) < ALARM


def test_moments_are_those_of_weighted_uniform_points(generator):
    precision = np.array([4.0] * 5 + [0.5] * 5)
    z = repeated(np.arange(1.0, 11.0).tolist(), 100_000, torch.float64)
    x = Anisotropic(precision.tolist()).sample(z, generator=generator).numpy()
    points = Sphere(10).sample_uniform(400_000, generator, torch.float64).numpy()
    weights = np.exp(log_density(points, z[0].numpy(), precision))
    weights /= weights.sum()
    for f in (lambda v: v, lambda v: v**2, lambda v: v * np.roll(v, 1, axis=1)):
        wanted = weights @ f(points)
        variance = weights**2 @ (f(points) - wanted) ** 2 + f(x).var(0) / len(x)
        assert (abs(f(x).mean(0) - wanted) < 6 * variance**0.5).all()


def stein_p_value(x, z, precision):
    """p-value that x follows the law given z, from E[Laplacian of f + <grad log p, grad f>] = 0 on the sphere.

    Taken for f = x_j and f = (x_j - z_j)^2, the sufficient statistics. For functions of R^d with gradients g and g'
    the inner product on the sphere is g.g' - (x.g)(x.g'); the Laplacian of x_j is (1 - d) x_j, that of x_j^2 is
    2 - 2 d x_j^2.
    """
    d, slope = x.shape[1], -2 * np.asarray(precision) * (x - z)
    tangential = slope - x * (x * slope).sum(1, keepdims=True)
    first = (1 - d) * x + tangential
    second = 2 - 2 * d * x**2 + 2 * z * (d - 1) * x + 2 * (x - z) * tangential
    # An error of one sign in all coordinates shows in the sum over them.
    together = (second / second.std(0)).sum(1, keepdims=True)
    values = np.concatenate([first, second, together], axis=1)
    z_scores = values.mean(0) / (values.std(0) / len(x) ** 0.5)
    return min(1.0, 2 * stats.norm.sf(abs(z_scores)).min() * values.shape[1])


LAWS = {
    "content and style": [25.0] * 5 + [5.0] * 5,
    "extreme": [1000.0] * 5 + [0.1] * 5,
    "one loose axis": [0.1] + [1000.0] * 9,
    "one tight axis": [0.1] * 9 + [1000.0],
    "wide": np.geomspace(0.1, 1000.0, 100).tolist(),
}


@pytest.mark.parametrize("law", LAWS)
def test_stein_identities(law, generator):
    precision = LAWS[law]
    n = 100_000 if len(precision) <= 10 else 20_000
    z = Sphere(len(precision)).sample_uniform(n, generator)
    x = Anisotropic(precision).sample(z, generator=generator).double().numpy()
    z = z.double().numpy()
    assert stein_p_value(x, z, precision) > ALARM
    assert stein_p_value(x, z, [1.05 * value for value in precision]) < ALARM


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_stein_identities_with_many_draws(law, generator):
    precision = LAWS[law]
    z = Sphere(len(precision)).sample_uniform(400_000, generator, torch.float64)
    x = Anisotropic(precision).sample(z, generator=generator).numpy()
    assert stein_p_value(x, z.numpy(), precision) > ALARM
    assert stein_p_value(x, z.numpy(), [1.02 * value for value in precision]) < ALARM


def test_stein_identities_catch_the_shell(generator):
    precision = LAWS["content and style"]
    z = Sphere(10).sample_uniform(100_000, generator, torch.float64)
    x = Anisotropic(precision, proposal="shell", shell=0.3).sample(z, generator=generator).numpy()
    assert stein_p_value(x, z.numpy(), precision) < ALARM


def test_stein_identities_catch_the_gaussian_without_rejection(generator, monkeypatch):
    precision = LAWS["extreme"]
    monkeypatch.setattr(projected_gaussian, "_log_radial_mass", lambda a, s, d: torch.full_like(a, -1e6))
    z = Sphere(10).sample_uniform(100_000, generator, torch.float64)
    x = Anisotropic(precision).sample(z, generator=generator).numpy()
    assert stein_p_value(x, z.numpy(), precision) < ALARM


# --------------------------------------------------------------------------------------- what exactness rests on


def radial_mass(a, s, d):
    def integrand(r):
        return np.exp((d - 1) * np.log(r) - a * (r - 1) ** 2 - 2 * s * (r - 1))

    width = (2 * a + d - 1) ** -0.5
    edges = [1e-12, *(r for r in 1 + width * np.arange(-16.0, 24.0, 2.0) if r > 0.0), 12.0]
    pieces = [
        integrate.quad(integrand, *pair, epsabs=0, epsrel=1e-12, limit=200)[0] for pair in itertools.pairwise(edges)
    ]
    return np.log(sum(pieces))


CORNERS = list(itertools.product([1, 3, 100], [0.5, 4.0, 1100.0], [-3.0, 0.0, 2.0]))


def test_radial_integral_and_its_bound():
    for d, a, offset in CORNERS:
        s = (d - 1) / 2 + offset * (2 * a + d - 1) ** 0.5 / 2
        a_, s_ = torch.tensor(a, dtype=torch.float64), torch.tensor(s, dtype=torch.float64)
        ours = float(projected_gaussian._log_radial_mass(a_, s_, d))
        assert ours == pytest.approx(radial_mass(a, s, d), rel=0, abs=1e-10), (d, a, offset)
        for larger in (1.0, 1.5):
            assert -ours <= projected_gaussian._log_ratio_bound(larger * a, d) + 1e-12


def test_the_gaussian_is_tilted_to_mean_square_norm_one(generator):
    for precision in LAWS.values():
        weights = torch.tensor(precision, dtype=torch.float64)
        z = Sphere(len(weights)).sample_uniform(200, generator, torch.float64)
        gap = weights - weights.min()
        tilted = gap + projected_gaussian._lowest_tilted_precision(weights * z, gap)
        mean_square = ((weights * z / tilted).square() + 0.5 / tilted).sum(1)
        torch.testing.assert_close(mean_square, torch.ones_like(mean_square), rtol=1e-6, atol=0)


# ------------------------------------------------------------------------------------------------ conventions, refusals


def test_half_is_half_the_precision(generator):
    z = Sphere(4).sample_uniform(30, generator)
    draws = [law.sample(z, generator=torch.Generator().manual_seed(1)) for law in same_law_twice()]
    assert torch.equal(*draws)


def same_law_twice():
    return Anisotropic(torch.tensor([2.0, 4.0, 6.0, 8.0]), half=True), Anisotropic([1.0, 2.0, 3.0, 4.0])


def test_a_hopeless_shell_ends(generator):
    conditional = Anisotropic([5.0] * 6, proposal="shell", shell=1e-9)
    with pytest.raises(ValueError, match="`shell` must be thick enough"):
        conditional.sample(Sphere(6).sample_uniform(8, generator), generator=generator)


def test_what_cannot_be_meant_is_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="`precision` must be positive, got 0.0"):
        Anisotropic([1.0, 0.0])
    with pytest.raises(ValueError, match="got none"):
        Anisotropic([])
    with pytest.raises(ValueError, match=r"\(d,\)"):
        Anisotropic(torch.ones(2, 2))
    with pytest.raises(ValueError, match="did you mean 'shell'"):
        Anisotropic([1.0, 2.0], proposal="shel")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="`shell` must be positive"):
        Anisotropic([1.0, 2.0], shell=0.0)
    with pytest.raises(ValueError, match="lives on a sphere"):
        Anisotropic([1.0, 2.0], space=Box(2))
    with pytest.raises(ValueError, match="must have radius 1, got 2.0"):
        Anisotropic([1.0, 2.0]).on(Sphere(2, radius=2.0))
    with pytest.raises(ValueError, match="`precision` must have 3 numbers"):
        Anisotropic([1.0, 2.0]).on(Sphere(3))
