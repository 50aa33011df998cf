import pytest
import torch

from noumena.encoders import MLP
from noumena.encoders.whitening import Whitening


def stretched(n, generator, dtype=torch.float64):
    x = torch.randn(n, 3, generator=generator, dtype=dtype)
    return x @ torch.tensor([[10.0, 1, 0], [0, 1, 3], [0, 0, 0.1]], dtype=dtype) + 7


def test_the_first_batch_is_white_afterwards_and_the_next_nearly(generator):
    whitening = Whitening(3).double()
    x = stretched(500, generator)
    white = whitening(x)
    torch.testing.assert_close(white.mean(dim=0), torch.zeros(3).double(), rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.cov(white.mT), torch.eye(3).double(), rtol=0, atol=1e-9)
    again = whitening(stretched(4000, generator))
    # Entries of a covariance of 500 and of 4000 rows err by about 0.05.
    assert (torch.cov(again.mT) - torch.eye(3).double()).abs().max() < 0.3
    before = whitening.matrix.clone()
    whitening(1e3 * x)
    assert torch.equal(whitening.matrix, before)


def test_evaluation_fits_nothing(generator):
    whitening = Whitening(3).double().eval()
    x = stretched(50, generator)
    assert torch.equal(whitening(x), x) and not whitening.fitted


def test_directions_without_variance_are_dropped(generator):
    x = stretched(300, generator)
    flat = torch.cat([x, x[:, :1] + x[:, 1:2]], dim=1).float()
    white = Whitening(4)(flat)
    assert white.isfinite().all()
    values = torch.linalg.eigvalsh(torch.cov(white.double().mT))
    torch.testing.assert_close(values, torch.tensor([0.0, 1, 1, 1]).double(), rtol=0, atol=1e-2)


def test_too_small_a_first_batch_is_refused(generator):
    with pytest.raises(ValueError, match="`x` must have more rows than its 3 columns"):
        Whitening(3).double()(stretched(3, generator))


@pytest.mark.parametrize("other", [{"odd": True}, {"fourier_octaves": 1}])
def test_what_cannot_be_whitened_is_refused(generator, other):
    with pytest.raises(ValueError, match="`whiten` must be False"):
        MLP(3, 3, [8], whiten=True, generator=generator, **other)
