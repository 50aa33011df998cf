from dataclasses import replace

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import Regression
from tests.contracts.losses import LossContract


class TestRegression(LossContract):
    one_pair_is_refused = False

    def make(self):
        return Regression()

    def embeddings(self, generator, n=None):
        n = self.n if n is None else n
        h, h_pos, z, z_pos = torch.randn(4, n, self.dim, generator=generator, dtype=torch.float64)
        return PairEmbeddings(h, h_pos, z=z, z_pos=z_pos)

    def reference(self, loss, embeddings):
        e = embeddings
        views = [(e.h, e.z), (e.h_pos, e.z_pos)]
        return torch.stack(
            [
                sum((h[i, j] - z[i, j]) ** 2 for h, z in views for j in range(self.dim)) / (2 * self.dim)
                for i in range(len(e.h))
            ]
        )


def test_positives_without_latents_are_left_out(generator):
    h, h_pos, z = torch.randn(3, 5, 4, generator=generator)
    output = Regression()(PairEmbeddings(h, h_pos, z=z))
    torch.testing.assert_close(output.total, torch.nn.functional.mse_loss(h, z))
    assert set(output.parts) == {"anchors"}


def test_refuses_latents_that_do_not_fit(generator, unchecked_shapes):
    h, h_pos, z = torch.randn(3, 5, 4, generator=generator)
    good = PairEmbeddings(h, h_pos, z=z)
    assert Regression().uses_latents
    for wrong, kind, message in [
        (replace(good, z=None), ValueError, "`z` must hold the latents"),
        (replace(good, z=z[:, :3]), ValueError, "`h` must have the shape of `z`"),
        (replace(good, z_pos=z[:3]), ValueError, "`h_pos` must have the shape of `z_pos`"),
        (replace(good, z=z.double()), TypeError, "`z` must have the dtype of `h`"),
        (replace(good, z=z * float("nan")), ValueError, "`z` must be finite"),
    ]:
        with pytest.raises(kind, match=message):
            Regression()(wrong)


def test_embeddings_in_half_precision_meet_latents_in_single(generator):
    h, h_pos, z = torch.randn(3, 5, 4, generator=generator)
    assert Regression()(PairEmbeddings(h.bfloat16(), h_pos.bfloat16(), z=z)).total.dtype == torch.float32
