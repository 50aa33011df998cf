"""Laws of every augmentation."""

import pytest
import torch
from torch import Tensor

from noumena.data.augmentations import AbstractAugmentation

SHAPE = (3, 14, 18)


class AugmentationContract:
    n = 40
    stays_in_unit_range = True  # what comes out is in [0, 1] again

    def make(self) -> AbstractAugmentation:
        raise NotImplementedError

    def images(self, dtype: torch.dtype = torch.float32, channels: int = 3) -> Tensor:
        generator = torch.Generator().manual_seed(4)
        return torch.rand(self.n, channels, *SHAPE[1:], generator=generator, dtype=torch.float64).to(dtype)

    def drawn(self, seed: int = 1, channels: int = 3) -> dict[str, Tensor]:
        return self.make().draw(self.n, (channels, *SHAPE[1:]), torch.Generator().manual_seed(seed))

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
    def test_shapes_dtype_and_range(self, dtype):
        augmentation = self.make()
        images, parameters = augmentation(self.images(dtype), torch.Generator().manual_seed(1))
        assert images.shape == (self.n, *augmentation.shape_after(SHAPE)) and images.dtype == dtype
        assert set(parameters) == set(augmentation.names)
        assert all(len(one) == self.n and one.dtype != torch.float64 for one in parameters.values())
        assert bool(images.isfinite().all())
        if self.stays_in_unit_range:
            # bfloat16 has eight bits: sums of weights that should be 1 may exceed it by one part in 128.
            assert images.min() >= 0 and images.max() <= 1 + (1 / 64 if dtype == torch.bfloat16 else 1e-6)

    def test_the_generator_alone_decides(self):
        first, again, other = self.drawn(1), self.drawn(1), self.drawn(2)
        assert all(torch.equal(first[name], again[name]) for name in first)
        assert not first or any(not torch.equal(first[name], other[name]) for name in first)

    def test_equal_parameters_give_equal_images(self):
        augmentation = self.make()
        images, parameters = augmentation(self.images(), torch.Generator().manual_seed(1))
        assert torch.equal(augmentation.apply(self.images(), parameters), images)

    def test_an_image_does_not_depend_on_its_batch_mates(self):
        augmentation, parameters = self.make(), self.drawn()
        together = augmentation.apply(self.images(), parameters)
        for i in (0, 7, self.n - 1):
            own = {name: one[i : i + 1] for name, one in parameters.items()}
            torch.testing.assert_close(augmentation.apply(self.images()[i : i + 1], own)[0], together[i])

    def test_draws_of_one_image_say_nothing_of_the_next(self):
        """Parameters that vary do so within a batch: no draw is shared by all."""
        for name, one in self.drawn().items():
            pooled = torch.cat([self.drawn(seed)[name] for seed in range(3)])
            assert len(pooled.unique(dim=0)) == 1 or len(one.unique(dim=0)) > 1, name

    def test_single_precision_agrees_with_double(self):
        augmentation, parameters = self.make(), self.drawn()
        one, other = (augmentation.apply(self.images(dtype), parameters) for dtype in (torch.float32, torch.float64))
        # Values at a threshold may fall on either side of it; a few in ten thousand do.
        assert float(((one - other).abs() > 1e-4).double().mean()) < 1e-3

    def test_images_given_are_left_as_they_are(self):
        images = self.images()
        self.make()(images, torch.Generator().manual_seed(1))
        assert torch.equal(images, self.images())

    def test_grey_images_of_one_channel(self):
        augmentation = self.make()
        images, _ = augmentation(self.images(channels=1), torch.Generator().manual_seed(1))
        assert images.shape == (self.n, *augmentation.shape_after((1, *SHAPE[1:])))

    def test_no_images(self):
        images, _ = self.make()(self.images()[:0], torch.Generator().manual_seed(1))
        assert len(images) == 0

    def test_an_effect_can_be_turned_off_and_always_on(self):
        augmentation = self.make()
        for effect in augmentation.effects:
            on, off = augmentation.always(effect), augmentation.without(effect)
            for one in (on, off):
                assert one.shape_after(SHAPE) == augmentation.shape_after(SHAPE)
            changed, same = (one(self.images(), torch.Generator().manual_seed(1)).images for one in (on, off))
            assert not torch.equal(changed, same), effect

    def test_wrong_calls(self, unchecked_shapes):
        augmentation = self.make()
        with pytest.raises(TypeError, match="`images` must have a floating dtype"):
            augmentation.apply(torch.zeros(2, *SHAPE, dtype=torch.uint8), self.drawn())
        with pytest.raises(ValueError, match="`images` must have the shape"):
            augmentation.apply(torch.zeros(SHAPE), self.drawn())
        with pytest.raises(ValueError, match="one grey or three colour channels"):
            augmentation.draw(3, (2, 8, 8), torch.Generator())
        with pytest.raises(ValueError, match="`effect` cannot be 'none'"):
            augmentation.without("none")
        if augmentation.names:
            with pytest.raises(ValueError, match="one for each image"):
                augmentation.apply(torch.zeros(self.n + 1, *SHAPE), self.drawn())
            with pytest.raises(ValueError, match="`parameters` must have"):
                augmentation.apply(torch.zeros(self.n, *SHAPE), {})
