import numpy as np
import pytest
import torch
from torch import nn

from noumena import _vae
from noumena.mixings import Decoder
from tests.contracts.mixings import MixingContract


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NOUMENA_DATA", str(tmp_path))
    return tmp_path


def written(seed=0, decoder=(5, 7), dim=3, shape=(1, 3, 4)):
    """A file with values of a seed, under a name in the cache."""
    description = _vae.Description(shape, dim, (6,), decoder, 0.1)
    halves = []
    generator = torch.Generator().manual_seed(seed)
    for sizes in (description.encoder_sizes, description.decoder_sizes):
        layers = _vae.leaky_layers(sizes, 0.1, torch.device("cpu"))
        for parameter in layers.parameters():
            nn.init.normal_(parameter, std=0.4, generator=generator)
        halves.append(layers)
    path = _vae.place(f"seed-{seed}")
    path.parent.mkdir(exist_ok=True)
    _vae.write(path, description, *halves)
    return path


class TestDecoder(MixingContract):
    def make(self, seed=0):
        written(seed)
        return Decoder(f"seed-{seed}")

    def reference(self, z):
        _, values = _vae.read(written(0), "decoder")
        state = {name: value.double().numpy() for name, value in values.items()}
        rows = []
        for row in np.sqrt(3) * z:
            for place in (0, 2, 4):
                row = state[f"{place}.weight"] @ row + state[f"{place}.bias"]
                row = np.where(row < 0, 0.1 * row, row) if place < 4 else 1 / (1 + np.exp(-row))
            rows.append(row)
        return np.array(rows)


def test_it_says_what_it_makes():
    mixing = Decoder(written(), scale=2.0)
    assert (mixing.dim_in, mixing.dim_out, mixing.shape_out) == (3, 12, (1, 3, 4))
    assert mixing.scale == 2.0 and mixing.invertible and not Decoder(written(1, decoder=(7, 5))).invertible


def test_images_without_grey_levels_cannot_be_inverted():
    mixing = Decoder(written())
    x = mixing(torch.eye(3, dtype=torch.float64)).round()
    with pytest.raises(ValueError, match="`x` must have at least 7 entries strictly between 0 and 1"):
        mixing.inverse(x)


def test_what_is_no_autoencoder_is_refused(cache):
    with pytest.raises(FileNotFoundError, match="no autoencoder `.*vae/mnist.safetensors`; train it once"):
        Decoder("mnist")
    path = written()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="`path` must be a whole autoencoder, got"):
        Decoder(path)
