"""Small generated sets in the released layouts, where tables of the package look for the real ones."""

import hashlib
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from noumena.data import MNIST, cifar, mnist
from noumena.data.cache import Facts
from noumena.data.fetch import StoredSet
from noumena.experiments.vae import train_vae
from tests.data import layouts

IMAGES = 80  # of each set, for training and for testing
SIDE = 64  # in place of 224


def _digits(seed: int) -> dict[str, np.ndarray]:
    """Blurred blobs, brighter and lower with the class: something that an autoencoder can find."""
    generator = np.random.default_rng(seed)
    labels = np.arange(IMAGES) % 10
    rows, columns = np.mgrid[:28, :28]
    place = 6 + 1.6 * labels[:, None, None] + generator.normal(0, 1, (IMAGES, 1, 1))
    across = generator.uniform(8, 20, (IMAGES, 1, 1))
    images = 255 * np.exp(-((rows - place) ** 2 + (columns - across) ** 2) / 18)
    return {"images": images.astype(np.uint8), "labels": labels.astype(np.uint8)}


def _stored(root: Path, name: str, contents: dict[str, bytes]) -> StoredSet:
    (root / name).mkdir(parents=True)
    for file, content in contents.items():
        (root / name / file).write_bytes(content)
    facts = (Facts(file, len(content), hashlib.sha256(content).hexdigest()) for file, content in contents.items())
    return StoredSet(name, "", tuple(facts), ())


def released(root: Path, patch: pytest.MonkeyPatch) -> None:
    """Everything below `root`, which becomes the folder of data; the digests of what is fetched are those of ours."""
    patch.setenv("NOUMENA_DATA", str(root))
    parts = [part for seed in (0, 1) for part in _digits(seed).values()]
    contents = dict(zip(mnist.NAMES, map(layouts.idx, parts), strict=True))
    patch.setattr(mnist, "MNIST_SET", _stored(root, "mnist", contents))
    each = IMAGES // 5
    pictures = layouts.pictures(6 * each, 32, seed=2).transpose(0, 3, 1, 2).reshape(6 * each, -1)
    labels = (np.arange(6 * each) % 10).astype(np.uint8)[:, None]
    records = np.hstack([labels, pictures]).reshape(6, -1)
    names = (*cifar.TRAIN, *cifar.TEST)
    batches = {name: part.tobytes() for name, part in zip(names, records, strict=True)}
    patch.setattr(cifar, "CIFAR10_SET", _stored(root, "cifar10", batches))
    for name, size in (("3dident", SIDE), ("3dident-64", 64)):
        for seed, split in enumerate(("train", "test")):
            layouts.threedident(root / name / split, IMAGES, size, seed)
    for split in ("train", "val"):
        layouts.imagenet(root / "imagenet" / split, {"n01": 40, "n02": 40}, ((70, 90), (90, 70)))
    (root / "kitti_peds_v2.pickle").write_bytes(pickle.dumps(layouts.sequences((40, 50, 30))))
    train_vae(MNIST(), epochs=2, batch=40)
    assert torch.is_grad_enabled()
