import numpy as np
import pytest
import torch
from PIL import Image

from noumena.data import ImageNet
from noumena.data.cache import Damaged
from tests.contracts.data import ImageTableContract
from tests.data import layouts

FOLDER = layouts.scratch()
layouts.imagenet(FOLDER / "train", {"n01": 3, "n02": 2})
layouts.imagenet(FOLDER / "val", {"n01": 1, "n02": 1}, sides=((16, 16),))


def area_average(path, resize: int, crop: int) -> np.ndarray:
    """The triangle-weighted mean of the pixels under each new one, in float64, and then the centre."""
    with Image.open(path) as opened:
        picture = np.asarray(opened.convert("RGB")).astype(np.float64)
    scale = resize / min(picture.shape[:2])

    def weights(old: int) -> np.ndarray:
        new = round(old * scale)
        stretch = old / new
        distance = (np.arange(old)[None] + 0.5) - (np.arange(new)[:, None] + 0.5) * stretch
        raw = np.maximum(0, 1 - np.abs(distance) / max(1.0, stretch))
        return raw / raw.sum(1, keepdims=True)

    resized = np.einsum("ih,jw,hwc->ijc", weights(picture.shape[0]), weights(picture.shape[1]), picture)
    top, left = (round((side - crop) / 2) for side in resized.shape[:2])
    return resized[top : top + crop, left : left + crop].transpose(2, 0, 1)


class TestImageNet(ImageTableContract):
    def make(self):
        return ImageNet(FOLDER, size=16, resize=20, workers=2)

    def reference(self):
        names = [f"n01/n01_{i}" for i in range(3)] + [f"n02/n02_{i}" for i in range(2)]
        found = [area_average(FOLDER / "train" / f"{name}.JPEG", 20, 16) for name in names]
        ours = self.make().images(torch.arange(5))
        # Two passes, each rounded to a byte.
        assert np.abs(ours.numpy() - np.stack(found)).max() <= 1.5
        return ours


def test_classes_are_folders_in_order():
    table = ImageNet(FOLDER, size=16)
    assert table.labels.tolist() == [0, 0, 0, 1, 1] and table.class_names == ("n01", "n02")
    assert ImageNet(FOLDER).shape == (3, 224, 224) and ImageNet(FOLDER).resize == 256


def test_the_test_split_is_val_and_small_pictures_grow():
    table = ImageNet(FOLDER, "test", size=24)
    assert len(table) == 2 and table.images(torch.tensor([1])).shape == (1, 3, 24, 24)


def test_grey_pictures_and_transparent_ones_are_read_as_colours(tmp_path):
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16)
    layouts.save(tmp_path / "train" / "a" / "grey.png", grey)
    layouts.save(tmp_path / "train" / "a" / "over.png", np.dstack([grey] * 3 + [grey[::-1]]))
    images = ImageNet(tmp_path, size=16, resize=16).images(torch.arange(2))
    assert all(np.array_equal(channel, grey) for image in images.numpy() for channel in image)


def test_wrong_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder `.*train`"):
        ImageNet(tmp_path)
    (tmp_path / "train").mkdir()
    with pytest.raises(FileNotFoundError, match="no folders in `.*train`; it must hold one for each class"):
        ImageNet(tmp_path)
    (tmp_path / "train" / "n01").mkdir()
    with pytest.raises(FileNotFoundError, match="no images in `.*n01`"):
        ImageNet(tmp_path)


def test_a_damaged_photograph_is_named(tmp_path):
    layouts.imagenet(tmp_path / "train", {"n01": 2})
    path = tmp_path / "train" / "n01" / "n01_1.JPEG"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(Damaged, match="n01_1.JPEG` must be a whole picture"):
        ImageNet(tmp_path, size=8).images(torch.arange(2))


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="`resize` must be at least 16, got 8"):
        ImageNet(FOLDER, size=16, resize=8)
    with pytest.raises(ValueError, match="`workers` must be at least 1"):
        ImageNet(FOLDER, workers=0)
    with pytest.raises(ValueError, match="`split` cannot be 'val'"):
        ImageNet(FOLDER, "val")
