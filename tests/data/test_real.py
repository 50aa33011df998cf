"""The sets themselves, where they have been fetched (`noumena data fetch mnist cifar10`)."""

import hashlib

import numpy as np
import pytest
import torch

from noumena.data import CIFAR10, MNIST, FashionMNIST, InMemory
from noumena.data.cifar import CIFAR10_SET
from noumena.data.fetch import StoredSet, state
from noumena.data.mnist import FASHION_SET, MNIST_SET

pytestmark = pytest.mark.slow

OFFICIAL_MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}


def need(wanted: StoredSet) -> None:
    if state(wanted) == "absent":
        pytest.skip(f"`{wanted.name}` is not in the cache")
    wanted.check()


def statistics(table: InMemory) -> tuple[float, float]:
    pixels = table.pixels.numpy() / np.float64(255)
    return pixels.mean(), pixels.std()


def test_mnist():
    need(MNIST_SET)
    train, test = MNIST("train"), MNIST("test")
    assert (len(train), len(test)) == (60_000, 10_000) and train.labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert statistics(train) == pytest.approx((0.1307, 0.3081), abs=1e-4)


def test_fashion_mnist():
    need(FASHION_SET)
    train, test = FashionMNIST("train"), FashionMNIST("test")
    assert torch.bincount(train.labels).tolist() == [6000] * 10
    assert torch.bincount(test.labels).tolist() == [1000] * 10


def test_cifar10():
    need(CIFAR10_SET)
    for name, md5 in OFFICIAL_MD5.items():
        assert hashlib.md5(CIFAR10_SET.path(name).read_bytes()).hexdigest() == md5
    train, test = CIFAR10("train"), CIFAR10("test")
    assert train.shape == (3, 32, 32) and train.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert torch.bincount(train.labels).tolist() == [5000] * 10 and torch.bincount(test.labels).tolist() == [1000] * 10
