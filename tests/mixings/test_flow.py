import numpy as np
import pytest
import torch

from noumena.mixings import CouplingFlow
from tests.contracts.mixings import MixingContract


def _make(dim=5, layers=4, seed=0, **arguments):
    return CouplingFlow(dim, layers, generator=torch.Generator().manual_seed(seed), **arguments)


class TestCouplingFlow(MixingContract):
    def make(self, seed=0):
        return _make(seed=seed, hidden=16)

    def reference(self, z):
        flow = self.make()
        mixes, inner, shifts, outer = (b.numpy() for b in (flow.mixes, flow.inner, flow.shifts, flow.outer))
        rows = []
        for point in z:
            x = mixes[0] @ point
            for layer in range(len(inner)):
                hidden = [np.tanh(inner[layer, k] @ x[:2] + shifts[layer, k]) for k in range(16)]
                coupled = list(x)
                for j in range(3):
                    log_scale = 0.5 * np.tanh(sum(outer[layer, 0, j, k] * hidden[k] for k in range(16)))
                    shift = 0.5 * sum(outer[layer, 1, j, k] * hidden[k] for k in range(16))
                    coupled[2 + j] = x[2 + j] * np.exp(log_scale) + shift
                x = mixes[layer + 1] @ np.array(coupled)
            rows.append(x)
        return np.array(rows)


class TestDeepInTwoDimensions(MixingContract):
    def make(self, seed=0):
        return _make(2, 30, seed, hidden=8, strength=0.2)

    def reference(self, z):
        # Thirty layers in two dimensions: every layer keeps one coordinate and moves the other.
        flow, rows = self.make(), []
        for x in z:
            x = flow.mixes[0].numpy() @ x
            for mix, a, c, (s, t) in zip(
                flow.mixes[1:].numpy(), flow.inner.numpy(), flow.shifts.numpy(), flow.outer.numpy(), strict=True
            ):
                h = np.tanh(a[:, 0] * x[0] + c)
                x = mix @ np.array([x[0], x[1] * np.exp(0.2 * np.tanh(s[0] @ h)) + 0.2 * (t[0] @ h)])
            rows.append(x)
        return np.array(rows)


def test_strength_zero_is_orthogonal(generator):
    flow, z = _make(strength=0.0), torch.randn(20, 5, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(flow(z) @ flow(z).mT, z @ z.mT)
    assert flow.condition_number == pytest.approx(1)


def test_the_condition_number_is_recorded_and_moderate(generator):
    flow = CouplingFlow(10, generator=torch.Generator().manual_seed(0))
    assert 10 < flow.condition_number < 1000
    points = torch.randn(256, 10, generator=generator, dtype=torch.float64)
    points = points / points.norm(dim=1, keepdim=True)
    values = np.linalg.svd(flow.jacobian(points).numpy(), compute_uv=False)
    # The largest of 256 other points: the same size, not the same number.
    assert flow.condition_number == pytest.approx(float((values[:, 0] / values[:, -1]).max()), rel=0.8)


def test_it_bends_more_with_strength(generator):
    z = torch.randn(2000, 5, generator=generator, dtype=torch.float64)
    z = z / z.norm(dim=1, keepdim=True)
    shares = []
    for strength in (0.1, 0.5, 1.0):
        x = _make(layers=8, strength=strength)(z)
        x = torch.cat([x, torch.ones(2000, 1, dtype=x.dtype)], 1)
        residual = z[1000:] - x[1000:] @ torch.linalg.lstsq(x[:1000], z[:1000]).solution
        shares.append(float(residual.square().mean() / z[1000:].var()))
    assert shares[0] < 0.05 < shares[1] < shares[2]  # what no linear map of x explains


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dim": 1}, "`dim` must be at least 2"),
        ({"layers": 0}, "`layers` must be at least 1"),
        ({"hidden": 0}, "`hidden` must be at least 1"),
        ({"strength": -0.1}, "`strength` must be at least 0"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        _make(**arguments)
