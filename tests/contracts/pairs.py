"""Laws of every source of pairs."""

import pytest
import torch

from noumena.batch import PairBatch
from noumena.pairs import AbstractPairSource


class PairSourceContract:
    batch_size = 12

    def make(self) -> AbstractPairSource:
        raise NotImplementedError

    def draw(self, seed: int = 1, dtype: torch.dtype = torch.float32) -> PairBatch:
        return self.make().draw(self.batch_size, torch.Generator().manual_seed(seed), dtype)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_shapes_and_dtype(self, dtype):
        batch = self.draw(dtype=dtype)
        assert len(batch.x) == self.batch_size and batch.x_pos.shape == batch.x.shape
        tensors = [batch.x, batch.x_pos, batch.x_neg, batch.z, batch.z_pos, batch.z_neg]
        assert {tensor.dtype for tensor in tensors if tensor is not None} == {dtype}
        if batch.x_neg is not None:
            assert batch.x_neg.shape[:-1] == batch.z_neg.shape[:-1]

    def test_the_generator_alone_decides(self):
        first, again, other = self.draw(1), self.draw(1), self.draw(2)
        assert torch.equal(first.x, again.x) and torch.equal(first.x_pos, again.x_pos)
        assert not torch.equal(first.x, other.x)

    def test_observations_carry_no_gradient(self):
        batch = self.draw()
        assert not batch.x.requires_grad and not batch.x_pos.requires_grad

    def test_wrong_calls(self, unchecked_shapes):
        with pytest.raises(ValueError, match="`n` must be at least 1"):
            self.make().draw(0, torch.Generator())
        with pytest.raises(TypeError, match="`generator` must be a torch.Generator"):
            self.make().draw(self.batch_size, None)
