import numpy as np
import pytest
import torch

from noumena.data import CausalThreeDIdent, ThreeDIdent
from noumena.data.cache import Damaged
from tests.contracts.data import ImageTableContract
from tests.data import layouts

FOLDER = layouts.scratch()
DRAWN = layouts.threedident(FOLDER / "train")
CLASSES = layouts.causal(FOLDER / "trainset")


def channels_first(pictures: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy())


class TestThreeDIdent(ImageTableContract):
    def make(self):
        return ThreeDIdent(FOLDER, "train", workers=3)

    def reference(self):
        return channels_first(DRAWN)


class TestCausalThreeDIdent(ImageTableContract):
    def make(self):
        return CausalThreeDIdent(FOLDER)

    def reference(self):
        return channels_first(np.concatenate(CLASSES))


def test_factors_are_the_raw_latents():
    table = ThreeDIdent(FOLDER / "train")
    assert np.array_equal(table.factors, np.load(FOLDER / "train" / "raw_latents.npy"))
    assert table.factor_names[7] == "object hue" and len(table.factor_names) == 10


def test_objects_are_labels():
    table = CausalThreeDIdent(FOLDER)
    assert table.labels.tolist() == [0] * 3 + [1] * 11 + [2] * 2
    assert np.array_equal(table.factors[3:14], np.load(FOLDER / "trainset" / "raw_latents_1.npy"))


@pytest.mark.parametrize(
    ("n", "name"), [(1, "0.png"), (10, "9.png"), (11, "10.png"), (100, "99.png"), (101, "100.png")]
)
def test_indices_are_padded_as_released(tmp_path, n, name):
    """To ceil(log10(n)) digits."""
    np.save(tmp_path / "raw_latents.npy", np.zeros((n, 10)))
    first = name.replace(name[:-4], "0" * len(name[:-4]))
    layouts.save(tmp_path / "images" / first, layouts.pictures(1, 4, 0)[0])
    table = ThreeDIdent(tmp_path)
    assert table.path(0).name == first and table.path(n - 1).name == name


@pytest.fixture
def root(tmp_path):
    layouts.threedident(tmp_path)
    return tmp_path


def test_a_missing_image_is_named_with_its_row(root):
    (root / "images" / "07.png").unlink()
    table = ThreeDIdent(root)
    table.images(torch.arange(7))
    with pytest.raises(FileNotFoundError, match="no file `.*07.png`, the image of row 7 of .*; copy or unpack"):
        table.images(torch.arange(12))
    (root / "images" / "00.png").unlink()
    with pytest.raises(FileNotFoundError, match="no file `.*00.png`, the first image"):
        ThreeDIdent(root)


def test_a_truncated_image_is_named(root):
    path = root / "images" / "03.png"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(Damaged, match="03.png` must be a whole picture") as caught:
        ThreeDIdent(root).images(torch.tensor([3]))
    path.write_bytes(b"no picture")
    with pytest.raises(Damaged, match="03.png` must be a whole picture") as caught:
        ThreeDIdent(root).images(torch.tensor([3]))
    assert "\n" not in str(caught.value)


def test_an_image_of_another_size_is_named(root):
    layouts.save(root / "images" / "05.png", layouts.pictures(1, 9, 0)[0])
    with pytest.raises(Damaged, match="05.png` must be a picture of 8x8, .*; got 9x9"):
        ThreeDIdent(root).images(torch.arange(12))


@pytest.mark.parametrize("wrong", [1.5, np.nan, -np.inf])
def test_latents_out_of_range_are_named(root, wrong):
    raw = np.load(root / "raw_latents.npy")
    raw[[4, 9], 2] = wrong
    np.save(root / "raw_latents.npy", raw)
    with pytest.raises(Damaged, match=r"raw_latents.npy` must hold latents in \[-1, 1\]; 2 of 12 rows .* row 4"):
        ThreeDIdent(root)


@pytest.mark.parametrize(
    ("name", "content", "pattern"),
    [
        ("raw_latents.npy", np.zeros((12, 9)), r"must have the shape \(n, 10\)"),
        ("raw_latents.npy", np.zeros((0, 10)), r"got \(0, 10\)"),
        ("raw_latents.npy", np.zeros((12, 10), int), "floating"),
        ("raw_latents.npy", np.array([{}], dtype=object), "must be a .npy file of numbers"),
        ("latents.npy", np.zeros((11, 10)), "must have the 12 rows of raw_latents.npy, got 11"),
    ],
)
def test_other_latents_are_refused(root, name, content, pattern):
    np.save(root / name, content, allow_pickle=True)
    with pytest.raises(Damaged, match=pattern):
        ThreeDIdent(root)


def test_a_truncated_or_missing_file_of_latents_is_named(root):
    path = root / "raw_latents.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(Damaged, match="raw_latents.npy` must be a .npy file"):
        ThreeDIdent(root)
    with pytest.raises(FileNotFoundError, match="no file .*train/raw_latents.npy"):
        ThreeDIdent(root, "train")
    with pytest.raises(FileNotFoundError, match="no file .*testset/raw_latents_0.npy"):
        CausalThreeDIdent(FOLDER, "test")


def test_without_pillow_the_extra_is_named(root, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install noumena\[images\]"):
        ThreeDIdent(root)
