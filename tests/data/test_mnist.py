import gzip
import hashlib

import numpy as np
import pytest
import torch

from noumena.data import MNIST, FashionMNIST
from noumena.data.cache import Damaged, Facts
from noumena.data.idx import read_idx
from noumena.data.mnist import MNIST_SET, NAMES
from tests.contracts.data import ImageTableContract
from tests.data.layouts import idx, scratch

FOLDER = scratch()
IMAGES = np.random.default_rng(0).integers(0, 256, (9, 28, 28), dtype=np.uint8)
LABELS = np.arange(9, dtype=np.uint8)
for _name, _values in zip(NAMES, (IMAGES, LABELS, IMAGES[:4], LABELS[:4]), strict=True):
    (FOLDER / f"{_name}.gz").write_bytes(gzip.compress(idx(_values)))


class TestMNIST(ImageTableContract):
    def make(self):
        return MNIST("train", folder=FOLDER)

    def reference(self):
        return torch.from_numpy(IMAGES)[:, None]


class TestFashionMNIST(ImageTableContract):
    def make(self):
        return FashionMNIST("test", folder=FOLDER)

    def reference(self):
        return torch.from_numpy(IMAGES[:4])[:, None]


def test_labels_and_names():
    table = MNIST("train", folder=FOLDER)
    assert table.labels.tolist() == list(range(9)) and table.class_names[3] == "3" and table.name == "mnist/train"
    assert FashionMNIST("train", folder=FOLDER).class_names[9] == "ankle boot"


def test_the_cache_is_held_to_its_digests(tmp_path, monkeypatch):
    values = (IMAGES, LABELS, IMAGES[:4], LABELS[:4])
    contents = dict(zip(NAMES, map(idx, values), strict=True))
    facts = tuple(Facts(name, len(c), hashlib.sha256(c).hexdigest()) for name, c in contents.items())
    monkeypatch.setattr("noumena.data.mnist.MNIST_SET", MNIST_SET.__class__("mnist", "", facts, ()))
    with pytest.raises(FileNotFoundError, match="run `noumena data fetch mnist`"):
        MNIST(cache=tmp_path)
    (tmp_path / "mnist").mkdir()
    for name, content in contents.items():
        (tmp_path / "mnist" / name).write_bytes(content)
    assert len(MNIST(cache=tmp_path)) == 9 and len(MNIST("test", cache=tmp_path)) == 4
    (tmp_path / "mnist" / NAMES[0]).write_bytes(contents[NAMES[0]][:-5])
    with pytest.raises(Damaged, match="bytes, got .*run `noumena data fetch mnist`"):
        MNIST(cache=tmp_path)


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (b"", "must be an IDX file of bytes"),
        (bytes([0, 0, 0x0D, 1, 0, 0, 0, 0]), "must be an IDX file of bytes"),
        (bytes([0, 0, 8, 3, 0, 0]), "must be an IDX file of bytes"),
        (idx(IMAGES)[:-1], r"must hold \(9, 28, 28\) bytes by its own header, got 7055"),
        (idx(IMAGES) + b"x", "got 7057"),
    ],
)
def test_what_is_no_idx_file_is_refused(tmp_path, content, pattern):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(Damaged, match=pattern):
        read_idx(tmp_path / "file")


def test_a_truncated_gzip_is_refused(tmp_path):
    (tmp_path / "file.gz").write_bytes(gzip.compress(idx(IMAGES))[:-30])
    with pytest.raises(Damaged, match="must be whole"):
        read_idx(tmp_path / "file.gz")


def test_labels_of_another_set_are_refused(tmp_path):
    for name, values in zip(NAMES, (IMAGES, LABELS[:5], IMAGES, LABELS), strict=True):
        (tmp_path / name).write_bytes(idx(values))
    with pytest.raises(Damaged, match="one label for each image"):
        MNIST(folder=tmp_path)
    with pytest.raises(ValueError, match="`split` cannot be 'tset'; did you mean 'test'?"):
        MNIST("tset", folder=tmp_path)
    with pytest.raises(FileNotFoundError, match="no file"):
        MNIST(folder=tmp_path / "nowhere")
