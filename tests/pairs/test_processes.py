"""Each block of a batch is what its own process draws, and a loss for each block is what an ensemble sums."""

import pytest
import torch
from torch import nn

from noumena.conditionals import Anisotropic, VonMisesFisher
from noumena.losses import AnisotropicScore, Dot, Ensemble, InfoNCE
from noumena.marginals import Uniform
from noumena.mixings import Spiral
from noumena.pairs import Processes, Synthetic
from noumena.spaces import Sphere
from noumena.training import embed
from tests.contracts.pairs import PairSourceContract
from tests.statistics import z_score

WORLD = Uniform(Sphere(3)), VonMisesFisher(30.0)
OTHER = Anisotropic([1.0, 50.0, 5.0])


class TestProcesses(PairSourceContract):
    def make(self):
        return Processes(*WORLD, Spiral(), others=[OTHER, VonMisesFisher(2.0)])


def test_each_block_follows_its_own_law(generator):
    n = 40_000
    batch = Processes(*WORLD, others=[OTHER]).draw(2 * n, generator, torch.float64)
    assert batch.processes == 2 and batch.z is not None and batch.z_pos is not None
    apart = (batch.z - batch.z_pos).square()
    for rows, law in [(slice(n), WORLD[1]), (slice(n, None), OTHER)]:
        alone = Synthetic(WORLD[0], law).draw(4 * n, generator, torch.float64)
        assert alone.z is not None and alone.z_pos is not None
        expected = (alone.z - alone.z_pos).square()
        for j in range(3):
            difference = apart[rows, j].mean() - expected[:, j].mean()
            error = (apart[rows, j].var() / n + expected[:, j].var() / (4 * n)).sqrt()
            assert abs(difference / error) < 5
            # The mutant: the blocks of the two laws exchanged.
            swapped = apart[n:, j] if rows.start is None else apart[:n, j]
            assert abs(z_score(swapped, float(expected[:, j].mean()))) > 20


def test_the_mixing_is_shared(generator):
    batch = Processes(*WORLD, Spiral(), others=[OTHER]).draw(8, generator)
    assert torch.equal(batch.x, Spiral()(batch.z)) and torch.equal(batch.x_pos, Spiral()(batch.z_pos))


def test_an_ensemble_gives_each_loss_its_block(generator):
    source = Processes(*WORLD, Spiral(), others=[OTHER])
    losses = [InfoNCE(Dot(0.3)), InfoNCE(AnisotropicScore([1.0, 2.0, 3.0]))]
    batch = source.draw(10, generator)
    seen = embed(nn.Identity(), batch, losses[0])
    output = Ensemble(losses, weights=[1.0, 0.5])(seen)
    parts = [type(seen)(seen.h[rows], seen.h_pos[rows]) for rows in (slice(5), slice(5, None))]
    expected = losses[0](parts[0]).total + 0.5 * losses[1](parts[1]).total
    torch.testing.assert_close(output.total, expected)
    assert not torch.isclose(output.total, losses[0](seen).total + 0.5 * losses[1](seen).total)


def test_wrong_calls_of_processes(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="`others` must name at least one more process, got none"):
        Processes(*WORLD, others=[])
    with pytest.raises(ValueError, match="multiple of the 2 processes, got 7; 6 would do"):
        Processes(*WORLD, others=[OTHER]).draw(7, generator)
    seen = embed(nn.Identity(), Processes(*WORLD, others=[OTHER]).draw(8, generator), InfoNCE(Dot()))
    with pytest.raises(ValueError, match="one for each of 3 losses; got 2"):
        Ensemble([InfoNCE(Dot())] * 3)(seen)
